/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output, and files of results. */
#include "output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "sim/base/output_file.h"

bool cli_output_is_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO }; /* errors and hang-ups are reported without being asked for */

	return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

static bool is_standard_output(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

static int fail(const char *what, const char *path, int rc)
{
	return cli_fail("cannot write %s to %s: %s", what, path, strerror(-rc));
}

int cli_output_path_check(const char *what, const char *path)
{
	int rc = is_standard_output(path) ? 0 : sim_output_file_check(path);

	if (rc < 0)
		fail(what, path, rc);
	return rc < 0 ? -1 : 0;
}

int cli_output_write(const char *what, const char *path, int print(const void *arg, FILE *out), const void *arg)
{
	struct sim_output_file file;
	int rc;

	if (is_standard_output(path)) {
		if (print(arg, stdout) != 0)
			return cli_failure_status();
		return fflush(stdout) != 0 || ferror(stdout) ? fail(what, "standard output", -errno) : CLI_OK;
	}
	rc = sim_output_file_open(path, &file);
	if (rc < 0)
		return fail(what, path, rc);
	if (print(arg, file.stream) != 0) {
		sim_output_file_abort(&file);
		return cli_failure_status();
	}
	rc = sim_output_file_close(&file);
	return rc < 0 ? fail(what, path, rc) : CLI_OK;
}
