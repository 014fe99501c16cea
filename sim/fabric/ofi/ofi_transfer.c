/* SPDX-License-Identifier: BSD-3-Clause */
/* One transfer: posting it, waiting for its completion. */
#include <errno.h>

#include "ofi_priv.h"
#include "sim/base/log.h"

#define POLL_ROUNDS     1024 /* shm: poll the CQ after so many, also without a change of served */
#define LIVENESS_ROUNDS 4096 /* check that the target lives after so many */

static uint64_t key_epoch(const struct sim_ofi_peer *peer, uint32_t dereg_count)
{
	return (uint64_t)peer->conn_id << 32 | dereg_count;
}

/* Over sockets libfabric retries a closed address without end, but notices when an open connection ends. */
static bool is_target_gone(const struct sim_ofi_transfer *transfer)
{
	const struct sim_ofi_shm_conn *conn = &transfer->peer->shm_conn;

	if (conn->ctrl)
		return sim_ofi_shm_conn_is_closed(conn);
	return transfer->probe_addr &&
	       sim_ofi_addr_reachable(transfer->probe_addr, transfer->probe_addr_len, 0) == -ECONNREFUSED;
}

/* Wait between two polls. Returns 0, -ECONNRESET (the target is gone), -EIO or -ETIMEDOUT. */
static int wait_and_check(struct sim_ofi_transfer *transfer)
{
	int rc = sim_ofi_wait_round(transfer->wait);

	if (rc == 0 && ++transfer->rounds % LIVENESS_ROUNDS == 0 && is_target_gone(transfer))
		rc = -ECONNRESET;
	return rc;
}

/* shm: take the lock of the target's region. Returns 0, -ECONNRESET (the region was closed), or -EIO or -ETIMEDOUT of
 * the wait. */
static int lock_region(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_shm_conn *conn = &transfer->peer->shm_conn;
	int rc;

	if (!conn->ctrl)
		return 0;
	while ((rc = sim_ofi_shm_ctrl_lock(conn->ctrl)) == -EBUSY) {
		rc = wait_and_check(transfer);
		if (rc < 0)
			return rc;
	}
	if (rc == 0)
		return 0;
	sim_ofi_shm_conn_ring_doorbell(conn); /* the target may not have noticed yet */
	return -ECONNRESET;
}

static void unlock_region(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_shm_conn *conn = &transfer->peer->shm_conn;

	if (!conn->ctrl)
		return;
	sim_ofi_shm_ctrl_unlock(conn->ctrl);
	transfer->served = atomic_load(&conn->ctrl->served);
	sim_ofi_shm_conn_ring_doorbell(conn);
}

/* shm: whether the target has served since we released the lock, so that a poll may succeed. */
static bool may_be_complete(const struct sim_ofi_transfer *transfer)
{
	const struct sim_ofi_shm_ctrl *ctrl = transfer->peer->shm_conn.ctrl;

	return !ctrl || atomic_load_explicit(&ctrl->served, memory_order_acquire) != transfer->served;
}

/* shm, with the lock held: whether the target has checked our key since it last ended an exposure. */
static bool is_key_checked(const struct sim_ofi_transfer *transfer)
{
	const struct sim_ofi_shm_ctrl *ctrl = transfer->peer->shm_conn.ctrl;

	return !ctrl || transfer->remote_mr->checked_epoch == key_epoch(transfer->peer, ctrl->dereg_count);
}

static int check_key(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_remote_mr *remote_mr = transfer->remote_mr;
	uint32_t dereg_count = 0;
	int rc = sim_ofi_shm_conn_check_key(&transfer->peer->shm_conn, remote_mr->key, remote_mr->len,
					    remote_mr->writable, transfer->wait, &dereg_count);

	if (rc == 0)
		remote_mr->checked_epoch = key_epoch(transfer->peer, dereg_count);
	return rc;
}

/* The completion means that the bytes are in the target's memory. Each write must ask for that, since "net" ignores the
 * endpoint's attribute. */
