/* SPDX-License-Identifier: BSD-3-Clause */
/* What the translation needs of the objects of shim/rdma. */
#include "rdma_core.h"

#include "shim/rdma/rdma_priv.h"

const struct rdma_release rdma_release = { .starts_by_connect = true };

struct doca_rdma_connection *older_rdma_connection(const struct doca_rdma *rdma)
{
	if (!shim_object_is(rdma, SHIM_RDMA) || rdma->ctx.state == DOCA_CTX_STATE_STOPPING)
		return NULL;
	return TAILQ_FIRST(&rdma->connections);
}

doca_error_t older_rdma_make_connection(const char *func, struct doca_rdma *rdma, struct doca_rdma_connection **ret)
{
	return rdma_connection_create(func, rdma, ret);
}

void older_rdma_drop_connection(struct doca_rdma_connection *connection)
{
	rdma_connection_destroy(connection);
}

const void *older_rdma_details(const struct doca_rdma_connection *connection, size_t *ret_len_bytes)
{
	*ret_len_bytes = sizeof(connection->details);
	return connection->details;
}
