/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment variables that put a process on a side of a session. */
#include "side_env.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "session_client.h"

/* Put @item in front of the list in @variable. */
static int prepend(const char *variable, const char *item)
{
	const char *old = getenv(variable);
	char *list;
	int rc;

	if (!old || !old[0])
		return setenv(variable, item, 1);
	if (asprintf(&list, "%s:%s", item, old) < 0)
		return -1;
	rc = setenv(variable, list, 1);
	free(list);
	return rc;
}

/* There are no libraries of @generation. A build tree has none: there, the run path of the programs finds the libraries.
 * An installation may lack one generation. */
static int check_missing_libraries(enum cli_generation generation)
{
	char *dir;

	if (generation == CLI_GENERATION_TASK || !cli_is_installed())
		return 0;
	dir = cli_libdir(generation, cli_archs[0]);
	cli_fail("the program is of the %s generation (DOCA %s), and there are no libraries for it in %s; "
		 "--generation task starts it with the current ones",
		 cli_generation_name(generation),
		 generation == CLI_GENERATION_WORKQ ? "1.5 to 2.2" : "2.5 and 2.6, with RDMA",
		 dir ? dir : "this installation");
	free(dir);
	return -1;
}

static int add_library_path(const char *dir)
{
	if (strpbrk(dir, ":;")) {
		cli_fail("%s contains : or ;, which LD_LIBRARY_PATH cannot: install bfsim elsewhere", dir);
		return -1;
	}
	if (prepend("LD_LIBRARY_PATH", dir) == 0)
		return 0;
	return cli_error("out of memory");
}

/* Add @dir, if it is there, and free it. */
static int add_if_there(char *dir, bool *ret_found)
{
	int rc = 0;

	*ret_found = dir && access(dir, F_OK) == 0;
	if (*ret_found)
		rc = add_library_path(dir);
	if (!dir) {
		cli_fail("out of memory");
		rc = -1;
	}
	free(dir);
	return rc;
}

/* The libraries of the side's SDK tree; without that tree (the package of the side is not installed) those that it has links
 * to. Of all architectures: a loader passes over libraries that are not for its own. */
static int add_library_paths(const char *side, enum cli_generation generation)
{
	bool any = false;

	for (size_t i = 0; cli_archs[i]; i++) {
		bool found = false;

		if (i > 0 && !cli_has_libraries(generation, cli_archs[i]))
			continue; /* its directory in the tree, if there is one, has those of this architecture */
		if (add_if_there(cli_sdk_libdir(generation, side, cli_archs[i]), &found) < 0)
			return -1;
		if (!found && add_if_there(cli_libdir(generation, cli_archs[i]), &found) < 0)
			return -1;
		any |= found;
	}
	return any ? 0 : check_missing_libraries(generation);
}

/* The size of pages on @side of the session; 0 if that can't be known: the program's own attach reports why. */
static uint32_t page_bytes_of_side(const char *dir, const char *side)
{
	struct pcie_topology *topology = cli_topology_of_session(dir);
	uint32_t bytes = topology ? pcie_topology_page_bytes(topology, side) : 0;

	pcie_topology_destroy(topology);
	return bytes;
}

/* What an emulator gives its program instead of this process's LD_PRELOAD, which is for another architecture. */
static int preload_emulated(const char *arch)
{
	char *library = cli_pages_library(arch), *setting = NULL;
	int rc = library && asprintf(&setting, "LD_PRELOAD=%s", library) > 0 ? 0 : -1;

	if (rc == 0 && access(library, F_OK) == 0)
		rc = setenv("QEMU_SET_ENV", setting, 1);
	free(setting);
	free(library);
	return rc;
}

static int preload_pages(void)
{
	char *library = cli_pages_library(cli_archs[0]);
	int rc = library ? prepend("LD_PRELOAD", library) : -1;

	free(library);
	return rc < 0 ? rc : preload_emulated(cli_archs[1]);
}

/* Larger pages than this machine's come from a library that is preloaded. */
static int add_page_size(const char *dir, const char *side)
{
	uint32_t bytes = page_bytes_of_side(dir, side);
	char text[16];
	int rc;

	if (bytes <= (uint32_t)sysconf(_SC_PAGESIZE))
		return unsetenv("BFSIM_PAGE_SIZE");
	snprintf(text, sizeof(text), "%" PRIu32, bytes);
	rc = setenv("BFSIM_PAGE_SIZE", text, 1) == 0 ? preload_pages() : -1;
	if (rc < 0)
		cli_fail("cannot set the environment: out of memory");
	return rc;
}

int cli_set_side_env(const char *dir, const char *side, enum cli_generation generation)
{
	if (setenv("BFSIM_SESSION", dir, 1) < 0 || setenv("BFSIM_SIDE", side, 1) < 0)
		return cli_error("cannot set the environment: %s", strerror(errno));
	return add_library_paths(side, generation) < 0 ? -1 : add_page_size(dir, side);
}
