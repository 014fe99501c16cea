/* SPDX-License-Identifier: BSD-3-Clause */
/* The importer: initiators, and the connections that they share.
 *
 *   [disconnected] --connect--> [connected] --error--> [disconnected]
 *
 * An error that leaves a request unanswered ends the connection, since the answer could come later. The next copy of any
 * initiator connects anew. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "served_priv.h"
#include "sim/base/fork.h"
#include "sim/base/monotonic.h"

#define LOCK_RETRY_NS 2000000 /* between looks for a revocation while another thread copies */

/* This process's connection to one target. */
struct served_peer {
	enum sim_transport transport;
	uint64_t target_id;
	unsigned int refs; /* with @entry, under the lock of the list */
	LIST_ENTRY(served_peer) entry;
	pthread_mutex_t lock; /* protects the members below; held during a copy */
	int sock;             /* -1 = disconnected */
	struct served_initiator_ring ring;
};

struct sim_initiator {
	struct sim_initiator_cfg cfg;
	struct served_peer *peer;
	struct sim_grant grant;
};

static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, served_peer) peers = LIST_HEAD_INITIALIZER(peers);

/* The child closes the parent's connections, so that a target sees the parent's end. Another thread of the parent may
 * have held the lock; the list can be walked at any time. */
static void close_in_child(void)
{
	const struct served_peer *peer;

	LIST_FOREACH(peer, &peers, entry)
		if (peer->sock >= 0)
			close(peer->sock);
	LIST_INIT(&peers);
}

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &peers_lock, .child = close_in_child);

static struct served_peer *find_peer(const struct sim_initiator_cfg *cfg)
{
	struct served_peer *peer;

	LIST_FOREACH(peer, &peers, entry)
		if (peer->transport == cfg->transport && peer->target_id == cfg->target_id)
			break;
	return peer;
}

static struct served_peer *peer_new(const struct sim_initiator_cfg *cfg)
{
	struct served_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->transport = cfg->transport;
	peer->target_id = cfg->target_id;
	peer->sock = -1;
	pthread_mutex_init(&peer->lock, NULL);
	LIST_INSERT_HEAD(&peers, peer, entry);
	return peer;
}

static struct served_peer *peer_get(const struct sim_initiator_cfg *cfg)
{
	struct served_peer *peer;

	pthread_mutex_lock(&peers_lock);
	peer = find_peer(cfg);
	if (!peer)
		peer = peer_new(cfg);
	if (peer)
		peer->refs++;
	pthread_mutex_unlock(&peers_lock);
	return peer;
}

static void disconnect(struct served_peer *peer)
{
	served_initiator_ring_close(&peer->ring);
	if (peer->sock >= 0)
		close(peer->sock);
	peer->sock = -1;
}

static void peer_put(struct served_peer *peer)
{
	bool is_last;

	pthread_mutex_lock(&peers_lock);
	is_last = --peer->refs == 0;
	if (is_last)
		LIST_REMOVE(peer, entry);
	pthread_mutex_unlock(&peers_lock);
	if (!is_last)
		return;
	disconnect(peer);
	pthread_mutex_destroy(&peer->lock);
	free(peer);
}

static bool is_revoked(const atomic_bool *revoked)
{
	return revoked && atomic_load(revoked);
}

/* Returns 0, or -EIO: revoked while another thread copies. */
static int lock_peer(struct served_peer *peer, const atomic_bool *revoked)
{
	struct timespec until;

	while (pthread_mutex_trylock(&peer->lock) != 0) {
		if (is_revoked(revoked))
			return -EIO;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOCK_RETRY_NS;
		if (until.tv_nsec >= (long)SIM_NS_PER_S) {
			until.tv_nsec -= (long)SIM_NS_PER_S;
			until.tv_sec++;
		}
		if (pthread_mutex_timedlock(&peer->lock, &until) == 0)
			return 0;
	}
	return 0;
}

/* Get the grant and, unless there is a connection, the end of a new one. */
static int describe(struct sim_initiator *initiator, struct served_wait *wait)
{
	struct served_peer *peer = initiator->peer;
	bool connect = peer->sock < 0;
	int fd = -1;
	int rc = initiator->cfg.describe(initiator->cfg.arg, peer->transport, connect, &initiator->grant, &fd);

	if (rc == 0 && connect && fd < 0)
		rc = -EMFILE; /* the descriptor was lost on its way */
	if (rc < 0 || !connect) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	peer->sock = wait->sock = fd;
	if (peer->transport == SIM_TRANSPORT_SHM)
		rc = served_initiator_ring_open(fd, &peer->ring, wait);
	if (rc < 0)
		disconnect(peer);
	return rc;
}

