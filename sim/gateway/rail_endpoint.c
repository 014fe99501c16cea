/* SPDX-License-Identifier: BSD-3-Clause */
/* An endpoint's queue and its buffers. */
#include <errno.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdlib.h>

#include "rail_priv.h"

#define MAX_COMPLETIONS 16 /* in one look */

/* ---- opening ---- */

static size_t buffer_bytes(const struct rail_endpoint *endpoint)
{
	return endpoint->carrier->head_bytes + RAIL_MESSAGE_BYTES;
}

static int register_buffers(struct rail_endpoint *endpoint, size_t len)
{
	if (!(endpoint->info->domain_attr->mr_mode & FI_MR_LOCAL))
		return 0;
	return rail_errno(
		fi_mr_reg(endpoint->domain, endpoint->memory, len, FI_SEND | FI_RECV, 0, 0, 0, &endpoint->mr, NULL));
}

static int make_buffers(struct rail_endpoint *endpoint)
{
	const uint32_t count = endpoint->num_sends + endpoint->num_receives;
	const size_t len = count * buffer_bytes(endpoint);

	endpoint->memory = malloc(len);
	endpoint->buffers = calloc(count, sizeof(*endpoint->buffers));
	if (!endpoint->memory || !endpoint->buffers)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct rail_buffer *buffer = &endpoint->buffers[i];

		buffer->is_receive = i >= endpoint->num_sends;
		buffer->bytes = endpoint->memory + i * buffer_bytes(endpoint);
		if (!buffer->is_receive)
			SLIST_INSERT_HEAD(&endpoint->free_sends, buffer, link);
	}
	return register_buffers(endpoint, len);
}

int rail_endpoint_receive(struct rail_endpoint *endpoint, struct rail_buffer *buffer)
{
	return rail_errno(fi_recv(endpoint->ep, buffer->bytes, buffer_bytes(endpoint),
				  endpoint->mr ? fi_mr_desc(endpoint->mr) : NULL, FI_ADDR_UNSPEC, &buffer->context));
}

/* Without a descriptor, as some providers have none, the queue is polled. */
static int open_cq(struct rail_endpoint *endpoint)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD,
				   .format = FI_CQ_FORMAT_MSG,
				   .size = endpoint->num_sends + endpoint->num_receives };

	if (fi_cq_open(endpoint->domain, &attr, &endpoint->cq, NULL) == 0) {
		if (rail_add_source(endpoint->conn->rail, &endpoint->cq->fid, &endpoint->source, endpoint) == 0) {
			endpoint->has_descriptor = true;
			return 0;
		}
		fi_close(&endpoint->cq->fid);
		endpoint->cq = NULL;
	}
	attr.wait_obj = FI_WAIT_NONE;
	return rail_errno(fi_cq_open(endpoint->domain, &attr, &endpoint->cq, NULL));
}

int rail_endpoint_open(struct rail_endpoint *endpoint)
{
	int rc;

	SLIST_INIT(&endpoint->free_sends);
	rc = open_cq(endpoint);
	if (rc == 0)
		rc = rail_errno(fi_endpoint(endpoint->domain, endpoint->info, &endpoint->ep, NULL));
	if (rc == 0)
		rc = rail_errno(fi_ep_bind(endpoint->ep, &endpoint->cq->fid, FI_TRANSMIT | FI_RECV));
	return rc;
}

int rail_endpoint_enable(struct rail_endpoint *endpoint)
{
	int rc = rail_errno(fi_enable(endpoint->ep));

	if (rc == 0)
		rc = make_buffers(endpoint);
	for (uint32_t i = 0; rc == 0 && i < endpoint->num_receives; i++)
		rc = rail_endpoint_receive(endpoint, &endpoint->buffers[endpoint->num_sends + i]);
	return rc;
}

/* The endpoint goes first: then nothing uses the buffers, and no event comes. */
void rail_endpoint_close(struct rail_endpoint *endpoint)
{
	if (endpoint->ep)
		fi_close(&endpoint->ep->fid);
	rail_close_queue(endpoint->conn->rail, endpoint->cq ? &endpoint->cq->fid : NULL);
	if (endpoint->mr)
		fi_close(&endpoint->mr->fid);
	free(endpoint->memory);
	free(endpoint->buffers);
}

/* ---- completions ---- */

bool rail_has_conn(const struct rail *rail, const struct rail_conn *wanted)
{
	const struct rail_conn *conn;

	LIST_FOREACH(conn, &rail->conns, link)
		if (conn == wanted)
			return true;
	return false;
}

void rail_fail_conn(struct rail_conn *conn, int reason)
{
	conn->rail->cfg.ops->on_closed(conn->rail->cfg.arg, conn->owner, reason);
}

/* A callback may close the connection: nothing of it is used afterwards. */
static void take_completion(struct rail_endpoint *endpoint, const struct fi_cq_msg_entry *entry)
{
	struct rail_buffer *buffer = entry->op_context;
	struct rail_conn *conn = endpoint->conn;

	if (buffer->is_receive) {
		endpoint->carrier->take(endpoint, buffer, entry->len);
		return;
	}
	SLIST_INSERT_HEAD(&endpoint->free_sends, buffer, link);
	endpoint->num_sending--;
	if (endpoint->wants_room) {
		endpoint->wants_room = false;
		conn->rail->cfg.ops->on_room(conn->rail->cfg.arg, conn->owner);
	}
}

static void take_error(struct rail_endpoint *endpoint, ssize_t rc)
{
	struct fi_cq_err_entry error = { 0 };

	if (rc == -FI_EAVAIL && fi_cq_readerr(endpoint->cq, &error, 0) == 1)
		endpoint->carrier->fail(endpoint, error.op_context, error.err);
	else
		rail_fail_conn(endpoint->conn, rail_errno(rc));
}

/* Take messages, so that what they lead to leaves together. */
bool rail_endpoint_poll(struct rail_endpoint *endpoint)
{
	struct fi_cq_msg_entry entries[MAX_COMPLETIONS];
	struct rail_conn *conn = endpoint->conn;
	struct rail *rail = conn->rail;
	ssize_t got;

	endpoint->is_armed = false;
	got = fi_cq_read(endpoint->cq, entries, MAX_COMPLETIONS);
	if (got == -FI_EAGAIN)
		return false;
	if (got < 0)
		take_error(endpoint, got);
	for (ssize_t i = 0; i < got && rail_has_conn(rail, conn); i++)
		take_completion(endpoint, &entries[i]);
	return true;
}

bool rail_endpoint_may_sleep(struct rail_endpoint *endpoint)
{
	struct fid *fid = &endpoint->cq->fid;

	if (!endpoint->has_descriptor)
		return true;
	endpoint->is_armed = endpoint->is_armed || fi_trywait(endpoint->fabric, &fid, 1) == 0;
	return endpoint->is_armed;
}
