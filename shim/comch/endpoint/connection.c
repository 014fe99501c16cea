/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection's life at one end, and what comes in on it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"

/* ---- making one ---- */

/* The first free slot; the table grows. SIM_DOORBELL_SLOTS - 1 = none. */
static uint32_t find_free_slot(struct comch_endpoint *endpoint)
{
	struct doca_comch_connection **grown;
	uint32_t slot = 0, count;

	if (endpoint->num_connections < endpoint->num_slots) {
		while (endpoint->slots[slot])
			slot++;
		return slot;
	}
	count = endpoint->num_slots ? endpoint->num_slots * 2 : 1;
	if (count > COMCH_LISTENER_SLOT)
		count = COMCH_LISTENER_SLOT;
	grown = count > endpoint->num_slots ? realloc(endpoint->slots, count * sizeof(struct doca_comch_connection *)) :
					      NULL;
	if (!grown)
		return COMCH_LISTENER_SLOT;
	memset(grown + endpoint->num_slots, 0, (count - endpoint->num_slots) * sizeof(struct doca_comch_connection *));
	slot = endpoint->num_slots;
	endpoint->slots = grown;
	endpoint->num_slots = count;
	return slot;
}

static int create_ring(struct doca_comch_connection *connection)
{
	struct sim_ring_cfg cfg = { .max_records = connection->endpoint->recv_queue_size,
				    .max_record_bytes = (uint32_t)comch_endpoint_record_bytes(connection->endpoint) };
	int rc = sim_segment_create(sim_ring_size(&cfg), &connection->in_memory, &connection->in_fd);

	if (rc == 0)
		sim_ring_init(&connection->in, &cfg, connection->in_memory.base);
	return rc;
}

static _Atomic uint64_t last_serial;

int comch_connection_new(struct comch_endpoint *endpoint, struct doca_comch_connection **ret_connection)
{
	uint32_t slot = find_free_slot(endpoint);
	struct doca_comch_connection *connection = NULL;
	int rc;

	if (slot != COMCH_LISTENER_SLOT)
		connection = shim_object_new(SHIM_COMCH_CONNECTION, sizeof(*connection));
	if (!connection)
		return -ENOMEM;
	connection->serial = atomic_fetch_add(&last_serial, 1) + 1;
	connection->endpoint = endpoint;
	connection->slot = slot;
	connection->refs = 1;
	connection->in_fd = connection->peer_wake_fd = -1;
	connection->next_id = 1;
	pthread_mutex_init(&connection->lock, NULL);
	endpoint->slots[slot] = connection;
	endpoint->num_connections++;
	rc = create_ring(connection);
	if (rc < 0) {
		comch_connection_close(connection, -ECONNREFUSED);
		comch_connection_release(connection);
		return rc;
	}
	*ret_connection = connection;
	return 0;
}

/* ---- news ---- */

void comch_connection_notify_peer(struct doca_comch_connection *connection)
{
	shim_message_sent();
	if (!sim_doorbell_ring(connection->peer_doorbells, connection->peer_slot))
		return;
	if (connection->peer_wake_fd >= 0)
		eventfd_write(connection->peer_wake_fd, 1);
	else if (connection->channel)
		sim_channel_notify_peer(connection->channel);
}

void comch_connection_notify_self(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (endpoint && endpoint->doorbells.shared && sim_doorbell_ring(endpoint->doorbells.shared, connection->slot))
		shim_pe_notify(&endpoint->ctx);
}

/* In the session's thread: a handshake message, a close, or a nudge, which may be meant for any of us.
 * The peer that nudges took note of our sleep, so that ours is the only word of it. */
void comch_connection_on_channel_event(void *arg)
{
	struct doca_comch_connection *connection = arg;

	atomic_store(&connection->channel_event, true);
	pthread_mutex_lock(&connection->lock);
	for (struct comch_data_path *data_path = connection->data_paths; data_path; data_path = data_path->next)
		shim_pe_notify(&data_path->ctx);
	comch_connection_notify_self(connection);
	if (connection->endpoint) {
		shim_pe_notify(&connection->endpoint->ctx);
		comch_endpoint_signal_status(connection->endpoint);
	}
	pthread_mutex_unlock(&connection->lock);
}

