/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper's begin and end: words, streams, status. */
#include "helper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/log.h"
#include "sim/cli/base/cli.h"

#define SOCK_FD      3
#define OUTPUT_BYTES SIM_REACH_MAX_BYTES

static ssize_t write_output(void *arg, const char *bytes, size_t len)
{
	const struct cli_helper *helper = arg;

	for (size_t at = 0; at < len;) {
		size_t part = len - at < SIM_REACH_MAX_BYTES ? len - at : SIM_REACH_MAX_BYTES;

		if (sim_reach_send(helper->sock, SIM_REACH_OUTPUT, bytes + at, part) < 0)
			return (ssize_t)at;
		at += part;
	}
	return (ssize_t)len;
}

/* Messages of this process are for the command: they go to a file, which is sent at the end. Returns its descriptor. */
static int keep_messages(void)
{
	int fd = memfd_create("bfsim-messages", MFD_CLOEXEC);

	if (fd >= 0)
		dup2(fd, STDERR_FILENO);
	return fd;
}

static void send_messages(const struct cli_helper *helper, int fd)
{
	char bytes[SIM_REACH_MAX_BYTES];
	ssize_t len = fd >= 0 ? pread(fd, bytes, sizeof(bytes), 0) : 0;

	if (len > 0)
		sim_reach_send(helper->sock, SIM_REACH_ERROR_OUTPUT, bytes, (size_t)len);
}

static int run_control(struct cli_helper *helper, char *const *words)
{
	if (strcmp(words[0], "faults") == 0)
		return cli_helper_faults(helper);
	if (strcmp(words[0], "processes") == 0)
		return cli_helper_processes(helper);
	if (strcmp(words[0], "change") == 0)
		return cli_helper_change(helper);
	if (strcmp(words[0], "trace") == 0)
		return cli_helper_trace(helper, words[1] && strcmp(words[1], "counts") == 0);
	return cli_fail("there is no command %s for another machine", words[0]);
}

static int control(struct cli_helper *helper, char *const *words)
{
	static char buffer[OUTPUT_BYTES];
	int messages = keep_messages(), status;

	helper->out = fopencookie(helper, "w", (cookie_io_functions_t){ .write = write_output });
	if (!helper->out)
		return cli_fail("out of memory");
	setvbuf(helper->out, buffer, _IOFBF, sizeof(buffer));
	status = run_control(helper, words);
	fclose(helper->out);
	send_messages(helper, messages);
	return status;
}

int cli_helper_main(int argc, char **argv)
{
	static struct sim_reach_packet packet;
	struct cli_helper helper = { .sock = SOCK_FD };
	char **words;
	int status;

	if (argc != 4) {
		fputs("bfsim " SIM_REACH_COMMAND " is started by bfsim-gateway\n", stderr);
		return CLI_USAGE;
	}
	helper.dir = argv[2];
	helper.machine = argv[3];
	if (sim_reach_send(helper.sock, SIM_REACH_READY, NULL, 0) < 0 ||
	    sim_reach_recv(helper.sock, &packet, SIM_REACH_TIMEOUT_MS) < 0 || packet.kind != SIM_REACH_BEGIN ||
	    sim_reach_words(&packet, &words) < 1)
		return CLI_FAILED;
	status = strcmp(argv[1], "exec") == 0 ? cli_helper_exec(&helper, words) : control(&helper, words);
	sim_reach_send_number(helper.sock, SIM_REACH_EXIT, status);
	while (sim_reach_recv(helper.sock, &packet, SIM_REACH_TIMEOUT_MS) ==
	       0) /* what is unread would break the connection */
		;
	free(words);
	return CLI_OK;
}
