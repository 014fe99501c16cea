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

/* The directory of the libraries; NULL without memory. */
static char *sdk_libdir(const char *side, enum cli_generation generation)
{
	char *tree = cli_sdk_tree(generation, side), *dir = NULL;

	if (tree && asprintf(&dir, "%s/" CLI_SDK_LIBDIR, tree) < 0)
		dir = NULL;
	free(tree);
	return dir;
}

/* The directory @dir of @generation does not exist. A build tree has none: there, the run path of the programs finds
 * the libraries. An installation may lack one generation. */
static int check_missing_sdk(const char *dir, const char *side, enum cli_generation generation)
{
	char *current = sdk_libdir(side, CLI_GENERATION_TASK);
	bool is_installed = current && access(current, F_OK) == 0;

	free(current);
	if (generation == CLI_GENERATION_TASK || !is_installed)
		return 0;
	cli_fail("the program is of the workq generation (DOCA 1.5 to 2.2), and there are no libraries for it in %s; "
		 "--generation task starts it with the current ones",
		 dir);
	return -1;
}

static int add_sdk_library_path(const char *side, enum cli_generation generation)
{
	char *dir = sdk_libdir(side, generation);
	int rc = -1;

	if (!dir)
		cli_fail("out of memory");
	else if (access(dir, F_OK) < 0)
		rc = check_missing_sdk(dir, side, generation);
	else if (strpbrk(dir, ":;"))
		cli_fail("%s contains : or ;, which LD_LIBRARY_PATH cannot: install bfsim elsewhere", dir);
	else if ((rc = prepend("LD_LIBRARY_PATH", dir)) < 0)
		cli_fail("out of memory");
	free(dir);
	return rc;
}

/* The size of pages on @side of the session; 0 if that can't be known: the program's own attach reports why. */
static uint32_t page_bytes_of_side(const char *dir, const char *side)
{
	int dir_fd = open(dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	struct pcie_topology *topology = dir_fd < 0 ? NULL : cli_topology_of_session(dir_fd, dir);
	uint32_t bytes = topology ? pcie_topology_page_bytes(topology, side) : 0;

	pcie_topology_destroy(topology);
	if (dir_fd >= 0)
		close(dir_fd);
	return bytes;
}

/* Larger pages than this machine's come from a library that is preloaded. */
static int add_page_size(const char *dir, const char *side)
{
	uint32_t bytes = page_bytes_of_side(dir, side);
	char text[16], *library;
	int rc;

	if (bytes <= (uint32_t)sysconf(_SC_PAGESIZE))
		return unsetenv("BFSIM_PAGE_SIZE");
	library = cli_pages_library();
	snprintf(text, sizeof(text), "%" PRIu32, bytes);
	rc = library && setenv("BFSIM_PAGE_SIZE", text, 1) == 0 ? prepend("LD_PRELOAD", library) : -1;
	free(library);
	if (rc < 0)
		cli_fail("cannot set the environment: out of memory");
	return rc;
}

int cli_set_side_env(const char *dir, const char *side, enum cli_generation generation)
{
	if (setenv("BFSIM_SESSION", dir, 1) < 0 || setenv("BFSIM_SIDE", side, 1) < 0) {
		cli_fail("cannot set the environment: %s", strerror(errno));
		return -1;
	}
	return add_sdk_library_path(side, generation) < 0 ? -1 : add_page_size(dir, side);
}
