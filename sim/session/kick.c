/* SPDX-License-Identifier: BSD-3-Clause */
/* Kicks: those that come to this process, and those that it sends. */
#include "kick.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "session_priv.h"
#include "sim/base/watch.h"
#include "sim/engine/engine.h"
#include "sim/fabric/remote.h"
#include "sim/shm/wake.h"

struct sim_kick_target {
	uint64_t process; /* of struct sim_peer_info */
	int fd;           /* -1 = this process's own */
	uint32_t num_users;
	LIST_ENTRY(sim_kick_target) entry;
};

struct sim_kicks {
	struct sim_engine *engine;
	int epoll_fd;
	pthread_mutex_t lock; /* protects what follows; not held during calls into the session */
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

int sim_kicks_describe(struct sim_kicks *kicks, int *ret_fd)
{
	int rc;

	pthread_mutex_lock(&kicks->lock);
	rc = open_own(kicks);
	if (rc == 0) {
		*ret_fd = fcntl(kicks->own.send_fd, F_DUPFD_CLOEXEC, 0);
		rc = *ret_fd < 0 ? -errno : 0;
	}
	pthread_mutex_unlock(&kicks->lock);
	return rc;
}

static void wake_engine(struct sim_kicks *kicks)
{
	sim_engine_wake_at(kicks->engine, 0);
}

/* A peer that shuts the sockets down has ended them for all; peers that ask later get new ones. */
void sim_kicks_answer(struct sim_kicks *kicks)
{
	pthread_mutex_lock(&kicks->lock);
	if (!kicks->is_closed) {
		if (kicks->own.recv_fd >= 0 && !sim_wake_clear(&kicks->own))
			close_own(kicks);
		wake_engine(kicks);
	}
	pthread_mutex_unlock(&kicks->lock);
}

/* ---- the peer ---- */

static struct sim_kick_target *find_and_hold(struct sim_kicks *kicks, uint64_t process)
{
	struct sim_kick_target *peer;

	pthread_mutex_lock(&kicks->lock);
	LIST_FOREACH(peer, &kicks->peers, entry)
		if (peer->process == process)
			break;
	if (peer)
		peer->num_users++;
	pthread_mutex_unlock(&kicks->lock);
	return peer;
}

/* Ask the peer. Returns its descriptor, or -1. */
static int ask_for_fd(struct sim_session *session, uint64_t key)
{
	struct sim_grant none;
	int fd = -1;

	session->owner->memory->describe(session->owner, key, SIM_TRANSPORT_KICK, false, &none, &fd);
	if (fd >= 0 && !sim_wake_is_valid(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Two threads may add the same process: each has a target of its own then. */
static struct sim_kick_target *add(struct sim_kicks *kicks, uint64_t process, int fd)
{
	struct sim_kick_target *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	*peer = (struct sim_kick_target){ .process = process, .fd = fd, .num_users = 1 };
	pthread_mutex_lock(&kicks->lock);
	LIST_INSERT_HEAD(&kicks->peers, peer, entry);
	pthread_mutex_unlock(&kicks->lock);
	return peer;
}

struct sim_kick_target *sim_session_get_kick_target(struct sim_session *session, const struct sim_remote *inbox)
{
	bool is_own = inbox->exporter_id == session->self.id;
	struct sim_kick_target *peer = find_and_hold(session->kicks, inbox->exporter_id);
	int fd;

	if (peer)
		return peer;
	fd = is_own ? -1 : ask_for_fd(session, inbox->key);
	if (fd < 0 && !is_own)
		return NULL;
	peer = add(session->kicks, inbox->exporter_id, fd);
	if (!peer && fd >= 0)
		close(fd);
	return peer;
}

static void free_peer(struct sim_kick_target *peer)
{
	LIST_REMOVE(peer, entry);
	if (peer->fd >= 0)
		close(peer->fd);
	free(peer);
}

void sim_session_put_kick_target(struct sim_session *session, struct sim_kick_target *target)
{
	if (!target)
		return;
	pthread_mutex_lock(&session->kicks->lock);
	if (--target->num_users == 0)
		free_peer(target);
	pthread_mutex_unlock(&session->kicks->lock);
}

void sim_session_kick(struct sim_session *session, struct sim_kick_target *target)
{
	if (!target)
		return;
	if (target->fd >= 0)
		sim_wake_send(target->fd);
	else
		wake_engine(session->kicks);
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
