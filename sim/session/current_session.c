/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of the session that this process is in. */
#include "current_session.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/fork.h"

static struct {
	pthread_mutex_t lock;
	char *dir;
	const char *side;
	const struct pcie_topology *topology;
	struct sim_shared_state *_Atomic shared; /* NULL = not attached */
	bool (*detach_hook)(void);
} current = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Threads that have borrowed @shared, in lines of their own: a lock would be one that all threads write. All accesses are sequentially
 * consistent: the borrower sees that @shared is gone, or the thread that takes it away sees the borrower. */
#define NUM_BORROWER_LINES 64
static struct {
	_Alignas(64) _Atomic uint32_t count;
} borrowers[NUM_BORROWER_LINES];
static _Atomic uint32_t num_threads;
static _Thread_local uint32_t own_line; /* plus one; 0 = none yet */

static _Atomic uint32_t *count_of_thread(void)
{
	if (own_line == 0)
		own_line = atomic_fetch_add(&num_threads, 1) % NUM_BORROWER_LINES + 1;
	return &borrowers[own_line - 1].count;
}

static void lock(void)
{
	pthread_mutex_lock(&current.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&current.lock);
}

/* The child has one thread, which has borrowed nothing. */
static void unlock_in_child(void)
{
	for (uint32_t i = 0; i < NUM_BORROWER_LINES; i++)
		atomic_store(&borrowers[i].count, 0);
	unlock();
}

/* A fork waits for the thread that has the lock, which the child would not have. */
SIM_AT_FORK(SIM_FORK_RECORD, .before = lock, .parent = unlock, .child = unlock_in_child);

struct sim_shared_state *sim_current_session_borrow(void)
{
	struct sim_shared_state *shared;

	atomic_fetch_add(count_of_thread(), 1);
	shared = atomic_load(&current.shared);
	if (!shared)
		sim_current_session_give_back();
	return shared;
}

void sim_current_session_give_back(void)
{
	atomic_fetch_sub(count_of_thread(), 1);
}

/* New borrowers find nothing, or a later session for a moment: each count is 0 at some time. */
static void await_borrowers(void)
{
	for (uint32_t i = 0; i < NUM_BORROWER_LINES; i++)
		while (atomic_load(&borrowers[i].count) > 0)
			sched_yield();
}

int sim_current_session_lock(struct sim_current_session *ret_current)
{
	struct sim_segment private_segment = { 0 };
	const char *env_dir;
	int rc = 0;

	lock();
	/* An attached process does not read the environment: a helper thread may be here while the application changes
	 * it. */
	env_dir = current.shared ? NULL : getenv("BFSIM_SESSION");
	if (current.shared)
		*ret_current = (struct sim_current_session){ .dir = current.dir,
							     .side = current.side,
							     .topology = current.topology,
							     .shared = current.shared,
							     .attached = true };
	else if (env_dir && env_dir[0])
		*ret_current = (struct sim_current_session){ .dir = env_dir };
	else if ((rc = sim_shared_state_private(&private_segment)) == 0)
		*ret_current = (struct sim_current_session){ .shared = sim_shared_state_of(&private_segment) };
	if (rc < 0)
		unlock();
	return rc;
}

void sim_current_session_unlock(void)
{
	unlock();
}

int sim_current_session_set(const char *dir, const char *side, const struct pcie_topology *topology,
			    struct sim_shared_state *shared)
{
	char *absolute = dir ? realpath(dir, NULL) : NULL;

	if (dir && !absolute)
		absolute = strdup(dir);
	if (dir && !absolute)
		return -ENOMEM;
	lock();
	free(current.dir);
	current.dir = absolute;
	current.side = side;
	current.topology = topology;
	current.shared = shared;
	unlock();
	return 0;
}

void sim_current_session_clear(const struct sim_shared_state *shared)
{
	lock();
	if (current.shared == shared)
		current.shared = NULL;
	unlock();
	await_borrowers(); /* of before a later session, too */
}

void sim_current_session_set_detach_hook(bool (*detach_hook)(void))
{
	lock();
	current.detach_hook = detach_hook;
	unlock();
}

/* Calls the hook without the lock, as the hook takes it. */
bool sim_current_session_detach(void)
{
	bool (*detach_hook)(void);
	bool attached;

	lock();
	detach_hook = current.detach_hook;
	attached = current.shared;
	unlock();
	return !attached || (detach_hook && detach_hook());
}
