/* SPDX-License-Identifier: BSD-3-Clause */
/* This process's lane in the ledger of its session, and searches in those of other processes. */
#include "session_tasks.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "shim/common/process/runtime.h"
#include "sim/base/log.h"
#include "sim/base/pidfd.h"
#include "sim/base/printable.h"

static struct {
	pthread_mutex_t lock;
	struct sim_session *_Atomic session; /* that the lane is of */
	struct sim_ledger_lane *lane;
} joined = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void join(struct sim_session *session)
{
	struct sim_shared_ledger *ledger = sim_session_ledger(session);

	joined.lane = sim_shared_ledger_join(ledger, sim_session_process_id(session));
	if (!joined.lane)
		sim_warn(
			"more than %d processes of the session are checked: the checker does not compare the tasks of this one with theirs",
			SIM_LEDGER_LANES);
	joined.session = session;
}

struct sim_ledger_lane *check_session_lane(struct sim_shared_ledger **ret_ledger)
{
	struct sim_session *session = shim_session();

	if (!session)
		return NULL;
	if (joined.session != session) {
		pthread_mutex_lock(&joined.lock);
		if (joined.session != session)
			join(session);
		pthread_mutex_unlock(&joined.lock);
	}
	*ret_ledger = sim_session_ledger(session);
	return joined.lane;
}

bool check_session_find_user(const uint8_t *addr, size_t len, struct sim_shared_range *ret_user)
{
	const struct sim_session *session = shim_session();
	struct sim_shared_range range = {
		.begin = (uintptr_t)addr, .end = (uintptr_t)addr + len, .is_write = true, .is_own = true
	};

	if (!session)
		return false;
	range.owner = sim_session_process_id(session);
	return sim_shared_ledger_find_conflict(sim_session_ledger(session), joined.lane, &range, ret_user) &&
	       !ret_user->is_own && !check_session_is_gone(ret_user);
}

/* A zombie has ended, too. */
bool check_session_ends_within(const struct sim_shared_range *range, int ms)
{
	const struct sim_session *session = shim_session();
	struct pollfd ended = { .events = POLLIN };
	bool is_gone;

	if (range->pid == getpid() || !session || range->pid_ns != sim_session_pid_ns(session))
		return false;
	ended.fd = sim_pidfd_open(range->pid);
	if (ended.fd < 0)
		return errno == ESRCH;
	is_gone = poll(&ended, 1, ms) == 1;
	close(ended.fd);
	return is_gone;
}

bool check_session_is_gone(const struct sim_shared_range *range)
{
	return check_session_ends_within(range, 0);
}

void check_session_add_task(struct check_hit *hit, const struct sim_shared_range *range)
{
	char program[sizeof(range->program)], site[sizeof(range->site)];

	if (!hit)
		return;
	snprintf(program, sizeof(program), "%s", range->program);
	snprintf(site, sizeof(site), "%s", range->site);
	sim_make_printable(program);
	sim_make_printable(site);
	check_hit_add_party(hit, range->tid, &(struct check_stack){ 0 },
			    "process %d (%s) submitted a task that %s %llu bytes of the memory%s%s", (int)range->pid,
			    program, range->is_write ? "writes" : "reads",
			    (unsigned long long)(range->end - range->begin), site[0] ? ", at " : "", site);
}

/* ---- the life of the lane ---- */

/* The session frees its lane. */
static void forget_session(void)
{
	joined.session = NULL;
	joined.lane = NULL;
}

static void forked(void)
{
	forget_session();
}

static void start(void)
{
	static struct shim_runtime_user user = { .detach = forget_session };

	shim_runtime_add_user(&user);
}

const struct check_part check_session_tasks = {
	.mode = SIM_CHECK_OFF, /* a sanitizer is enough */
	.start = start,
	.lock = &joined.lock,
	.forked = forked,
};
