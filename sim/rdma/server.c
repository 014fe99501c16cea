/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of several requesters to one queue pair that needs no peer. Each requester gets a queue pair there that serves it alone, so
 * that its order, its answers and its failures are its own:
 *
 *   requester                        queue pair that needs no peer             its server for this requester
 *   its key --> a free place   ...>  creates the server        ............>   connects to the requester's inbox
 *   moves to the server's inbox <.. the server's key --> requester's inbox
 *
 * A requester to which that queue pair has connected needs none: its messages go there. Until then the requester's messages
 * wait, while memory is reached. The servers are of the group, and their receives have the configuration of the queue pair for
 * which they serve. A server is freed when its requester has ended, and what that had sent is received. */
#include <string.h>

#include "queue_pair_priv.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"

/* ---- the queue pair that needs no peer ---- */

static void tell_requester(struct sim_qp *server)
{
	if (!sim_remote_acquire(server->peer))
		return;
	server->peer_inbox->server = server->key;
	atomic_store(&server->peer_inbox->has_server, 1);
	sim_remote_release(server->peer);
	sim_qp_wake_peer(server);
}

static bool serves(const struct sim_qp *qp, const struct sim_key *key)
{
	const struct sim_qp *server;

	LIST_FOREACH(server, &qp->servers, in_servers)
		if (server->peer->key == key->id)
			return true;
	return false;
}

/* A requester that has ended meanwhile, or that no server can be made for, gets no answer: its messages fail after its time-out. */
static void serve(struct sim_qp *qp, const struct sim_key *key)
{
	struct sim_qp_cfg cfg = qp->cfg;
	struct sim_qp *server;
	int rc;

	if (serves(qp, key))
		return;
	cfg.needs_no_peer = false;
	rc = sim_qp_create(qp->session, &cfg, &server);
	if (rc < 0) {
		sim_err("RDMA on %s: no queue pair can be made for another requester, whose messages will fail: %s; raise this "
			"process's limits of descriptors and memory",
			cfg.device, strerror(-rc));
		return;
	}
	if (sim_qp_connect(server, key) < 0) {
		sim_qp_destroy(server);
		return;
	}
	server->served_for = qp;
	LIST_INSERT_HEAD(&qp->servers, server, in_servers);
	tell_requester(server);
}

static bool has_left(const struct sim_qp *qp)
{
	return atomic_load(&qp->inbox->has_left) != 0;
}

/* ---- the end ---- */

/* Whether the requester has ended, and nothing of it is left to be received. */
static bool is_idle(struct sim_qp *server)
{
	bool is;

	if (!atomic_load(&server->last_words.is_set) || server->is_active)
		return false;
	sim_qp_group_lock(server->cfg.group);
	is = server->state == SIM_QP_ERROR ||
	     (!server->receive && sim_ring_get_head(&server->in) == sim_ring_get_tail(&server->in));
	sim_qp_group_unlock(server->cfg.group);
	return is;
}

/* Behind a step of a server. */
static void note_idle(struct sim_qp *qp)
{
	if (qp->served_for->has_idle_server || !is_idle(qp))
		return;
	qp->served_for->has_idle_server = true;
	sim_doorbell_requeue(&qp->cfg.group->doorbells, qp->served_for->slot);
}

static void free_idle_servers(struct sim_qp *qp)
{
	struct sim_qp *server, *next;

	for (server = LIST_FIRST(&qp->servers); server; server = next) {
		next = LIST_NEXT(server, in_servers);
		if (is_idle(server))
			sim_qp_destroy(server);
	}
	qp->has_idle_server = false;
}

static void serve_callers(struct sim_qp *qp)
{
	if (qp->has_idle_server)
		free_idle_servers(qp);
	for (int i = 0; i < SIM_INBOX_CALLERS && !has_left(qp); i++) {
		struct sim_key key;

		if (atomic_load(&qp->inbox->places[i]) != SIM_INBOX_PLACE_FULL)
			continue;
		key = qp->inbox->callers[i];
		atomic_store(&qp->inbox->places[i], SIM_INBOX_PLACE_FREE);
		serve(qp, &key);
	}
}

void sim_qp_progress_servers(struct sim_qp *qp)
{
	if (qp->cfg.needs_no_peer)
		serve_callers(qp);
	sim_qp_progress(qp, 0);
	if (qp->served_for)
		note_idle(qp);
}
