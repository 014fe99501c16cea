/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading of topology files for sim/api. */
#include "topology_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/protocol/session_dir.h"
#include "sim/base/last_error.h"

int api_load_topology(int dir_fd, const char *path, struct pcie_topology **ret_topology)
{
	const char *default_yaml = pcie_topology_default_yaml();
	char error[PCIE_ERROR_SIZE], *yaml = NULL;
	size_t len = 0;
	int rc = path ? sim_session_dir_read(dir_fd, path, &yaml, &len) : 0;

	if (rc < 0)
		return sim_set_error(rc, "topology file %s: %s", path, strerror(-rc));
	if (path)
		rc = pcie_topology_parse(path, yaml, len, ret_topology, error);
	else
		rc = pcie_topology_parse("built-in topology", default_yaml, strlen(default_yaml), ret_topology, error);
	free(yaml);
	return rc < 0 ? sim_set_error(rc, "%s", rc == -ENOMEM ? "out of memory" : error) : 0;
}
