/* SPDX-License-Identifier: BSD-3-Clause */
/* sendto and recvfrom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ep_priv.h"
#include "shim/comch/endpoint/comm_channel_hooks.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/pe_vclock.h"
#include "shim/common/process/runtime.h"

#define CHECK_FLAGS(flags)                                                                        \
	do {                                                                                      \
		if ((flags) != DOCA_CC_MSG_FLAG_NONE)                                             \
			return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "flags %#x; there are none", \
					   (unsigned int)(flags));                                \
	} while (0)

/* ---- sending ---- */

static bool is_peer_of(const struct doca_comm_channel_addr_t *addr, const struct doca_comm_channel_ep_t *ep)
{
	return shim_object_is(addr, SHIM_CHANNEL_ADDR) && addr->ep == ep;
}

/* There is no room. Programs poll with AGAIN, so it is not logged. */
static doca_error_t report_no_room(struct doca_comm_channel_addr_t *addr, size_t len)
{
	addr->blocked_bytes = (uint32_t)len;
	if (doca_unlikely(shim_vclock != NULL)) { /* room comes when time passes, or others progress */
		shim_pe_vclock_note_refusal(addr->ep->pe);
		channel_progress_all(addr->ep);
	}
	return DOCA_ERROR_AGAIN;
}

static doca_error_t report_send_error(struct doca_comm_channel_addr_t *addr, int rc, size_t len)
{
	doca_error_t status = rc == -ECANCELED ? comch_take_injected_status(addr->ep->ctx) : DOCA_SUCCESS;

	if (rc == -EAGAIN || status == DOCA_ERROR_AGAIN)
		return report_no_room(addr, len);
	if (rc == -ECANCELED)
		return status;
	if (rc == -EFAULT) {
		sim_err("doca_comm_channel_ep_sendto: the message's memory is not mapped");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (rc == -ENOTCONN) {
		sim_err("doca_comm_channel_ep_sendto: the endpoint belongs to the process before fork()");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	sim_err("doca_comm_channel_ep_sendto: the peer is gone; disconnect it");
	return DOCA_ERROR_CONNECTION_RESET;
}

static doca_error_t send_msg(struct doca_comm_channel_addr_t *addr, const void *msg, size_t len)
{
	int rc;

	if (doca_unlikely(shim_vclock != NULL) && addr->blocked_bytes > 0) {
		if (shim_pe_vclock_may_retry(addr->ep->pe) != SIM_VCLOCK_RETRY)
			return DOCA_ERROR_AGAIN;
		if (!comch_connection_has_room(addr->connection, (uint32_t)len))
			return report_no_room(addr, len);
	}
	rc = comch_connection_send(addr->connection, msg, (uint32_t)len);
	if (rc != 0)
		return report_send_error(addr, rc, len);
	addr->counters.sent++;
	addr->counters.sent_bytes += len;
	addr->blocked_bytes = 0;
	return DOCA_SUCCESS;
}

/* Whether the service has accepted this client, or never will. */
static bool has_finished_connecting(struct doca_comm_channel_addr_t *addr)
{
	channel_progress_connect(addr);
	return addr->state != CHANNEL_CONNECTING || channel_peer_is_disconnected(addr);
}

doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len,
					 int flags, struct doca_comm_channel_addr_t *peer_addr)
{
	SHIM_NEED_FAST(local_ep, SHIM_CHANNEL_EP);
	SHIM_NEED_OUT(msg);
	CHECK_FLAGS(flags);
	if (!is_peer_of(peer_addr, local_ep))
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "there is no such peer of this endpoint");
	if (len == 0 || len > local_ep->max_msg_bytes)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a message of %zu bytes; this endpoint sends 1 to %u", len,
				   local_ep->max_msg_bytes);
	if (!has_finished_connecting(peer_addr))
		return DOCA_ERROR_AGAIN;
	return peer_addr->state == CHANNEL_CONNECTED ? send_msg(peer_addr, msg, len) :
						       report_send_error(peer_addr, -ECONNRESET, len);
}

/* ---- receiving ---- */

static void count_received(struct doca_comm_channel_addr_t *addr, size_t len)
{
	addr->counters.received++;
	addr->counters.received_bytes += len;
}

