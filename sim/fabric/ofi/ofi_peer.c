/* SPDX-License-Identifier: BSD-3-Clause */
/* An importer's endpoint towards one target.
 *
 *   [disconnected] --connect--> [connected] --error--> [disconnected]
 *
 * An error closes the endpoint, since a provider could otherwise write into the caller's memory later. Reads and
 * writes of memory are idempotent: after a lost connection the peer reconnects and repeats the chunk in flight, until
 * the target counts as gone. A living target may disconnect many times in a row, as it reopens its endpoint at each
 * end of an exposure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ofi_priv.h"
#include "sim/base/monotonic.h"

#define MAX_CHUNK             (4u << 20)  /* limits what is repeated; larger chunks are no faster */
#define RECONNECT_NS          50000000u   /* for a target that reopens its endpoint, which takes 1 ms */
#define RECONNECT_WATCHED_NS  5000000000u /* the same on a busy machine, if a death is reported by a revocation */
#define FIRST_CONNECT_NS      1000000000u /* the same for a link's first operation */
#define RECONNECT_INTERVAL_NS 500000
#define MAX_REACHED           100      /* attempts at one chunk that reached the target, after the deadline */
#define LOCK_RETRY_NS         2000000u /* between checks for a revocation while waiting for the lock */

static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, sim_ofi_peer) peers = LIST_HEAD_INITIALIZER(peers);

/* The child leaves the parent's endpoints alone. Another thread of the parent may have held the lock. */
static void reset_in_child(void)
{
	pthread_mutex_init(&peers_lock, NULL);
	LIST_INIT(&peers);
}

static void __attribute__((constructor)) handle_forks(void)
{
	pthread_atfork(NULL, NULL, reset_in_child);
}

static bool is_same_target(const struct sim_ofi_desc *a, const struct sim_ofi_desc *b)
{
	if (strcmp(a->provider, b->provider) != 0 || a->num_addrs != b->num_addrs)
		return false;
	for (uint32_t i = 0; i < a->num_addrs; i++)
		if (a->addr_len[i] != b->addr_len[i] || memcmp(a->addr[i], b->addr[i], a->addr_len[i]) != 0)
			return false;
	return true;
}

static struct sim_ofi_peer *peer_new(const struct sim_ofi_desc *desc)
{
	struct sim_ofi_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->target_desc = *desc;
	peer->endpoint.cq_fd = -1;
	peer->shm_conn.fd = -1;
	pthread_mutex_init(&peer->lock, NULL);
	LIST_INSERT_HEAD(&peers, peer, entry);
	return peer;
}

int sim_ofi_peer_get(const struct sim_ofi_desc *desc, struct sim_ofi_peer **ret_peer)
{
	struct sim_ofi_peer *peer;

	pthread_mutex_lock(&peers_lock);
	LIST_FOREACH(peer, &peers, entry)
		if (is_same_target(&peer->target_desc, desc))
			break;
	if (!peer)
		peer = peer_new(desc);
	if (peer)
		peer->refs++;
	pthread_mutex_unlock(&peers_lock);
	*ret_peer = peer;
	return peer ? 0 : -ENOMEM;
}

/* Close the endpoint, so that no more bytes move. */
static void disconnect(struct sim_ofi_peer *peer)
{
	peer->connected = false;
	sim_ofi_endpoint_close(&peer->endpoint);
	sim_ofi_shm_conn_close(&peer->shm_conn);
}

