/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages without a connection: sending and receiving. */
#include <errno.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "rail_rdm_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define OWE_NS       10000000 /* a grant waits so long for a message with which it could go */
#define MIN_NAP_NS   50000
#define MAX_NAP_NS   10000000
#define NAP_SHARE    8            /* of the time without messages */
#define MAX_REACH_NS 10000000000u /* after which a peer that has not been reached is looked for once a second */

static const char *provider_of(const struct rail_conn *conn)
{
	return conn->rail->rdm_info->fabric_attr->prov_name;
}

/* ---- sending ---- */

static void write_head(struct rail_rdm *rdm, uint64_t sequence, uint8_t to[RDM_HEAD_BYTES])
{
	const struct rdm_head head = { .sequence = sequence,
				       .granted = rdm_window_grants(&rdm->window),
				       .after = rdm->after,
				       .has_heard = rdm->has_heard };

	rdm_head_write(&head, rdm->peer_nonce, to);
}

/* A message has told the peer what it may send, and that it was heard. */
static void note_told(struct rail_rdm *rdm)
{
	rdm->window.told = rdm_window_grants(&rdm->window);
	rdm->owe_ns = 0;
	rdm->must_tell = rdm->is_refused = false;
	rdm->is_active = true;
}

/* Post @len bytes of a buffer, and its body. A short message needs no completion. Returns 0, -EAGAIN (not now) or another -errno. */
static int post(struct rail_rdm *rdm, struct rail_buffer *buffer, size_t len)
{
	struct rail_endpoint *endpoint = &rdm->endpoint;
	const struct iovec parts[2] = { { buffer->bytes, len }, { (void *)(uintptr_t)buffer->body, buffer->body_len } };
	ssize_t rc;

	if (!buffer->body && len <= rdm->info->tx_attr->inject_size) {
		rc = fi_inject(endpoint->ep, buffer->bytes, len, rdm->peer);
		if (rc == 0)
			SLIST_INSERT_HEAD(&endpoint->free_sends, buffer, link);
	} else {
		rc = buffer->body ?
			     fi_sendv(endpoint->ep, parts, NULL, 2, rdm->peer, &buffer->context) :
			     fi_send(endpoint->ep, buffer->bytes, len, endpoint->mr ? fi_mr_desc(endpoint->mr) : NULL,
				     rdm->peer, &buffer->context);
		endpoint->num_sending += rc == 0;
	}
	rdm->is_refused = rc == -FI_EAGAIN;
	if (rc == 0)
		note_told(rdm);
	return rc == -FI_EAGAIN ? -EAGAIN : rail_errno(rc);
}

/* Send what waits, as far as the peer has granted it and the provider takes it. Returns 0 or -errno. */
static int send_waiting(struct rail_rdm *rdm)
{
	struct rail_buffer *buffer;
	int rc;

	while ((buffer = STAILQ_FIRST(&rdm->waiting)) && rdm_window_may_send(&rdm->window)) {
		STAILQ_REMOVE_HEAD(&rdm->waiting, waiting);
		write_head(rdm, rdm->window.num_sent + 1, buffer->bytes);
		rc = post(rdm, buffer, RDM_HEAD_BYTES + buffer->len);
		if (rc < 0) {
			STAILQ_INSERT_HEAD(&rdm->waiting, buffer, waiting);
			return rc == -EAGAIN ? 0 : rc;
		}
		rdm->window.num_sent++;
	}
	return 0;
}

/* The head alone. */
static int tell(struct rail_rdm *rdm)
{
	struct rail_buffer *buffer = SLIST_FIRST(&rdm->endpoint.free_sends);
	int rc;

	if (!buffer)
		return 0;
	SLIST_REMOVE_HEAD(&rdm->endpoint.free_sends, link);
	buffer->body = NULL;
	write_head(rdm, 0, buffer->bytes);
	rc = post(rdm, buffer, RDM_HEAD_BYTES);
	if (rc < 0)
		SLIST_INSERT_HEAD(&rdm->endpoint.free_sends, buffer, link);
	return rc == -EAGAIN ? 0 : rc;
}

static bool has_to_tell(const struct rail_rdm *rdm)
{
	return rdm->peer != FI_ADDR_UNSPEC && (rdm->must_tell || rdm_window_owes(&rdm->window));
}

