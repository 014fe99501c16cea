/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of what kernels post, with the effects that task_fault.c has on tasks. A post that is refused is the kernel's again: it waits,
 * as if the queue were full. */
#include <errno.h>

#include "dpa_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/process/runtime.h"
#include "sim/dpa/queue/fault.h"

static int ask(struct rdma_dpa *dpa, struct sim_fault_site site, struct sim_fault_hit **ret_hit)
{
	const struct sim_dpa_faults faults = { .find = shim_fault_ask_for, .arg = &dpa->rdma->ctx };

	return sim_dpa_find_post_fault(&faults, site, ret_hit);
}

int rdma_dpa_fault_ask_request(struct rdma_dpa *dpa, const struct rdma_dpa_request *request,
			       struct sim_fault_hit **ret_hit)
{
	const struct rdma_dpa_op *op = request->op;
	bool is_written = op->writes_local || op->peer_access;
	struct sim_fault_site site = { .op = op->rule_op, .addr = is_written ? request->dst.addr : request->src.addr };

	site.size = op->writes_local ? request->dst.len : request->src.len;
	if (op->is_event || op->peer_access == SIM_ACCESS_ATOMIC)
		site.size = sizeof(uint64_t);
	return ask(dpa, site, ret_hit);
}

int rdma_dpa_fault_ask_receive(struct rdma_dpa *dpa, const struct sim_dpa_span *dst, struct sim_fault_hit **ret_hit)
{
	struct sim_fault_site site = { .op = SIM_OP_RDMA_RECEIVE, .size = dst->len, .addr = dst->addr };

	return ask(dpa, site, ret_hit);
}

static uint64_t hold_ns(const struct sim_fault_hit *hit)
{
	if (SIM_FAULT_HAS_ACT(hit, HANG))
		return UINT64_MAX;
	return SIM_FAULT_HAS_ACT(hit, DELAY) ? hit->delay_ns : 0;
}

/* ---- requests ---- */

/* A part moves. */
static int access_and_fail(struct rdma_dpa_request *request)
{
	const struct sim_dpa_span dst = request->dst, src = request->src;
	int rc;

	request->dst.len = request->src.len = request->hit->moved_bytes;
	rc = request->op->access(request);
	request->dst = dst;
	request->src = src;
	return rc < 0 ? rc : -EIO;
}

static int access_and_flip(struct rdma_dpa_request *request)
{
	bool is_local = request->op->writes_local;
	int rc = request->op->access(request);

	return rc < 0 ? rc :
			rdma_fault_flip(request->hit, &request->segment, 1, is_local ? NULL : request->other->remote,
					request->dst.addr, request->dst.len);
}

void rdma_dpa_fault_apply_request(struct rdma_dpa_request *request)
{
	const struct sim_fault_hit *hit = request->hit;
	uint64_t hold = hold_ns(hit);

	if (hold > 0)
		request->work.not_before_ns = add_saturating_u64(shim_now_ns(), hold);
	if (SIM_FAULT_HAS_ACT(hit, FAIL) && hit->moved_bytes > 0) {
		request->access = access_and_fail;
	} else if (SIM_FAULT_HAS_ACT(hit, FAIL)) {
		request->problem = -EIO;
		request->work.execute = rdma_dpa_execute;
	} else if (SIM_FAULT_HAS_ACT(hit, FLIP)) {
		request->access = access_and_flip;
	}
}

/* ---- receives ---- */

void rdma_dpa_fault_apply_receive(struct rdma_dpa_receive *receive)
{
	receive->receive.hold_ns = hold_ns(receive->hit);
	receive->receive.fails = SIM_FAULT_HAS_ACT(receive->hit, FAIL);
}

void rdma_dpa_fault_flip_received(const struct rdma_dpa_receive *receive)
{
	if (SIM_FAULT_HAS_ACT(receive->hit, FLIP) && !receive->receive.is_written)
		rdma_fault_flip(receive->hit, &receive->segment, 1, NULL, 0, receive->receive.bytes);
}
