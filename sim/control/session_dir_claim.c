/* SPDX-License-Identifier: BSD-3-Clause */
/* Claiming, creating and removing the directory of a session. */
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

static int create_dir(const char *dir, struct sim_session_dir *session_dir)
{
	if (mkdir(dir, 0700) == 0)
		session_dir->created = true;
	else if (errno != EEXIST)
		return sim_set_error(-errno, "cannot make the session directory %s: %s; choose another --session", dir,
				     strerror(errno));
	session_dir->dir = realpath(dir, NULL);
	if (!session_dir->dir)
		return sim_set_error(-errno, "cannot use the session directory %s: %s", dir, strerror(errno));
	return 0;
}

/* A new session may replace a stale one, but neither a live one nor a file of the user. */
static int check_unused(const struct sim_session_dir *session_dir)
{
	int dir_fd = sim_session_dir_open(session_dir->dir, false);
	int rc = dir_fd < 0 ? dir_fd : sim_session_dir_check_owner(dir_fd);
	bool live, foreign;

	if (rc < 0) {
		if (dir_fd >= 0)
			close(dir_fd);
		if (rc == -EPERM)
			return sim_set_error(rc, "the directory %s is another user's: choose another --session",
					     session_dir->dir);
		return sim_set_error(rc, "cannot use the session directory %s: %s", session_dir->dir, strerror(-rc));
	}
	live = sim_session_dir_is_live(dir_fd);
	foreign = faccessat(dir_fd, "topology.yaml", F_OK, 0) == 0 && faccessat(dir_fd, "lock", F_OK, 0) != 0;
	close(dir_fd);
	if (live)
		return sim_set_error(
			-EBUSY,
			"a session runs in %s already: use it, end it with bfsim down, or choose another --session",
			session_dir->dir);
	if (foreign)
		return sim_set_error(
			-EEXIST,
			"%s/topology.yaml is not a session's, which would replace it: choose another --session",
			session_dir->dir);
	return 0;
}

int sim_session_dir_claim(const char *dir, struct sim_session_dir *ret_dir)
{
	struct sim_session_dir session_dir = { 0 };
	int rc = create_dir(dir, &session_dir);

	if (rc == 0)
		rc = check_unused(&session_dir);
	if (rc == 0) {
		*ret_dir = session_dir;
		return 0;
	}
	if (session_dir.created)
		rmdir(dir);
	free(session_dir.dir);
	return rc;
}

int sim_session_dir_create_temporary(struct sim_session_dir *ret_dir)
{
	const char *tmp = getenv("TMPDIR");
	char *dir, *absolute;
	int rc;

	if (asprintf(&dir, "%s/bfsim-run-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") < 0)
		return sim_set_error(-ENOMEM, "out of memory");
	if (!mkdtemp(dir)) {
		rc = sim_set_error(-errno,
				   "cannot make a session directory %s: %s; set TMPDIR to where one can be made", dir,
				   strerror(errno));
		free(dir);
		return rc;
	}
	absolute = realpath(dir, NULL);
	if (!absolute)
		rmdir(dir);
	free(dir);
	if (!absolute)
		return sim_set_error(-ENOMEM, "out of memory");
	*ret_dir = (struct sim_session_dir){ .dir = absolute, .created = true };
	return 0;
}

void sim_session_dir_remove(const struct sim_session_dir *session_dir)
{
	int dir_fd = sim_session_dir_open(session_dir->dir, false);
	int lock_fd = dir_fd < 0 ? -1 : sim_session_dir_lock(dir_fd);

	if (lock_fd >= 0) {
		sim_session_dir_remove_files(dir_fd);
		close(lock_fd);
	}
	if (dir_fd >= 0)
		close(dir_fd);
	if (session_dir->created)
		rmdir(session_dir->dir);
}

void sim_session_dir_fini(struct sim_session_dir *session_dir)
{
	free(session_dir->dir);
	session_dir->dir = NULL;
}
