/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of a context whose data path is on a DPA, which stands for the card; and what EUs and the host do in its place. */
#include <poll.h>
#include <time.h>

#include "dpa_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/process/runtime.h"
#include "sim/base/monotonic.h"
#include "sim/clock/vclock_sched.h"

/* From look to look after a hostile peer, as nobody wakes the thread. */
#define LOOK_NS UINT64_C(1000000)

/* A complete receive, unless a fault holds it. */
static struct sim_rdma_receive *reap_receive(struct sim_receive_pool *pool)
{
	return sim_receive_pool_reap(pool, sim_receive_pool_has_hold(pool) ? shim_now_ns() : 0);
}

/* Take all that is complete. */
void rdma_dpa_reap(struct rdma_dpa *dpa, bool is_silent)
{
	struct sim_qp_group *group = &dpa->rdma->group;
	struct sim_rdma_receive *receive;
	struct sim_rdma_work *work;

	while ((work = sim_qp_group_reap(group)))
		rdma_dpa_end_request((struct rdma_dpa_request *)work, is_silent);
	while ((receive = reap_receive(&group->receives)))
		rdma_dpa_end_receive((struct rdma_dpa_receive *)receive, is_silent);
}

/* ---- the thread ---- */

void rdma_dpa_wake(const struct rdma_dpa *dpa)
{
	if (dpa->turn.vclock)
		sim_vclock_sched_post(dpa->turn.vclock, dpa->turn.engine, 0);
	else
		(void)sim_wake_send(dpa->wake.send_fd);
}

/* Returns whether the thread has to look earlier than it knows. */
static bool take_deadline(struct rdma_dpa *dpa)
{
	struct sim_qp_group *group = &dpa->rdma->group;
	uint64_t deadline_ns = sim_qp_group_take_deadline(group);

	if (sim_receive_pool_has_hold(&group->receives))
		deadline_ns = min_u64(deadline_ns, sim_receive_pool_due_ns(&group->receives));
	if (deadline_ns >= dpa->deadline_ns)
		return false;
	dpa->deadline_ns = deadline_ns;
	return true;
}

void rdma_dpa_settle(struct rdma_dpa *dpa)
{
	bool is_earlier;

	rdma_dpa_reap(dpa, false);
	is_earlier = take_deadline(dpa);
	if (sim_qp_group_arm(&dpa->rdma->group) || is_earlier)
		rdma_dpa_wake(dpa);
}

static void take_step(struct rdma_dpa *dpa)
{
	struct sim_qp_group *group = &dpa->rdma->group;

	if (dpa->deadline_ns < UINT64_MAX && dpa->deadline_ns <= shim_now_ns()) {
		dpa->deadline_ns = UINT64_MAX;
		sim_qp_group_on_alarm(group);
	}
	sim_qp_group_progress(group);
	rdma_dpa_reap(dpa, false);
	take_deadline(dpa);
}

/* Until a wake-up or the deadline. The lock is held, but not meanwhile. */
static void sleep_until_due(struct rdma_dpa *dpa)
{
	struct pollfd fd = { .fd = dpa->wake.recv_fd, .events = POLLIN };
	bool has_deadline = dpa->deadline_ns < UINT64_MAX;
	uint64_t pause_ns = UINT64_C(1000000000), now_ns;
	struct timespec timeout;

	if (has_deadline) {
		now_ns = shim_now_ns();
		pause_ns = dpa->deadline_ns > now_ns ? dpa->deadline_ns - now_ns : 0;
	}
	if (dpa->is_deaf)
		pause_ns = min_u64(pause_ns, LOOK_NS);
	timeout = sim_timespec_from_ns(pause_ns);
	pthread_mutex_unlock(&dpa->lock);
	ppoll(&fd, dpa->is_deaf ? 0 : 1, has_deadline || dpa->is_deaf ? &timeout : NULL, NULL);
	if (!sim_wake_clear(&dpa->wake))
		dpa->is_deaf = true;
	pthread_mutex_lock(&dpa->lock);
}

/* In virtual time: take a step whenever someone posts, and at the deadline. */
static void run_in_turns(struct rdma_dpa *dpa)
{
	while (!dpa->is_stopping) {
		uint64_t until_ns = dpa->deadline_ns;
		bool has_turn;

		pthread_mutex_unlock(&dpa->lock);
		has_turn = sim_dpa_turn_sleep(&dpa->turn, until_ns);
		pthread_mutex_lock(&dpa->lock);
		if (has_turn)
			take_step(dpa);
	}
}

void *rdma_dpa_run(void *arg)
{
	struct rdma_dpa *dpa = arg;

	pthread_mutex_lock(&dpa->lock);
	sim_dpa_turn_begin(&dpa->turn, shim_vclock);
	dpa->has_begun = true;
	pthread_cond_signal(&dpa->changed);
	if (dpa->turn.source)
		run_in_turns(dpa);
	while (!dpa->is_stopping) {
		take_step(dpa);
		if (!sim_qp_group_arm(&dpa->rdma->group))
			sleep_until_due(dpa);
	}
	pthread_mutex_unlock(&dpa->lock);
	sim_dpa_turn_end(&dpa->turn);
	return NULL;
}