void comch_connection_recv_announces(struct doca_comch_connection *connection)
{
	struct sim_handshake_msg msg;

	while (sim_channel_receive(connection->channel, &msg))
		comch_queue_announce_msg(connection, &msg);
}

void comch_connection_schedule_poll(struct doca_comch_connection *connection)
{
	atomic_store(&connection->channel_event, true);
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
}

static void poll_channel(struct doca_comch_connection *connection)
{
	if (!atomic_exchange(&connection->channel_event, false))
		return;
	if (!connection->channel)
		return;
	connection->status = sim_channel_status(connection->channel);
	if (connection->state != COMCH_OPENING)
		comch_connection_recv_announces(connection);
}

/* ---- what goes out ---- */

void comch_connection_finish_write(struct doca_comch_connection *connection, uint32_t len, uint64_t at_ns)
{
	sim_trace_conn_stats_sent(&connection->trace_stream, connection->out.count, len, at_ns);
	comch_connection_notify_peer(connection);
}

int comch_connection_write_plain(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	uint64_t at_ns = sim_trace_conn_stats_sample_ns(&connection->trace_stream);
	int rc = sim_ring_write(&connection->out, at_ns ? COMCH_RECORDED_MESSAGE : COMCH_MESSAGE, msg, len);

	if (rc == 0)
		comch_connection_finish_write(connection, len, at_ns);
	return rc;
}

int comch_connection_write(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	static const struct sim_fault_hit no_fault;

	return doca_likely(!connection->endpoint->timing) ?
		       comch_connection_write_plain(connection, msg, len) :
		       comch_connection_write_with_hdr(connection, &no_fault, msg, len);
}

/* ---- what comes in ---- */

/* The user's callback has the record's memory meanwhile, and may progress in it. */
static void deliver(struct doca_comch_connection *connection, uint8_t *record, size_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	connection->counters.received++;
	connection->counters.received_bytes += len;
	/* The event carries nothing of its own: any address that is not NULL does. */
	endpoint->received((struct doca_comch_event_msg_recv *)endpoint, record, (uint32_t)len, connection);
}

static int read_record(struct doca_comch_connection *connection, uint8_t *record, uint32_t *ret_kind, size_t *ret_len)
{
	int rc = sim_ring_read(&connection->in, ret_kind, record, ret_len);

	if (rc < 0)
		return rc;
	if (sim_ring_needs_notify(&connection->in))
		comch_connection_notify_peer(connection);
	if (sim_ring_has_record(&connection->in) || connection->status < 0) /* its end comes after its last record */
		sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
	return 0;
}

/* 0 (it is held back, or lost), 1 (the user saw it) or -errno. */
static int handle_message(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	enum sim_op op = endpoint->is_comm_channel ? SIM_OP_COMM_CHANNEL_RECV : SIM_OP_COMCH_RECV;

	if (doca_unlikely(kind == COMCH_MESSAGE_WITH_HDR || len > endpoint->max_msg_bytes ||
			  comch_delay_queue_has_msgs(connection) || sim_injector_may_hit(endpoint->ctx.faults, op)))
		return comch_delay_queue_push_record(connection, kind, record, len);
	sim_trace_conn_stats_received(&connection->trace_stream, connection->in.count, len,
				      kind == COMCH_RECORDED_MESSAGE);
	deliver(connection, record, len);
	return 1;
}

/* One that was held back. */
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

/* One record, with nothing of the connection touched after the user's callback:
 * it may have closed it. Returns 0 (taken), 1 (and the user saw it), -EAGAIN, -ENOMEM (as well, but there may be one),
 * -EPROTO or -ECONNABORTED (a fault). */
