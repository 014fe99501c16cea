/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "ofi_priv.h"
#include "sim/base/log.h"

#define LOOK_ROUNDS 1024 /* shm: look after so many, whatever the target says */
#define OVER_ROUNDS 4096 /* see whether the target is still there */

static uint64_t stamp(const struct sim_ofi_peer *peer, uint32_t hides)
{
	return (uint64_t)peer->stay << 32 | hides;
}

/* Over sockets libfabric itself would go on knocking at a closed door; one that it came through it watches. */
static bool is_over(const struct sim_ofi_transfer *transfer)
{
	const struct sim_ofi_visit *visit = &transfer->peer->visit;

	if (visit->room)
		return sim_ofi_visit_over(visit);
	return transfer->door && sim_ofi_addr_reachable(transfer->door, transfer->door_len, 0) == -ECONNREFUSED;
}

/* Between two looks. Returns 0, -ECONNRESET (the target is gone), or -EIO or -ETIMEDOUT. */
static int wait_round(struct sim_ofi_transfer *transfer)
{
	int rc = sim_ofi_wait_round(transfer->wait);

	if (rc == 0 && ++transfer->rounds % OVER_ROUNDS == 0 && is_over(transfer))
		rc = -ECONNRESET;
	return rc;
}

/* shm: take the lock of the target's region. Returns 0, -ECONNRESET (this
 * region is no more), or -EIO or -ETIMEDOUT from the waiting. */
static int enter(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_visit *visit = &transfer->peer->visit;
	int rc;

	if (!visit->room)
		return 0;
	while ((rc = sim_ofi_room_lock(visit->room)) == -EBUSY) {
		rc = wait_round(transfer);
		if (rc < 0)
			return rc;
	}
	if (rc == 0)
		return 0;
	sim_ofi_visit_beat(visit); /* the target may not know yet */
	return -ECONNRESET;
}

static void leave(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_visit *visit = &transfer->peer->visit;

	if (!visit->room)
		return;
	sim_ofi_room_unlock(visit->room);
	transfer->served = atomic_load(&visit->room->served);
	sim_ofi_visit_beat(visit);
}

/* shm: whether the target served since we left, so that it is worth while to look. */
static bool worth_a_look(const struct sim_ofi_transfer *transfer)
{
	const struct sim_ofi_room *room = transfer->peer->visit.room;

	return !room || atomic_load_explicit(&room->served, memory_order_acquire) != transfer->served;
}

/* shm, inside: whether the target has been asked about our key since it last ended an exposure. */
static bool key_checked(const struct sim_ofi_transfer *transfer)
{
	const struct sim_ofi_room *room = transfer->peer->visit.room;

	return !room || transfer->claim->checked == stamp(transfer->peer, room->hides);
}

static int check_key(struct sim_ofi_transfer *transfer)
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
static ssize_t post_write(struct sim_ofi_transfer *transfer, void *desc, uint64_t addr)
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
static ssize_t post(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_peer *peer = transfer->peer;
	void *desc = transfer->mr ? fi_mr_desc(transfer->mr) : NULL;
	uint64_t addr = transfer->claim->base + transfer->offset;
	ssize_t rc;

	sim_ofi_hush_leaks(); /* it may connect */
	if (transfer->write)
		rc = post_write(transfer, desc, addr);
	else
		rc = fi_read(peer->endpoint.ep, transfer->local, transfer->len, desc, peer->addr, addr,
			     transfer->claim->key, &peer->context);
	if (rc == -FI_EAGAIN)
		fi_cq_read(peer->endpoint.cq, NULL, 0); /* connecting makes progress only so */
	else if (rc == 0 && peer->visit.room)
		peer->visit.room->busy[peer->visit.slot] = 1;
	sim_ofi_unhush_leaks();
	return rc;
}

static int start(struct sim_ofi_transfer *transfer)
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
		rc = wait_round(transfer);
		if (rc < 0)
			return (int)rc;
	}
}

/* One look. Returns 1 (complete), 0 (not yet), or -ECONNRESET: the target refused it or went away. */
static int look(struct sim_ofi_transfer *transfer)
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

static int finish(struct sim_ofi_transfer *transfer)
{
	int rc;

	for (;;) {
		if (worth_a_look(transfer) || transfer->rounds % LOOK_ROUNDS == 0) {
			rc = enter(transfer);
			if (rc < 0)
				return rc;
			rc = look(transfer);
			leave(transfer);
			if (rc != 0)
				return rc < 0 ? rc : 0;
		}
		rc = wait_round(transfer);
		if (rc < 0)
			return rc;
	}
}

int sim_ofi_transfer_run(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_endpoint *endpoint = &transfer->peer->endpoint;
	bool trouble;
	int rc = 0;

	/* Not kept for later: the caller may unmap the memory and map another there. */
	if (endpoint->info->domain_attr->mr_mode & FI_MR_LOCAL)
		rc = fi_mr_reg(endpoint->domain, transfer->local, transfer->len,
			       transfer->write ? FI_WRITE : FI_READ, 0, 1, 0, &transfer->mr, NULL);
	if (rc < 0)
		return sim_ofi_errno(rc);
	sim_ofi_wait_reset(transfer->wait);
	transfer->rounds = 1;
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
		sim_ofi_peer_disconnect(transfer->peer);
	return rc;
}
