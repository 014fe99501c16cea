/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture of the log lines of a call that is refused. */
#include "cmocka_test.h"
#include "refuse.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int heard = -1, true_stderr = -1;
static char last_log[8192];

void refuse_listen(void)
{
	fflush(stderr);
	if (heard < 0)
		heard = memfd_create("heard", MFD_CLOEXEC);
	true_stderr = dup(STDERR_FILENO);
	assert_true(heard >= 0 && true_stderr >= 0);
	assert_int_equal(ftruncate(heard, 0), 0);
	assert_int_equal(lseek(heard, 0, SEEK_SET), 0);
	assert_true(dup2(heard, STDERR_FILENO) >= 0);
}

/* Keep the captured lines in last_log, and write them to standard error. */
static void stop_listening(void)
{
	ssize_t len;

	fflush(stderr);
	dup2(true_stderr, STDERR_FILENO);
	close(true_stderr);
	len = pread(heard, last_log, sizeof(last_log) - 1, 0);
	assert_true(len >= 0);
	last_log[len] = 0;
	fputs(last_log, stderr);
}

static int count_lines(const char *text)
{
	int count = 0;

	while ((text = strchr(text, '\n'))) {
		count++;
		text++;
	}
	return count;
}

void refuse_check(doca_error_t result, doca_error_t code, const char *call, const char *file, int line)
{
	char function[128];

	stop_listening();
	snprintf(function, sizeof(function), "%.*s: ", (int)strcspn(call, "("), call);
	if (result == code && count_lines(last_log) == 1 && strstr(last_log, function))
		return;
	print_error("%s is %s and shall be %s, with one line in the log that has \"%s\":\n%s\n", call,
		    doca_get_error_name(result), doca_get_error_name(code), function, last_log);
	_fail(file, line);
}

bool refuse_logged(const char *text)
{
	return strstr(last_log, text) != NULL;
}