static int copy_connected(struct sim_initiator *initiator, const struct served_op *op, struct served_wait *wait)
{
	struct served_peer *peer = initiator->peer;
	bool is_in_step;
	int rc;

	wait->sock = peer->sock;
	if (peer->transport == SIM_TRANSPORT_SHM)
		rc = served_initiator_ring_copy(&peer->ring, op, wait, &is_in_step);
	else
		rc = served_initiator_stream_copy(op, wait, &is_in_step);
	if (!is_in_step)
		disconnect(peer);
	return rc == -ECONNRESET ? -EIO : rc;
}

static int copy_locked(struct sim_initiator *initiator, const struct served_op *op, struct served_wait *wait)
{
	int rc = is_revoked(wait->revoked) ? -EIO : 0;

	if (rc == 0 && initiator->peer->sock < 0)
		rc = describe(initiator, wait);
	return rc == 0 ? copy_connected(initiator, op, wait) : rc;
}

static int run(struct sim_initiator *initiator, const struct served_op *op, const atomic_bool *revoked)
{
	struct served_wait wait = { .revoked = revoked, .events = POLLIN, .len_bytes = op->len };
	int rc = lock_peer(initiator->peer, revoked);

	if (rc < 0)
		return rc;
	rc = copy_locked(initiator, op, &wait);
	pthread_mutex_unlock(&initiator->peer->lock);
	return rc;
}

int sim_initiator_copy(struct sim_initiator *initiator, bool write, void *local, uint64_t offset, size_t len,
		       const atomic_bool *revoked)
{
	const struct served_op op = { .grant = &initiator->grant,
				      .kind = write ? SIM_SERVED_WRITE : SIM_SERVED_READ,
				      .is_far = initiator->cfg.is_far,
				      .local = local,
				      .offset = offset,
				      .len = len };

	if (offset > initiator->cfg.len_bytes || len > initiator->cfg.len_bytes - offset)
		return -EFAULT;
	if (write && !initiator->cfg.is_writable)
		return -EACCES;
	return run(initiator, &op, revoked);
}

int sim_initiator_operate(struct sim_initiator *initiator, const struct sim_far_operands *operands, uint64_t offset,
			  const atomic_bool *revoked, uint64_t *ret_before)
{
	struct sim_far_operands local = *operands;
	const struct served_op op = { .grant = &initiator->grant,
				      .kind = SIM_SERVED_FAR_OP,
				      .local = (uint8_t *)&local,
				      .offset = offset,
				      .len = sizeof(local) };
	int rc;

	if (!initiator->cfg.is_far)
		return -EOPNOTSUPP;
	rc = run(initiator, &op, revoked);
	if (rc == 0)
		memcpy(ret_before, &local, sizeof(*ret_before));
	return rc;
}

const struct sim_grant *sim_initiator_grant(const struct sim_initiator *initiator)
{
	return &initiator->grant;
}

static int connect_initiator(struct sim_initiator *initiator)
{
	struct served_wait wait = { .events = POLLIN };
	uint8_t byte;
	const struct served_op probe = { .grant = &initiator->grant, .local = &byte, .len = 1 };
	int rc;

	lock_peer(initiator->peer, NULL);
	rc = describe(initiator, &wait);
	if (rc == 0 && !initiator->cfg.is_far)
		rc = copy_connected(initiator, &probe, &wait);
	pthread_mutex_unlock(&initiator->peer->lock);
	return rc == -EFAULT ? 0 : rc; /* not mapped now: copies fail, as they do on other paths */
}

int sim_initiator_create(const struct sim_initiator_cfg *cfg, struct sim_initiator **ret_initiator)
{
	struct sim_initiator *initiator = calloc(1, sizeof(*initiator));
	int rc;

	if (!initiator)
		return -ENOMEM;
	initiator->cfg = *cfg;
	initiator->peer = peer_get(cfg);
	rc = initiator->peer ? connect_initiator(initiator) : -ENOMEM;
	if (rc < 0) {
		sim_initiator_destroy(initiator);
		return rc;
	}
	*ret_initiator = initiator;
	return 0;
}

void sim_initiator_destroy(struct sim_initiator *initiator)
{
	if (!initiator)
		return;
	if (initiator->peer)
		peer_put(initiator->peer);
	free(initiator);
}
