/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to a session from outside: its directory, topology and daemon. */
#include "session_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "sim/protocol/session_dir.h"
#include "sim/control/side.h"
#include "sim/base/last_error.h"

int cli_session_open(const char *dir)
{
	int dir_fd = sim_session_dir_open(dir, false);

	if (dir_fd < 0 && dir_fd != -ENOENT) {
		cli_fail("cannot open the session directory %s: %s", dir, sim_session_dir_strerror(dir_fd));
		return -1;
	}
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
		cli_fail("topology file %s: %s", name, strerror(-rc));
		return NULL;
	}
	topology = parse_topology(name, yaml, len);
	free(yaml);
	return topology;
}

struct pcie_topology *cli_topology_of_session(int dir_fd, const char *dir)
{
	struct pcie_topology *topology;
	char *name;

	if (asprintf(&name, "%s/topology.yaml", dir) < 0) {
		cli_fail("out of memory");
		return NULL;
	}
	topology = read_topology(dir_fd, "topology.yaml", name);
	free(name);
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
	cli_fail("%s", sim_last_error());
	return -1;
}

int cli_session_request(int dir_fd, const char *dir, uint16_t type, int *ret_fd)
{
	struct sim_msg msg = { .type = type };
	int rc = sim_control_exchange(dir_fd, &msg, -1, ret_fd);

	if (rc == 0)
		rc = msg.status;
	return rc < 0 ? cli_session_report_error(dir, rc) : 0;
}
