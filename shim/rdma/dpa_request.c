/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of kernels. They are checked and executed when they are flushed. A fault of a request, a map that is none among them, is
 * its failure when its turn comes, and the connection's, as on a card. */
#include <errno.h>
#include <stdlib.h>

#include "dpa_priv.h"
#include "shim/common/process/runtime.h"
#include "shim/common/sync/sync_event_remote.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"
#include "sim/rdma/memory.h"

enum { SENT = 0, SEND_FAILED = 13 }; /* types of completions of the device API */

/* ---- accesses ---- */

static int write_memory(struct rdma_dpa_request *request)
{
	return sim_rdma_write(&request->segment, 1, request->other->remote, request->dst.addr, request->dst.len);
}

static int read_memory(struct rdma_dpa_request *request)
{
	return sim_rdma_read(&request->segment, 1, request->other->remote, request->src.addr, request->src.len);
}

static int add_to_memory(struct rdma_dpa_request *request)
{
	const struct sim_rdma_atomic atomic = { .operand = request->operand };
	uint64_t before;

	return sim_rdma_do_atomic(sim_session_atomics_lock(shim_session()), request->other->remote, request->dst.addr,
				  &atomic, &before);
}

static int set_event(struct rdma_dpa_request *request)
{
	return shim_sync_remote_set(request->event, request->operand);
}

static int add_to_event(struct rdma_dpa_request *request)
{
	uint64_t before;

	return shim_sync_remote_add(request->event, request->operand, &before);
}

const struct rdma_dpa_op rdma_dpa_post_ops[] = {
	[SIM_DPA_RDMA_SEND] = { .name = "send",
				.rule_op = SIM_OP_RDMA_SEND,
				.net_op = PCIE_NET_SEND,
				.has_message = true },
	[SIM_DPA_RDMA_SEND_IMM] = { .name = "send with immediate",
				    .rule_op = SIM_OP_RDMA_SEND_IMM,
				    .net_op = PCIE_NET_SEND,
				    .has_message = true,
				    .has_immediate = true },
	[SIM_DPA_RDMA_WRITE] = { .name = "write",
				 .rule_op = SIM_OP_RDMA_WRITE,
				 .net_op = PCIE_NET_WRITE,
				 .peer_access = SIM_ACCESS_WRITE,
				 .access = write_memory },
	[SIM_DPA_RDMA_WRITE_IMM] = { .name = "write with immediate",
				     .rule_op = SIM_OP_RDMA_WRITE_IMM,
				     .net_op = PCIE_NET_WRITE,
				     .peer_access = SIM_ACCESS_WRITE,
				     .access = write_memory,
				     .has_message = true,
				     .is_written = true,
				     .has_immediate = true },
	[SIM_DPA_RDMA_READ] = { .name = "read",
				.rule_op = SIM_OP_RDMA_READ,
				.net_op = PCIE_NET_READ,
				.peer_access = SIM_ACCESS_READ,
				.access = read_memory,
				.writes_local = true },
	[SIM_DPA_RDMA_FETCH_ADD] = { .name = "fetch-and-add",
				     .rule_op = SIM_OP_RDMA_FETCH_ADD,
				     .net_op = PCIE_NET_ATOMIC,
				     .peer_access = SIM_ACCESS_ATOMIC,
				     .access = add_to_memory },
};

const struct rdma_dpa_op rdma_dpa_set_op = { .name = "signal-set",
					     .rule_op = SIM_OP_RDMA_EVENT_SET,
					     .net_op = PCIE_NET_WRITE,
					     .peer_access = SIM_ACCESS_WRITE,
					     .access = set_event,
					     .is_event = true };
const struct rdma_dpa_op rdma_dpa_add_op = { .name = "signal-add",
					     .rule_op = SIM_OP_RDMA_EVENT_ADD,
					     .net_op = PCIE_NET_ATOMIC,
					     .peer_access = SIM_ACCESS_ATOMIC,
					     .access = add_to_event,
					     .is_event = true };

/* ---- memory ---- */

static bool is_of_peer(const struct sim_dpa_map *map)
{
	return map->remote && map->remote->region.access & SIM_ACCESS_NET;
}

static int hold_local(struct rdma_dpa_request *request, const struct sim_dpa_span *span)
{
	struct sim_dpa_map *map;
	uint64_t offset;

	map = request->local = sim_dpa_map_hold(span->map);
	if (!map)
		return -ENOENT;
	if (is_of_peer(map))
		return -EBADF;
	offset = span->addr - map->addr;
	if (offset > map->len_bytes || span->len > map->len_bytes - offset)
		return -ERANGE;
	if (request->op->writes_local && !map->is_writable)
		return -EPERM;
	request->segment = (struct sim_rdma_segment){ .remote = map->remote,
						      .addr = map->remote ? span->addr : (uintptr_t)map->base + offset,
						      .bytes = span->len };
	return 0;
}