static int handle_next_record(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	size_t record_bytes = comch_endpoint_record_bytes(endpoint);
	uint8_t *record = endpoint->record_buf ? endpoint->record_buf : malloc(record_bytes);
	uint32_t kind;
	size_t len;
	int rc;

	if (!record) { /* perhaps there is memory the next time */
		sim_doorbell_requeue(&endpoint->doorbells, connection->slot);
		return -ENOMEM;
	}
	endpoint->record_buf = NULL;
	rc = read_record(connection, record, &kind, &len);
	if (rc == 0 && (kind == COMCH_MESSAGE || kind == COMCH_RECORDED_MESSAGE || kind == COMCH_MESSAGE_WITH_HDR))
		rc = handle_message(connection, kind, record, len);
	else if (rc == 0)
		rc = comch_handle_consumer_record(connection, kind, record, len);
	/* A nested call has left its own; or the callback has stopped the context, or even started it with other sizes. */
	if (endpoint->record_buf || !endpoint->doorbell_memory.base ||
	    comch_endpoint_record_bytes(endpoint) != record_bytes)
		free(record);
	else
		endpoint->record_buf = record;
	return rc;
}

/* Nothing is left to read, and the other end is gone. */
static bool finish_lost(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (connection->state != COMCH_LOST)
		comch_connection_set_lost(connection, connection->status);
	if (endpoint->completed.first) { /* its tasks first */
		sim_doorbell_requeue(&endpoint->doorbells, connection->slot);
		return false;
	}
	/* An end in order is that of its consumers, whether or not there was room to say so of each. */
	if (connection->status == -ECONNRESET && comch_expire_next_remote_consumer(connection))
		return true;
	endpoint->ops->on_disconnect(endpoint, connection);
	return true;
}

static bool read_next(struct doca_comch_connection *connection)
{
	int rc;

	if (doca_unlikely(comch_delay_queue_has_msgs(connection))) {
		if (comch_delay_queue_is_due(connection)) {
			deliver_delayed(connection);
			return true;
		}
		if (connection->delay_queue.ready)
			return false; /* nothing overtakes what is late; the alarm is set */
	}
	if (connection->has_pending_record && connection->status == 0)
		return comch_retry_consumer_record(connection);
	if (connection->has_pending_record && comch_retry_consumer_record(connection))
		return true;
	connection->has_pending_record = false; /* all announcements are here, and that one is not */
	rc = handle_next_record(connection);
	if (rc == -EPROTO || rc == -ECONNABORTED) {
		comch_connection_set_lost(connection, rc);
		return finish_lost(connection);
	}
	if (rc == -EAGAIN && connection->status < 0)
		return finish_lost(connection);
	return rc == 1 || rc == -ENOMEM; /* or it would be tried again at once */
}

/* Its endpoint holds: no message and no end is taken now. */
static bool note_pending_recv(struct doca_comch_connection *connection)
{
	connection->has_pending_recv =
		connection->status < 0 || (!connection->delay_queue.ready &&
					   (connection->has_pending_record || sim_ring_has_record(&connection->in)));
	if (doca_unlikely(comch_delay_queue_has_msgs(connection)))
		connection->has_pending_recv |= comch_delay_queue_is_due(connection);
	connection->endpoint->has_pending_recv |= connection->has_pending_recv;
	return false;
}

bool comch_connection_progress(struct doca_comch_connection *connection)
{
	/* The status first: what was written before a close is in the ring by then. */
	poll_channel(connection);
	if (connection->state == COMCH_OPENING)
		return connection->endpoint->ops->progress_connect(connection->endpoint, connection);
	if (doca_unlikely(connection->is_broken) && connection->state != COMCH_LOST)
		comch_connection_set_lost(connection, -ECONNABORTED);
	if (connection->state == COMCH_LOST)
		return finish_lost(connection);
	comch_announce_flush(connection);
	comch_send_flush_queue(connection);
	return connection->endpoint->recv_paused ? note_pending_recv(connection) : read_next(connection);
}

/* ---- the end ---- */