static ssize_t post_write(struct sim_ofi_transfer *transfer, void *desc, uint64_t addr)
{
	const struct iovec iov = { .iov_base = transfer->local, .iov_len = transfer->len };
	const struct fi_rma_iov rma_iov = { .addr = addr, .len = transfer->len, .key = transfer->remote_mr->key };
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

/* Returns 0, -FI_EAGAIN or another code of libfabric. */
static ssize_t try_post(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_peer *peer = transfer->peer;
	void *desc = transfer->mr ? fi_mr_desc(transfer->mr) : NULL;
	uint64_t addr = transfer->remote_mr->base + transfer->offset;
	ssize_t rc;

	sim_ofi_lsan_disable(); /* it may connect */
	if (transfer->write)
		rc = post_write(transfer, desc, addr);
	else
		rc = fi_read(peer->endpoint.ep, transfer->local, transfer->len, desc, peer->addr, addr,
			     transfer->remote_mr->key, &peer->context);
	if (rc == -FI_EAGAIN)
		fi_cq_read(peer->endpoint.cq, NULL, 0); /* makes progress of the connection */
	else if (rc == 0 && peer->shm_conn.ctrl)
		peer->shm_conn.ctrl->busy[peer->shm_conn.slot] = 1;
	sim_ofi_lsan_enable();
	return rc;
}

static int post_transfer(struct sim_ofi_transfer *transfer)
{
	ssize_t rc;

	for (;;) {
		rc = lock_region(transfer);
		if (rc < 0)
			return (int)rc;
		if (!is_key_checked(transfer)) {
			unlock_region(transfer);
			rc = check_key(transfer);
			if (rc < 0)
				return (int)rc;
			continue;
		}
		rc = try_post(transfer);
		unlock_region(transfer);
		if (rc != -FI_EAGAIN)
			return rc < 0 ? -ECONNRESET : 0;
		rc = wait_and_check(transfer);
		if (rc < 0)
			return (int)rc;
	}
}

/* Returns 1 (complete), 0 (not yet), or -ECONNRESET: the target refused the transfer or is gone. */
static int poll_completion(struct sim_ofi_transfer *transfer)
{
	struct sim_ofi_peer *peer = transfer->peer;
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_entry entry;
	ssize_t got = fi_cq_read(peer->endpoint.cq, &entry, 1);

	if (got == -FI_EAGAIN)
		return 0;
	if (got == 1) {
		if (peer->shm_conn.ctrl)
			peer->shm_conn.ctrl->busy[peer->shm_conn.slot] = 0;
		return 1;
	}
	if (got == -FI_EAVAIL)
		fi_cq_readerr(peer->endpoint.cq, &error, 0);
	sim_dbg("%s: a transfer of %zu bytes failed: error %d", peer->target_desc.provider, transfer->len, error.err);
	return -ECONNRESET;
}

static int wait_completion(struct sim_ofi_transfer *transfer)
{
	int rc;

	for (;;) {
		if (may_be_complete(transfer) || transfer->rounds % POLL_ROUNDS == 0) {
			rc = lock_region(transfer);
			if (rc < 0)
				return rc;
			rc = poll_completion(transfer);
			unlock_region(transfer);
			if (rc != 0)
				return rc < 0 ? rc : 0;
		}
		rc = wait_and_check(transfer);
		if (rc < 0)
			return rc;
	}
}

int sim_ofi_transfer_run(struct sim_ofi_transfer *transfer, bool *ret_is_broken)
{
	struct sim_ofi_endpoint *endpoint = &transfer->peer->endpoint;
	int rc = 0;

	*ret_is_broken = false;
	/* Registered for this transfer only, since the caller may map other memory there later. */
	if (endpoint->info->domain_attr->mr_mode & FI_MR_LOCAL)
		rc = fi_mr_reg(endpoint->domain, transfer->local, transfer->len, transfer->write ? FI_WRITE : FI_READ,
			       0, 1, 0, &transfer->mr, NULL);
	if (rc < 0)
		return sim_ofi_errno(rc);
	sim_ofi_wait_reset(transfer->wait);
	transfer->rounds = 1;
	rc = post_transfer(transfer);
	if (rc == 0)
		rc = wait_completion(transfer);
	*ret_is_broken =
		rc < 0 && rc != -ENOENT && rc != -EACCES; /* after an answer of the target nothing is in flight */
	if (*ret_is_broken)
		sim_ofi_endpoint_halt(endpoint);
	if (transfer->mr)
		fi_close(&transfer->mr->fid);
	transfer->mr = NULL;
	return rc;
}
