/* SPDX-License-Identifier: BSD-3-Clause */
/* Kicks: those that come to this process, and those that it sends. */
#include "kick.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "session_priv.h"
#include "sim/base/watch.h"
#include "sim/engine/engine.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/wire.h"
#include "sim/shm/wake.h"

struct sim_kick_target {
	struct sim_kicks *kicks;
	uint64_t process; /* of struct sim_peer_info */
	bool is_own;      /* this process */
	int fd;           /* -1 = none: not asked for yet, or the peer's sockets were shut down */
	bool is_asking;   /* for @fd; counts as a user */
	uint32_t num_users;
	LIST_ENTRY(sim_kick_target) entry;
};

struct sim_kicks {
	struct sim_engine *engine;
	int epoll_fd;
	_Atomic uint64_t num_kicks; /* that came */
	pthread_mutex_t lock;       /* protects what follows; not held during calls into the session */
	struct sim_wake own;
	bool is_closed;
	LIST_HEAD(, sim_kick_target) peers;
};

int sim_kicks_create(struct sim_engine *engine, int epoll_fd, struct sim_kicks **ret_kicks)
{
	struct sim_kicks *kicks = calloc(1, sizeof(*kicks));

	if (!kicks)
		return -ENOMEM;
	kicks->engine = engine;
	kicks->epoll_fd = epoll_fd;
	kicks->own = SIM_WAKE_NONE;
	pthread_mutex_init(&kicks->lock, NULL);
	LIST_INIT(&kicks->peers);
	*ret_kicks = kicks;
	return 0;
}

/* ---- the owner ---- */

static void close_own(struct sim_kicks *kicks)
{
	sim_watch_close(kicks->epoll_fd, kicks->own.recv_fd);
	kicks->own.recv_fd = -1;
	sim_wake_close(&kicks->own);
}

static int open_own(struct sim_kicks *kicks)
{
	int rc;

	if (kicks->is_closed)
		return -ESTALE;
	if (kicks->own.recv_fd >= 0)
		return 0;
	rc = sim_wake_open(&kicks->own);
	if (rc < 0)
		return rc;
	rc = sim_watch_add(kicks->epoll_fd, kicks->own.recv_fd, EPOLLIN, (epoll_data_t){ .u64 = SIM_OWNER_KICK_TAG });
	if (rc < 0)
		sim_wake_close(&kicks->own);
	return rc;
}

static void wake_engine(struct sim_kicks *kicks)
{
	atomic_fetch_add(&kicks->num_kicks, 1);
	sim_engine_wake_at(kicks->engine, 0);
}

/* A peer that shuts the sockets down has ended them for all; peers that ask later get new ones. */
static void answer(struct sim_kicks *kicks)
{
	if (kicks->is_closed)
		return;
	if (kicks->own.recv_fd >= 0 && !sim_wake_clear(&kicks->own))
		close_own(kicks);
	wake_engine(kicks);
}

/* Sockets that were shut down may not have been noticed yet. */
int sim_kicks_describe(struct sim_kicks *kicks, int *ret_fd)
{
	int rc;

	pthread_mutex_lock(&kicks->lock);
	answer(kicks);
	rc = open_own(kicks);
	if (rc == 0) {
		*ret_fd = fcntl(kicks->own.send_fd, F_DUPFD_CLOEXEC, 0);
		rc = *ret_fd < 0 ? -errno : 0;
	}
	pthread_mutex_unlock(&kicks->lock);
	return rc;
}

uint64_t sim_session_num_kicks(const struct sim_session *session)
{
	return atomic_load(&session->kicks->num_kicks);
}

void sim_kicks_answer(struct sim_kicks *kicks)
{
	pthread_mutex_lock(&kicks->lock);
	answer(kicks);
	pthread_mutex_unlock(&kicks->lock);
}

/* ---- the peer ---- */

/* The lock is held. */
static struct sim_kick_target *find_or_add(struct sim_kicks *kicks, uint64_t process, bool is_own)
{
	struct sim_kick_target *peer;

