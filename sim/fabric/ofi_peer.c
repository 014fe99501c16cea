/* SPDX-License-Identifier: BSD-3-Clause */
/* An importer's endpoint towards one target.
 *
 *   [apart] --connect--> [connected] --any trouble--> [apart]
 *
 * Trouble closes the endpoint: only that keeps a provider from writing into
 * the caller's memory later. Reads and writes of memory may be repeated, so a
 * lost connection is made anew and the piece under way done again, until it
 * shows that nobody is there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ofi_priv.h"
#include "sim/log.h"

#define PIECE (4u << 20) /* what is done again at most; larger ones are no faster */
#define MAX_TRIES 4      /* of a piece, each with a connection made anew */
#define LOOK_ROUNDS 1024 /* shm: look after so many, whatever the target says */
#define OVER_ROUNDS 4096 /* shm: and see whether it is still there */
#define RETURN_NS 50000000u /* for a target to come back: it takes 1 ms */
#define RETURN_STEP_NS 500000
#define TURN_NS 2000000u /* between looks at whether to give up waiting for one's turn */

struct sim_ofi_peer {
	struct sim_ofi_desc where;       /* whose: provider and addresses only */
	unsigned int refs;               /* under peers_lock, like next */
	struct sim_ofi_peer *next;
	pthread_mutex_t turn;            /* held during an operation; guards what follows */
	bool connected;
	bool was_there;                  /* connected at some time */
	struct sim_ofi_endpoint endpoint;
	fi_addr_t addr;
	struct sim_ofi_visit visit;      /* shm */
	uint32_t stay;                   /* shm: numbers the visits of this process */
	struct fi_context2 context;      /* for providers that want some */
};

static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_ofi_peer *peers;
static pid_t peers_pid;

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
	if (peers_pid != getpid()) { /* a forked child leaves its parent's alone */
		peers_pid = getpid();
		peers = NULL;
	}
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

static void disconnect(struct sim_ofi_peer *peer)
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
	disconnect(peer);
	pthread_mutex_destroy(&peer->turn);
	free(peer);
}

/* ---- one piece ---- */

/* A piece on its way, or what is known about it. */
struct transfer {
	struct sim_ofi_peer *peer;
	struct sim_ofi_claim *claim;
	struct sim_ofi_wait *wait;
	bool write;
	void *local;
	size_t len;
	uint64_t offset;
	struct fid_mr *mr;               /* of the local memory, where the provider wants that */
	uint32_t served;                 /* shm: by the target, when we left its region */
};

static uint64_t stamp(const struct sim_ofi_peer *peer, uint32_t hides)
{
	return (uint64_t)peer->stay << 32 | hides;
}

/* shm: take the lock of the target's region. Returns 0, -ECONNRESET (this
 * region is no more), or -EIO or -ETIMEDOUT from the waiting. */
static int enter(struct transfer *transfer)
{
	struct sim_ofi_visit *visit = &transfer->peer->visit;
	int rc;

	if (!visit->room)
		return 0;
	while ((rc = sim_ofi_room_lock(visit->room)) == -EBUSY) {
		rc = sim_ofi_wait_round(transfer->wait);
		if (rc < 0)
			return rc;
	}
	if (rc == 0)
		return 0;
	sim_ofi_visit_beat(visit); /* the target may not know yet */
	return -ECONNRESET;
}

static void leave(struct transfer *transfer)
{
	struct sim_ofi_visit *visit = &transfer->peer->visit;

	if (!visit->room)
		return;
	sim_ofi_room_unlock(visit->room);
	transfer->served = atomic_load(&visit->room->served);
	sim_ofi_visit_beat(visit);
}

/* shm: whether the target served since we left, so that it is worth while to look. */
static bool worth_a_look(const struct transfer *transfer)
{
	const struct sim_ofi_room *room = transfer->peer->visit.room;

	return !room || atomic_load_explicit(&room->served, memory_order_acquire) != transfer->served;
}

/* shm, inside: whether the target has been asked about our key since it last ended an exposure. */
static bool key_checked(const struct transfer *transfer)
{
	const struct sim_ofi_room *room = transfer->peer->visit.room;

	return !room || transfer->claim->checked == stamp(transfer->peer, room->hides);
}

