/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit statuses and messages, for all commands. */
#include "cli.h"

#include <argp.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "color.h"
#include "doc_paths.h"
#include "sim/base/printable.h"

const char *argp_program_version =
	"bfsim " BFSIM_VERSION "\n"
	"DOCA " BFSIM_DOCA_VERSION " (tasks; also additions of 3.2 and 3.3, and the spellings of 2.5 to 2.7)\n"
	"DOCA " BFSIM_WORKQ_VERSION " (work queues; 1.5 to 2.2)";

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
	snprintf(last_message, sizeof(last_message), "%s", text ? text : "out of memory");
	fprintf(stderr, "%sbfsim:%s %s\n", cli_color(stderr, CLI_RED), cli_color(stderr, CLI_NO_COLOR),
		text ? text : "out of memory");
	free(text);
	return failure_status;
}

void cli_init(void)
{
	int fd;

	argp_err_exit_status = CLI_USAGE;
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}
