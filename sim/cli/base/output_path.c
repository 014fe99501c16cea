/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking the files of results. */
#include "output_path.h"

#include <string.h>

#include "cli.h"
#include "sim/base/output_file.h"

int cli_output_path_check(const char *what, const char *path)
{
	int rc = path && strcmp(path, "-") != 0 ? sim_output_file_check(path) : 0;

	if (rc < 0)
		cli_fail("cannot write %s to %s: %s", what, path, strerror(-rc));
	return rc < 0 ? -1 : 0;
}
