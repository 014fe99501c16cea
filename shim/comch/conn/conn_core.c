/* SPDX-License-Identifier: BSD-3-Clause */
/* What the other files of a connection build on: references, notifications, and what its pipe asks for. */
#include <errno.h>
#include <sys/eventfd.h>

#include "conn_priv.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/error.h"
#include "shim/common/process/runtime.h"

/* ---- references ---- */

void comch_connection_hold(struct doca_comch_connection *connection)
{
	atomic_fetch_add(&connection->refs, 1);
}

void comch_connection_put(struct doca_comch_connection *connection)
{
	if (atomic_fetch_sub(&connection->refs, 1) != 1)
		return;
	sim_pipe_fini(&connection->pipe);
	shim_object_free(connection, SHIM_COMCH_CONNECTION);
}

bool comch_connection_is_busy(struct doca_comch_connection *connection)
{
	bool busy;

	pthread_mutex_lock(&connection->pipe.lock);
	busy = !LIST_EMPTY(&connection->data_paths);
	pthread_mutex_unlock(&connection->pipe.lock);
	return busy;
}

/* ---- notifications ---- */

/* Under the lock. */
static void notify_data_paths(struct doca_comch_connection *connection)
{
	struct comch_data_path *data_path;

	LIST_FOREACH(data_path, &connection->data_paths, link)
		shim_pe_notify_external(&data_path->ctx);
}

void comch_connection_notify_data_paths(struct doca_comch_connection *connection)
{
	pthread_mutex_lock(&connection->pipe.lock);
	notify_data_paths(connection);
	pthread_mutex_unlock(&connection->pipe.lock);
}

void comch_endpoint_signal_status(const struct comch_endpoint *endpoint)
{
	if (comch_is_comm_channel(endpoint) && endpoint->compat->status_fd >= 0)
		eventfd_write(endpoint->compat->status_fd, 1);
}

/* In the session's thread. The event is a handshake message, a close, or a notification of the peer, which may be for
 * the endpoint or for any consumer or producer. The peer has cleared the sleep mark that it saw, so each is woken
 * whether or not it is marked as asleep. */
void comch_connection_on_channel_event(void *arg)
{
	struct doca_comch_connection *connection = arg;
	struct comch_endpoint *endpoint;

	atomic_store(&connection->channel_event, true);
	pthread_mutex_lock(&connection->pipe.lock);
	notify_data_paths(connection);
	endpoint = connection->endpoint;
	if (endpoint) {
		if (endpoint->group.doorbells.shared)
			sim_doorbell_ring_own(&endpoint->group.doorbells, connection->pipe.slot);
		shim_pe_notify_external(&endpoint->ctx);
		comch_endpoint_signal_status(endpoint);
	}
	pthread_mutex_unlock(&connection->pipe.lock);
}

void comch_connection_schedule_poll(struct doca_comch_connection *connection)
{
	atomic_store(&connection->channel_event, true);
	comch_connection_requeue(connection);
}

static const struct shim_call_errors end_errors = {
	.allowed = SHIM_ERROR_BIT(CONNECTION_RESET),
	.other = DOCA_ERROR_CONNECTION_ABORTED,
};

doca_error_t comch_end_status(int lost)
{
	return shim_error_for_call(lost, &end_errors);
}

/* ---- what the pipe asks for ---- */

static void wake(struct sim_poll_group *group, bool is_asleep)
{
	struct comch_endpoint *endpoint = comch_endpoint_of_group(group);

	shim_pe_vclock_notify_ctx(&endpoint->ctx);
	if (is_asleep)
		shim_pe_notify(&endpoint->ctx);
}

static void set_alarm(struct sim_poll_group *group, uint64_t due_ns)
{
	shim_ctx_set_alarm(&comch_endpoint_of_group(group)->ctx, due_ns);
}

static void wake_peer(struct sim_pipe *pipe)
{
	const struct doca_comch_connection *connection = comch_connection_of_pipe(pipe);

	if (connection->channel)
		sim_channel_notify_peer(connection->channel);
}

static int carry(struct sim_pipe *pipe, const struct sim_handshake_msg *msg)
{
	struct doca_comch_connection *connection = comch_connection_of_pipe(pipe);
	int rc = sim_channel_send(connection->channel, msg);

	if (rc < 0) /* the channel ended by this call, which causes no event */
		comch_connection_schedule_poll(connection);
	return rc;
}

static void announced(void *arg)
{
	struct comch_data_path *data_path = arg;

	atomic_store(&data_path->announced, true);
	shim_pe_notify_external(&data_path->ctx);
}

const struct sim_poll_group_ops comch_group_ops = {
	.wake = wake,
	.set_alarm = set_alarm,
	.wake_peer = wake_peer,
	.carry = carry,
	.announced = announced,
	.alloc = shim_malloc,
};
