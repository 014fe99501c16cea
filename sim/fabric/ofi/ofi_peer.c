/* SPDX-License-Identifier: BSD-3-Clause */
/* An importer's endpoint towards one target.
 *
 *   [apart] --connect--> [connected] --any trouble--> [apart]
 *
 * Trouble closes the endpoint: only that keeps a provider from writing into
 * the caller's memory later. Reads and writes of memory may be repeated, so a
 * lost connection is made anew and the piece under way done again, until it
 * shows that nobody is there. A target whose process lives may break off many
 * times in a row: each end of an exposure there opens its endpoint again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ofi_priv.h"

#define PIECE (4u << 20) /* what is done again at most; larger ones are no faster */
#define RETURN_NS 50000000u         /* for a target to come back: it takes 1 ms */
#define LATE_RETURN_NS 5000000000u  /* on a busy machine; only where somebody tells when it is gone */
#define ARRIVAL_NS 1000000000u      /* the same, when somebody has just told where it is */
#define RETURN_STEP_NS 500000
#define MAX_FOUND 100    /* tries of one piece that found its memory there, when patience has ended */
#define TURN_NS 2000000u /* between looks at whether to give up waiting for one's turn */

static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_ofi_peer *peers;

void sim_ofi_peers_forked(void)
{
	pthread_mutex_init(&peers_lock, NULL);
	peers = NULL;
}

static bool same_place(const struct sim_ofi_desc *a, const struct sim_ofi_desc *b)
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
	peer->where = *desc;
	peer->endpoint.cq_fd = -1;
	peer->visit.fd = -1;
	pthread_mutex_init(&peer->turn, NULL);
	peer->next = peers;
	peers = peer;
	return peer;
}

int sim_ofi_peer_get(const struct sim_ofi_desc *desc, struct sim_ofi_peer **ret_peer)
{
	struct sim_ofi_peer *peer;

	pthread_mutex_lock(&peers_lock);
	peer = peers;
	while (peer && !same_place(&peer->where, desc))
		peer = peer->next;
	if (!peer)
		peer = peer_new(desc);
	if (peer)
		peer->refs++;
	pthread_mutex_unlock(&peers_lock);
	*ret_peer = peer;
	return peer ? 0 : -ENOMEM;
}

void sim_ofi_peer_disconnect(struct sim_ofi_peer *peer)
{
	peer->connected = false;
	sim_ofi_endpoint_close(&peer->endpoint);
	sim_ofi_visit_end(&peer->visit);
}

void sim_ofi_peer_put(struct sim_ofi_peer *peer)
{
	struct sim_ofi_peer **link = &peers;

	if (!peer)
		return;
	pthread_mutex_lock(&peers_lock);
	if (--peer->refs > 0) {
		pthread_mutex_unlock(&peers_lock);
		return;
	}
	while (*link != peer)
		link = &(*link)->next;
	*link = peer->next;
	pthread_mutex_unlock(&peers_lock);
	sim_ofi_peer_disconnect(peer);
	pthread_mutex_destroy(&peer->turn);
	free(peer);
}

/* ---- connecting ---- */

static int enter_room(struct sim_ofi_peer *peer, const char *name, struct sim_ofi_wait *wait)
{
	static atomic_uint stays;
	const char *target_name = (const char *)peer->where.addr[0];
	int rc = sim_ofi_visit_begin(target_name, name, wait, &peer->visit);

	while (rc == -EBUSY) { /* so many come and go that the porter can't see to each in time */
		rc = sim_ofi_wait_round(wait);
		if (rc == 0)
			rc = sim_ofi_visit_begin(target_name, name, wait, &peer->visit);
	}
	peer->stay = atomic_fetch_add(&stays, 1) + 1; /* never 0: no claim was checked in visit 0 */
	return rc;
}

/* Open an endpoint that suits the peer's address @index. */
static int open_towards(struct sim_ofi_peer *peer, uint32_t index, unsigned int timeout_ms, struct sim_ofi_wait *wait)
{
	const struct sockaddr *addr = (const struct sockaddr *)peer->where.addr[index];
	struct sim_ofi_endpoint_cfg cfg = {.provider = peer->where.provider};
	char name[SIM_OFI_SHM_NAME_SIZE];
	struct sockaddr_storage bind;
	int rc = 0;

	switch (sim_ofi_kind(peer->where.provider)) {
	case SIM_OFI_SHM:
		sim_ofi_shm_new_name(name);
		cfg.shm_name = name;
		break;
	case SIM_OFI_SOCKETS: /* libfabric itself would try a dead address for ever */
		rc = sim_ofi_addr_reachable(addr, peer->where.addr_len[index], timeout_ms);
		cfg.bind_len = sim_ofi_addr_towards(addr, &bind);
		cfg.bind = (struct sockaddr *)&bind;
		break;
	case SIM_OFI_OTHER:
		break;
	}
	if (rc == 0)
		rc = sim_ofi_endpoint_open(&cfg, &peer->endpoint);
	/* From here on the target is waited for; before, libfabric was, which takes its time when it is loaded. */
	wait->deadline_ns = sim_ofi_now_ns() + (uint64_t)timeout_ms * 1000000u;
	if (rc == 0 && cfg.shm_name)
		rc = enter_room(peer, name, wait);
	if (rc == 0 && fi_av_insert(peer->endpoint.av, addr, 1, &peer->addr, 0, NULL) != 1)
		rc = -EHOSTUNREACH;
	return rc;
}

