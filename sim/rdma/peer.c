/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer's process is told that there is something for it. */
#include "queue_pair_priv.h"
#include "sim/clock/vclock_sched.h"
#include "sim/shm/wake.h"

void sim_qp_wake_peer(struct sim_qp *qp)
{
	if (!atomic_load(&qp->inbox->asleep) || !atomic_exchange(&qp->inbox->asleep, 0))
		return;
	if (qp->peer_wake_fd >= 0)
		sim_wake_send(qp->peer_wake_fd);
}

void sim_qp_post_to_peer(struct sim_qp *qp)
{
	struct sim_vclock_sched *sched = sim_session_vclock(qp->session);

	if (sched && qp->peer_engine > 0)
		sim_vclock_sched_post(sched, qp->peer_engine, 0);
}
