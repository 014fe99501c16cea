/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines of a run on this one. */
#include "run_nodes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/reach/reach.h"

#define TOKEN_BYTES     32
#define JOIN_TIMEOUT_MS 10000
#define LISTEN          "127.0.0.1:0" /* any port */

static int write_token(struct cli_run_nodes *nodes, const char *dir)
{
	uint8_t bytes[TOKEN_BYTES];
	int fd;

	if (asprintf(&nodes->token_file, "%s/token", dir) < 0)
		nodes->token_file = NULL;
	fd = nodes->token_file ? open(nodes->token_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd < 0 || getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return cli_fail("cannot write a token for the machines of the run into %s", dir);
	for (size_t i = 0; i < sizeof(bytes); i++)
		dprintf(fd, "%02x", bytes[i]);
	close(fd);
	return 0;
}

static int add_node(struct cli_run_nodes *nodes, const char *name)
{
	struct cli_run_node *list = reallocarray(nodes->list, nodes->count + 1, sizeof(*list));

	if (!list)
		return cli_fail("out of memory");
	nodes->list = list;
	list[nodes->count] = (struct cli_run_node){ 0 };
	strcpy(list[nodes->count].name, name);
	if (cli_session_prepare_temporary(&list[nodes->count].dir) < 0)
		return -1;
	nodes->count++;
	return 0;
}

static int add_machines(struct cli_run_nodes *nodes, const struct pcie_topology *topology, const char *file)
{
	char name[PCIE_SIDE_SIZE];
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && pcie_topology_get_machine(topology, i, name); i++) {
		if (!name[0])
			return cli_fail(
				"--nodes: %s has a side without a machine; its sides would be node0/host, node0/dpu",
				file);
		if (i == 0)
			strcpy(nodes->home, name);
		else
			rc = add_node(nodes, name);
	}
	if (rc == 0 && nodes->count == 0)
		return cli_fail("--nodes: %s has one machine; a run of one needs no --nodes", file);
	return rc;
}

int cli_run_nodes_open(struct cli_run_nodes *nodes, const char *file, const struct sim_session_dir *home)
{
	struct pcie_topology *topology = cli_topology_of_file(file);
	int rc = topology ? add_machines(nodes, topology, file) : -1;

	pcie_topology_destroy(topology);
	if (rc == 0)
		rc = write_token(nodes, home->dir);
	if (rc != 0)
		cli_run_nodes_close(nodes);
	return rc == 0 ? 0 : -1;
}

void cli_run_nodes_close(struct cli_run_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		sim_session_dir_remove(&nodes->list[i].dir);
		sim_session_dir_fini(&nodes->list[i].dir);
	}
	if (nodes->token_file)
		unlink(nodes->token_file);
	free(nodes->token_file);
	free(nodes->list);
	*nodes = (struct cli_run_nodes){ 0 };
}

void cli_run_nodes_set_home(const struct cli_run_nodes *nodes, struct sim_launch_cfg *cfg)
{
	if (nodes->count > 0)
		cfg->machines = (struct sim_machines_cfg){ .name = nodes->home,
							   .listen = LISTEN,
							   .token_file = nodes->token_file };
}

/* Home's daemon is ready when its gateway is. Returns 0 with a message. */
static uint64_t read_port(const char *home)
{
	json_object *status = cli_session_status(home);
	uint64_t port = status ? cli_json_number(cli_json_member(status, "machines"), "port") : 0;

	json_object_put(status);
	if (port == 0)
		cli_fail("the session's gateway listens at no port");
	return port;
}

/* Home's daemon learns from its gateway, within moments, which machines have joined. */
static int wait_until_known(const struct cli_run_nodes *nodes, const char *home)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	const int64_t end_ms = sim_monotonic_ms() + JOIN_TIMEOUT_MS;

	for (;;) {
		struct cli_machines machines;
		size_t num_joined = 0;

		if (cli_machines_read(home, &machines) < 0)
			return -1;
		for (size_t i = 0; i < machines.count; i++)
			num_joined += machines.list[i].is_joined;
		cli_machines_free(&machines);
		if (num_joined == nodes->count)
			return 0;
		if (sim_monotonic_ms() >= end_ms)
			return cli_error("not all machines of the run have joined its session after %d s",
					 JOIN_TIMEOUT_MS / 1000);
		nanosleep(&pause, NULL);
	}
}

static int map_state(struct cli_run_node *node)
{
	int dir_fd = cli_session_open(node->dir.dir), rc;

	if (dir_fd < 0)
		return -1;
	rc = cli_session_map_state(dir_fd, node->dir.dir, &node->shared_state);
	close(dir_fd);
	return rc;
}

int cli_run_nodes_start(struct cli_run_nodes *nodes, const char *home, uint32_t trace_level)
{
	uint64_t port = nodes->count > 0 ? read_port(home) : 0;
	char address[64];

	if (nodes->count > 0 && port == 0)
		return -1;
	snprintf(address, sizeof(address), "127.0.0.1:%" PRIu64, port);
	for (size_t i = 0; i < nodes->count; i++) {
		struct cli_run_node *node = &nodes->list[i];
		const struct sim_launch_cfg cfg = {
			.session_dir = &node->dir,
			.trace_level = trace_level,
			.temporary = true,
			.machines = { .name = node->name,
				      .join = address,
				      .listen = nodes->count > 1 ? LISTEN : NULL, /* for direct links */
				      .token_file = nodes->token_file }
		};

		node->daemon = cli_daemon_start(&cfg);
		if (node->daemon < 0) {
			node->daemon = 0;
			return -1;
		}
		if (map_state(node) < 0)
			return -1;
	}
	return nodes->count > 0 ? wait_until_known(nodes, home) : 0;
}

const struct cli_run_node *cli_run_nodes_of_side(const struct cli_run_nodes *nodes, const char *side)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (pcie_side_is_of(side, nodes->list[i].name))
			return &nodes->list[i];
	return NULL;
}

const char *cli_run_nodes_dir(const struct cli_run_nodes *nodes, const char *side, const char *home)
{
	const struct cli_run_node *node = cli_run_nodes_of_side(nodes, side);

	return node ? node->dir.dir : home;
}

void cli_run_nodes_daemons(const struct cli_run_nodes *nodes, pid_t home, pid_t *list)
{
	if (home > 0)
		*list++ = home;
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->list[i].daemon > 0)
			*list++ = nodes->list[i].daemon;
	*list = 0;
}
