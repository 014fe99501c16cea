/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer is told that there is something for it, by its doorbells and the descriptor that wakes it, and it is watched while a
 * message is under way.
 *
 * A sign of the peer's life is a change of its inbox: a record was read, a message was executed, or its engine's thread has
 * looked. The peer's process is kicked (sim/session/kick.h) after 50 us without a sign, then in longer and longer intervals. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "queue_pair_priv.h"
#include "sim/base/monotonic.h"
#include "sim/clock/stall_watch.h"
#include "sim/clock/thread_account.h"
#include "sim/clock/vclock_sched.h"
#include "sim/fabric/remote.h"
#include "sim/shm/wake.h"

#define FIRST_KICK_NS   50000    /* a responder that polls answers in less */
#define MAX_KICK_GAP_NS 10000000 /* between two kicks */
#define MIN_KICKS       8        /* before a peer is given up: this process may have been stopped, too */

#define MAX_WAIT_STEP_NS SIM_NS_PER_MS

/* ---- its doorbells ---- */

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
	peer->kick_target = sim_session_get_kick_target(qp->session, peer->remote);
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

	if (unused) {
		sim_session_put_kick_target(qp->session, unused->kick_target);
		sim_session_release(qp->session, unused->remote);
		sim_far_queue_destroy(unused->far_queue);
	}
	free(unused);
}

void sim_peer_group_abandon(struct sim_qp *qp)
{
	struct sim_peer_group *unused = leave(qp);

	if (unused)
		sim_far_queue_abandon(unused->far_queue);
	free(unused);
}

static void ring(const struct sim_qp *qp)
{
	struct sim_remote *remote = qp->peer_group->remote;

	if (!sim_remote_acquire(remote))
		return;
	sim_doorbell_ring((struct sim_doorbell_shared *)(void *)remote->base, qp->peer_slot);
	sim_remote_release(remote);
}

/* @due_ns: the session time of what the peer is told; 0 = now. */
static void wake(struct sim_qp *qp, bool is_asleep, uint64_t due_ns)
{
	struct sim_vclock_sched *sched = sim_session_vclock(qp->session);

	if (is_asleep && qp->peer_group->wake_fd >= 0)
		sim_wake_send(qp->peer_group->wake_fd);
	if (sched && qp->peer_engine > 0)
		sim_vclock_sched_post(sched, qp->peer_engine, due_ns);
}

void sim_qp_wake_peer(struct sim_qp *qp)
{
	ring(qp);
	wake(qp, true, 0);
}

/* Whether the requester sleeps; it is to be woken then. */
static bool take_requester_asleep(struct sim_qp *qp)
{
	return atomic_load(&qp->inbox->asleep) && atomic_exchange(&qp->inbox->asleep, 0);
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
	wake(qp, take_requester_asleep(qp), 0);
}

void sim_qp_group_ring_answered(struct sim_qp_group *group)
{
	struct sim_qp *qp = group->answered;

	group->answered = NULL;
	ring(qp);
	wake(qp, take_requester_asleep(qp), 0);
}

void sim_qp_tell_requester_later(struct sim_qp *qp)
{
	struct sim_qp_group *group = qp->cfg.group;

	if (!group->is_in_turn || qp->timing || atomic_load(&qp->inbox->asleep) || !qp->peer_group) {
		sim_qp_tell_requester(qp);
		return;
	}
	if (!qp->must_tell_requester)
		return;
	qp->must_tell_requester = false;
	if (group->answered != qp)
		sim_qp_group_tell_answers(group);
	group->answered = qp;
}

/* One ring is for the message, and for answers before it. */
void sim_qp_ring_responder(struct sim_qp *qp)
{
	struct sim_qp_group *group = qp->cfg.group;
	bool is_asleep;

	qp->must_tell_responder = false;
	ring(qp);
	is_asleep = sim_ring_must_wake(&qp->out);
	if (group->answered == qp) {
		group->answered = NULL;
		is_asleep |= take_requester_asleep(qp);
	}
	wake(qp, is_asleep, qp->tell_due_ns);
}

