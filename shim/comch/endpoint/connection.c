/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a connection at one end: created, progressed, lost, closed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint_priv.h"
#include "shim/comch/data_path/data_path_priv.h"
#include "shim/common/base/call_hooks.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "sim/msg/remote_consumer.h"

/* ---- creating ---- */

static _Atomic uint64_t last_serial;

int comch_connection_new(struct comch_endpoint *endpoint, struct doca_comch_connection **ret_connection)
{
	struct doca_comch_connection *connection = shim_object_new(SHIM_COMCH_CONNECTION, sizeof(*connection));
	int rc;

	if (!connection)
		return -ENOMEM;
	connection->serial = atomic_fetch_add(&last_serial, 1) + 1;
	connection->endpoint = endpoint;
	connection->refs = 1;
	connection->next_id = 1;
	rc = sim_pipe_open(&connection->pipe, &endpoint->group);
	if (rc < 0) {
		comch_connection_close(connection, -ECONNREFUSED);
		comch_connection_release(connection);
		return rc;
	}
	*ret_connection = connection;
	return 0;
}

/* ---- events ---- */

/* The user's callback has the message's memory while it runs, and may progress the engine. Nothing of the connection is
 * touched afterwards: the callback may have closed it. */
static void deliver(struct doca_comch_connection *connection, const struct sim_pipe_event *event)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (doca_unlikely(shim_call_hooks != NULL))
		shim_call_hooks->message_received();
	/* An event carries nothing of its own: any address but NULL serves. */
	endpoint->received((struct doca_comch_event_msg_recv *)endpoint, event->bytes, event->len, connection);
}

/* An event that is no message. Returns whether the user saw it. */
static __attribute__((noinline)) bool handle_rare_event(struct doca_comch_connection *connection,
							struct sim_pipe_event *event)
{
	switch (event->kind) {
	case SIM_PIPE_RECEIVE_FAILED:
		connection->endpoint->compat->injected_status = shim_fault_error(event->status);
		return true;
	case SIM_PIPE_OBJECT_NEW:
		return comch_add_remote_consumer(connection, event->id, &event->announcement);
	case SIM_PIPE_OBJECT_GONE:
		return comch_expire_remote_consumer(connection, event->id);
	default:
		return false;
	}
}

/* Send what waits, and receive. Returns 1 (the user saw an event: the connection may be closed by now), 0, or -errno: the
 * connection is lost. */
static int recv_next(struct doca_comch_connection *connection)
{
	struct sim_poll_group *group = &connection->endpoint->group;
	struct sim_pipe_event event;
	int rc = sim_pipe_poll(&connection->pipe, &event);

	if (doca_unlikely(rc != 1))
		return rc == -ENOMEM ? 1 : rc; /* or the endpoint would try again at once */
	if (doca_likely(event.kind == SIM_PIPE_RECEIVED))
		deliver(connection, &event);
	else
		rc = handle_rare_event(connection, &event);
	sim_pipe_release_event(group, &event);
	return rc;
}

static void note_pending_recv(struct doca_comch_connection *connection)
{
	connection->has_pending_recv = sim_pipe_has_event(&connection->pipe);
	connection->endpoint->compat->has_pending_recv |= connection->has_pending_recv;
}

/* ---- progress ---- */

void comch_connection_recv_announces(struct doca_comch_connection *connection)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	struct sim_handshake_msg msg;

	while (sim_channel_receive(connection->channel, &msg)) {
		int rc = sim_pipe_add_arrival(&connection->pipe, &msg, sizeof(struct sim_consumer_info));

		if (rc < 0)
			sim_warn("Comch %s \"%s\": dropped an announcement of the other end: %s",
				 endpoint->ops->role_name, endpoint->name,
				 rc == -ENOMEM  ? "no memory" :
				 rc == -ENOBUFS ? "too many have no record yet" :
						  "it is malformed");
	}
}

static void poll_channel(struct doca_comch_connection *connection)
{
	if (!atomic_exchange(&connection->channel_event, false) && doca_likely(!connection->pipe.is_dead))
		return;
	if (!connection->channel)
		return;
	sim_pipe_set_peer_status(&connection->pipe, sim_channel_status(connection->channel));
	if (connection->pipe.state != SIM_PIPE_OPENING)
		comch_connection_recv_announces(connection);
}

/* The connection is lost, and all that the other end sent was delivered. Returns whether the user saw an event. */
static bool report_lost(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (sim_poll_group_has_completed(&endpoint->group)) { /* the user sees completed tasks first */
		comch_connection_requeue(connection);
		return false;
	}
	/* An orderly end expires all consumers, also those whose record did not fit into the ring. */
	if (connection->pipe.peer_status == -ECONNRESET && comch_expire_next_remote_consumer(connection))
		return true;
	endpoint->ops->on_disconnect(endpoint, connection);
	return true;
}

bool comch_connection_progress(struct doca_comch_connection *connection)
{
	struct sim_pipe *pipe = &connection->pipe;
	bool is_paused;
	int rc;

	/* Poll first: all that the other end wrote before it closed the channel is in the ring by then. */
	poll_channel(connection);
	if (pipe->state == SIM_PIPE_OPENING)
		return connection->endpoint->ops->progress_connect(connection->endpoint, connection);
	if (pipe->state == SIM_PIPE_LOST)
		return report_lost(connection);
	is_paused = comch_is_recv_paused(connection->endpoint);
	rc = is_paused ? sim_pipe_flush(pipe) : recv_next(connection);
	if (doca_likely(rc >= 0)) {
		if (is_paused)
			note_pending_recv(connection);
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
static void close_channel(struct doca_comch_connection *connection, int reason)
{
	sim_channel_close(shim_session(), connection->channel, reason);
	connection->channel = NULL;
}

void comch_connection_set_lost(struct doca_comch_connection *connection, int status)
{
	sim_trace_conn_stats_close(&connection->pipe.trace, status == -ECONNRESET ? NULL : describe_lost(status));
	if (status != -ECONNRESET)
		sim_warn("Comch %s \"%s\": a connection is closed: %s", connection->endpoint->ops->role_name,
			 connection->endpoint->name, describe_lost(status));
	connection->pipe.peer_status = status;
	if (status == -EPROTO || status == -ECONNABORTED)
		close_channel(connection, -ECONNRESET);
	sim_pipe_set_state(&connection->pipe, SIM_PIPE_LOST, status);
	comch_connection_notify_data_paths(connection);
	sim_pipe_end_sends(&connection->pipe, status == -ECONNRESET ? -ECONNRESET : -ECONNABORTED);
	comch_connection_requeue(connection);
}

void comch_connection_close(struct doca_comch_connection *connection, int reason)
{
	if (connection->pipe.state == SIM_PIPE_OPEN) { /* consumers of this end may have stopped just before */
		int rc = sim_pipe_finish(&connection->pipe);

		if (rc < 0)
			comch_connection_set_lost(connection, rc);
	}
	sim_trace_conn_stats_close(&connection->pipe.trace, NULL);
	sim_pipe_close(&connection->pipe);
	comch_connection_notify_data_paths(connection);
	close_channel(connection, reason);
	sim_remote_consumers_drop(&connection->pipe);
}

void comch_connection_release(struct doca_comch_connection *connection)
{
	sim_pipe_leave(&connection->pipe);
	pthread_mutex_lock(&connection->pipe.lock);
	connection->endpoint = NULL;
	pthread_mutex_unlock(&connection->pipe.lock);
	comch_connection_put(connection);
}
