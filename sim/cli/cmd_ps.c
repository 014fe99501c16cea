/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim ps: the processes of a session, their imported memory and their connections. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/protocol/wire.h"
#include "sim/cli/base/table.h"
#include "sim/cli/reach/reach_list.h"
#include "sim/cli/view/live.h"

struct options {
	struct cli_session_opt session;
	bool json, here;
	bool ready;          /* only say whether ... */
	const char *service; /* ... this one is offered; NULL = the session is live */
};

static void set_ready(void *all, char *text, struct argp_state *state)
{
	struct options *options = all;

	(void)state;
	options->ready = true;
	options->service = text;
}

static const struct cli_option option_list[] = {
	CLI_FLAG('j', "json", struct options, json, "Print JSON"),
	CLI_FLAG(0, "here", struct options, here,
		 "Leave out the processes of other machines, which are asked for them"),
	CLI_CALL_WHOLE(0, "ready", "SERVICE", set_ready, OPTION_ARG_OPTIONAL,
		       "Print nothing; the status says whether the session is live, and a program offers SERVICE"),
	{ 0 },
};

/* The status that the daemon sent, plus the session's directory; NULL on failure. */
static json_object *request_status(const char *dir)
{
	int dir_fd = cli_session_open(dir), fd;
	json_object *status = NULL;

	if (dir_fd < 0)
		return NULL;
	if (cli_session_request(dir_fd, dir, SIM_MSG_STATUS, &fd) == 0) {
		status = fd < 0 ? NULL : json_object_from_fd(fd);
		if (!status)
			cli_fail("the daemon of session %s sent no status: restart it with this version of bfsim", dir);
		else
			cli_json_add_text(status, "session", dir);
		if (fd >= 0)
			close(fd);
	}
	close(dir_fd);
	return status;
}

/* The process with the number @peer, or NULL. */
static json_object *find_process(json_object *processes, uint64_t peer)
{
	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		json_object *process = json_object_array_get_idx(processes, i);

		if (cli_json_number(process, "peer") == peer)
			return process;
	}
	return NULL;
}

/* @machine NULL = the table has no column for it. */
static void add_processes(struct cli_table *table, const char *machine, json_object *processes)
{
	for (size_t i = 0; processes && i < json_object_array_length(processes); i++) {
		json_object *process = json_object_array_get_idx(processes, i);
		const char *check = cli_json_text(process, "check");

		if (machine)
			cli_table_add(table, "%s", machine);
		cli_table_add(table, "%" PRIu64, cli_json_number(process, "pid"));
		cli_table_add(table, "%s", cli_json_text(process, "side"));
		cli_table_add(table, "%s", cli_json_text(process, "program"));
		cli_table_add(table, "%" PRIu64, cli_json_number(process, "exports"));
		cli_table_add(table, "%" PRIu64, cli_json_number(process, "imports"));
		cli_table_add(table, "%s", check[0] ? check : "-");
	}
}

/* Those of this machine, and then the others'. */
static int print_processes(json_object *processes, json_object *machines)
{
	static const char *const headings[] = { "MACHINE", ">PID", "SIDE", "PROGRAM", ">EXPORTS", ">IMPORTS", "CHECK" };
	struct cli_table table = CLI_TABLE(headings);
	json_object *list = cli_json_list(machines, "list");

	if (!machines) {
		table.headings++;
		table.num_columns--;
	}
	add_processes(&table, machines ? cli_json_text(machines, "self") : NULL, processes);
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *machine = json_object_array_get_idx(list, i);

		add_processes(&table, cli_json_text(machine, "name"), cli_json_list(machine, "processes"));
	}
	return cli_table_print(&table);
}

static int print_imports(json_object *imports, json_object *processes)
{
	static const char *const headings[] = { ">IMPORTER", ">EXPORTER", ">BYTES",
						"ACCESS",    "PATH",      "WHY NO BETTER PATH" };
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < json_object_array_length(imports); i++) {
		json_object *import = json_object_array_get_idx(imports, i);
		json_object *importer = find_process(processes, cli_json_number(import, "importer"));
		json_object *exporter = find_process(processes, cli_json_number(import, "exporter"));
		bool writable = json_object_get_boolean(json_object_object_get(import, "writable"));

		cli_table_add(&table, "%" PRIu64, cli_json_number(importer, "pid"));
		cli_table_add(&table, "%" PRIu64, cli_json_number(exporter, "pid"));
		cli_table_add(&table, "%" PRIu64, cli_json_number(import, "bytes"));
		cli_table_add(&table, "%s", writable ? "rw" : "ro");
		cli_table_add(&table, "%s", cli_json_text(import, "path"));
		cli_table_add(&table, "%s", cli_json_text(import, "reason"));
	}
	return cli_table_print(&table);
}

