/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/task_2_5/rdma_core.h - libdoca_rdma of releases 2.5 and 2.6, on the current one's code.
 *
 *   program --> entry doca_rdma_x() --the same--> shim_doca_rdma_x(), of shim/rdma
 *                    '--changed--> older_doca_rdma_x(), of this folder --current_rdma_x()--> shim_doca_rdma_x()
 *
 * gen_entries.py writes the entries, from the interface facts of both. The library consists of the objects of the current
 * one, without release.c, and of this folder. rdma_core.c is compiled with the current headers; the other sources, the
 * translation, with those of 2.5 and 2.6.
 *
 * A context has one connection, which the first export or connect makes. Its start is in progress up to the connect:
 * struct rdma_release of shim/rdma/rdma_priv.h.
 */
#ifndef SHIM_TASK_2_5_RDMA_CORE_H
#define SHIM_TASK_2_5_RDMA_CORE_H

#include <stddef.h>

#include <doca_error.h>

struct doca_rdma;
struct doca_rdma_connection;

/* The connection of a context that is starting or running; NULL = it has none, or @rdma, any value, is no such context. */
struct doca_rdma_connection *older_rdma_connection(const struct doca_rdma *rdma);

/* Make the context's connection for the public function @func, without a change of the context's state; and undo that. */
doca_error_t older_rdma_make_connection(const char *func, struct doca_rdma *rdma, struct doca_rdma_connection **ret);
void older_rdma_drop_connection(struct doca_rdma_connection *connection);

/* The descriptor of the connection, which owns it. */
const void *older_rdma_details(const struct doca_rdma_connection *connection, size_t *ret_len_bytes);

#endif
