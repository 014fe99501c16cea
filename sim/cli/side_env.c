/* SPDX-License-Identifier: BSD-3-Clause */
#include "side_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Put @dir in front of the list in LD_LIBRARY_PATH. */
static int prepend_libraries(const char *dir)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char *list;
	int rc;

	if (!old || !old[0])
		return setenv("LD_LIBRARY_PATH", dir, 1);
	if (asprintf(&list, "%s:%s", dir, old) < 0)
		return -1;
	rc = setenv("LD_LIBRARY_PATH", list, 1);
	free(list);
	return rc;
}

static int use_sdk(const char *side, enum cli_generation generation)
{
	char *tree = cli_sdk_tree(generation, side), *dir = NULL;
	int rc = -1;

	if (tree && asprintf(&dir, "%s/" CLI_SDK_LIBDIR, tree) < 0)
		dir = NULL;
	if (!dir)
		cli_fail("out of memory");
	else if (access(dir, F_OK) < 0)
		rc = 0; /* not installed: the programs' own run path finds the libraries */
	else if (strpbrk(dir, ":;"))
		cli_fail("%s cannot stand in LD_LIBRARY_PATH, where : and ; separate: install bfsim elsewhere", dir);
	else if ((rc = prepend_libraries(dir)) < 0)
		cli_fail("out of memory");
	free(dir);
	free(tree);
	return rc;
}

int cli_enter_side(const char *dir, const char *side, enum cli_generation generation)
{
	if (setenv("BFSIM_SESSION", dir, 1) < 0 || setenv("BFSIM_SIDE", side, 1) < 0) {
		cli_fail("cannot set the environment: %s", strerror(errno));
		return -1;
	}
	return use_sdk(side, generation);
}
