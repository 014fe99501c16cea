/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/test_argp_util.h - what the tests of libdoca_argp share.
 *
 * Each test runs between argp_setup() and argp_teardown(): a parser named "prog"
 * whose callbacks write into one trace, in order: "name=Ada;size=4;fast;". The
 * messages that the parser has for its user are counted and the last is kept.
 */
#ifndef TEST_ARGP_UTIL_H
#define TEST_ARGP_UTIL_H

#ifndef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_ALLOW_EXPERIMENTAL_API
#endif

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_argp.h>

#include "cmocka_test.h"

/* The program's configuration: the arguments of the callbacks. */
struct trace {
	char text[1024];
};

static struct trace trace;
static char last_message[1024];
static int message_count;

__attribute__((unused, format(printf, 2, 3))) static doca_error_t record(void *config, const char *format, ...)
{
	struct trace *to = config;
	size_t length = strlen(to->text);
	va_list args;

	va_start(args, format);
	vsnprintf(to->text + length, sizeof(to->text) - length, format, args);
	va_end(args);
	return DOCA_SUCCESS;
}

/* Callbacks, named by the text that they write. */
__attribute__((unused)) static doca_error_t on_name(void *value, void *config)
{
	return record(config, "name=%s;", (char *)value);
}

__attribute__((unused)) static doca_error_t on_other(void *value, void *config)
{
	return record(config, "other=%s;", (char *)value);
}

__attribute__((unused)) static doca_error_t on_size(void *value, void *config)
{
	return record(config, "size=%d;", *(int *)value);
}

__attribute__((unused)) static doca_error_t on_fast(void *value, void *config)
{
	return record(config, *(bool *)value ? "fast;" : "not fast;");
}

static doca_error_t keep_message(enum doca_log_level level, const char *format, va_list args)
{
	assert_int_equal(level, DOCA_LOG_LEVEL_ERROR);
	vsnprintf(last_message, sizeof(last_message), format, args);
	message_count++;
	return DOCA_SUCCESS;
}

__attribute__((unused)) static int argp_setup(void **state)
{
	memset(&trace, 0, sizeof(trace));
	last_message[0] = '\0';
	message_count = 0;
	if (doca_argp_init("prog", &trace) != DOCA_SUCCESS)
		return -1;
	return doca_argp_register_logger_callback(keep_message) == DOCA_SUCCESS ? 0 : -1;
}

__attribute__((unused)) static int argp_teardown(void **state)
{
	doca_argp_destroy(); /* BAD_STATE if the test has destroyed it: fine */
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO);
	doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_INFO);
	return 0;
}

/* A parameter with all that is required; either name may be NULL. */
__attribute__((unused)) static struct doca_argp_param *make_param(const char *short_name, const char *long_name,
								  enum doca_argp_type type,
								  doca_argp_param_cb_t callback)
{
	struct doca_argp_param *param;

	assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
	if (short_name)
		doca_argp_param_set_short_name(param, short_name);
	if (long_name)
		doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "What it is for");
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callback);
	return param;
}

__attribute__((unused)) static void add_param(const char *short_name, const char *long_name, enum doca_argp_type type,
					      doca_argp_param_cb_t callback)
{
	assert_int_equal(doca_argp_register_param(make_param(short_name, long_name, type, callback)), DOCA_SUCCESS);
}

/* -n/--name TEXT, -ns/--num-size NUMBER, -f/--fast */
__attribute__((unused)) static void add_usual_params(void)
{
	add_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	add_param("ns", "num-size", DOCA_ARGP_TYPE_INT, on_size);
	add_param("f", "fast", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
}

/* doca_argp_start() with these words after the program's path. */
#define start(...) start_words((char *[]){ "/some/where/prog", ##__VA_ARGS__, NULL })

__attribute__((unused)) static doca_error_t start_words(char **words)
{
	int count = 0;

	while (words[count])
		count++;
	return doca_argp_start(count, words);
}

/* The start failed with one message, in which @part occurs. */
#define assert_told(part)                                                                 \
	do {                                                                              \
		assert_int_equal(message_count, 1);                                       \
		if (!strstr(last_message, (part)))                                        \
			fail_msg("'%s' is not in the message: %s", (part), last_message); \
	} while (0)

/* Run @body in a child; what it prints on stdout and stderr goes to @output, and
 * its exit status is returned, or -1 if it did not exit. A body that returns
 * exits with 99. */
__attribute__((unused)) static int run_child(void (*body)(void), char *output, size_t size)
{
	size_t length = 0;
	ssize_t got;
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		body();
		exit(99);
	}
	close(ends[1]);
	while ((got = read(ends[0], output + length, size - 1 - length)) > 0)
		length += (size_t)got;
	output[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
