/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/log_file.h - what the library has logged in this process, for tests without cmocka's assertions. */
#ifndef TESTS_API_LOG_FILE_H
#define TESTS_API_LOG_FILE_H

#include <doca_log.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "doca_check.h"

/* Have lines down to @level written to a file; once in a process. */
static inline FILE *log_file_open(enum doca_log_level level)
{
	struct doca_log_backend *backend;
	FILE *log = tmpfile();

	CHECK(log);
	MUST(doca_log_backend_create_with_file_sdk(log, &backend));
	MUST(doca_log_backend_set_sdk_level(backend, level));
	return log;
}

/* The number of lines with @text. */
static inline unsigned int log_file_count(FILE *log, const char *text)
{
	unsigned int count = 0;
	char line[1024];

	rewind(log);
	while (fgets(line, sizeof(line), log))
		count += strstr(line, text) != NULL;
	return count;
}

static inline bool log_file_has(FILE *log, const char *text)
{
	return log_file_count(log, text) > 0;
}

#endif