/* A message that is longer than its buffer is kept until a recvfrom has a larger one. */
static doca_error_t recv_pending_msg(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len,
				     struct doca_comm_channel_addr_t **peer_addr)
{
	struct channel_pending_msg *pending = ep->pending_msg;

	if (pending->len > *len) {
		sim_err("doca_comm_channel_ep_recvfrom: a message of %zu bytes waits; the buffer has %zu", pending->len,
			*len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(msg, pending->bytes, pending->len);
	*len = pending->len;
	*peer_addr = pending->addr;
	count_received(pending->addr, pending->len);
	ep->pending_msg = NULL;
	free(pending);
	return DOCA_SUCCESS;
}

/* Report the end of a peer, once. */
static doca_error_t report_peer_end(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t **peer_addr)
{
	struct doca_comm_channel_addr_t *addr;

	LIST_FOREACH(addr, &ep->addrs, link)
		if (addr->state == CHANNEL_ENDED && !addr->end_reported)
			break;
	addr->end_reported = true;
	ep->num_unreported--;
	*peer_addr = addr;
	sim_err("doca_comm_channel_ep_recvfrom: the connection to a peer ended; disconnect it");
	return DOCA_ERROR_CONNECTION_RESET;
}

/* Receive the next message into @msg, if there is one. Returns SUCCESS, or the status that a fault gives. */
static doca_error_t recv_next(struct doca_comm_channel_ep_t *ep, void *msg, size_t len)
{
	doca_error_t failure = DOCA_SUCCESS;

	ep->recv_buf = msg;
	ep->recv_buf_len = len;
	ep->recv_from = NULL;
	while (failure == DOCA_SUCCESS && comch_progress_recv(ep->ctx) && !ep->recv_from && !ep->pending_msg &&
	       ep->num_unreported == 0)
		failure = comch_take_injected_status(ep->ctx);
	ep->recv_buf = NULL;
	return failure;
}

/* No message will come any more: each recvfrom returns this. */
static doca_error_t report_shut_down(const struct doca_comm_channel_ep_t *ep,
				     struct doca_comm_channel_addr_t **peer_addr)
{
	if (ep->role == CHANNEL_CLIENT) {
		*peer_addr = LIST_FIRST(&ep->addrs);
		sim_err("doca_comm_channel_ep_recvfrom: the connection ended; disconnect the peer");
		return DOCA_ERROR_CONNECTION_RESET;
	}
	sim_err("doca_comm_channel_ep_recvfrom: no peer can come any more: the service's function was reset, failed or was removed, or the card's daemon is gone; destroy the endpoint, close the device and open it again");
	return DOCA_ERROR_NOT_CONNECTED;
}

/* There was no message that fits: return the kept message, the end of a peer, or AGAIN. */
static doca_error_t recv_pending_or_again(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len,
					  struct doca_comm_channel_addr_t **peer_addr)
{
	if (ep->pending_msg)
		return recv_pending_msg(ep, msg, len, peer_addr);
	if (ep->num_unreported > 0)
		return report_peer_end(ep, peer_addr);
	if (channel_is_shut_down(ep))
		return report_shut_down(ep, peer_addr);
	if (shim_ctx_is_same_process(ep->ctx))
		return DOCA_ERROR_AGAIN;
	sim_err("doca_comm_channel_ep_recvfrom: the endpoint belongs to the process before fork()");
	return DOCA_ERROR_NOT_CONNECTED;
}

doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
					   struct doca_comm_channel_addr_t **peer_addr)
{
	doca_error_t failure;

	SHIM_NEED_FAST(local_ep, SHIM_CHANNEL_EP);
	SHIM_NEED_OUT(msg);
	SHIM_NEED_OUT(len);
	SHIM_NEED_OUT(peer_addr);
	CHECK_FLAGS(flags);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "the endpoint neither listens nor is connected");
	if (local_ep->pending_msg || local_ep->num_unreported > 0)
		return recv_pending_or_again(local_ep, msg, len, peer_addr);
	failure = recv_next(local_ep, msg, *len);
	if (doca_unlikely(failure != DOCA_SUCCESS))
		return failure;
	if (!local_ep->recv_from)
		return recv_pending_or_again(local_ep, msg, len, peer_addr);
	*len = local_ep->recv_buf_len;
	*peer_addr = local_ep->recv_from;
	count_received(local_ep->recv_from, *len);
	return DOCA_SUCCESS;
}