/* The endpoint is of no use for what has moved to it; before that, messages go by the connection. */
static void fail_rdm_with(struct rail_rdm *rdm, int error)
{
	struct rail_conn *conn = rdm->endpoint.conn;

	if (conn->sender == &rdm->endpoint || rdm->window.num_taken > 0) {
		rail_fail_conn(conn, -ECONNRESET);
		return;
	}
	snprintf(conn->why, sizeof(conn->why), "%s does not reach it: %s", provider_of(conn), strerror(error));
	rdm->peer = FI_ADDR_UNSPEC;
}

static int send_rdm(struct rail_endpoint *endpoint, size_t len, const void *body, size_t body_len)
{
	struct rail_rdm *rdm = endpoint->conn->rdm;
	struct rail_buffer *buffer = SLIST_FIRST(&endpoint->free_sends);

	SLIST_REMOVE_HEAD(&endpoint->free_sends, link);
	buffer->len = len;
	buffer->body = body;
	buffer->body_len = body_len;
	STAILQ_INSERT_TAIL(&rdm->waiting, buffer, waiting);
	return send_waiting(rdm);
}

bool rail_rdm_is_idle(const struct rail_conn *conn)
{
	const struct rail_rdm *rdm = conn->rdm;

	return !rdm || (STAILQ_EMPTY(&rdm->waiting) && rdm->endpoint.num_sending == 0 &&
			rdm->window.granted >= rdm->window.num_sent + RDM_WINDOW);
}

/* ---- receiving ---- */

static void receive(struct rail_rdm *rdm, struct rail_buffer *buffer)
{
	int rc = rail_endpoint_receive(&rdm->endpoint, buffer);

	if (rc < 0)
		fail_rdm_with(rdm, -rc);
}

/* Say in conn->why how fast messages are. */
static void describe_speed(struct rail_conn *conn)
{
	const bool is_software = strstr(provider_of(conn), ";ofi_rx") || strcmp(provider_of(conn), "sockets") == 0;

	snprintf(conn->why, sizeof(conn->why), "%s%s",
		 is_software ? "slower than connections of tcp" : "its speed was never measured",
		 conn->rdm->endpoint.has_descriptor ?
			 "" :
			 "; without a descriptor, so the gateway looks for messages in turns");
}

/* From here on messages leave without the connection. */
static void move(struct rail_conn *conn)
{
	struct rail_rdm *rdm = conn->rdm;

	conn->sender = &rdm->endpoint;
	describe_speed(conn);
	rdm->after = conn->num_sent;
	sim_dbg("messages go by %s", provider_of(conn));
	conn->rail->cfg.ops->on_room(conn->rail->cfg.arg, conn->owner);
}

/* Act on the head of a message: what the peer may be sent, and what it has heard. */
static void take_head(struct rail_conn *conn, const struct rdm_head *head)
{
	struct rail_rdm *rdm = conn->rdm;

	rdm->must_tell |= !rdm->has_heard;
	rdm->has_heard = true;
	rdm_window_grant(&rdm->window, head->granted);
	if (head->sequence > 0)
		rdm->peer_after = head->after;
	if (head->has_heard && rdm->peer != FI_ADDR_UNSPEC && conn->sender != &rdm->endpoint)
		move(conn);
}

/* A message with another nonce comes from a stranger. */
static void take_rdm(struct rail_endpoint *endpoint, struct rail_buffer *buffer, size_t len)
{
	struct rail_conn *conn = endpoint->conn;
	struct rail *rail = conn->rail;
	struct rail_rdm *rdm = conn->rdm;
	struct rdm_head head;

	if (!rdm_head_read(buffer->bytes, len, rdm->nonce, &head)) {
		receive(rdm, buffer);
		return;
	}
	buffer->len = len;
	if (head.sequence == 0 || !rdm_window_keep(&rdm->window, head.sequence, buffer))
		receive(rdm, buffer);
	take_head(conn, &head);
	if (rail_has_conn(rail, conn))
		rail_rdm_go_on(conn);
}

void rail_rdm_go_on(struct rail_conn *conn)
{
	struct rail *rail = conn->rail;
	struct rail_rdm *rdm = conn->rdm;
	struct rail_buffer *buffer;

	while (rdm && conn->num_received >= rdm->peer_after && (buffer = rdm_window_next(&rdm->window))) {
		rdm_window_take(&rdm->window);
		if (rdm->owe_ns == 0)
			rdm->owe_ns = sim_monotonic_ns() + OWE_NS;
		rail->cfg.ops->on_message(rail->cfg.arg, conn->owner, buffer->bytes + RDM_HEAD_BYTES,
					  buffer->len - RDM_HEAD_BYTES);
		if (!rail_has_conn(rail, conn))
			return;
		receive(rdm, buffer);
	}
}

