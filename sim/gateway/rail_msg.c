/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of a rail, over connected endpoints of libfabric: requested, accepted, polled, closed, and their messages. */
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "rail_priv.h"
#include "sim/base/log.h"
#include "strangers.h"

/* ---- connections ---- */

static const struct rail_carrier carrier;

static int open_endpoint(struct rail_conn *conn, struct fi_info *info)
{
	struct rail *rail = conn->rail;
	int rc;

	conn->sender = &conn->msg;
	conn->msg = (struct rail_endpoint){ .carrier = &carrier,
					    .conn = conn,
					    .fabric = rail->fabric,
					    .domain = rail->domain,
					    .info = info,
					    .num_sends = RAIL_SENDS,
					    .num_receives = RAIL_RECEIVES };
	rc = rail_open_eq(rail, &conn->eq, &conn->eq_source);
	if (rc == 0)
		rc = rail_endpoint_open(&conn->msg);
	if (rc == 0)
		rc = rail_errno(fi_ep_bind(conn->msg.ep, &conn->eq->fid, 0));
	if (rc == 0)
		rc = rail_endpoint_enable(&conn->msg);
	conn->msg.info = rail->info; /* that of a request ends with it */
	return rc;
}

static struct rail_conn *conn_new(struct rail *rail, struct fi_info *info)
{
	struct rail_conn *conn = calloc(1, sizeof(*conn));
	int rc;

	if (!conn)
		return NULL;
	conn->rail = rail;
	LIST_INSERT_HEAD(&rail->conns, conn, link);
	rc = open_endpoint(conn, info);
	if (rc == 0)
		return conn;
	sim_warn("a connection to another machine cannot be made: %s", strerror(-rc));
	rail_close(conn);
	return NULL;
}

int rail_connect(struct rail *rail, void *owner, struct rail_conn **ret_conn)
{
	struct rail_conn *conn = conn_new(rail, rail->info);
	int rc;

	if (!conn)
		return -EIO;
	conn->owner = owner;
	rc = rail_errno(fi_connect(conn->msg.ep, rail->info->dest_addr, NULL, 0));
	if (rc < 0) {
		rail_close(conn);
		return rc;
	}
	*ret_conn = conn;
	return 0;
}

void rail_close(struct rail_conn *conn)
{
	if (!conn)
		return;
	rail_rdm_close(conn);
	if (conn->is_connected)
		fi_shutdown(conn->msg.ep, 0);
	rail_endpoint_close(&conn->msg);
	rail_close_queue(conn->rail, conn->eq ? &conn->eq->fid : NULL);
	if (conn->rail->next == conn)
		conn->rail->next = LIST_NEXT(conn, link);
	LIST_REMOVE(conn, link);
	free(conn);
}

/* ---- messages ---- */

uint8_t *rail_buffer(struct rail_conn *conn)
{
	struct rail_endpoint *sender = conn->sender;
	struct rail_buffer *buffer = conn->is_connected ? SLIST_FIRST(&sender->free_sends) : NULL;

	for (uint32_t i = 0; buffer && i < sender->carrier->spare_sends; i++)
		if (!SLIST_NEXT(buffer, link))
			buffer = NULL;
	sender->wants_room |= !buffer;
	sender->is_armed = false; /* what is sent may wait for the socket */
	return buffer ? SLIST_FIRST(&sender->free_sends)->bytes + sender->carrier->head_bytes : NULL;
}

int rail_send(struct rail_conn *conn, size_t len)
{
	return conn->sender->carrier->send(conn->sender, len, NULL, 0);
}

int rail_send_with(struct rail_conn *conn, size_t len, const void *body, size_t body_len)
{
	if (conn->sender->mr || conn->sender->info->tx_attr->iov_limit < 2)
		return -EOPNOTSUPP;
	return conn->sender->carrier->send(conn->sender, len, body, body_len);
}

bool rail_is_idle(const struct rail_conn *conn)
{
	return conn->msg.num_sending == 0 && rail_rdm_is_idle(conn);
}

/* ---- messages by the connection ---- */

/* A short message needs no completion, which would cost more than the copy. */
static int send_msg(struct rail_endpoint *endpoint, size_t len, const void *body, size_t body_len)
{
	struct rail_buffer *buffer = SLIST_FIRST(&endpoint->free_sends);
	const struct iovec parts[2] = { { buffer->bytes, len }, { (void *)(uintptr_t)body, body_len } };
	ssize_t rc;

	if (!body && len <= endpoint->info->tx_attr->inject_size &&
	    fi_inject(endpoint->ep, buffer->bytes, len, 0) == 0) {
		endpoint->conn->num_sent++;
		return 0;
	}
	rc = body ? fi_sendv(endpoint->ep, parts, NULL, 2, 0, &buffer->context) :
		    fi_send(endpoint->ep, buffer->bytes, len, endpoint->mr ? fi_mr_desc(endpoint->mr) : NULL, 0,
			    &buffer->context);
	if (rc < 0)
		return rail_errno(rc);
	SLIST_REMOVE_HEAD(&endpoint->free_sends, link);
	endpoint->num_sending++;
	endpoint->conn->num_sent++;
	return 0;
}