/* Another requester's introduction may be there, which the gateway has not read yet. */
void sim_qp_introduce(struct sim_qp *qp)
{
	uint32_t before = SIM_INBOX_NO_IMPORTER;

	if (qp->far->is_introduced ||
	    !atomic_compare_exchange_strong(&qp->peer_inbox->has_importer, &before, SIM_INBOX_IMPORTER_BEGUN))
		return;
	qp->far->is_introduced = true;
	qp->peer_inbox->importer = qp->key;
	atomic_store(&qp->peer_inbox->has_importer, SIM_INBOX_HAS_IMPORTER);
	sim_qp_wake_peer(qp); /* it may sleep, and finds the introduction when it looks at the mirror */
}

/* ---- signs of life ---- */

static bool is_virtual(const struct sim_qp *qp)
{
	return sim_session_vclock(qp->session) != NULL;
}

/* A number that changes with each sign; not 0. */
static uint64_t count_signs(const struct sim_qp *qp)
{
	return 1 + atomic_load(&qp->peer_inbox->executed) + atomic_load(&qp->peer_inbox->looks) +
	       sim_ring_get_tail(&qp->out);
}

/* @due_ns: not before that, a message arrives. */
static void begin_watch(struct sim_qp_watch *watch, uint64_t signs, uint64_t now_ns, uint64_t due_ns)
{
	*watch = (struct sim_qp_watch){ .signs = signs,
					.signs_ns = now_ns,
					.kick_ns = max_u64(now_ns, due_ns) + FIRST_KICK_NS };
}

/* Returns whether it is time for a kick, and counts it then. */
static bool is_kick_due(struct sim_qp_watch *watch, uint64_t now_ns)
{
	if (now_ns < watch->kick_ns)
		return false;
	watch->num_kicks++;
	watch->kick_ns = now_ns + min_u64(2 * (now_ns - watch->signs_ns), MAX_KICK_GAP_NS);
	return true;
}

static bool is_overdue(const struct sim_qp *qp, const struct sim_qp_watch *watch, uint64_t now_ns)
{
	return now_ns - watch->signs_ns >= sim_qp_ack_timeout_ns(qp) && watch->num_kicks >= MIN_KICKS;
}

/* What the peer has not begun, it will not take. */
static int give_up(struct sim_qp *qp)
{
	sim_inbox_give_up(qp->peer_inbox, qp->num_answered + 1);
	return -EHOSTDOWN;
}

static uint64_t kick(struct sim_qp *qp)
{
	uint64_t number = atomic_fetch_add(&qp->peer_inbox->kicks, 1) + 1;

	sim_session_kick(qp->session, qp->peer_group->kick_target, qp->peer_group->remote);
	return number;
}

/* The kernel says so, if the process is of this pid namespace. */
static bool is_stopped(const struct sim_remote *peer)
{
	struct sim_thread_account account;

	sim_thread_account_read((uint32_t)peer->exporter_pid, (uint32_t)peer->exporter_pid, &account);
	return account.state == SIM_THREAD_STOPPED;
}

/* In virtual time, what the engine's thread does there has the time of the kick: wait for it. No other participant runs
 * meanwhile, so the thread's haste decides nothing. While its process is stopped, the thread can't look: time goes on.
 *
 * Returns 0, or -EHOSTDOWN: the thread had the clock's patience to look, and did not. A turn of this thread counts for a millisecond at
 * most, so that a machine that gives neither of them its CPUs takes nothing from that. */
static int wait_for_look(struct sim_qp *qp, uint64_t number)
{
	const struct sim_stall_patience *patience = sim_vclock_sched_patience(sim_session_vclock(qp->session));
	uint64_t waited_ns = 0, before_ns = sim_monotonic_ns();

	while (atomic_load(&qp->peer_inbox->looks) != number && !atomic_load(&qp->peer->revoked)) {
		uint64_t now_ns = sim_monotonic_ns();

		waited_ns += min_u64(now_ns - before_ns, MAX_WAIT_STEP_NS);
		before_ns = now_ns;
		if (qp->watch.is_stopped || waited_ns > patience->sleeping_ns)
			qp->watch.is_stopped = is_stopped(qp->peer);
		if (qp->watch.is_stopped)
			return 0;
		if (waited_ns > patience->running_ns)
			return give_up(qp);
		sched_yield();
	}
	return 0;
}

