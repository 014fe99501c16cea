/* SPDX-License-Identifier: BSD-3-Clause */
/* The fault plan of this machine, for a command of another one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/fault/fault_change.h"

int cli_helper_faults(struct cli_helper *helper)
{
	int dir_fd = cli_session_open(helper->dir);
	json_object *list = dir_fd < 0 ? NULL : cli_fault_rules(dir_fd, helper->dir);

	if (list)
		fputs(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN), helper->out);
	json_object_put(list);
	if (dir_fd >= 0)
		close(dir_fd);
	return list ? CLI_OK : CLI_FAILED;
}

/* Read all input. Returns 0 and bytes that the caller frees, or -errno: -EFBIG, more than @max; -EPIPE, the command has ended. */
static int read_input(struct cli_helper *helper, size_t max, void **ret_bytes, size_t *ret_len)
{
	static struct sim_reach_packet packet; /* the process has one thread */
	char *bytes = NULL, *grown;
	size_t len = 0;
	int rc;

	while ((rc = sim_reach_recv(helper->sock, &packet, SIM_REACH_TIMEOUT_MS)) == 0 &&
	       packet.kind != SIM_REACH_INPUT_END) {
		if (packet.kind != SIM_REACH_INPUT || packet.len > max - len) {
			rc = packet.kind != SIM_REACH_INPUT ? -EPROTO : -EFBIG;
			break;
		}
		grown = realloc(bytes, len + packet.len + 1);
		if (!grown) {
			rc = -ENOMEM;
			break;
		}
		bytes = grown;
		memcpy(bytes + len, packet.bytes, packet.len);
		len += packet.len;
	}
	if (rc < 0) {
		free(bytes);
		return rc;
	}
	*ret_bytes = bytes;
	*ret_len = len;
	return 0;
}

static int apply(struct cli_helper *helper, const void *bytes, size_t len)
{
	const struct sim_delays *delays;
	struct cli_fault_change change;
	int dir_fd, rc = cli_fault_change_read(bytes, len, &change, &delays);
	uint32_t id;

	if (rc < 0)
		return cli_fail("%s has got what is no change of a fault plan", helper->machine);
	dir_fd = cli_session_open(helper->dir);
	if (dir_fd < 0)
		return CLI_FAILED;
	rc = cli_fault_apply(&change, delays, dir_fd, helper->dir, &id);
	close(dir_fd);
	if (rc == 0)
		fprintf(helper->out, "%u", id);
	return rc == 0 ? CLI_OK : CLI_FAILED;
}

int cli_helper_change(struct cli_helper *helper)
{
	void *bytes = NULL;
	size_t len = 0;
	int rc = read_input(helper, CLI_FAULT_CHANGE_MAX_BYTES, &bytes, &len);

	if (rc < 0)
		return cli_fail("%s has not got the whole change of its fault plan: %s", helper->machine,
				strerror(-rc));
	rc = apply(helper, bytes, len);
	free(bytes);
	return rc;
}
