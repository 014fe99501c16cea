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
	if (sim_ring_has_record(&connection->in) ||
	    comch_connection_get_end(connection) < 0) /* it comes after the last record */
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

	if (len == 0 || len < hdr_bytes || len - hdr_bytes > connection->endpoint->max_msg_bytes)
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

	/* An empty message is refused, too. */
	if (doca_unlikely(kind == COMCH_MESSAGE_WITH_HDR || len - 1 >= endpoint->max_msg_bytes ||
			  comch_delay_queue_has_msgs(connection) || comch_fault_may_hit_recv(endpoint)))
		return defer_message(connection, kind, record, len);
	sim_trace_conn_stats_received(&connection->trace_stream, connection->in.count, len,
				      kind == COMCH_RECORDED_MESSAGE);
	deliver(connection, record, len);
	return 1;
}

/* Nothing of the connection is touched after the user's callback, which may have closed it. Returns 0 (nothing for the
 * user), 1 (the user saw an event), -EAGAIN (no record), -ENOMEM (there may be a record), -EPROTO or -ECONNABORTED. */
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

/* The ring was empty. Returns 0, or -errno if no record can come any more. */
static int find_end(struct doca_comch_connection *connection)
{
	int end = comch_connection_get_end(connection);

	if (end == 0)
		return 0;
	if (!sim_ring_has_record(&connection->in) && !comch_delay_queue_has_msgs(connection))
		return end;
	/* It was not empty any more when the other end closed it, or reordered messages come now. */
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
	return 0;
}

int comch_connection_recv_next(struct doca_comch_connection *connection)
{
	int rc;

	if (doca_unlikely(comch_delay_queue_has_msgs(connection))) {
		if (comch_delay_queue_is_due(connection)) {
			deliver_delayed(connection);
			return 1;
		}
		if (sim_delay_list_first_ready(&connection->delay_queue))
			return 0; /* no later message overtakes it; the alarm is set */
	}
	if (connection->has_pending_record && connection->status == 0)
		return comch_retry_consumer_record(connection);
	if (connection->has_pending_record && comch_retry_consumer_record(connection))
		return 1;
	connection->has_pending_record = false; /* the channel ended without its announcement */
	if (doca_unlikely(connection->endpoint->timing) && !comch_delay_queue_may_read(connection))
		return 0;
	rc = handle_next_record(connection);
	if (rc == -ENOMEM)
		return 1; /* or the endpoint would try again at once */
	return rc == -EAGAIN ? find_end(connection) : rc;
}

static bool has_readable_record(const struct doca_comch_connection *connection)
{
	return sim_ring_has_record(&connection->in) &&
	       (!connection->endpoint->timing || comch_delay_queue_may_read(connection));
}

/* Whether a receive would find something now. */
static bool has_pending_recv(struct doca_comch_connection *connection)
{
	if (doca_unlikely(comch_delay_queue_has_msgs(connection)) && comch_delay_queue_is_due(connection))
		return true;
	if (sim_delay_list_first_ready(&connection->delay_queue))
		return false;
	return connection->has_pending_record || has_readable_record(connection) ||
	       (comch_connection_get_end(connection) < 0 && !sim_ring_has_record(&connection->in));
}

void comch_connection_note_pending_recv(struct doca_comch_connection *connection)
{
	connection->has_pending_recv = has_pending_recv(connection);
	connection->endpoint->has_pending_recv |= connection->has_pending_recv;
}
