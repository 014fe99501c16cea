/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connection receives: messages, and records about consumers of the other end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint_priv.h"
#include "shim/common/base/call_hooks.h"
#include "shim/comch/conn/fault_priv.h"
#include "shim/comch/data_path/data_path_priv.h"

/* The user's callback has the record's memory while it runs, and may progress the engine. */
static void deliver(struct doca_comch_connection *connection, uint8_t *bytes, size_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (doca_unlikely(shim_call_hooks != NULL))
		shim_call_hooks->message_received();
	connection->counters.received++;
	connection->counters.received_bytes += len;
	/* An event carries nothing of its own: any address but NULL serves. */
	endpoint->received((struct doca_comch_event_msg_recv *)endpoint, bytes, (uint32_t)len, connection);
}

static void deliver_delayed(struct doca_comch_connection *connection)
{
	struct comch_delayed_msg *message = comch_delay_queue_pop(connection);

	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot); /* there may be more */
	if (message->seq)
		sim_trace_conn_stats_received(&connection->trace_stream, message->seq, message->wire_len,
					      message->is_recorded);
	deliver(connection, message->bytes, message->len);
	free(message);
}

/* ---- one record ---- */

static int read_record(struct doca_comch_connection *connection, uint8_t *record, uint32_t *ret_kind, size_t *ret_len)
{
	int rc = sim_ring_read(&connection->in, ret_kind, record, ret_len);

	if (rc < 0)
		return rc;
	if (sim_ring_needs_notify(&connection->in))
		comch_connection_notify_peer(connection, 0);
	if (sim_ring_has_record(&connection->in) || connection->status < 0) /* the end comes after the last record */
		sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
	return 0;
}

/* A message that is delivered later, or that a fault may hit. Returns 0, 1 (the receive failed) or -errno. */
static int defer_message(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len)
{
	struct comch_msg_hdr hdr = { .is_recorded = kind == COMCH_RECORDED_MESSAGE };
	size_t hdr_bytes = kind == COMCH_MESSAGE_WITH_HDR ? sizeof(hdr) : 0;
	uint8_t *bytes = record + hdr_bytes;
	int rc = 0;

	if (len < hdr_bytes || len - hdr_bytes > connection->endpoint->max_msg_bytes)
		return -EPROTO;
	len -= hdr_bytes;
	memcpy(&hdr, record, hdr_bytes);
	if (doca_unlikely(comch_fault_may_hit_recv(connection->endpoint)))
		rc = comch_fault_recv(connection, &hdr, bytes, (uint32_t)len);
	else
		comch_delay_queue_push(connection, &hdr, bytes, (uint32_t)len, (uint32_t)len);
	if (comch_delay_queue_has_msgs(connection))
		sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
	return rc;
}

/* Returns 0 (not delivered yet), 1 (the user saw it) or -errno. */
static int handle_message(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len)
{
	const struct comch_endpoint *endpoint = connection->endpoint;

	if (doca_unlikely(kind == COMCH_MESSAGE_WITH_HDR || len > endpoint->max_msg_bytes ||
			  comch_delay_queue_has_msgs(connection) || comch_fault_may_hit_recv(endpoint)))
		return defer_message(connection, kind, record, len);
	sim_trace_conn_stats_received(&connection->trace_stream, connection->in.count, len,
				      kind == COMCH_RECORDED_MESSAGE);
	deliver(connection, record, len);
	return 1;
}

/* Nothing of the connection is touched after the user's callback, which may have closed it. Returns 0 (nothing for the
 * user), 1 (the user saw an event), -EAGAIN (no record), -ENOMEM (there may be a record), -ECONNRESET (the end), -EPROTO or
 * -ECONNABORTED. */
static int handle_next_record(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	size_t record_bytes = COMCH_MAX_RECORD_BYTES(endpoint);
	uint8_t *record = endpoint->record_buf ? endpoint->record_buf : malloc(record_bytes);
	uint32_t kind;
	size_t len;
	int rc;

	if (!record) { /* there may be memory the next time */
		sim_doorbell_requeue(&endpoint->doorbells, connection->slot);
		return -ENOMEM;
	}
	endpoint->record_buf = NULL;
	rc = read_record(connection, record, &kind, &len);
	if (rc == 0 && (kind == COMCH_MESSAGE || kind == COMCH_RECORDED_MESSAGE || kind == COMCH_MESSAGE_WITH_HDR))
		rc = handle_message(connection, kind, record, len);
	else if (rc == 0 && kind == COMCH_END)
		rc = -ECONNRESET;
	else if (rc == 0)
		rc = comch_handle_consumer_record(connection, kind, record, len);
	/* In the callback, a nested call may have left its own buffer, or the user may have stopped the context, or even
	 * started it again with other sizes. */
	if (endpoint->record_buf || !endpoint->doorbell_memory.base || COMCH_MAX_RECORD_BYTES(endpoint) != record_bytes)
		free(record);
	else
		endpoint->record_buf = record;
	return rc;
}

/* ---- one step ---- */

int comch_connection_recv_next(struct doca_comch_connection *connection)
{
	int rc;

	if (doca_unlikely(comch_delay_queue_has_msgs(connection))) {
		if (comch_delay_queue_is_due(connection)) {
			deliver_delayed(connection);
			return 1;
		}
		if (comch_delay_list_first_ready(&connection->delay_queue))
			return 0; /* no later message overtakes it; the alarm is set */
	}
	if (connection->has_pending_record && connection->status == 0)
		return comch_retry_consumer_record(connection);
	if (connection->has_pending_record && comch_retry_consumer_record(connection))
		return 1;
	connection->has_pending_record = false; /* the channel ended without its announcement */
	rc = handle_next_record(connection);
	if (rc == -ENOMEM)
		return 1; /* or the endpoint would try again at once */
	if (rc == -EAGAIN)
		return connection->status < 0 ? connection->status : 0;
	return rc;
}

void comch_connection_note_pending_recv(struct doca_comch_connection *connection)
{
	connection->has_pending_recv =
		connection->status < 0 || (!comch_delay_list_first_ready(&connection->delay_queue) &&
					   (connection->has_pending_record || sim_ring_has_record(&connection->in)));
	if (doca_unlikely(comch_delay_queue_has_msgs(connection)))
		connection->has_pending_recv |= comch_delay_queue_is_due(connection);
	connection->endpoint->has_pending_recv |= connection->has_pending_recv;
}
