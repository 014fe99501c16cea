/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a connection at one end: created, progressed, lost, closed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoint_priv.h"
#include "shim/comch/conn/fault_priv.h"
#include "shim/comch/data_path/data_path_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"

/* ---- creating ---- */

/* Return the first free slot; the table grows as needed. COMCH_LISTENER_SLOT = there is none. */
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
				    .max_record_bytes = (uint32_t)COMCH_MAX_RECORD_BYTES(connection->endpoint) };
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
	STAILQ_INIT(&connection->send_queue);
	STAILQ_INIT(&connection->pending_announces);
	STAILQ_INIT(&connection->announcements);
	sim_delay_list_init(&connection->delay_queue);
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

/* ---- progress ---- */

void comch_connection_recv_announces(struct doca_comch_connection *connection)
{
	struct sim_handshake_msg msg;

	while (sim_channel_receive(connection->channel, &msg))
		comch_queue_announce_msg(connection, &msg);
}

static void poll_channel(struct doca_comch_connection *connection)
{
	int status;

	if (!atomic_exchange(&connection->channel_event, false))
		return;
	if (!connection->channel)
		return;
	status = sim_channel_status(connection->channel);
	if (doca_likely(status != -EPIPE) || !comch_fault_hides_death(connection))
		connection->status = status;
	if (connection->state != COMCH_OPENING)
		comch_connection_recv_announces(connection);
}

/* The connection is lost, and all that the other end sent was delivered. Returns whether the user saw an event. */
static bool report_lost(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (!STAILQ_EMPTY(&endpoint->completed)) { /* the user sees completed tasks first */
		sim_doorbell_requeue(&endpoint->doorbells, connection->slot);
		return false;
	}
	/* An orderly end expires all consumers, also those whose record did not fit into the ring. */
	if (connection->status == -ECONNRESET && comch_expire_next_remote_consumer(connection))
		return true;
	endpoint->ops->on_disconnect(endpoint, connection);
	return true;
}

/* Send what waits for room. Returns 0, or -errno: the connection is lost. */
static int send_waiting(struct doca_comch_connection *connection)
{
	int rc = 0;

	if (doca_unlikely(connection->abort_requested))
		return -ECONNABORTED;
	if (doca_unlikely(connection->has_announcements))
		rc = comch_announce_flush(connection);
	if (rc == 0 && doca_unlikely(!STAILQ_EMPTY(&connection->send_queue)))
		rc = comch_send_queue_flush(connection);
	return rc;
}

static void note_seen(struct doca_comch_connection *connection)
{
	connection->seen_head = sim_ring_get_head(&connection->in);
	connection->seen_closed = sim_ring_is_closed(&connection->in);
	if (connection->out.shared)
		connection->seen_tail = sim_ring_get_tail(&connection->out);
}

static bool wants_room(const struct doca_comch_connection *connection)
{
	return !STAILQ_EMPTY(&connection->send_queue) || connection->has_announcements;
}

bool comch_connection_has_missed_ring(const struct doca_comch_connection *connection)
{
	if (connection->state != COMCH_OPEN)
		return false;
	return connection->seen_head != sim_ring_get_head(&connection->in) ||
	       connection->seen_closed != sim_ring_is_closed(&connection->in) ||
	       (wants_room(connection) && connection->seen_tail != sim_ring_get_tail(&connection->out) &&
		sim_ring_is_half_free(&connection->out));
}

bool comch_connection_progress(struct doca_comch_connection *connection)
{
	int rc;

	note_seen(connection);
	/* Poll first: all that the other end wrote before it closed the channel is in the ring by then. */
	poll_channel(connection);
	if (connection->state == COMCH_OPENING)
		return connection->endpoint->ops->progress_connect(connection->endpoint, connection);
	if (connection->state == COMCH_LOST)
		return report_lost(connection);
	if (doca_unlikely(connection->notify_requested) && atomic_exchange(&connection->notify_requested, false))
		sim_channel_notify_peer(connection->channel);
	rc = send_waiting(connection);
	if (doca_likely(rc == 0)) {
		if (connection->endpoint->recv_paused) {
			comch_connection_note_pending_recv(connection);
			return false;
		}
		rc = comch_connection_recv_next(connection);
		if (doca_likely(rc >= 0))
			return rc > 0;
	}
	comch_connection_set_lost(connection, rc);
	return report_lost(connection);
}

/* ---- the end ---- */

static const char *describe_lost(int status)
{
	switch (status) {
	case -EPROTO:
		return "the other end wrote an invalid record";
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

/* Close the channel now, so that the other end learns of it: this end's user may not progress soon. */
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
	comch_send_queue_fail(connection, comch_connection_end_status(connection));
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
}

/* The other end sees the end where it sees messages, so in virtual time each run has it at the same moment. The other end
 * learns of the channel's end as well, at any moment. */
static void write_end(struct doca_comch_connection *connection)
{
	if (connection->state != COMCH_OPEN)
		return;
	sim_ring_close(&connection->out);
	comch_connection_notify_peer(connection, 0);
}

void comch_connection_close(struct doca_comch_connection *connection, int reason)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (connection->state == COMCH_OPEN) { /* consumers of this end may have stopped just before */
		int rc = comch_announce_flush(connection);

		if (rc < 0)
			comch_connection_set_lost(connection, rc);
		write_end(connection);
	}
	sim_trace_conn_stats_close(&connection->trace_stream, NULL);
	comch_connection_set_state(connection, COMCH_CLOSED, -ECONNRESET);
	endpoint->slots[connection->slot] = NULL;
	endpoint->num_connections--;
	comch_send_queue_fail(connection, DOCA_ERROR_IO_FAILED);
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
