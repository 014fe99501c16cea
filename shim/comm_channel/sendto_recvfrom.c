/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending and receiving. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ep_priv.h"
#include "shim/comch/comm_channel_hooks.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/process/runtime.h"

#define CHECK_FLAGS(flags)                                                                             \
	do {                                                                                           \
		if ((flags) != DOCA_CC_MSG_FLAG_NONE)                                                  \
			return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "flags %#x; there are none", (unsigned int)(flags)); \
	} while (0)

/* ---- sending ---- */

static bool is_peer_of(const struct doca_comm_channel_addr_t *addr, const struct doca_comm_channel_ep_t *ep)
{
	return shim_is(addr, SHIM_CHANNEL_ADDR) && addr->ep == ep;
}

/* AGAIN is the common way to wait: no word of it in the log. */
static doca_error_t not_sent(struct doca_comm_channel_addr_t *addr, int rc, size_t len)
{
	if (rc > 0 && rc != DOCA_ERROR_AGAIN)
		return (doca_error_t)rc;
	if (rc == -EAGAIN || rc == DOCA_ERROR_AGAIN) {
		addr->refused_bytes = (uint32_t)len;
		if (doca_unlikely(shim_turns != NULL)) /* there is no room before others had their turn, or time has passed */
			channel_drive(addr->ep);
		return DOCA_ERROR_AGAIN;
	}
	if (rc == -ENOTCONN) {
		sim_err("doca_comm_channel_ep_sendto: the endpoint is of the process before fork()");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	sim_err("doca_comm_channel_ep_sendto: the peer is gone; disconnect it");
	return DOCA_ERROR_CONNECTION_RESET;
}

static doca_error_t send_to(struct doca_comm_channel_addr_t *addr, const void *msg, size_t len)
{
	int rc;

	if (doca_unlikely(shim_turns != NULL) && addr->refused_bytes > 0 && !shim_pe_has_turn(addr->ep->pe))
		return DOCA_ERROR_AGAIN;
	rc = comch_connection_send(addr->connection, msg, (uint32_t)len);
	if (rc != 0)
		return not_sent(addr, rc, len);
	addr->counters.sent++;
	addr->counters.sent_bytes += len;
	addr->refused_bytes = 0;
	return DOCA_SUCCESS;
}

/* Whether the service has taken us, or never will. */
static bool is_settled(struct doca_comm_channel_addr_t *addr)
{
	if (addr->state == CHANNEL_CONNECTING)
		channel_drive(addr->ep);
	return addr->state != CHANNEL_CONNECTING || channel_is_gone(addr);
}

doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len, int flags,
					 struct doca_comm_channel_addr_t *peer_addr)
{
	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	SHIM_NEED_OUT(msg);
	CHECK_FLAGS(flags);
	if (!is_peer_of(peer_addr, local_ep))
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "there is no such peer of this endpoint");
	if (len == 0 || len > local_ep->max_msg_bytes)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a message of %zu bytes; this endpoint sends 1 to %u", len,
				   local_ep->max_msg_bytes);
	if (!is_settled(peer_addr))
		return DOCA_ERROR_AGAIN;
	return peer_addr->state == CHANNEL_CONNECTED ? send_to(peer_addr, msg, len) :
						       not_sent(peer_addr, -ECONNRESET, len);
}

/* ---- receiving ---- */

static void count_received(struct doca_comm_channel_addr_t *addr, size_t len)
{
	addr->counters.received++;
	addr->counters.received_bytes += len;
}

/* One that was longer than the buffer it came for stays until there is a larger one: nothing is lost. */
static doca_error_t take_kept(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len,
			      struct doca_comm_channel_addr_t **peer_addr)
{
	struct channel_kept *kept = ep->kept;

	if (kept->len > *len) {
		sim_err("doca_comm_channel_ep_recvfrom: a message of %zu bytes waits; the buffer has %zu", kept->len, *len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(msg, kept->bytes, kept->len);
	*len = kept->len;
	*peer_addr = kept->addr;
	count_received(kept->addr, kept->len);
	ep->kept = NULL;
	free(kept);
	return DOCA_SUCCESS;
}

/* The end of a peer, which is said once. */
static doca_error_t take_end(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t **peer_addr)
{
	struct doca_comm_channel_addr_t *addr = ep->addrs;

	while (addr->state != CHANNEL_ENDED || addr->told)
		addr = addr->next;
	addr->told = true;
	ep->num_untold--;
	*peer_addr = addr;
	sim_err("doca_comm_channel_ep_recvfrom: the connection to a peer ended; disconnect it");
	return DOCA_ERROR_CONNECTION_RESET;
}

/* Have the next message written to @msg, or find out that there is none. SUCCESS, or as a fault has it. */
static doca_error_t receive(struct doca_comm_channel_ep_t *ep, void *msg, size_t len)
{
	doca_error_t failure = DOCA_SUCCESS;

	ep->want = msg;
	ep->want_len = len;
	ep->got_from = NULL;
	while (failure == DOCA_SUCCESS && comch_receive(ep->ctx) && !ep->got_from && !ep->kept && ep->num_untold == 0)
		failure = comch_receive_failure(ep->ctx);
	ep->want = NULL;
	return failure;
}

/* There is nothing more to wait for, however often it asks. */
static doca_error_t take_over(const struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t **peer_addr)
{
	if (ep->role == CHANNEL_CLIENT) {
		*peer_addr = ep->addrs;
		sim_err("doca_comm_channel_ep_recvfrom: the connection ended; disconnect the peer");
		return DOCA_ERROR_CONNECTION_RESET;
	}
	sim_err("doca_comm_channel_ep_recvfrom: the service's function was reset, failed or was removed; destroy the endpoint, close the device and open it again");
	return DOCA_ERROR_NOT_CONNECTED;
}

/* What there is besides a message that fits, or nothing. */
static doca_error_t take_rest(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len,
			      struct doca_comm_channel_addr_t **peer_addr)
{
	if (ep->kept)
		return take_kept(ep, msg, len, peer_addr);
	if (ep->num_untold > 0)
		return take_end(ep, peer_addr);
	if (channel_is_over(ep))
		return take_over(ep, peer_addr);
	if (shim_ctx_is_ours(ep->ctx))
		return DOCA_ERROR_AGAIN;
	sim_err("doca_comm_channel_ep_recvfrom: the endpoint is of the process before fork()");
	return DOCA_ERROR_NOT_CONNECTED;
}

doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
					   struct doca_comm_channel_addr_t **peer_addr)
{
	doca_error_t failure;

	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	SHIM_NEED_OUT(msg);
	SHIM_NEED_OUT(len);
	SHIM_NEED_OUT(peer_addr);
	CHECK_FLAGS(flags);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "the endpoint neither listens nor is connected");
	if (local_ep->kept || local_ep->num_untold > 0)
		return take_rest(local_ep, msg, len, peer_addr);
	failure = receive(local_ep, msg, *len);
	if (doca_unlikely(failure != DOCA_SUCCESS))
		return failure;
	if (!local_ep->got_from)
		return take_rest(local_ep, msg, len, peer_addr);
	*len = local_ep->want_len;
	*peer_addr = local_ep->got_from;
	count_received(local_ep->got_from, *len);
	return DOCA_SUCCESS;
}
