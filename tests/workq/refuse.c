/* SPDX-License-Identifier: BSD-3-Clause */
#include "refuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static int heard = -1, true_stderr = -1;

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

/* What was heard is text[]; it goes where it would have gone. */
static void stop_listening(char *text, size_t size)
{
	ssize_t len;

	fflush(stderr);
	dup2(true_stderr, STDERR_FILENO);
	close(true_stderr);
	len = pread(heard, text, size - 1, 0);
	assert_true(len >= 0);
	text[len] = 0;
	fputs(text, stderr);
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
	char text[8192], function[128];

	stop_listening(text, sizeof(text));
	snprintf(function, sizeof(function), "%.*s: ", (int)strcspn(call, "("), call);
	if (result == code && count_lines(text) == 1 && strstr(text, function))
		return;
	print_error("%s is %s and shall be %s, with one line in the log that has \"%s\":\n%s\n", call,
		    doca_get_error_name(result), doca_get_error_name(code), function, text);
	_fail(file, line);
}
