/* SPDX-License-Identifier: BSD-3-Clause */
#include "session_dir_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/protocol/session_dir.h"
#include "sim/base/last_error.h"

static int take_dir(const char *dir, struct sim_place *place)
{
	if (mkdir(dir, 0700) == 0)
		place->made = true;
	else if (errno != EEXIST)
		return sim_because(-errno, "cannot make the session directory %s: %s; choose another --session", dir, strerror(errno));
	place->dir = realpath(dir, NULL);
	if (!place->dir)
		return sim_because(-errno, "cannot use the session directory %s: %s", dir, strerror(errno));
	return 0;
}

/* A session may replace a stale one, never a live one nor a user's file. */
static int check_free(const struct sim_place *place)
{
	int dir_fd = sim_dir_open(place->dir, false);
	bool live, foreign;

	if (dir_fd < 0)
		return sim_because(dir_fd, "cannot use the session directory %s: %s", place->dir, strerror(-dir_fd));
	live = sim_dir_is_live(dir_fd);
	foreign = faccessat(dir_fd, "topology.yaml", F_OK, 0) == 0 && faccessat(dir_fd, "lock", F_OK, 0) != 0;
	close(dir_fd);
	if (live)
		return sim_because(-EBUSY, "a session runs in %s already: use it, end it with bfsim down, or choose another --session",
				   place->dir);
	if (foreign)
		return sim_because(-EEXIST, "%s/topology.yaml is not a session's, which would replace it: choose another --session",
				   place->dir);
	return 0;
}

int sim_place_take(const char *dir, struct sim_place *ret_place)
{
	struct sim_place place = {0};
	int rc = take_dir(dir, &place);

	if (rc == 0)
		rc = check_free(&place);
	if (rc == 0) {
		*ret_place = place;
		return 0;
	}
	if (place.made)
		rmdir(dir);
	free(place.dir);
	return rc;
}

int sim_place_temporary(struct sim_place *ret_place)
{
	const char *tmp = getenv("TMPDIR");
	char *dir, *absolute;
	int rc;

	if (asprintf(&dir, "%s/bfsim-run-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") < 0)
		return sim_because(-ENOMEM, "out of memory");
	if (!mkdtemp(dir)) {
		rc = sim_because(-errno, "cannot make a session directory %s: %s; set TMPDIR to where one can be made", dir,
				 strerror(errno));
		free(dir);
		return rc;
	}
	absolute = realpath(dir, NULL);
	if (!absolute)
		rmdir(dir);
	free(dir);
	if (!absolute)
		return sim_because(-ENOMEM, "out of memory");
	*ret_place = (struct sim_place){.dir = absolute, .made = true};
	return 0;
}

void sim_place_unmake(const struct sim_place *place)
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

void sim_place_fini(struct sim_place *place)
{
	free(place->dir);
	place->dir = NULL;
}
