/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit statuses and messages, for all commands. */
#include "cli.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "color.h"
#include "doc_paths.h"
#include "sim/base/printable.h"

const char *argp_program_version =
	"bfsim " BFSIM_VERSION "\n"
	"DOCA " BFSIM_DOCA_VERSION " (tasks; also additions of 3.1 to 3.3, and the spellings of 2.5 to 2.7)\n"
	"DOCA " BFSIM_WORKQ_VERSION " (work queues; 1.5 to 2.2)";

static struct {
	bool is_on;
	char **list;
	size_t count;
} messages;

void cli_keep_messages(void)
{
	messages.is_on = true;
}

const char *const *cli_messages(size_t *ret_count)
{
	*ret_count = messages.count;
	return (const char *const *)messages.list;
}

/* Without memory, the message is printed only. */
static void keep_message(const char *text)
{
	char **list = messages.is_on ? reallocarray(messages.list, messages.count + 1, sizeof(*list)) : NULL;

	if (!list)
		return;
	messages.list = list;
	list[messages.count] = strdup(text);
	if (list[messages.count])
		messages.count++;
}

static int failure_status = CLI_FAILED;
static char last_message[512];

int cli_failure_status(void)
{
	return failure_status;
}

void cli_set_failure_status(int status)
{
	failure_status = status;
}

const char *cli_last_message(void)
{
	return last_message;
}

int cli_fail(const char *format, ...)
{
	char *text = NULL, *expanded;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	expanded = text ? cli_doc_paths_expand(text) : NULL;
	if (expanded) {
		free(text);
		text = expanded;
	}
	if (text)
		sim_make_printable(text);
	keep_message(text ? text : "out of memory");
	snprintf(last_message, sizeof(last_message), "%s", text ? text : "out of memory");
	fprintf(stderr, "%sbfsim:%s %s\n", cli_color(stderr, CLI_RED), cli_color(stderr, CLI_NO_COLOR),
		text ? text : "out of memory");
	free(text);
	return failure_status;
}

/* At the exit, however it comes about: argp exits by itself after --help and --version. */
static void check_output(int status, void *unused)
{
	bool failed = ferror(stdout);

	(void)unused;
	errno = 0;
	if (fclose(stdout) != 0)
		failed = true;
	if (!failed || status != CLI_OK)
		return;
	cli_fail("cannot write all of the output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
	fflush(NULL);
	_exit(failure_status);
}

void cli_init(void)
{
	int fd;

	argp_err_exit_status = CLI_USAGE;
	on_exit(check_output, NULL);
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}