static int hold_other(struct rdma_dpa_request *request, const struct sim_dpa_span *span)
{
	request->other = sim_dpa_map_hold(span->map);
	if (!request->other)
		return -ENOENT;
	return is_of_peer(request->other) ? 0 : -EBADF;
}

/* Find the memory of a request. Returns 0 or -errno. */
static int hold_memory(struct rdma_dpa_request *request)
{
	const struct sim_dpa_span *local = request->op->writes_local ? &request->dst : &request->src;
	const struct sim_dpa_span *other = request->op->writes_local ? &request->src : &request->dst;
	int rc = 0;

	if (request->op->is_event)
		return 0;
	if (local->len > shim_dev_function(request->dpa->rdma->ctx.dev)->caps.rdma_max_msg_bytes)
		return -EFBIG;
	if (local->len > 0)
		rc = hold_local(request, local);
	if (rc == 0 && request->op->peer_access && other->len > 0)
		rc = hold_other(request, other);
	return rc;
}

static void release_memory(struct rdma_dpa_request *request)
{
	sim_dpa_map_release(request->local);
	sim_dpa_map_release(request->other);
	request->local = request->other = NULL;
}

/* ---- the request's turn ---- */

/* While a request waits, it holds no map, which the host may want to stop. */
static int find_memory(struct sim_rdma_work *work)
{
	struct rdma_dpa_request *request = (struct rdma_dpa_request *)work;

	if (request->problem == 0)
		request->problem = hold_memory(request);
	return request->problem;
}

static void leave_memory(struct sim_rdma_work *work)
{
	release_memory((struct rdma_dpa_request *)work);
}

/* A request without bytes names no memory. */
static int access_peer(struct rdma_dpa_request *request)
{
	const struct rdma_dpa_op *op = request->op;
	struct sim_qp *qp = request->connection->qp;
	bool is_permitted;
	int rc;

	if (!request->other && !op->is_event)
		return 0;
	rc = sim_qp_check_access(qp, op->peer_access,
				 op->is_event ? shim_sync_remote_function(request->event) :
						request->other->remote->region.function);
	is_permitted = rc == 0;
	if (is_permitted)
		rc = request->access(request);
	if (rc == -EACCES)
		sim_qp_note_refused(qp, op->peer_access, is_permitted);
	return rc;
}

int rdma_dpa_execute(struct sim_rdma_work *work)
{
	int rc = find_memory(work);

	if (rc == 0)
		rc = access_peer((struct rdma_dpa_request *)work);
	leave_memory(work);
	return rc;
}

void rdma_dpa_end_request(struct rdma_dpa_request *request, bool is_silent)
{
	const int status = request->work.status;

	if (request->event)
		shim_sync_remote_end_task(request->event);
	if (status < 0 && status != -ECANCELED && !is_silent)
		sim_err("a kernel's RDMA %s failed: %s", request->op->name, rdma_describe_failure(status));
	if (!is_silent && (status < 0 || request->is_reported))
		rdma_dpa_push(request->dpa, status < 0 ? SEND_FAILED : SENT, request->connection->id, 0,
			      request->index);
	free(request->hit);
	free(request);
}

static void make_work(struct rdma_dpa_request *request)
{
	const struct rdma_dpa_op *op = request->op;
	bool is_message = op->has_message && request->problem == 0;

	request->work = (struct sim_rdma_work){
		.op = op->net_op,
		.execute = op->peer_access || request->problem < 0 ? rdma_dpa_execute : NULL,
		.has_message = is_message,
		.is_written = op->is_written,
		.has_immediate = op->has_immediate,
		.immediate = (uint32_t)request->operand,
		.segments = &request->segment,
		.num_segments = request->local ? 1 : 0,
		.find_data = request->local && !op->peer_access ? find_memory : NULL,
		.leave_data = leave_memory,
		.bytes = op->is_event || op->peer_access == SIM_ACCESS_ATOMIC ? sizeof(uint64_t) :
										request->segment.bytes,
	};
}

void rdma_dpa_prepare(struct rdma_dpa_request *request)
{
	request->access = request->op->access;
	request->problem = hold_memory(request);
	make_work(request);
	release_memory(request);
}
