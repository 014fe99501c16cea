/* SPDX-License-Identifier: BSD-3-Clause */
/* What consumers and producers have in common: their registration on a connection. */
#include <errno.h>

#include "data_path_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"

static const char *const kind_names[] = { [COMCH_CONSUMER] = "consumers", [COMCH_PRODUCER] = "producers" };

/* One counter for all consumers and producers of this end. The server's ids are odd and the client's even, so that
 * an id is unique at both ends. */
static uint32_t alloc_id(struct doca_comch_connection *connection)
{
	bool is_server = shim_object_is(connection->endpoint, SHIM_COMCH_SERVER);

	return connection->next_id++ * 2 + is_server;
}

/* Under the lock. Returns 0, -ENOTCONN or -ENOSPC: *ret_max is the device's limit. */
static int register_on_connection(struct comch_data_path *data_path, const struct shim_ctx_ops *ops,
				  struct doca_comch_connection *connection, enum comch_data_path_kind kind,
				  uint32_t *ret_max)
{
	const struct pcie_caps *caps;

	if (!connection->endpoint || connection->pipe.state != SIM_PIPE_OPEN)
		return -ENOTCONN;
	caps = &shim_dev_function(connection->endpoint->ctx.dev)->caps;
	*ret_max = kind == COMCH_CONSUMER ? caps->comch_max_consumers : caps->comch_max_producers;
	if (connection->num_objects[kind] == *ret_max)
		return -ENOSPC;
	data_path->connection = connection;
	data_path->kind = kind;
	data_path->id = alloc_id(connection);
	connection->num_objects[kind]++;
	comch_connection_hold(connection);
	shim_ctx_init(&data_path->ctx, ops, connection->endpoint->ctx.dev);
	data_path->ctx.is_silent = connection->endpoint->ctx.is_silent;
	sim_trace_object_set_parent(data_path->ctx.trace_id, connection->pipe.trace.number);
	return 0;
}

static const struct shim_call_errors init_errors = {
	.other = DOCA_ERROR_NO_MEMORY,
	.overrides = { { ENOTCONN, DOCA_ERROR_BAD_STATE } },
};

doca_error_t comch_data_path_init(const char *func, struct comch_data_path *data_path, const struct shim_ctx_ops *ops,
				  struct doca_comch_connection *connection, enum comch_data_path_kind kind)
{
	uint32_t max = 0;
	int rc;

	pthread_mutex_lock(&connection->pipe.lock);
	rc = register_on_connection(data_path, ops, connection, kind, &max);
	pthread_mutex_unlock(&connection->pipe.lock);
	if (rc == -ENOTCONN)
		sim_err("%s: the connection is not established (any more)", func);
	else if (rc == -ENOSPC)
		sim_err("%s: the connection has %u %s, the device's limit; destroy one", func, max, kind_names[kind]);
	return shim_error_for_call(rc, &init_errors);
}

void comch_data_path_fini(struct comch_data_path *data_path)
{
	pthread_mutex_lock(&data_path->connection->pipe.lock);
	data_path->connection->num_objects[data_path->kind]--;
	pthread_mutex_unlock(&data_path->connection->pipe.lock);
	comch_connection_put(data_path->connection);
}

int comch_data_path_attach(struct comch_data_path *data_path)
{
	struct doca_comch_connection *connection = data_path->connection;
	int rc = -ENOTCONN;

	pthread_mutex_lock(&connection->pipe.lock);
	if ((connection->endpoint || connection->msgq) && connection->pipe.state == SIM_PIPE_OPEN) {
		LIST_INSERT_HEAD(&connection->data_paths, data_path, link);
		rc = 0;
	}
	pthread_mutex_unlock(&connection->pipe.lock);
	return rc;
}

void comch_data_path_detach(struct comch_data_path *data_path)
{
	struct doca_comch_connection *connection = data_path->connection;

	pthread_mutex_lock(&connection->pipe.lock);
	LIST_REMOVE(data_path, link);
	sim_pipe_kick(&connection->pipe); /* an endpoint that stops may wait for this */
	pthread_mutex_unlock(&connection->pipe.lock);
}
