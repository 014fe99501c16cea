/* SPDX-License-Identifier: BSD-3-Clause */
/* What the translation needs of the objects of shim/rdma. */
#include "rdma_core.h"

#include "shim/rdma/rdma_priv.h"

const struct rdma_release rdma_release = { .starts_by_connect = true };

struct doca_rdma_connection *older_rdma_connection(const struct doca_rdma *rdma)
{
	return shim_object_is(rdma, SHIM_RDMA) ? TAILQ_FIRST(&rdma->connections) : NULL;
}

const void *older_rdma_details(const struct doca_rdma_connection *connection, size_t *ret_len_bytes)
{
	*ret_len_bytes = sizeof(connection->details);
	return connection->details;
}
