/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives of kernels. A place of the queue is free, posted, or complete; a kernel's post takes the place that is complete for the
 * longest time, else a free one. The memory's map is looked up when a message comes, as a card does. */
#include <errno.h>
#include <stdlib.h>

#include "dpa_priv.h"
#include "shim/common/base/alloc.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"

enum { RECEIVED_WRITTEN = 1, RECEIVED = 2, RECEIVED_IMMEDIATE = 3, RECEIVE_FAILED = 14 }; /* the device API's */

int rdma_dpa_receives_init(struct rdma_dpa *dpa, uint32_t size)
{
	dpa->receives = shim_calloc(size, sizeof(*dpa->receives));
	if (!dpa->receives)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++) {
		dpa->receives[i].index = i;
		STAILQ_INSERT_TAIL(&dpa->free, &dpa->receives[i], link);
	}
	return 0;
}

/* Returns 0 or -errno. */
static int hold_memory(struct rdma_dpa_receive *receive)
{
	const struct sim_dpa_span *dst = &receive->dst;
	struct sim_dpa_map *map;
	uint64_t offset;

	map = receive->map = sim_dpa_map_hold(dst->map);
	if (!map)
		return -ENOENT;
	offset = dst->addr - map->addr;
	if (offset > map->len_bytes || dst->len > map->len_bytes - offset)
		return -ERANGE;
	if (!map->is_writable || (map->remote && map->remote->region.access & SIM_ACCESS_NET))
		return -EPERM;
	receive->segment = (struct sim_rdma_segment){ .remote = map->remote,
						      .addr = map->remote ? dst->addr : (uintptr_t)map->base + offset,
						      .bytes = dst->len };
	return 0;
}

/* Some of a message is about to be written. Its sender learns no more than that it failed. */
static int find_data(struct sim_rdma_receive *base)
{
	struct rdma_dpa_receive *receive = (struct rdma_dpa_receive *)base;

	receive->problem = base->bytes > 0 ? hold_memory(receive) : 0;
	return receive->problem < 0 ? -EIO : 0;
}

/* The host may stop the map of a receive that is not complete. */
static void leave_data(struct sim_rdma_receive *base)
{
	struct rdma_dpa_receive *receive = (struct rdma_dpa_receive *)base;

	sim_dpa_map_release(receive->map);
	receive->map = NULL;
}

void rdma_dpa_post_receive(struct rdma_dpa *dpa, struct rdma_dpa_receive *receive, struct sim_fault_hit *hit)
{
	receive->dpa = dpa;
	receive->hit = hit;
	receive->problem = 0;
	receive->receive = (struct sim_rdma_receive){
		.segments = &receive->segment,
		.num_segments = 1,
		.room_bytes = receive->dst.len,
		.find_data = find_data,
		.leave_data = leave_data,
	};
	if (hit)
		rdma_dpa_fault_apply_receive(receive);
	sim_qp_group_post_receive(&dpa->rdma->group, &receive->receive);
}

static uint32_t type_of(const struct sim_rdma_receive *receive)
{
	if (receive->status < 0)
		return RECEIVE_FAILED;
	if (receive->is_written)
		return RECEIVED_WRITTEN;
	return receive->has_immediate ? RECEIVED_IMMEDIATE : RECEIVED;
}

/* A fault may change what was received, as long as the map is there. */
static void spoil(struct rdma_dpa_receive *receive)
{
	if (find_data(&receive->receive) == 0)
		rdma_dpa_fault_flip_received(receive);
	leave_data(&receive->receive);
}

/* The connection by which the message came; NULL = it is gone, as a fault has held the receive, or none came. */
static const struct doca_rdma_connection *find_connection(const struct rdma_dpa *dpa, const void *qp_arg)
{
	const struct doca_rdma_connection *connection;

	TAILQ_FOREACH(connection, &dpa->rdma->connections, link)
		if (connection == qp_arg)
			break;
	return connection;
}

void rdma_dpa_end_receive(struct rdma_dpa_receive *receive, bool is_silent)
{
	const struct doca_rdma_connection *connection = find_connection(receive->dpa, receive->receive.qp_arg);
	struct rdma_dpa *dpa = receive->dpa;

	if (receive->hit && receive->receive.status == 0)
		spoil(receive);
	free(receive->hit);
	receive->hit = NULL;
	if (is_silent)
		return;
	if (receive->receive.status < 0 && receive->receive.status != -ECANCELED)
		sim_err("a kernel's RDMA receive failed: %s",
			rdma_describe_failure(receive->problem < 0 ? receive->problem : receive->receive.status));
	STAILQ_INSERT_TAIL(&dpa->complete, receive, link);
	rdma_dpa_push(dpa, type_of(&receive->receive), connection ? connection->id : 0, receive->receive.immediate,
		      receive->index);
}
