/* SPDX-License-Identifier: BSD-3-Clause */
/* The recordings of this machine, for a command of another one. */
#include <unistd.h>

#include "helper.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/trace/recording_file.h"
#include "sim/cli/trace/recordings.h"

/* Each packet of input asks for the time. Returns 0, or -1: the command has ended. */
static int answer_times(struct cli_helper *helper)
{
	static struct sim_reach_packet packet;

	while (sim_reach_recv(helper->sock, &packet, SIM_REACH_TIMEOUT_MS) == 0) {
		const uint64_t now_ns = sim_monotonic_ns();

		if (packet.kind == SIM_REACH_INPUT_END)
			return 0;
		if (packet.kind != SIM_REACH_INPUT ||
		    sim_reach_send(helper->sock, SIM_REACH_OUTPUT, &now_ns, sizeof(now_ns)) < 0)
			break;
	}
	return -1;
}

static int fetch(const struct cli_helper *helper, bool counts_only, struct sim_merged_trace *ret_merged)
{
	int dir_fd, rc;

	if (!counts_only)
		return cli_recordings_fetch_here(helper->dir, ret_merged);
	dir_fd = cli_session_open(helper->dir);
	if (dir_fd < 0)
		return -1;
	rc = cli_recordings_fetch_counts_here(dir_fd, helper->dir, ret_merged);
	close(dir_fd);
	return rc;
}

int cli_helper_trace(struct cli_helper *helper, bool counts_only)
{
	struct sim_merged_trace merged;

	if (answer_times(helper) < 0 || fetch(helper, counts_only, &merged) < 0)
		return CLI_FAILED;
	cli_recording_write(&merged, helper->out);
	sim_merged_trace_free(&merged);
	return ferror(helper->out) ? CLI_FAILED : CLI_OK;
}
