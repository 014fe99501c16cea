/* SPDX-License-Identifier: BSD-3-Clause */
/* What consumers and producers have in common: their place on a connection. */
#include <errno.h>

#include "shim/comch/comch_priv.h"
#include "shim/common/base/check.h"

/* One counter for all that live on a connection, here; the server's are odd, the
 * client's even, so that an id means one thing at both ends. */
static uint32_t take_id(struct doca_comch_connection *connection)
{
	bool is_server = shim_is(connection->endpoint, SHIM_COMCH_SERVER);

	return connection->next_id++ * 2 + is_server;
}

static uint32_t limit_of(const struct doca_comch_connection *connection, const uint32_t *count)
{
	const struct pcie_caps *caps = &shim_dev_function(connection->endpoint->ctx.dev)->caps;

	return count == &connection->num_consumers ? caps->comch_max_consumers : caps->comch_max_producers;
}

/* Its place on the connection, under the lock. 0, -ENOTCONN or -ENOSPC. */
static int enter(struct comch_fast *fast, const struct shim_ctx_ops *ops, struct doca_comch_connection *connection,
		 uint32_t *count)
{
	if (!connection->endpoint || connection->state != COMCH_OPEN)
		return -ENOTCONN;
	if (*count == limit_of(connection, count))
		return -ENOSPC;
	fast->connection = connection;
	fast->count = count;
	fast->id = take_id(connection);
	++*count;
	comch_connection_hold(connection);
	shim_ctx_init(&fast->ctx, ops, connection->endpoint->ctx.dev);
	sim_trace_object_belongs(fast->ctx.recorded_as, connection->talk.number);
	return 0;
}

doca_error_t comch_fast_init(const char *func, struct comch_fast *fast, const struct shim_ctx_ops *ops,
			     struct doca_comch_connection *connection, uint32_t *count)
{
	int rc;

	pthread_mutex_lock(&connection->lock);
	rc = enter(fast, ops, connection, count);
	pthread_mutex_unlock(&connection->lock);
	if (rc == -ENOTCONN)
		sim_err("%s: the connection is not established (any more)", func);
	else if (rc == -ENOSPC)
		sim_err("%s: the connection has %u of them, the device's limit; destroy one", func, *count);
	return rc == 0 ? DOCA_SUCCESS : rc == -ENOTCONN ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_NO_MEMORY;
}

void comch_fast_fini(struct comch_fast *fast)
{
	pthread_mutex_lock(&fast->connection->lock);
	--*fast->count;
	pthread_mutex_unlock(&fast->connection->lock);
	comch_connection_put(fast->connection);
}

int comch_fast_join(struct comch_fast *fast)
{
	struct doca_comch_connection *connection = fast->connection;
	int rc = -ENOTCONN;

	pthread_mutex_lock(&connection->lock);
	if (connection->endpoint && connection->state == COMCH_OPEN) {
		fast->next = connection->fast;
		connection->fast = fast;
		rc = 0;
	}
	pthread_mutex_unlock(&connection->lock);
	return rc;
}

void comch_fast_leave(struct comch_fast *fast)
{
	struct doca_comch_connection *connection = fast->connection;
	struct comch_fast **link;

	pthread_mutex_lock(&connection->lock);
	link = &connection->fast;
	while (*link && *link != fast)
		link = &(*link)->next;
	if (*link)
		*link = fast->next;
	comch_connection_kick(connection); /* an endpoint that stops may have waited for us */
	pthread_mutex_unlock(&connection->lock);
}
