/* SPDX-License-Identifier: BSD-3-Clause */
#include "bfsim.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shared_state_priv.h"
#include "sim/control/control.h"
#include "sim/protocol/session_dir.h"
#include "sim/session/current_session.h"
#include "sim/base/last_error.h"

int api_open_dir(const char *dir)
{
	int dir_fd = sim_dir_open(dir, false);

	if (dir_fd < 0)
		return sim_because(dir_fd, "no session in %s, where this process would be: %s", dir, strerror(-dir_fd));
	if (sim_dir_is_live(dir_fd))
		return dir_fd;
	close(dir_fd);
	return sim_because(-ECONNREFUSED, "the session in %s, where this process is, has ended", dir);
}

static int look_from_outside(const char *dir, api_board_look *look, void *arg)
{
	int dir_fd = api_open_dir(dir), rc;
	struct sim_segment board;

	if (dir_fd < 0)
		return dir_fd;
	rc = sim_control_board(dir_fd, &board);
	close(dir_fd);
	if (rc < 0)
		return sim_control_failed(dir, rc);
	look(arg, sim_board_of(&board));
	sim_board_release(&board);
	return 0;
}

int api_look_at_board(api_board_look *look, void *arg)
{
	struct sim_here here;
	int rc = sim_here_lock(&here);

	if (rc < 0)
		return sim_because(rc, "no memory for a private card's rules: %s", strerror(-rc));
	if (here.board)
		look(arg, here.board);
	else
		rc = look_from_outside(here.dir, look, arg);
	sim_here_unlock();
	return rc;
}

static void look_at_clock(void *arg, const struct sim_board *board)
{
	*(uint64_t *)arg = sim_board_now_ns(board);
}

uint64_t bfsim_now_ns(void)
{
	uint64_t now_ns = 0;

	api_look_at_board(look_at_clock, &now_ns);
	return now_ns;
}