void sim_ofi_peer_put(struct sim_ofi_peer *peer)
{
	bool is_last;

	if (!peer)
		return;
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

/* ---- connecting ---- */

static int open_shm_conn(struct sim_ofi_peer *peer, const char *name, struct sim_ofi_wait *wait)
{
	static atomic_uint last_conn_id;
	const char *target_name = (const char *)peer->target_desc.addr[0];
	int rc = sim_ofi_shm_conn_open(target_name, name, wait, &peer->shm_conn);

	while (rc == -EBUSY) { /* the listener's backlog is full */
		rc = sim_ofi_wait_round(wait);
		if (rc == 0)
			rc = sim_ofi_shm_conn_open(target_name, name, wait, &peer->shm_conn);
	}
	peer->conn_id = atomic_fetch_add(&last_conn_id, 1) + 1; /* never 0: no key was checked on connection 0 */
	return rc;
}

/* Open an endpoint that suits the peer's address @index. */
static int open_endpoint_for(struct sim_ofi_peer *peer, uint32_t index, unsigned int timeout_ms,
			     struct sim_ofi_wait *wait)
{
	const struct sockaddr *addr = (const struct sockaddr *)peer->target_desc.addr[index];
	struct sim_ofi_endpoint_cfg cfg = { .provider = peer->target_desc.provider };
	char name[SIM_OFI_SHM_NAME_SIZE];
	struct sockaddr_storage bind;
	int rc = 0;

	switch (sim_ofi_kind(peer->target_desc.provider)) {
	case SIM_OFI_SHM:
		sim_ofi_shm_new_name(name);
		cfg.shm_name = name;
		break;
	case SIM_OFI_SOCKETS: /* libfabric itself would retry a dead address without end */
		rc = sim_ofi_addr_reachable(addr, peer->target_desc.addr_len[index], timeout_ms);
		cfg.bind_len = sim_ofi_addr_bind_for(addr, &bind);
		cfg.bind = (struct sockaddr *)&bind;
		break;
	case SIM_OFI_OTHER:
		break;
	}
	if (rc == 0)
		rc = sim_ofi_endpoint_open(&cfg, &peer->endpoint);
	/* The timeout is for the target, not for the loading of libfabric. */
	wait->deadline_ns = sim_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	if (rc == 0 && cfg.shm_name)
		rc = open_shm_conn(peer, name, wait);
	if (rc == 0 && fi_av_insert(peer->endpoint.av, addr, 1, &peer->addr, 0, NULL) != 1)
		rc = -EHOSTUNREACH;
	return rc;
}

static int run_transfer(struct sim_ofi_transfer *transfer)
{
	bool is_broken;
	int rc = sim_ofi_transfer_run(transfer, &is_broken);

	if (is_broken)
		disconnect(transfer->peer);
	return rc;
}

/* Read a byte with the key: the process that answers at the address may not be the target. */
static int connect_addr(struct sim_ofi_peer *peer, uint32_t index, struct sim_ofi_remote_mr *remote_mr,
			struct sim_ofi_wait *wait)
{
	uint8_t byte;
	struct sim_ofi_transfer probe = {
		.peer = peer, .remote_mr = remote_mr, .wait = wait, .local = &byte, .len = 1
	};
	int rc;

	rc = open_endpoint_for(peer, index, remote_mr->timeout_ms, wait);
	if (rc < 0) {
		disconnect(peer);
		return rc;
	}
	if (sim_ofi_kind(peer->target_desc.provider) == SIM_OFI_SOCKETS) {
		probe.probe_addr = (const struct sockaddr *)peer->target_desc.addr[index];
		probe.probe_addr_len = peer->target_desc.addr_len[index];
	}
	peer->connected = true;
	return run_transfer(&probe);
}

/* Whether to try the next address after this result. */
static bool may_try_next_addr(int rc)
{
	return rc < 0 && rc != -EIO && rc != -ENOENT && rc != -EACCES && rc != -ENOSYS && rc != -ENOMEM;
}

static int try_addresses(struct sim_ofi_peer *peer, struct sim_ofi_remote_mr *remote_mr, struct sim_ofi_wait *wait)
{
	bool timed_out = false;
	int rc = -EHOSTUNREACH;

	for (uint32_t i = 0; i < peer->target_desc.num_addrs && may_try_next_addr(rc); i++) {
		rc = connect_addr(peer, i, remote_mr, wait);
		timed_out |= rc == -ETIMEDOUT;
	}
	if (!may_try_next_addr(rc) || rc == -EUSERS)
		return rc;
	return timed_out ? -ETIMEDOUT : -EHOSTUNREACH;
}

static bool is_revoked(const atomic_bool *revoked)
{
	return revoked && atomic_load(revoked);
}

/* ---- operations ---- */

/* Returns 0, or -EIO: revoked while another operation, perhaps a stuck one, holds the lock. */
static int acquire_peer_lock(struct sim_ofi_peer *peer, const atomic_bool *revoked)
{
	struct timespec until;

	if (pthread_mutex_trylock(&peer->lock) == 0)
		return 0;
	do {
		if (is_revoked(revoked))
			return -EIO;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOCK_RETRY_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
	} while (pthread_mutex_timedlock(&peer->lock, &until) != 0);
	return 0;
}

static size_t chunk_len(const struct sim_ofi_peer *peer, size_t left)
{
	size_t max = peer->endpoint.info->ep_attr->max_msg_size;

	if (max > MAX_CHUNK)
		max = MAX_CHUNK;
	return left < max ? left : max;
}

/* Without progress until then, the target counts as gone. */
static uint64_t retry_deadline_ns(const struct sim_ofi_op *op)
{
	return sim_monotonic_ns() + (op->revoked  ? RECONNECT_WATCHED_NS :
				     op->is_first ? FIRST_CONNECT_NS :
						    RECONNECT_NS);
}

/* A target that reopens its endpoint is unreachable for a moment. A target that does not answer in time is retried too,
 * if its death is reported by a revocation. */
static int connect_with_retries(struct sim_ofi_peer *peer, struct sim_ofi_remote_mr *remote_mr,
				struct sim_ofi_wait *wait, const struct sim_ofi_op *op)
{
	int rc = try_addresses(peer, remote_mr, wait);
	uint64_t end_ns = retry_deadline_ns(op);

	while ((rc == -EHOSTUNREACH || (rc == -ETIMEDOUT && op->revoked)) && sim_monotonic_ns() < end_ns &&
	       !is_revoked(op->revoked)) {
		nanosleep(&(struct timespec){ .tv_nsec = RECONNECT_INTERVAL_NS }, NULL);
		rc = try_addresses(peer, remote_mr, wait);
	}
	return rc;
}

/* Failed attempts at one chunk: the deadline, and how many attempts reached the target. */
struct retry_state {
	uint64_t deadline_ns; /* 0 = no failure so far */
	unsigned int num_reached;
};

/* Each end of an exposure interrupts the chunk in flight. On a busy machine a few of them may take longer than the
 * deadline permits, so attempts that reach the target extend it. MAX_REACHED limits that, since a chunk that the target
 * refuses is interrupted at each attempt. */
static bool is_retry_exhausted(struct retry_state *retry, const struct sim_ofi_op *op, bool was_reached)
{
	if (retry->deadline_ns == 0)
		retry->deadline_ns = retry_deadline_ns(op);
	retry->num_reached += was_reached;
	return sim_monotonic_ns() >= retry->deadline_ns &&
	       !(op->revoked && was_reached && retry->num_reached < MAX_REACHED);
}

static int run_in_chunks(struct sim_ofi_peer *peer, struct sim_ofi_remote_mr *remote_mr, const struct sim_ofi_op *op)
{
	struct sim_ofi_wait wait = { .revoked = op->revoked,
				     .notify_peer = remote_mr->notify_peer,
				     .notify_arg = remote_mr->notify_arg };
	struct sim_ofi_transfer transfer = { .peer = peer, .remote_mr = remote_mr, .wait = &wait, .write = op->write };
	struct retry_state retry = { 0 };
	size_t done = 0;

	while (done < op->len) {
		bool was_reached;
		int rc = peer->connected ? 0 : connect_with_retries(peer, remote_mr, &wait, op);

		was_reached = rc == 0;
		if (rc == 0) {
			transfer.local = op->local + done;
			transfer.offset = op->offset + done;
			transfer.len = chunk_len(peer, op->len - done);
			wait.deadline_ns = op->timeout_ms ? sim_monotonic_ns() + op->timeout_ms * 1000000ull : 0;
			rc = run_transfer(&transfer);
		}
		if (rc == 0) {
			done += transfer.len;
			retry = (struct retry_state){ 0 };
			continue;
		}
		if (rc != -ECONNRESET || is_revoked(op->revoked) || is_retry_exhausted(&retry, op, was_reached))
			return rc;
	}
	return 0;
}

int sim_ofi_peer_run(struct sim_ofi_peer *peer, struct sim_ofi_remote_mr *remote_mr, const struct sim_ofi_op *op)
{
	int rc = acquire_peer_lock(peer, op->revoked);

	if (rc < 0)
		return rc;
	/* Revoked already: make no further call to the provider. */
	rc = is_revoked(op->revoked) ? -EIO : run_in_chunks(peer, remote_mr, op);
	pthread_mutex_unlock(&peer->lock);
	return rc;
}
