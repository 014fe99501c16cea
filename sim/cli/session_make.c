/* SPDX-License-Identifier: BSD-3-Clause */
#include "session_make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "sim/session/dir.h"

static int take_dir(const char *dir, struct cli_session_place *place)
{
	if (mkdir(dir, 0700) == 0)
		place->made = true;
	else if (errno != EEXIST)
		return cli_fail("cannot make the session directory %s: %s", dir, strerror(errno));
	place->dir = realpath(dir, NULL);
	if (!place->dir)
		return cli_fail("cannot use the session directory %s: %s", dir, strerror(errno));
	return 0;
}

/* A session may replace a stale one, never a live one nor a user's file. */
static int check_free(const struct cli_session_place *place)
{
	int dir_fd = sim_dir_open(place->dir, false);
	bool live, foreign;

	if (dir_fd < 0)
		return cli_fail("cannot use the session directory %s: %s", place->dir, strerror(-dir_fd));
	live = sim_dir_is_live(dir_fd);
	foreign = faccessat(dir_fd, "topology.yaml", F_OK, 0) == 0 && faccessat(dir_fd, "lock", F_OK, 0) != 0;
	close(dir_fd);
	if (live)
		return cli_fail("a session runs in %s already: use it, end it with bfsim down, or choose another --session",
				place->dir);
	if (foreign)
		return cli_fail("%s/topology.yaml is not a session's, which would replace it: choose another --session",
				place->dir);
	return 0;
}

int cli_session_prepare(const char *dir, struct cli_session_place *ret_place)
{
	struct cli_session_place place = {0};

	if (take_dir(dir, &place) == 0 && check_free(&place) == 0) {
		*ret_place = place;
		return 0;
	}
	if (place.made)
		rmdir(dir);
	free(place.dir);
	return -1;
}

int cli_session_prepare_temporary(struct cli_session_place *ret_place)
{
	const char *tmp = getenv("TMPDIR");
	char *dir;

	if (asprintf(&dir, "%s/bfsim-run-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") < 0) {
		cli_fail("out of memory");
		return -1;
	}
	if (!mkdtemp(dir)) {
		cli_fail("cannot make a session directory %s: %s; set TMPDIR to where one can be made", dir, strerror(errno));
		free(dir);
		return -1;
	}
	*ret_place = (struct cli_session_place){.dir = realpath(dir, NULL), .made = true};
	free(dir);
	if (ret_place->dir)
		return 0;
	cli_fail("out of memory");
	return -1;
}

void cli_session_unmake(const struct cli_session_place *place)
{
	int dir_fd = sim_dir_open(place->dir, false);
	int lock_fd = dir_fd < 0 ? -1 : sim_dir_lock(dir_fd);

	if (lock_fd >= 0) {
		sim_dir_clean(dir_fd);
		close(lock_fd);
	}
	if (dir_fd >= 0)
		close(dir_fd);
	if (place->made)
		rmdir(place->dir);
}

void cli_session_place_fini(struct cli_session_place *place)
{
	free(place->dir);
	place->dir = NULL;
}
