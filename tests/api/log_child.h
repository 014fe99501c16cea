/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/log_child.h - run a piece of a test in a child process.
 *
 * Log backends can't be removed, and limits are global: a child per case gives
 * each a process without earlier log records, and streams of its own to look
 * at afterwards. The child ends with exit(), so that exit handlers and leak
 * checkers run. Include it after cmocka.h.
 */
#ifndef TESTS_API_LOG_CHILD_H
#define TESTS_API_LOG_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* The child's output, as strings. */
struct child_output {
	char out[1 << 18];
	char err[1 << 18];
};

static inline void child_read_back(FILE *file, char *text, size_t size)
{
	size_t n;

	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
}

/* Run @body in a child; the result is valid until the next call. */
static inline const struct child_output *in_child(void (*body)(void))
{
	static struct child_output output;
	FILE *out = tmpfile(), *err = tmpfile();
	int status;
	pid_t pid;

	assert_non_null(out);
	assert_non_null(err);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		body();
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	child_read_back(out, output.out, sizeof(output.out));
	child_read_back(err, output.err, sizeof(output.err));
	if (status)
		fprintf(stderr, "the child ended with status %#x and said:\n%s", status, output.err);
	assert_int_equal(status, 0);
	return &output;
}

/* How often @part occurs in @text. */
static inline unsigned int count_of(const char *text, const char *part)
{
	unsigned int n = 0;

	for (text = strstr(text, part); text; text = strstr(text + strlen(part), part))
		n++;
	return n;
}

#endif