static int check_key(struct transfer *transfer)
{
	struct sim_ofi_claim *claim = transfer->claim;
	uint32_t hides = 0;
	int rc = sim_ofi_visit_check(&transfer->peer->visit, claim->key, claim->len, claim->writable, transfer->wait,
				     &hides);

	if (rc == 0)
		claim->checked = stamp(transfer->peer, hides);
	return rc;
}

/* Complete only when the bytes are in the target's memory. That must be said
 * for each write: "net" does not heed it in the endpoint's attributes. */
static ssize_t post_write(struct transfer *transfer, void *desc, uint64_t addr)
{
	const struct iovec iov = {.iov_base = transfer->local, .iov_len = transfer->len};
	const struct fi_rma_iov rma_iov = {.addr = addr, .len = transfer->len, .key = transfer->claim->key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = transfer->peer->addr,
		.rma_iov = &rma_iov,
		.rma_iov_count = 1,
		.context = &transfer->peer->context,
	};

	return fi_writemsg(transfer->peer->endpoint.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

/* One try. Returns 0, -FI_EAGAIN or another of libfabric's codes. */
static ssize_t post(struct transfer *transfer)
{
	struct sim_ofi_peer *peer = transfer->peer;
	void *desc = transfer->mr ? fi_mr_desc(transfer->mr) : NULL;
	uint64_t addr = transfer->claim->base + transfer->offset;
	ssize_t rc;

	if (transfer->write)
		rc = post_write(transfer, desc, addr);
	else
		rc = fi_read(peer->endpoint.ep, transfer->local, transfer->len, desc, peer->addr, addr,
			     transfer->claim->key, &peer->context);
	if (rc == -FI_EAGAIN)
		fi_cq_read(peer->endpoint.cq, NULL, 0); /* connecting makes progress only so */
	else if (rc == 0 && peer->visit.room)
		peer->visit.room->busy[peer->visit.slot] = 1;
	return rc;
}

static int start(struct transfer *transfer)
{
	ssize_t rc;

	for (;;) {
		rc = enter(transfer);
		if (rc < 0)
			return (int)rc;
		if (!key_checked(transfer)) {
			leave(transfer);
			rc = check_key(transfer);
			if (rc < 0)
				return (int)rc;
			continue;
		}
		rc = post(transfer);
		leave(transfer);
		if (rc != -FI_EAGAIN)
			return rc < 0 ? -ECONNRESET : 0;
		rc = sim_ofi_wait_round(transfer->wait);
		if (rc < 0)
			return (int)rc;
	}
}

/* One look. Returns 1 (complete), 0 (not yet), or -ECONNRESET: the target refused it or went away. */
static int look(struct transfer *transfer)
{
	struct sim_ofi_peer *peer = transfer->peer;
	struct fi_cq_err_entry error = {0};
	struct fi_cq_entry entry;
	ssize_t got = fi_cq_read(peer->endpoint.cq, &entry, 1);

	if (got == -FI_EAGAIN)
		return 0;
	if (got == 1) {
		if (peer->visit.room)
			peer->visit.room->busy[peer->visit.slot] = 0;
		return 1;
	}
	if (got == -FI_EAVAIL)
		fi_cq_readerr(peer->endpoint.cq, &error, 0);
	sim_dbg("%s: a transfer of %zu bytes failed: error %d", peer->where.provider, transfer->len, error.err);
	return -ECONNRESET;
}

static int finish(struct transfer *transfer)
{
	const struct sim_ofi_visit *visit = &transfer->peer->visit;
	int rc;

	for (unsigned int round = 1;; round++) {
		if (worth_a_look(transfer) || round % LOOK_ROUNDS == 0) {
			rc = enter(transfer);
			if (rc < 0)
				return rc;
			rc = look(transfer);
			leave(transfer);
			if (rc != 0)
				return rc < 0 ? rc : 0;
		}
		rc = sim_ofi_wait_round(transfer->wait);
		if (rc < 0)
			return rc;
		if (visit->room && round % OVER_ROUNDS == 0 && sim_ofi_visit_over(visit))
			return -ECONNRESET;
	}
}

static int run_piece(struct transfer *transfer)
{
	struct sim_ofi_endpoint *endpoint = &transfer->peer->endpoint;
	bool trouble;
	int rc = 0;

	/* Not kept for later: the caller may unmap the memory and map another there. */
	if (endpoint->info->domain_attr->mr_mode & FI_MR_LOCAL)
		rc = fi_mr_reg(endpoint->domain, transfer->local, transfer->len, transfer->write ? FI_WRITE : FI_READ, 0,
			       1, 0, &transfer->mr, NULL);
	if (rc < 0)
		return sim_ofi_errno(rc);
	sim_ofi_wait_reset(transfer->wait);
	rc = start(transfer);
	if (rc == 0)
		rc = finish(transfer);
	trouble = rc < 0 && rc != -ENOENT && rc != -EACCES; /* those are the target's word: nothing is under way */
	if (trouble)
		sim_ofi_endpoint_halt(endpoint);
	if (transfer->mr)
		fi_close(&transfer->mr->fid);
	transfer->mr = NULL;
	if (trouble)
		disconnect(transfer->peer);
	return rc;
}

/* ---- connecting ---- */

static int enter_room(struct sim_ofi_peer *peer, const char *name, struct sim_ofi_wait *wait)
{
	static atomic_uint stays;
	int rc = sim_ofi_visit_begin((const char *)peer->where.addr[0], name, wait, &peer->visit);

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
	struct transfer probe = {.peer = peer, .claim = claim, .wait = wait, .local = &byte, .len = 1};
	int rc;

	wait->deadline_ns = sim_ofi_now_ns() + (uint64_t)claim->timeout_ms * 1000000u;
	rc = open_towards(peer, index, claim->timeout_ms, wait);
	if (rc < 0) {
		disconnect(peer);
		return rc;
	}
	peer->connected = true;
	return run_piece(&probe);
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

/* A target that opens its endpoint again is away for a moment: one that was there before is given that time. */
static int connect_again(struct sim_ofi_peer *peer, struct sim_ofi_claim *claim, struct sim_ofi_wait *wait)
{
	uint64_t end = sim_ofi_now_ns() + (peer->was_there ? RETURN_NS : 0);
	int rc = try_addresses(peer, claim, wait);

	while (rc == -EHOSTUNREACH && sim_ofi_now_ns() < end && !(wait->gone && atomic_load(wait->gone))) {
		nanosleep(&(struct timespec){.tv_nsec = RETURN_STEP_NS}, NULL);
		rc = try_addresses(peer, claim, wait);
	}
	peer->was_there |= rc == 0;
	return rc;
}

/* ---- an operation ---- */

/* Returns 0 or -EIO: gone while another operation, perhaps a stuck one, has its turn. */
static int take_turn(struct sim_ofi_peer *peer, const atomic_bool *gone)
{
	struct timespec until;

	if (pthread_mutex_trylock(&peer->turn) == 0)
		return 0;
	do {
		if (gone && atomic_load(gone))
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

static int run_in_pieces(struct sim_ofi_peer *peer, struct sim_ofi_claim *claim, const struct sim_ofi_op *op)
{
	struct sim_ofi_wait wait = {.gone = op->gone, .nudge = claim->nudge, .nudge_arg = claim->nudge_arg};
	struct transfer transfer = {.peer = peer, .claim = claim, .wait = &wait, .write = op->write};
	unsigned int tries = 0;
	size_t done = 0;
	int rc = 0;

	while (done < op->len) {
		rc = peer->connected ? 0 : connect_again(peer, claim, &wait);
		if (rc == 0) {
			transfer.local = op->local + done;
			transfer.offset = op->offset + done;
			transfer.len = piece_len(peer, op->len - done);
			wait.deadline_ns = op->timeout_ms ? sim_ofi_now_ns() + op->timeout_ms * 1000000ull : 0;
			rc = run_piece(&transfer);
		}
		if (rc == 0) {
			done += transfer.len;
			tries = 0;
		} else if (rc != -ECONNRESET || ++tries == MAX_TRIES) {
			break;
		}
	}
	return rc;
}

int sim_ofi_peer_run(struct sim_ofi_peer *peer, struct sim_ofi_claim *claim, const struct sim_ofi_op *op)
{
	int rc = take_turn(peer, op->gone);

	if (rc < 0)
		return rc;
	/* Gone before it began: another provider call might make things worse. */
	rc = op->gone && atomic_load(op->gone) ? -EIO : run_in_pieces(peer, claim, op);
	pthread_mutex_unlock(&peer->turn);
	return rc;
}