static const char *peer_program(json_object *processes, json_object *object, const char *peer)
{
	return cli_json_text(find_process(processes, cli_json_number(object, peer)), "program");
}

static uint64_t peer_pid(json_object *processes, json_object *object, const char *peer)
{
	return cli_json_number(find_process(processes, cli_json_number(object, peer)), "pid");
}

static int print_services(json_object *services, json_object *processes)
{
	static const char *const headings[] = { "SERVICE", ">PID", "PROGRAM", "FUNCTION", "REPRESENTOR OF" };
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < json_object_array_length(services); i++) {
		json_object *service = json_object_array_get_idx(services, i);

		cli_table_add(&table, "%s", cli_json_text(service, "name"));
		cli_table_add(&table, "%" PRIu64, peer_pid(processes, service, "peer"));
		cli_table_add(&table, "%s", peer_program(processes, service, "peer"));
		cli_table_add(&table, "%s %s", cli_json_text(service, "side"), cli_json_text(service, "function"));
		cli_table_add(&table, "%s %s", cli_json_text(service, "rep_side"), cli_json_text(service, "rep"));
	}
	return cli_table_print(&table);
}

static void add_endpoint(struct cli_table *table, json_object *channel, json_object *processes,
			 const char *const names[3])
{
	if (!json_object_object_get(channel, names[0])) { /* pending: no server yet */
		cli_table_add(table, "-");
		cli_table_add(table, "-");
		return;
	}
	cli_table_add(table, "%" PRIu64 " %s", peer_pid(processes, channel, names[0]),
		      peer_program(processes, channel, names[0]));
	cli_table_add(table, "%s %s", cli_json_text(channel, names[1]), cli_json_text(channel, names[2]));
}

static int print_channels(json_object *channels, json_object *processes)
{
	static const char *const headings[] = { "CONNECTION TO", "STATE", "CLIENT", "AT", "SERVER", "AT" };
	static const char *const client[] = { "client", "client_side", "client_function" };
	static const char *const server[] = { "server", "server_side", "server_function" };
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < json_object_array_length(channels); i++) {
		json_object *channel = json_object_array_get_idx(channels, i);

		cli_table_add(&table, "%s", cli_json_text(channel, "name"));
		cli_table_add(&table, "%s", cli_json_text(channel, "state"));
		add_endpoint(&table, channel, processes, client);
		add_endpoint(&table, channel, processes, server);
	}
	return cli_table_print(&table);
}

/* "0.1 ms", "-" */
static void add_round_trip(struct cli_table *table, json_object *machine)
{
	uint64_t ns = cli_json_number(machine, "round_trip_ns");

	if (ns == 0)
		cli_table_add(table, "-");
	else
		cli_table_add(table, "%" PRIu64 " us", (ns + 500) / 1000);
}

/* The machines of a session over several ones. */
static int print_machines(json_object *machines)
{
	static const char *const headings[] = { "MACHINE",     "STATE", "PATH",      "PROVIDER", "ENDPOINT",
						">ROUND TRIP", ">SENT", ">RECEIVED", "WHY" };
	struct cli_table table = CLI_TABLE(headings);
	json_object *list = cli_json_list(machines, "list");

	if (!list)
		return 0;
	printf("\n");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *machine = json_object_array_get_idx(list, i);
		const char *path = cli_json_text(machine, "path"), *provider = cli_json_text(machine, "provider");
		const char *endpoint = cli_json_text(machine, "endpoint");

		cli_table_add(&table, "%s", cli_json_text(machine, "name"));
		cli_table_add(&table, "%s", cli_json_text(machine, "state"));
		cli_table_add(&table, "%s", path[0] ? path : "-");
		cli_table_add(&table, "%s", provider[0] ? provider : "-");
		cli_table_add(&table, "%s", endpoint[0] ? endpoint : "-");
		add_round_trip(&table, machine);
		cli_table_add(&table, "%" PRIu64, cli_json_number(machine, "sent_bytes"));
		cli_table_add(&table, "%" PRIu64, cli_json_number(machine, "received_bytes"));
		cli_table_add(&table, "%s", cli_json_text(machine, "why"));
	}
	return cli_table_print(&table);
}