void comch_connection_set_state(struct doca_comch_connection *connection, enum comch_state state, int lost)
{
	pthread_mutex_lock(&connection->lock);
	connection->state = state;
	if (lost < 0 && connection->lost_error == 0)
		atomic_store(&connection->lost_error, lost);
	for (struct comch_data_path *data_path = connection->data_paths; lost < 0 && data_path;
	     data_path = data_path->next)
		shim_pe_notify(&data_path->ctx);
	pthread_mutex_unlock(&connection->lock);
}

doca_error_t comch_connection_end_status(const struct doca_comch_connection *connection)
{
	int lost = connection->lost_error;

	return lost == -ECONNRESET ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_CONNECTION_ABORTED;
}

static const char *describe_lost(int status)
{
	switch (status) {
	case -EPROTO:
		return "the other end writes what makes no sense";
	case -EPIPE:
		return "the process at the other end died";
	case -ESHUTDOWN:
		return "the card's daemon is gone";
	case -ECONNABORTED:
		return "a fault broke it";
	default:
		return strerror(-status);
	}
}

/* We end it: the other end learns of it now, as our own user may not come by again soon. */
static void close_channel(struct doca_comch_connection *connection)
{
	sim_channel_close(shim_session(), connection->channel, -ECONNRESET);
	connection->channel = NULL;
}

void comch_connection_set_lost(struct doca_comch_connection *connection, int status)
{
	sim_trace_conn_stats_close(&connection->trace_stream, status == -ECONNRESET ? NULL : describe_lost(status));
	if (status != -ECONNRESET)
		sim_warn("Comch %s \"%s\": a connection is closed: %s", connection->endpoint->ops->role_name,
			 connection->endpoint->name, describe_lost(status));
	connection->status = status;
	if (status == -EPROTO || status == -ECONNABORTED)
		close_channel(connection);
	comch_connection_set_state(connection, COMCH_LOST, status);
	comch_send_fail_queue(connection, comch_connection_end_status(connection));
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
}

void comch_connection_close(struct doca_comch_connection *connection, int reason)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (connection->state == COMCH_OPEN)
		comch_announce_flush(connection); /* consumers that have stopped before us */
	sim_trace_conn_stats_close(&connection->trace_stream, NULL);
	comch_connection_set_state(connection, COMCH_CLOSED, -ECONNRESET);
	endpoint->slots[connection->slot] = NULL;
	endpoint->num_connections--;
	comch_send_fail_queue(connection, DOCA_ERROR_IO_FAILED);
	sim_channel_close(shim_session(), connection->channel, reason);
	connection->channel = NULL;
	comch_delay_queue_clear(connection);
	comch_announcements_drop(connection);
	comch_pending_announces_drop(connection);
	comch_remote_consumers_drop(connection);
	if (connection->in_fd >= 0)
		close(connection->in_fd);
	if (connection->peer_wake_fd >= 0)
		close(connection->peer_wake_fd);
	connection->in_fd = connection->peer_wake_fd = -1;
	sim_segment_unmap(&connection->in_memory);
	sim_segment_unmap(&connection->out_memory);
	sim_segment_unmap(&connection->peer_doorbell_memory);
}

void comch_connection_release(struct doca_comch_connection *connection)
{
	pthread_mutex_lock(&connection->lock);
	connection->endpoint = NULL;
	pthread_mutex_unlock(&connection->lock);
	comch_connection_put(connection);
}

void comch_connection_hold(struct doca_comch_connection *connection)
{
	atomic_fetch_add(&connection->refs, 1);
}

void comch_connection_put(struct doca_comch_connection *connection)
{
	if (atomic_fetch_sub(&connection->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&connection->lock);
	shim_object_free(connection, SHIM_COMCH_CONNECTION);
}

bool comch_connection_is_busy(struct doca_comch_connection *connection)
{
	bool busy;

	pthread_mutex_lock(&connection->lock);
	busy = connection->data_paths != NULL;
	pthread_mutex_unlock(&connection->lock);
	return busy;
}
