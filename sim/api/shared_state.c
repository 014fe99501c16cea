/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h: the session time; and access to the shared state for the other files here. */
#include "bfsim.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shared_state_priv.h"
#include "sim/control/control.h"
#include "sim/protocol/session_dir.h"
#include "sim/session/current_session.h"
#include "sim/base/last_error.h"

int api_open_session_dir(const char *dir)
{
	int dir_fd = sim_session_dir_open(dir, false);

	if (dir_fd < 0)
		return sim_set_error(dir_fd, "no session in %s, where this process would be: %s", dir,
				     sim_session_dir_strerror(dir_fd));
	if (sim_session_dir_is_live(dir_fd))
		return dir_fd;
	close(dir_fd);
	return sim_set_error(-ECONNREFUSED, "the session in %s, where this process is, has ended", dir);
}

int api_read_session_state(const char *dir, api_state_reader *reader, void *arg)
{
	int dir_fd = api_open_session_dir(dir), rc;
	struct sim_segment state;

	if (dir_fd < 0)
		return dir_fd;
	rc = sim_control_map_shared_state(dir_fd, &state);
	close(dir_fd);
	if (rc < 0)
		return sim_control_set_error(dir, rc);
	reader(arg, sim_shared_state_of(&state));
	sim_shared_state_release(&state);
	return 0;
}

int api_read_shared_state(api_state_reader *reader, void *arg)
{
	struct sim_current_session current;
	int rc = sim_current_session_lock(&current);

	if (rc < 0)
		return sim_set_error(rc, "no memory for a private card's rules: %s", strerror(-rc));
	if (current.shared)
		reader(arg, current.shared);
	else
		rc = api_read_session_state(current.dir, reader, arg);
	sim_current_session_unlock();
	return rc;
}

static void read_clock(void *arg, const struct sim_shared_state *state)
{
	*(uint64_t *)arg = sim_shared_state_now_ns(state);
}

/* Threads that take the time of each task do not wait for one another. */
uint64_t bfsim_now_ns(void)
{
	const struct sim_shared_state *shared = sim_current_session_borrow();
	uint64_t now_ns = 0;

	if (shared) {
		now_ns = sim_shared_state_now_ns(shared);
		sim_current_session_give_back();
	} else {
		api_read_shared_state(read_clock, &now_ns);
	}
	return now_ns;
}