static void take_msg(struct rail_endpoint *endpoint, struct rail_buffer *buffer, size_t len)
{
	struct rail_conn *conn = endpoint->conn;
	struct rail *rail = conn->rail;

	conn->num_received++;
	rail->cfg.ops->on_message(rail->cfg.arg, conn->owner, buffer->bytes, len);
	if (!rail_has_conn(rail, conn))
		return;
	if (rail_endpoint_receive(endpoint, buffer) < 0)
		rail_fail_conn(conn, -ECONNRESET);
	else
		rail_rdm_go_on(conn);
}

static void fail_msg(struct rail_endpoint *endpoint, struct rail_buffer *buffer, int error)
{
	(void)buffer;
	(void)error;
	rail_fail_conn(endpoint->conn, -ECONNRESET);
}

static const struct rail_carrier carrier = {
	.name = "FI_EP_MSG", .send = send_msg, .take = take_msg, .fail = fail_msg
};

/* ---- events ---- */

static int read_error(struct rail_conn *conn)
{
	struct fi_eq_err_entry error = { 0 };

	return fi_eq_readerr(conn->eq, &error, 0) > 0 && error.err > 0 ? -error.err : -EIO;
}

static bool poll_eq(struct rail_conn *conn)
{
	struct fi_eq_cm_entry entry;
	uint32_t event = 0;
	ssize_t got = fi_eq_read(conn->eq, &event, &entry, sizeof(entry), 0);

	conn->may_wait = false;
	if (got == -FI_EAGAIN)
		return false;
	if (got < 0) {
		rail_fail_conn(conn, got == -FI_EAVAIL ? read_error(conn) : rail_errno(got));
	} else if (event == FI_CONNECTED) {
		conn->is_connected = true;
		conn->rail->cfg.ops->on_connected(conn->rail->cfg.arg, conn->owner);
	} else if (event == FI_SHUTDOWN) {
		rail_fail_conn(conn, -ECONNRESET);
	}
	return true;
}

static void take_request(struct rail *rail, struct fi_info *info)
{
	struct rail_conn *conn = conn_new(rail, info);
	void *owner = conn ? rail->cfg.ops->on_request(rail->cfg.arg, conn) : NULL;

	if (!owner) {
		rail_close(conn);
		fi_reject(rail->pep, info->handle, NULL, 0);
	} else {
		conn->owner = owner;
		conn->peer_len = sizeof(conn->peer);
		if (fi_getpeer(conn->msg.ep, &conn->peer, &conn->peer_len) < 0)
			conn->peer_len = 0;
		if (fi_accept(conn->msg.ep, NULL, 0) < 0)
			rail_fail_conn(conn, -ECONNABORTED);
	}
	fi_freeinfo(info);
}

static bool poll_listener(struct rail *rail)
{
	struct fi_eq_cm_entry entry;
	struct fi_eq_err_entry error = { 0 };
	uint32_t event = 0;
	ssize_t got;

	errno = ECONNRESET; /* the provider tcp (1.17) takes an old EAGAIN for that of a stranger that has gone, and keeps it */
	got = rail->eq ? fi_eq_read(rail->eq, &event, &entry, sizeof(entry), 0) : -FI_EAGAIN;

	rail->may_wait = false;
	if (got == -FI_EAVAIL)
		fi_eq_readerr(rail->eq, &error, 0);
	if (got < 0)
		return got != -FI_EAGAIN;
	if (event == FI_CONNREQ)
		take_request(rail, entry.info);
	return true;
}

static bool poll_conn(struct rail *rail, struct rail_conn *conn, enum rail_look look)
{
	bool found = false;

	if ((look == RAIL_LOOK_ALL || !conn->is_connected) && poll_eq(conn))
		return true;
	if (!conn->is_connected)
		return false;
	if (look == RAIL_LOOK_ALL || (look == RAIL_LOOK_WOKEN ? !conn->msg.is_armed : !rail_rdm_has_peer(conn)))
		found = rail_endpoint_poll(&conn->msg);
	return (!found || rail_has_conn(rail, conn)) && rail_rdm_poll(conn, look) ? true : found;
}

static bool poll_one(struct rail *rail, enum rail_look look)
{
	bool found = look == RAIL_LOOK_ALL && poll_listener(rail);

	if (look == RAIL_LOOK_ALL && rail->strangers && !rail->first->is_quiet)
		strangers_expect(rail->strangers);
	for (struct rail_conn *conn = LIST_FIRST(&rail->conns); conn; conn = rail->next) {
		rail->next = LIST_NEXT(conn, link);
		found |= poll_conn(rail, conn, look);
	}
	rail->next = NULL;
	return found;
}

bool rail_poll(struct rail *rail, enum rail_look look)
{
	bool found = poll_one(rail, look);
	struct rail *other;

	SLIST_FOREACH(other, &rail->beside, in_beside)
		found |= poll_one(other, look);
	rail->is_quiet = false;
	return found;
}
