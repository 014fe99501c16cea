/* SPDX-License-Identifier: BSD-3-Clause */
/* What consumers and producers have in common: their place on a connection. */
#include <errno.h>

#include "comch_priv.h"
#include "shim/common/check.h"

/* One counter for all that live on a connection, here; the server's are odd, the
 * client's even, so that an id means one thing at both ends. */
static uint32_t take_id(struct doca_comch_connection *connection)
{
	bool is_server = shim_is(connection->endpoint, SHIM_COMCH_SERVER);

	return connection->next_id++ * 2 + is_server;
}

doca_error_t comch_fast_init(const char *func, struct comch_fast *fast, const struct shim_ctx_ops *ops,
			     struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint;

	pthread_mutex_lock(&connection->lock);
	endpoint = connection->endpoint;
	if (endpoint && connection->state == COMCH_OPEN)
		fast->id = take_id(connection);
	pthread_mutex_unlock(&connection->lock);
	if (fast->id == 0) {
		sim_err("%s: the connection is not established (any more)", func);
		return DOCA_ERROR_BAD_STATE;
	}
	fast->connection = connection;
	comch_connection_hold(connection);
	shim_ctx_init(&fast->ctx, ops, endpoint->ctx.dev);
	return DOCA_SUCCESS;
}

void comch_fast_fini(struct comch_fast *fast)
{
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
