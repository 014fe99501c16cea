/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to a session from outside: its directory, topology and daemon. */
#include "session_client.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"
#include "sim/protocol/session_dir.h"
#include "sim/control/side.h"
#include "sim/base/last_error.h"
#include "sim/base/monotonic.h"

int cli_session_open(const char *dir)
{
	int dir_fd = sim_session_dir_open(dir, false);

	if (dir_fd < 0 && dir_fd != -ENOENT)
		return cli_error("cannot open the session directory %s: %s", dir, sim_session_dir_strerror(dir_fd));
	if (dir_fd >= 0 && sim_session_dir_is_live(dir_fd))
		return dir_fd;
	if (dir_fd >= 0 && faccessat(dir_fd, "lock", F_OK, 0) == 0)
		cli_fail(
			"the session in %s is stale, its daemon died: start it again with bfsim up, or remove it with bfsim down",
			dir);
	else
		cli_fail("no session in %s: start one with bfsim up, or name another with --session", dir);
	if (dir_fd >= 0)
		close(dir_fd);
	return -1;
}

int cli_session_map_state(int dir_fd, const char *dir, struct sim_segment *ret_state)
{
	int rc = sim_control_map_shared_state(dir_fd, ret_state);

	return rc < 0 ? cli_session_report_error(dir, rc) : 0;
}

struct json_object *cli_session_status(const char *dir)
{
	struct sim_msg msg = { .type = SIM_MSG_STATUS };
	int dir_fd = sim_session_dir_open(dir, false), fd = -1;
	json_object *status = NULL;

	if (dir_fd < 0)
		return NULL;
	if (sim_session_dir_is_live(dir_fd) && sim_control_exchange(dir_fd, &msg, -1, &fd) == 0 && fd >= 0)
		status = json_object_from_fd(fd);
	if (fd >= 0)
		close(fd);
	close(dir_fd);
	return status;
}

bool cli_status_has_service(json_object *status, const char *name)
{
	json_object *services = NULL;

	if (!json_object_object_get_ex(status, "services", &services))
		return false;
	for (size_t i = 0; i < json_object_array_length(services); i++) {
		json_object *service = json_object_array_get_idx(services, i);
		const char *text = json_object_get_string(json_object_object_get(service, "name"));

		if (text && strcmp(text, name) == 0)
			return true;
	}
	return false;
}

int cli_session_wait(const char *dir, unsigned int seconds)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	int64_t deadline_ms = sim_monotonic_ms() + (int64_t)seconds * 1000;

	for (;;) {
		json_object *status = cli_session_status(dir);

		json_object_put(status);
		if (status)
			return 0;
		if (seconds && sim_monotonic_ms() >= deadline_ms)
			break;
		if (cli_output_is_gone())
			return cli_error(
				"no session in %s yet, and nobody reads the output any more: not waiting longer", dir);
		nanosleep(&pause, NULL);
	}
	return cli_error(
		"no session in %s after %u s: does bfsim up run, with the same directory (--session, BFSIM_SESSION)?",
		dir, seconds);
}

static struct pcie_topology *parse_topology(const char *name, const char *yaml, size_t len)
{
	char error[PCIE_ERROR_SIZE];
	struct pcie_topology *topology;

	if (pcie_topology_parse(name, yaml, len, &topology, error) == 0)
		return topology;
	cli_fail("%s", error);
	return NULL;
}

static struct pcie_topology *read_topology(int dir_fd, const char *path, const char *name)
{
	struct pcie_topology *topology;
	char *yaml;
	size_t len;
	int rc = sim_session_dir_read(dir_fd, path, &yaml, &len);

	if (rc < 0) {
		cli_fail("topology file %s: %s", name, sim_session_dir_strerror(rc));
		return NULL;
	}
	topology = parse_topology(name, yaml, len);
	free(yaml);
	return topology;
}

struct pcie_topology *cli_topology_of_session(const char *dir)
{
	int dir_fd = cli_session_open(dir);
	struct pcie_topology *topology = NULL;
	char *name;

	if (dir_fd < 0)
		return NULL;
	if (asprintf(&name, "%s/topology.yaml", dir) < 0) {
		cli_fail("out of memory");
	} else {
		topology = read_topology(dir_fd, "topology.yaml", name);
		free(name);
	}
	close(dir_fd);
	return topology;
}

struct pcie_topology *cli_topology_of_file(const char *path)
{
	return read_topology(AT_FDCWD, path, path);
}

struct pcie_topology *cli_topology_built_in(void)
{
	const char *yaml = pcie_topology_default_yaml();

	return parse_topology("built-in topology", yaml, strlen(yaml));
}

static bool is_default_session_live(const char *dir)
{
	int dir_fd = sim_session_dir_open(dir, false);
	bool live = dir_fd >= 0 && sim_session_dir_is_live(dir_fd);

	if (dir_fd >= 0)
		close(dir_fd);
	return live;
}

struct pcie_topology *cli_topology_choose(const char *file, const struct cli_session_opt *opt, const char **ret_source)
{
	if (file) {
		*ret_source = file;
		return cli_topology_of_file(file);
	}
	if (!opt->is_explicit && (opt->default_rc < 0 || !is_default_session_live(opt->dir))) {
		*ret_source = "built-in topology";
		return cli_topology_built_in();
	}
	*ret_source = opt->dir;
	return cli_topology_of_session(opt->dir);
}

bool cli_check_side(const struct pcie_topology *topology, const char *where, const char *side)
{
	int rc = sim_side_check(topology, where, side);

	if (rc < 0)
		cli_fail("%s", sim_last_error());
	return rc == 0;
}

int cli_session_report_error(const char *dir, int rc)
{
	sim_control_set_error(dir, rc);
	return cli_error("%s", sim_last_error());
}

int cli_session_request(int dir_fd, const char *dir, uint16_t type, int *ret_fd)
{
	struct sim_msg msg = { .type = type };
	int rc = sim_control_exchange(dir_fd, &msg, -1, ret_fd);

	if (rc == 0)
		rc = msg.status;
	return rc < 0 ? cli_session_report_error(dir, rc) : 0;
}
