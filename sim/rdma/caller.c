/* SPDX-License-Identifier: BSD-3-Clause */
/* A requester gets an inbox for its messages at a peer that needs no connect (server.c has the picture). */
#include <errno.h>

#include "queue_pair_priv.h"
#include "sim/fabric/remote.h"

/* Returns whether there was a free place. The peer's inbox is there. */
static bool take_place(struct sim_qp *qp)
{
	struct sim_inbox_shared *inbox = qp->peer_inbox;

	for (int i = 0; i < SIM_INBOX_CALLERS; i++) {
		uint32_t before = SIM_INBOX_PLACE_FREE;

		if (!atomic_compare_exchange_strong(&inbox->places[i], &before, SIM_INBOX_PLACE_BEGUN))
			continue;
		inbox->callers[i] = qp->key;
		atomic_store(&inbox->places[i], SIM_INBOX_PLACE_FULL);
		return true;
	}
	return false;
}

static void announce(struct sim_qp *qp)
{
	qp->is_announced = take_place(qp);
	qp->tell_due_ns = 0;
	qp->must_tell_responder = true; /* also if all places are taken: the peer frees them */
}

/* Use the peer's own inbox, or ask for another one. */
static void take_or_ask(struct sim_qp *qp)
{
	if (!sim_remote_acquire(qp->peer))
		return;
	if (atomic_load(&qp->peer_inbox->connected_to) == qp->key.id)
		qp->is_sender = sim_inbox_take(qp->peer_inbox, NULL);
	qp->seeks_server = !qp->is_sender;
	if (!qp->is_sender && !qp->is_announced)
		announce(qp);
	sim_remote_release(qp->peer);
}

int sim_qp_seek_server(struct sim_qp *qp)
{
	struct sim_key key;
	int rc;

	if (atomic_load(&qp->inbox->has_server) == 0) {
		take_or_ask(qp);
		return 0;
	}
	key = qp->inbox->server;
	rc = sim_qp_move_to(qp, &key);
	qp->seeks_server = rc < 0;
	return rc == -ESTALE ? -EPIPE : rc; /* the peer has just ended */
}