/* This machine's part in the session. */
static void print_role(json_object *machines)
{
	uint64_t port = cli_json_number(machines, "port");

	if (!machines)
		return;
	printf("machine %s", cli_json_text(machines, "self"));
	if (strcmp(cli_json_text(machines, "role"), "home") == 0)
		printf(", home of the session");
	if (port > 0)
		printf(", at port %" PRIu64, port);
	printf("; encrypted: %s\n", cli_json_text(machines, "encryption"));
	if (cli_json_member(machines, "timed_messages"))
		printf("model time: %" PRIu64 " messages of other machines, of which %" PRIu64 " came late, by %" PRIu64
		       " us at most\n",
		       cli_json_number(machines, "timed_messages"), cli_json_number(machines, "late_messages"),
		       (cli_json_number(machines, "max_late_ns") + 999) / 1000);
}

typedef int print_table_fn(json_object *list, json_object *processes);

/* Print a further table, unless its list is empty. */
static int print_if_any(json_object *list, json_object *processes, print_table_fn *print)
{
	if (json_object_array_length(list) == 0)
		return 0;
	printf("\n");
	return print(list, processes);
}

/* What commands and faults changed of the card. */
static int print_changes(const char *dir)
{
	struct pcie_topology *topology = cli_topology_of_session(dir);
	struct cli_live live = { 0 };
	int rc = topology ? cli_live_open(dir, &live) : -1;

	if (rc == 0)
		cli_live_print_changes(&live, topology);
	cli_live_close(&live);
	pcie_topology_destroy(topology);
	return rc;
}

static int print_status(json_object *status, const char *dir)
{
	json_object *processes = json_object_object_get(status, "processes");
	json_object *imports = json_object_object_get(status, "imports");

	printf("session %s, daemon %" PRIu64 "\n", cli_json_text(status, "session"), cli_json_number(status, "pid"));
	print_role(cli_json_member(status, "machines"));
	if (print_changes(dir) < 0 || print_machines(cli_json_member(status, "machines")) < 0)
		return -1;
	if (json_object_array_length(processes) == 0) {
		printf("no process is attached\n");
		return 0;
	}
	printf("\n");
	if (print_processes(processes, cli_json_member(status, "machines")) < 0 ||
	    print_if_any(imports, processes, print_imports) < 0 ||
	    print_if_any(json_object_object_get(status, "services"), processes, print_services) < 0)
		return -1;
	return print_if_any(json_object_object_get(status, "channels"), processes, print_channels);
}

/* Ask the other machines for their processes: they stand with their machine, as the numbers of peers are each machine's own. */
static void add_far_processes(json_object *status, const char *dir)
{
	json_object *list = cli_json_list(cli_json_member(status, "machines"), "list");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *machine = json_object_array_get_idx(list, i), *processes;
		const char *name = cli_json_text(machine, "name");

		if (strcmp(cli_json_text(machine, "state"), "joined") != 0)
			continue;
		processes = cli_reach_list(dir, name, "processes", "processes");
		if (processes)
			json_object_object_add(machine, "processes", processes);
		else
			cli_fail("the processes of %s are left out", name);
	}
}

/* For health checks: no message, as they are called before a session is there. */
static int check_ready(const struct options *options)
{
	json_object *status = cli_session_status(options->session.dir);
	bool is_ready = status && (!options->service || cli_status_has_service(status, options->service));

	json_object_put(status);
	return is_ready ? CLI_OK : CLI_FAILED;
}

int cli_ps(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.doc = "Show the processes of a session, the memory that they export and import, the path of its bytes, and their connections.",
	};
	struct options options = { 0 };
	json_object *status;
	int rc;

	cli_args_parse(&args, argc, argv, 0, &options);
	if (options.ready)
		return check_ready(&options);
	status = request_status(options.session.dir);
	if (!status)
		return CLI_FAILED;
	if (!options.here)
		add_far_processes(status, options.session.dir);
	if (options.json) {
		rc = cli_json_print(status, JSON_C_TO_STRING_PRETTY);
	} else {
		rc = print_status(status, options.session.dir);
		json_object_put(status);
	}
	return rc < 0 ? CLI_FAILED : CLI_OK;
}
