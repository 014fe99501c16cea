/* SPDX-License-Identifier: BSD-3-Clause */
/* What the other files of a connection build on: references, state, notifications, writing a record. */
#include <assert.h>
#include <errno.h>
#include <sys/eventfd.h>

#include "conn_priv.h"
#include "shim/common/base/error.h"
#include "shim/common/process/runtime.h"
#include "sim/shm/wake.h"

/* ---- references ---- */

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
	busy = !LIST_EMPTY(&connection->data_paths);
	pthread_mutex_unlock(&connection->lock);
	return busy;
}

/* ---- notifications ---- */

void comch_connection_notify_peer(struct doca_comch_connection *connection, uint64_t due_ns)
{
	sim_doorbell_ring(connection->peer_doorbells, connection->peer_slot);
	shim_message_sent(connection->peer_engine, due_ns);
	if (!sim_ring_must_wake(&connection->out))
		return;
	if ((connection->peer_wake_fd < 0 || sim_wake_send(connection->peer_wake_fd) < 0) && connection->channel)
		sim_channel_notify_peer(connection->channel);
}

void comch_connection_request_notify_peer(struct doca_comch_connection *connection)
{
	atomic_store(&connection->notify_requested, true);
	pthread_mutex_lock(&connection->lock);
	comch_connection_notify_self(connection);
	pthread_mutex_unlock(&connection->lock);
}

void comch_connection_notify_self(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	bool is_asleep;

	if (!endpoint || !endpoint->doorbells.shared)
		return;
	is_asleep = sim_doorbell_ring_own(&endpoint->doorbells, connection->slot);
	shim_pe_vclock_notify_ctx(&endpoint->ctx);
	if (is_asleep)
		shim_pe_notify(&endpoint->ctx);
}

static void notify_data_paths(struct doca_comch_connection *connection)
{
	struct comch_data_path *data_path;

	LIST_FOREACH(data_path, &connection->data_paths, link)
		shim_pe_notify_external(&data_path->ctx);
}

void comch_endpoint_signal_status(const struct comch_endpoint *endpoint)
{
	if (endpoint->status_fd >= 0)
		eventfd_write(endpoint->status_fd, 1);
}

/* In the session's thread. The event is a handshake message, a close, or a notification of the peer, which may be for
 * the endpoint or for any consumer or producer. The peer has cleared the sleep mark that it saw, so each is woken
 * whether or not it is marked as asleep. */
void comch_connection_on_channel_event(void *arg)
{
	struct doca_comch_connection *connection = arg;

	atomic_store(&connection->channel_event, true);
	pthread_mutex_lock(&connection->lock);
	notify_data_paths(connection);
	if (connection->endpoint) {
		if (connection->endpoint->doorbells.shared)
			sim_doorbell_ring_own(&connection->endpoint->doorbells, connection->slot);
		shim_pe_notify_external(&connection->endpoint->ctx);
		comch_endpoint_signal_status(connection->endpoint);
	}
	pthread_mutex_unlock(&connection->lock);
}

void comch_connection_schedule_poll(struct doca_comch_connection *connection)
{
	atomic_store(&connection->channel_event, true);
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
}

/* ---- the state ---- */

void comch_connection_set_state(struct doca_comch_connection *connection, enum comch_state state, int lost)
{
	bool follows;

	pthread_mutex_lock(&connection->lock);
	follows = comch_state_set(&connection->state, state);
	assert(follows);
	(void)follows;
	if (lost < 0 && connection->lost_error == 0)
		atomic_store(&connection->lost_error, lost);
	if (lost < 0)
		notify_data_paths(connection);
	pthread_mutex_unlock(&connection->lock);
}

void comch_connection_abort(struct doca_comch_connection *connection)
{
	atomic_store(&connection->abort_requested, true);
	pthread_mutex_lock(&connection->lock);
	comch_connection_notify_self(connection);
	pthread_mutex_unlock(&connection->lock);
}

static const struct shim_call_errors end_errors = {
	.allowed = SHIM_ERROR_BIT(CONNECTION_RESET),
	.other = DOCA_ERROR_CONNECTION_ABORTED,
};

doca_error_t comch_connection_end_status(const struct doca_comch_connection *connection)
{
	return shim_error_for_call(connection->lost_error, &end_errors);
}

/* ---- messages ---- */

bool comch_connection_waits_for_room(const struct doca_comch_connection *connection)
{
	return shim_vclock && connection->state == COMCH_OPEN && comch_connection_get_end(connection) == 0 &&
	       sim_ring_wants_space(&connection->out);
}

int comch_connection_write_record(struct doca_comch_connection *connection, const struct comch_msg_hdr *hdr,
				  const void *msg, uint32_t len)
{
	uint64_t at_ns = sim_trace_conn_stats_sample_ns(&connection->trace_stream);
	int rc;

	if (doca_likely(!hdr)) {
		rc = sim_ring_write(&connection->out, at_ns ? COMCH_RECORDED_MESSAGE : COMCH_MESSAGE, msg, len);
	} else {
		struct comch_msg_hdr head = *hdr;

		head.is_recorded = at_ns != 0;
		rc = sim_ring_write_parts(&connection->out, COMCH_MESSAGE_WITH_HDR, &head, sizeof(head), msg, len);
	}
	if (rc < 0)
		return rc;
	sim_trace_conn_stats_sent(&connection->trace_stream, connection->out.count, len, at_ns);
	comch_connection_notify_peer(connection, hdr ? hdr->modelled_ns : 0);
	return 0;
}
