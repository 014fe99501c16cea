/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim ps: the processes of a session, how bytes move between them, and who is connected to whom. */
#include <argp.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/protocol/wire.h"
#include "sim/cli/base/table.h"

struct options {
	struct cli_session_opt session;
	bool json;
};

static const struct argp_option option_list[] = {
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{0},
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The daemon's report as it sent it, with the session's directory added; NULL on failure. */
static json_object *ask(const char *dir)
{
	int dir_fd = cli_session_open(dir), fd;
	json_object *status = NULL;

	if (dir_fd < 0)
		return NULL;
	if (cli_session_ask(dir_fd, dir, SIM_MSG_STATUS, &fd) == 0) {
		status = fd < 0 ? NULL : json_object_from_fd(fd);
		if (!status)
			cli_fail("the daemon of session %s sent no status: restart it with this version of bfsim", dir);
		else
			json_object_object_add(status, "session", json_object_new_string(dir));
		if (fd >= 0)
			close(fd);
	}
	close(dir_fd);
	return status;
}

static const char *text_of(json_object *of, const char *name)
{
	return json_object_get_string(json_object_object_get(of, name));
}

static unsigned long long number_of(json_object *of, const char *name)
{
	return json_object_get_uint64(json_object_object_get(of, name));
}

/* The process that the report knows by number @peer, or NULL. */
static json_object *process_of(json_object *processes, unsigned long long peer)
{
	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		json_object *process = json_object_array_get_idx(processes, i);

		if (number_of(process, "peer") == peer)
			return process;
	}
	return NULL;
}

static int print_processes(json_object *processes)
{
	static const char *const headings[] = {">PID", "SIDE", "PROGRAM", ">EXPORTS", ">IMPORTS"};
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		json_object *process = json_object_array_get_idx(processes, i);

		cli_table_add(&table, "%llu", number_of(process, "pid"));
		cli_table_add(&table, "%s", text_of(process, "side"));
		cli_table_add(&table, "%s", text_of(process, "program"));
		cli_table_add(&table, "%llu", number_of(process, "exports"));
		cli_table_add(&table, "%llu", number_of(process, "imports"));
	}
	return cli_table_print(&table);
}

static int print_imports(json_object *imports, json_object *processes)
{
	static const char *const headings[] = {">IMPORTER", ">EXPORTER", ">BYTES", "ACCESS", "PATH",
					       "WHY NO BETTER PATH"};
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < json_object_array_length(imports); i++) {
		json_object *import = json_object_array_get_idx(imports, i);
		json_object *importer = process_of(processes, number_of(import, "importer"));
		json_object *exporter = process_of(processes, number_of(import, "exporter"));
		bool writable = json_object_get_boolean(json_object_object_get(import, "writable"));

		cli_table_add(&table, "%llu", number_of(importer, "pid"));
		cli_table_add(&table, "%llu", number_of(exporter, "pid"));
		cli_table_add(&table, "%llu", number_of(import, "bytes"));
		cli_table_add(&table, "%s", writable ? "rw" : "ro");
		cli_table_add(&table, "%s", text_of(import, "path"));
		cli_table_add(&table, "%s", text_of(import, "reason"));
	}
	return cli_table_print(&table);
}

static const char *program_of(json_object *processes, json_object *of, const char *peer)
{
	return text_of(process_of(processes, number_of(of, peer)), "program");
}

static unsigned long long pid_of(json_object *processes, json_object *of, const char *peer)
{
	return number_of(process_of(processes, number_of(of, peer)), "pid");
}

static int print_services(json_object *services, json_object *processes)
{
	static const char *const headings[] = {"SERVICE", ">PID", "PROGRAM", "FUNCTION", "REPRESENTOR OF"};
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < json_object_array_length(services); i++) {
		json_object *service = json_object_array_get_idx(services, i);

		cli_table_add(&table, "%s", text_of(service, "name"));
		cli_table_add(&table, "%llu", pid_of(processes, service, "peer"));
		cli_table_add(&table, "%s", program_of(processes, service, "peer"));
		cli_table_add(&table, "%s %s", text_of(service, "side"), text_of(service, "function"));
		cli_table_add(&table, "%s %s", text_of(service, "rep_side"), text_of(service, "rep"));
	}
	return cli_table_print(&table);
}

static void add_end(struct cli_table *table, json_object *channel, json_object *processes, const char *const names[3])
{
	if (!json_object_object_get(channel, names[0])) { /* pending: it has no server yet */
		cli_table_add(table, "-");
		cli_table_add(table, "-");
		return;
	}
	cli_table_add(table, "%llu %s", pid_of(processes, channel, names[0]), program_of(processes, channel, names[0]));
	cli_table_add(table, "%s %s", text_of(channel, names[1]), text_of(channel, names[2]));
}

static int print_channels(json_object *channels, json_object *processes)
{
	static const char *const headings[] = {"CONNECTION TO", "STATE", "CLIENT", "AT", "SERVER", "AT"};
	static const char *const client[] = {"client", "client_side", "client_function"};
	static const char *const server[] = {"server", "server_side", "server_function"};
	struct cli_table table = CLI_TABLE(headings);

	for (size_t i = 0; i < json_object_array_length(channels); i++) {
		json_object *channel = json_object_array_get_idx(channels, i);

		cli_table_add(&table, "%s", text_of(channel, "name"));
		cli_table_add(&table, "%s", text_of(channel, "state"));
		add_end(&table, channel, processes, client);
		add_end(&table, channel, processes, server);
	}
	return cli_table_print(&table);
}

typedef int print_list(json_object *list, json_object *processes);

/* A further table, if there is anything in it. */
static int print_below(json_object *list, json_object *processes, print_list *print)
{
	if (json_object_array_length(list) == 0)
		return 0;
	printf("\n");
	return print(list, processes);
}

static int print(json_object *status)
{
	json_object *processes = json_object_object_get(status, "processes");
	json_object *imports = json_object_object_get(status, "imports");

	printf("session %s, daemon %llu\n", text_of(status, "session"), number_of(status, "pid"));
	if (json_object_array_length(processes) == 0) {
		printf("no process is attached\n");
		return 0;
	}
	printf("\n");
	if (print_processes(processes) < 0 || print_below(imports, processes, print_imports) < 0 ||
	    print_below(json_object_object_get(status, "services"), processes, print_services) < 0)
		return -1;
	return print_below(json_object_object_get(status, "channels"), processes, print_channels);
}

int cli_ps(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = take,
		.doc = "Show the processes of a session, the memory they export and import, by which path its bytes move, and who is connected to whom.",
		.children = cli_session_children,
	};
	struct options options = {0};
	json_object *status;
	int rc = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = ask(options.session.dir);
	if (!status)
		return CLI_FAILED;
	if (options.json)
		printf("%s\n", json_object_to_json_string_ext(status, JSON_C_TO_STRING_PRETTY));
	else
		rc = print(status);
	json_object_put(status);
	return rc < 0 ? CLI_FAILED : CLI_OK;
}
