/* SPDX-License-Identifier: BSD-3-Clause */
/* What consumers and producers have in common: their place on a connection. */
#include <errno.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/common/base/check.h"

/* One counter for all that live on a connection, here; the server's are odd, the
 * client's even, so that an id means one thing at both ends. */
static uint32_t alloc_id(struct doca_comch_connection *connection)
{
	bool is_server = shim_object_is(connection->endpoint, SHIM_COMCH_SERVER);

	return connection->next_id++ * 2 + is_server;
}

static uint32_t get_max_objects(const struct doca_comch_connection *connection, const uint32_t *count)
{
	const struct pcie_caps *caps = &shim_dev_function(connection->endpoint->ctx.dev)->caps;

	return count == &connection->num_consumers ? caps->comch_max_consumers : caps->comch_max_producers;
}

/* Its place on the connection, under the lock. 0, -ENOTCONN or -ENOSPC. */
static int register_on_connection(struct comch_data_path *data_path, const struct shim_ctx_ops *ops,
				  struct doca_comch_connection *connection, uint32_t *count)
{
	if (!connection->endpoint || connection->state != COMCH_OPEN)
		return -ENOTCONN;
	if (*count == get_max_objects(connection, count))
		return -ENOSPC;
	data_path->connection = connection;
	data_path->count = count;
	data_path->id = alloc_id(connection);
	++*count;
	comch_connection_hold(connection);
	shim_ctx_init(&data_path->ctx, ops, connection->endpoint->ctx.dev);
	sim_trace_object_set_parent(data_path->ctx.trace_id, connection->trace_stream.number);
	return 0;
}

doca_error_t comch_data_path_init(const char *func, struct comch_data_path *data_path, const struct shim_ctx_ops *ops,
				  struct doca_comch_connection *connection, uint32_t *count)
{
	int rc;

	pthread_mutex_lock(&connection->lock);
	rc = register_on_connection(data_path, ops, connection, count);
	pthread_mutex_unlock(&connection->lock);
	if (rc == -ENOTCONN)
		sim_err("%s: the connection is not established (any more)", func);
	else if (rc == -ENOSPC)
		sim_err("%s: the connection has %u of them, the device's limit; destroy one", func, *count);
	return rc == 0 ? DOCA_SUCCESS : rc == -ENOTCONN ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_NO_MEMORY;
}

void comch_data_path_fini(struct comch_data_path *data_path)
{
	pthread_mutex_lock(&data_path->connection->lock);
	--*data_path->count;
	pthread_mutex_unlock(&data_path->connection->lock);
	comch_connection_put(data_path->connection);
}

int comch_data_path_attach(struct comch_data_path *data_path)
{
	struct doca_comch_connection *connection = data_path->connection;
	int rc = -ENOTCONN;

	pthread_mutex_lock(&connection->lock);
	if (connection->endpoint && connection->state == COMCH_OPEN) {
		data_path->next = connection->data_paths;
		connection->data_paths = data_path;
		rc = 0;
	}
	pthread_mutex_unlock(&connection->lock);
	return rc;
}

void comch_data_path_detach(struct comch_data_path *data_path)
{
	struct doca_comch_connection *connection = data_path->connection;
	struct comch_data_path **link;

	pthread_mutex_lock(&connection->lock);
	link = &connection->data_paths;
	while (*link && *link != data_path)
		link = &(*link)->next;
	if (*link)
		*link = data_path->next;
	comch_connection_notify_self(connection); /* an endpoint that stops may have waited for us */
	pthread_mutex_unlock(&connection->lock);
}
