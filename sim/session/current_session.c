/* SPDX-License-Identifier: BSD-3-Clause */
#include "current_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	char *dir;
	const char *side;
	const struct pcie_topology *topology;
	struct sim_board *board; /* NULL = not attached */
	bool (*leave)(void);
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
	pthread_mutex_lock(&here.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&here.lock);
}

/* A child does not get the lock of a thread that it doesn't have. */
static void __attribute__((constructor)) handle_forks(void)
{
	pthread_atfork(lock, unlock, unlock);
}

int sim_here_lock(struct sim_here *ret_here)
{
	struct sim_segment own = {0};
	const char *chosen;
	int rc = 0;

	lock();
	/* Not when it doesn't matter: a thread of ours may come here while the program changes its environment. */
	chosen = here.board ? NULL : getenv("BFSIM_SESSION");
	if (here.board)
		*ret_here = (struct sim_here){.dir = here.dir, .side = here.side, .topology = here.topology,
					      .board = here.board, .attached = true};
	else if (chosen && chosen[0])
		*ret_here = (struct sim_here){.dir = chosen};
	else if ((rc = sim_board_own(&own)) == 0)
		*ret_here = (struct sim_here){.board = sim_board_of(&own)};
	if (rc < 0)
		unlock();
	return rc;
}

void sim_here_unlock(void)
{
	unlock();
}

int sim_here_attached(const char *dir, const char *side, const struct pcie_topology *topology, struct sim_board *board)
{
	char *absolute = dir ? realpath(dir, NULL) : NULL;

	if (dir && !absolute)
		absolute = strdup(dir);
	if (dir && !absolute)
		return -ENOMEM;
	lock();
	free(here.dir);
	here.dir = absolute;
	here.side = side;
	here.topology = topology;
	here.board = board;
	unlock();
	return 0;
}

void sim_here_detached(const struct sim_board *board)
{
	lock();
	if (here.board == board)
		here.board = NULL;
	unlock();
}

void sim_here_on_leave(bool (*leave)(void))
{
	lock();
	here.leave = leave;
	unlock();
}

/* Detaching takes the lock itself. */
bool sim_here_leave(void)
{
	bool (*leave)(void);
	bool attached;

	lock();
	leave = here.leave;
	attached = here.board;
	unlock();
	return !attached || (leave && leave());
}
