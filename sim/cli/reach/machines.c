/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines of a session, by what its daemon says. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reach.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_client.h"

static void fill_links(json_object *links, struct cli_machine *machine)
{
	machine->has_links = links != NULL;
	machine->links = (struct cli_link_counts){ .messages_sent = cli_json_number(links, "messages_sent"),
						   .bytes_sent = cli_json_number(links, "bytes_sent"),
						   .messages_received = cli_json_number(links, "messages_received"),
						   .bytes_received = cli_json_number(links, "bytes_received"),
						   .broken = cli_json_number(links, "broken") };
}

static int fill(json_object *status, struct cli_machines *machines)
{
	json_object *part = cli_json_member(status, "machines"), *list = cli_json_list(part, "list");
	size_t count = list ? json_object_array_length(list) : 0;

	machines->list = calloc(count + 1, sizeof(*machines->list));
	if (!machines->list)
		return cli_error("out of memory");
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(list, i);
		const char *state = cli_json_text(entry, "state");
		struct cli_machine *machine = &machines->list[machines->count++];

		snprintf(machine->name, sizeof(machine->name), "%s", cli_json_text(entry, "name"));
		machine->clock_error_ns = cli_json_number(entry, "clock_error_ns");
		fill_links(cli_json_member(entry, "links"), machine);
		machine->is_self = strcmp(state, "this machine") == 0;
		machine->is_joined = strcmp(state, "joined") == 0;
		machine->is_unknown = strcmp(state, "unknown") == 0;
		if (machine->is_self)
			machines->self = machine->name;
	}
	return 0;
}

int cli_machines_read(const char *dir, struct cli_machines *ret_machines)
{
	json_object *status = cli_session_status(dir);
	struct cli_machines machines = { .self = "" };
	int dir_fd, rc;

	if (!status) { /* a session that is not there is reported as ever */
		dir_fd = cli_session_open(dir);
		if (dir_fd >= 0)
			cli_session_request(dir_fd, dir, SIM_MSG_STATUS, NULL);
		if (dir_fd >= 0)
			close(dir_fd);
		return -1;
	}
	rc = fill(status, &machines);
	json_object_put(status);
	if (rc == 0)
		*ret_machines = machines;
	return rc;
}

void cli_machines_free(struct cli_machines *machines)
{
	free(machines->list);
	*machines = (struct cli_machines){ .self = "" };
}

const struct cli_machine *cli_machines_find(const struct cli_machines *machines, const char *name)
{
	for (size_t i = 0; i < machines->count; i++)
		if (strcmp(machines->list[i].name, name) == 0)
			return &machines->list[i];
	return NULL;
}

const struct cli_machine *cli_machines_of_side(const struct cli_machines *machines, const char *side)
{
	for (size_t i = 0; i < machines->count; i++)
		if (pcie_side_is_of(side, machines->list[i].name))
			return &machines->list[i];
	return NULL;
}