	LIST_FOREACH(peer, &kicks->peers, entry)
		if (peer->process == process)
			return peer;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return NULL;
	*peer = (struct sim_kick_target){ .kicks = kicks, .process = process, .is_own = is_own, .fd = -1 };
	LIST_INSERT_HEAD(&kicks->peers, peer, entry);
	return peer;
}

struct sim_kick_target *sim_session_get_kick_target(struct sim_session *session, const struct sim_remote *memory)
{
	struct sim_kicks *kicks = session->kicks;
	struct sim_kick_target *peer;

	pthread_mutex_lock(&kicks->lock);
	peer = find_or_add(kicks, memory->exporter_id, memory->exporter_id == session->self.id);
	if (peer)
		peer->num_users++;
	pthread_mutex_unlock(&kicks->lock);
	return peer;
}

static void close_fd(struct sim_kick_target *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
}

static void free_peer(struct sim_kick_target *peer)
{
	LIST_REMOVE(peer, entry);
	close_fd(peer);
	free(peer);
}

/* The lock is held. */
static void put(struct sim_kick_target *peer)
{
	if (--peer->num_users == 0)
		free_peer(peer);
}

void sim_session_put_kick_target(struct sim_session *session, struct sim_kick_target *target)
{
	if (!target)
		return;
	pthread_mutex_lock(&session->kicks->lock);
	put(target);
	pthread_mutex_unlock(&session->kicks->lock);
}

/* A peer has shut the sockets down if the send fails. The lock is held. */
static void send_kick(struct sim_kick_target *peer)
{
	if (peer->fd >= 0 && sim_wake_send(peer->fd) < 0)
		close_fd(peer);
}

/* The answer to the question for the descriptor: send the kick for which it was asked. */
static void on_answer(void *arg, struct sim_fds *fds)
{
	struct sim_kick_target *peer = arg;
	struct sim_kicks *kicks = peer->kicks;

	pthread_mutex_lock(&kicks->lock);
	peer->is_asking = false;
	peer->fd = fds->count > 0 ? sim_fds_take(fds, 0) : -1;
	if (peer->fd >= 0 && !sim_wake_is_valid(peer->fd))
		close_fd(peer);
	send_kick(peer);
	put(peer);
	pthread_mutex_unlock(&kicks->lock);
}

/* Returns whether the peer has to be asked: once, however often it is kicked meanwhile. */
static bool begin_to_ask(struct sim_kick_target *peer)
{
	bool must_ask;

	pthread_mutex_lock(&peer->kicks->lock);
	send_kick(peer);
	must_ask = peer->fd < 0 && !peer->is_asking;
	peer->is_asking |= must_ask;
	peer->num_users += must_ask;
	pthread_mutex_unlock(&peer->kicks->lock);
	return must_ask;
}

void sim_session_kick(struct sim_session *session, struct sim_kick_target *target, const struct sim_remote *memory)
{
	if (!target)
		return;
	if (target->is_own)
		wake_engine(session->kicks);
	else if (begin_to_ask(target) &&
		 session->owner->memory->ask_for_kicks(session->owner, memory->key, on_answer, target) < 0)
		on_answer(target, &(struct sim_fds){ .count = 0 });
}

/* ---- the end ---- */

void sim_kicks_close(struct sim_kicks *kicks)
{
	if (!kicks)
		return;
	pthread_mutex_lock(&kicks->lock);
	close_own(kicks);
	kicks->is_closed = true;
	pthread_mutex_unlock(&kicks->lock);
}

void sim_kicks_destroy(struct sim_kicks *kicks)
{
	if (!kicks)
		return;
	sim_kicks_close(kicks);
	while (!LIST_EMPTY(&kicks->peers))
		free_peer(LIST_FIRST(&kicks->peers));
	pthread_mutex_destroy(&kicks->lock);
	free(kicks);
}

void sim_kicks_abandon(struct sim_kicks *kicks)
{
	struct sim_kick_target *peer;

	sim_wake_close(&kicks->own);
	LIST_FOREACH(peer, &kicks->peers, entry)
		if (peer->fd >= 0)
			close(peer->fd);
}