/* Whoever answers there must know the key: read a byte with it. */
static int connect_to(struct sim_ofi_peer *peer, uint32_t index, struct sim_ofi_claim *claim, struct sim_ofi_wait *wait)
{
	uint8_t byte;
	struct sim_ofi_transfer probe = {.peer = peer, .claim = claim, .wait = wait, .local = &byte, .len = 1};
	int rc;

	rc = open_towards(peer, index, claim->timeout_ms, wait);
	if (rc < 0) {
		sim_ofi_peer_disconnect(peer);
		return rc;
	}
	if (sim_ofi_kind(peer->where.provider) == SIM_OFI_SOCKETS) {
		probe.door = (const struct sockaddr *)peer->where.addr[index];
		probe.door_len = peer->where.addr_len[index];
	}
	peer->connected = true;
	return sim_ofi_transfer_run(&probe);
}

/* Whether another address may do better after this result. */
static bool worth_going_on(int rc)
{
	return rc < 0 && rc != -EIO && rc != -ENOENT && rc != -EACCES && rc != -ENOSYS && rc != -ENOMEM;
}

static int try_addresses(struct sim_ofi_peer *peer, struct sim_ofi_claim *claim, struct sim_ofi_wait *wait)
{
	bool timed_out = false;
	int rc = -EHOSTUNREACH;

	for (uint32_t i = 0; i < peer->where.num_addrs && worth_going_on(rc); i++) {
		rc = connect_to(peer, i, claim, wait);
		timed_out |= rc == -ETIMEDOUT;
	}
	if (!worth_going_on(rc) || rc == -EUSERS)
		return rc;
	return timed_out ? -ETIMEDOUT : -EHOSTUNREACH;
}

static bool is_gone(const atomic_bool *gone)
{
	return gone && atomic_load(gone);
}

/* ---- an operation ---- */

/* Returns 0 or -EIO: gone while another operation, perhaps a stuck one, has its turn. */
static int take_turn(struct sim_ofi_peer *peer, const atomic_bool *gone)
{
	struct timespec until;

	if (pthread_mutex_trylock(&peer->turn) == 0)
		return 0;
	do {
		if (is_gone(gone))
			return -EIO;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += TURN_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
	} while (pthread_mutex_timedlock(&peer->turn, &until) != 0);
	return 0;
}

static size_t piece_len(const struct sim_ofi_peer *peer, size_t left)
{
	size_t max = peer->endpoint.info->ep_attr->max_msg_size;

	if (max > PIECE)
		max = PIECE;
	return left < max ? left : max;
}

/* How long without any progress until the target counts as gone. */
static uint64_t end_of_patience(const struct sim_ofi_op *op)
{
	return sim_ofi_now_ns() + (op->gone ? LATE_RETURN_NS : op->is_first ? ARRIVAL_NS : RETURN_NS);
}

/* A target that opens its endpoint again is away for a moment, and so may one be that does not answer in time, where
 * somebody tells when it is gone. */
static int connect_patiently(struct sim_ofi_peer *peer, struct sim_ofi_claim *claim, struct sim_ofi_wait *wait,
			     const struct sim_ofi_op *op)
{
	int rc = try_addresses(peer, claim, wait);
	uint64_t end_ns = end_of_patience(op);

	while ((rc == -EHOSTUNREACH || (rc == -ETIMEDOUT && op->gone)) && sim_ofi_now_ns() < end_ns && !is_gone(op->gone)) {
		nanosleep(&(struct timespec){.tv_nsec = RETURN_STEP_NS}, NULL);
		rc = try_addresses(peer, claim, wait);
	}
	return rc;
}

/* A piece that does not get through: since when, and how often its memory was found to be there meanwhile. */
struct trouble {
	uint64_t end_ns;      /* of patience; 0 = no trouble so far */
	unsigned int found;
};

/* Exposures that end break off what is under way, each once: on a busy machine a few of them take longer than patience
 * lasts. What the target refuses is broken off however often it is tried. */
static bool is_hopeless(struct trouble *trouble, const struct sim_ofi_op *op, bool is_there)
{
	if (trouble->end_ns == 0)
		trouble->end_ns = end_of_patience(op);
	trouble->found += is_there;
	return sim_ofi_now_ns() >= trouble->end_ns && !(op->gone && is_there && trouble->found < MAX_FOUND);
}

static int run_in_pieces(struct sim_ofi_peer *peer, struct sim_ofi_claim *claim, const struct sim_ofi_op *op)
{
	struct sim_ofi_wait wait = {.gone = op->gone, .nudge = claim->nudge, .nudge_arg = claim->nudge_arg};
	struct sim_ofi_transfer transfer = {.peer = peer, .claim = claim, .wait = &wait, .write = op->write};
	struct trouble trouble = {0};
	size_t done = 0;

	while (done < op->len) {
		bool is_there;
		int rc = peer->connected ? 0 : connect_patiently(peer, claim, &wait, op);

		is_there = rc == 0;
		if (rc == 0) {
			transfer.local = op->local + done;
			transfer.offset = op->offset + done;
			transfer.len = piece_len(peer, op->len - done);
			wait.deadline_ns = op->timeout_ms ? sim_ofi_now_ns() + op->timeout_ms * 1000000ull : 0;
			rc = sim_ofi_transfer_run(&transfer);
		}
		if (rc == 0) {
			done += transfer.len;
			trouble = (struct trouble){0};
			continue;
		}
		if (rc != -ECONNRESET || is_gone(op->gone) || is_hopeless(&trouble, op, is_there))
			return rc;
	}
	return 0;
}

int sim_ofi_peer_run(struct sim_ofi_peer *peer, struct sim_ofi_claim *claim, const struct sim_ofi_op *op)
{
	int rc = take_turn(peer, op->gone);

	if (rc < 0)
		return rc;
	/* Gone before it began: another provider call might make things worse. */
	rc = is_gone(op->gone) ? -EIO : run_in_pieces(peer, claim, op);
	pthread_mutex_unlock(&peer->turn);
	return rc;
}