static void fail_rdm(struct rail_endpoint *endpoint, struct rail_buffer *buffer, int error)
{
	struct rail_rdm *rdm = endpoint->conn->rdm;

	if (buffer && buffer->is_receive && error == FI_ETRUNC) { /* a stranger's: ours are not so long */
		receive(rdm, buffer);
		return;
	}
	if (buffer && !buffer->is_receive) {
		SLIST_INSERT_HEAD(&endpoint->free_sends, buffer, link);
		endpoint->num_sending--;
	}
	fail_rdm_with(rdm, error);
}

const struct rail_carrier rail_rdm_carrier = { .name = "FI_EP_RDM",
					       .head_bytes = RDM_HEAD_BYTES,
					       .spare_sends = RDM_SPARE_SENDS,
					       .send = send_rdm,
					       .take = take_rdm,
					       .fail = fail_rdm };

bool rail_rdm_has_peer(const struct rail_conn *conn)
{
	return conn->rdm && conn->rdm->window.num_taken > 0;
}

/* ---- the loop ---- */

/* Returns 0 or -errno. */
static int say(struct rail_rdm *rdm)
{
	int rc = send_waiting(rdm);

	return rc == 0 && has_to_tell(rdm) ? tell(rdm) : rc;
}

/* Answers to the last look leave at the begin of the next one: a message may have carried them meanwhile. */
bool rail_rdm_poll(struct rail_conn *conn, enum rail_look look)
{
	struct rail *rail = conn->rail;
	struct rail_rdm *rdm = conn->rdm;
	int rc = rdm ? say(rdm) : 0;
	bool found;

	if (rc < 0) {
		fail_rdm_with(rdm, -rc);
		return true;
	}
	if (!rdm || (look == RAIL_LOOK_WOKEN && rdm->endpoint.is_armed))
		return false;
	found = rail_endpoint_poll(&rdm->endpoint);
	if (found && rail_has_conn(rail, conn) && conn->rdm)
		conn->rdm->is_active = true;
	return found;
}

uint64_t rail_rdm_tick(struct rail_conn *conn, uint64_t now_ns)
{
	struct rail_rdm *rdm = conn->rdm;
	int rc;

	if (!rdm || rdm->owe_ns == 0)
		return UINT64_MAX;
	if (now_ns < rdm->owe_ns)
		return rdm->owe_ns;
	rc = tell(rdm);
	if (rc < 0)
		fail_rdm_with(rdm, -rc);
	else if (rdm->owe_ns > 0)
		rdm->owe_ns = now_ns + OWE_NS;
	return rc == 0 && rdm->owe_ns > 0 ? rdm->owe_ns : UINT64_MAX;
}

bool rail_rdm_may_sleep(struct rail_conn *conn)
{
	struct rail_rdm *rdm = conn->rdm;

	if (!rdm)
		return true;
	if (rdm->is_active)
		rdm->active_ns = sim_monotonic_ns();
	rdm->is_active = false;
	return (rdm->is_refused || !has_to_tell(rdm)) && rail_endpoint_may_sleep(&rdm->endpoint);
}

uint64_t rail_rdm_nap_ns(const struct rail_conn *conn)
{
	const struct rail_rdm *rdm = conn->rdm;
	bool is_reached = conn->sender != &conn->msg, has_work;
	uint64_t idle_ns;

	if (!rdm)
		return UINT64_MAX;
	has_work = rdm->is_refused || rdm->endpoint.num_sending > 0 || (rdm->peer != FI_ADDR_UNSPEC && !is_reached);
	if (rdm->endpoint.has_descriptor && !has_work)
		return UINT64_MAX;
	idle_ns = sim_monotonic_ns() - rdm->active_ns;
	if (!is_reached && idle_ns > MAX_REACH_NS)
		return UINT64_MAX;
	return min_u64(max_u64(idle_ns / NAP_SHARE, MIN_NAP_NS), MAX_NAP_NS);
}

struct rail_route rail_route(const struct rail_conn *conn)
{
	return (struct rail_route){ .provider = conn->sender->info->fabric_attr->prov_name,
				    .endpoint = conn->sender->carrier->name,
				    .why = conn->why };
}