static int kick_and_wait(struct sim_qp *qp)
{
	uint64_t number = kick(qp);

	return is_virtual(qp) ? wait_for_look(qp, number) : 0;
}

/* Whether the peer has said that the message finds no receive, and has not begun it since. */
static bool lacks_receive(const struct sim_qp *qp, uint64_t number)
{
	return atomic_load(&qp->peer_inbox->not_ready) == number &&
	       atomic_load(&qp->peer_inbox->claim) == 2 * (number - 1);
}

/* Whether a message is under way for which the peer has a receive, as far as it has said. */
static bool waits_for_peer(const struct sim_qp *qp)
{
	uint64_t number = qp->num_answered + 1;

	return sim_qp_has_message_under_way(qp) && !lacks_receive(qp, number);
}

int sim_qp_watch_peer(struct sim_qp *qp)
{
	uint64_t signs;

	if (!waits_for_peer(qp)) {
		qp->watch.signs = 0;
		return 0;
	}
	signs = count_signs(qp);
	if (signs != qp->watch.signs)
		begin_watch(&qp->watch, signs, sim_qp_now_ns(qp), sim_qp_oldest_message(qp)->arrival_ns);
	else if (is_overdue(qp, &qp->watch, sim_qp_now_ns(qp)) || atomic_load(&qp->is_overdue_in_tick))
		return give_up(qp);
	else if (is_kick_due(&qp->watch, sim_qp_now_ns(qp)))
		return kick_and_wait(qp);
	return 0;
}

uint64_t sim_qp_watch_deadline_ns(const struct sim_qp *qp)
{
	return is_virtual(qp) && qp->watch.signs != 0 ? qp->watch.kick_ns : UINT64_MAX;
}

/* Begin, or go on with the watch of the engine's thread. Returns whether there is something to watch. */
static bool look_for_signs(struct sim_qp *qp, uint64_t now_ns)
{
	uint64_t executed = atomic_load(&qp->peer_inbox->executed), signs = count_signs(qp);

	if (executed >= atomic_load(&qp->num_begun) || lacks_receive(qp, executed + 1))
		return false;
	if (signs != qp->tick_watch.signs) {
		begin_watch(&qp->tick_watch, signs, now_ns, 0);
		atomic_store(&qp->is_overdue_in_tick, false);
	}
	return true;
}

/* The load of @num_begun is seq_cst, as sim_engine_keep_awake() wants it, which the requester calls after its store. */
bool sim_qp_watch_peer_in_tick(struct sim_qp *qp)
{
	uint64_t now_ns;
	bool is_due;

	if (atomic_load(&qp->num_begun) == 0)
		return false;
	if (sim_qp_is_cut_in_tick(qp)) {
		qp->tick_watch.signs = 0;
		return true;
	}
	if (!sim_remote_acquire(qp->peer))
		return false;
	now_ns = sim_monotonic_ns();
	is_due = look_for_signs(qp, now_ns);
	if (is_due && is_kick_due(&qp->tick_watch, now_ns)) {
		kick(qp);
		if (is_overdue(qp, &qp->tick_watch, now_ns)) {
			atomic_store(&qp->is_overdue_in_tick, true);
			sim_doorbell_ring_own(&qp->cfg.group->doorbells, qp->slot);
			if (qp->cfg.notify)
				qp->cfg.notify(qp->cfg.arg);
		}
	}
	sim_remote_release(qp->peer);
	return is_due && now_ns - qp->tick_watch.signs_ns < 2 * sim_qp_ack_timeout_ns(qp);
}
