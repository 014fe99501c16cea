/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer is told that there is something for it: its peer, and the descriptor that wakes it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queue_pair_priv.h"
#include "sim/clock/vclock_sched.h"
#include "sim/fabric/remote.h"
#include "sim/shm/wake.h"

static struct sim_peer_group_list *list_of(struct sim_qp_group *group, const struct sim_key *key)
{
	return &group->peers[key->id % SIM_QP_GROUP_PEER_LISTS];
}

static struct sim_peer_group *find(struct sim_qp_group *group, const struct sim_key *key)
{
	struct sim_peer_group *peer;

	LIST_FOREACH(peer, list_of(group, key), entry)
		if (peer->key.id == key->id && memcmp(peer->key.secret, key->secret, sizeof(key->secret)) == 0)
			return peer;
	return NULL;
}

static bool are_doorbells(const struct sim_remote *remote)
{
	return remote->region.access & SIM_ACCESS_INBOX && remote->base &&
	       remote->region.len_bytes == sizeof(struct sim_doorbell_shared) &&
	       (uintptr_t)remote->base % _Alignof(struct sim_doorbell_shared) == 0;
}

static int import(struct sim_qp *qp, const struct sim_key *key, struct sim_peer_group *peer)
{
	int rc = sim_session_import(qp->session, key, qp->cfg.function, &peer->remote, NULL);

	if (rc < 0)
		return rc;
	if (!are_doorbells(peer->remote)) {
		sim_session_release(qp->session, peer->remote);
		return -EPROTO;
	}
	peer->key = *key;
	peer->wake_fd = sim_session_get_wake_fd(qp->session, peer->remote);
	LIST_INSERT_HEAD(list_of(qp->cfg.group, key), peer, entry);
	return 0;
}

int sim_peer_group_get(struct sim_qp *qp, const struct sim_key *key, struct sim_peer_group **ret_peer)
{
	struct sim_peer_group *peer = find(qp->cfg.group, key);
	int rc;

	if (!peer) {
		peer = calloc(1, sizeof(*peer));
		rc = peer ? import(qp, key, peer) : -ENOMEM;
		if (rc < 0) {
			free(peer);
			return rc;
		}
	}
	peer->num_users++;
	*ret_peer = peer;
	return 0;
}

/* Returns those that nobody uses any more; NULL = none. */
static struct sim_peer_group *leave(struct sim_qp *qp)
{
	struct sim_peer_group *peer = qp->peer_group;

	qp->peer_group = NULL;
	if (!peer || --peer->num_users > 0)
		return NULL;
	LIST_REMOVE(peer, entry);
	if (peer->wake_fd >= 0)
		close(peer->wake_fd);
	return peer;
}

void sim_peer_group_put(struct sim_qp *qp)
{
	struct sim_peer_group *unused = leave(qp);

	if (unused)
		sim_session_release(qp->session, unused->remote);
	free(unused);
}

void sim_peer_group_abandon(struct sim_qp *qp)
{
	free(leave(qp));
}

static void ring(const struct sim_qp *qp)
{
	struct sim_remote *remote = qp->peer_group->remote;

	if (!sim_remote_acquire(remote))
		return;
	sim_doorbell_ring((struct sim_doorbell_shared *)(void *)remote->base, qp->peer_slot);
	sim_remote_release(remote);
}

static void wake(struct sim_qp *qp, bool is_asleep)
{
	struct sim_vclock_sched *sched = sim_session_vclock(qp->session);

	if (is_asleep && qp->peer_group->wake_fd >= 0)
		sim_wake_send(qp->peer_group->wake_fd);
	if (sched && qp->peer_engine > 0)
		sim_vclock_sched_post(sched, qp->peer_engine, 0);
}

/* The ring comes first: the peer sees it, or this end sees that the peer sleeps. */
void sim_qp_tell_requester(struct sim_qp *qp)
{
	if (!qp->must_tell_requester)
		return;
	qp->must_tell_requester = false;
	if (!qp->peer_group)
		return;
	ring(qp);
	wake(qp, atomic_load(&qp->inbox->asleep) && atomic_exchange(&qp->inbox->asleep, 0));
}

void sim_qp_tell_responder(struct sim_qp *qp)
{
	bool is_asleep;

	if (!qp->must_tell_responder)
		return;
	qp->must_tell_responder = false;
	ring(qp);
	if (!sim_remote_acquire(qp->peer))
		return;
	is_asleep = sim_ring_must_wake(&qp->out);
	sim_remote_release(qp->peer);
	wake(qp, is_asleep);
}
