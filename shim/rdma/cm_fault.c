/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of the connection manager's calls.
 *
 *            rdma.connect                         rdma.accept                         rdma.listen
 *   fail     the call fails                       likewise; the request still waits   likewise
 *   refuse   as if the server rejected it         as if the server rejected it        as if the port was taken
 *   stall    the request is sent so much later    the answer is                       clients are served so much later
 *   hang     it is never sent                     it is never sent
 *
 * A connect to a descriptor is refused as if the peer had gone. One that stalls or hangs succeeds, and the requests of both sides
 * wait so much longer, or for ever.
 *
 * Only a call that would be done otherwise counts: its arguments and the states are checked before.
 */
#include <errno.h>

#include "cm_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/process/fault.h"

doca_error_t rdma_cm_plan(const struct doca_rdma *rdma, enum sim_op op, struct rdma_cm_plan *ret_plan)
{
	struct sim_fault_site site = { .op = op, .function = shim_dev_function(rdma->ctx.dev)->id };
	struct sim_fault_hit hit;

	*ret_plan = (struct rdma_cm_plan){ 0 };
	if (doca_likely(!sim_injector_may_hit(rdma->ctx.faults, op)) ||
	    !shim_fault_hits(rdma->ctx.faults, &site, rdma->ctx.trace_id, &hit))
		return DOCA_SUCCESS;
	ret_plan->is_refused = SIM_FAULT_HAS_ACT(&hit, REFUSE);
	if (SIM_FAULT_HAS_ACT(&hit, STALL))
		ret_plan->due_ns = add_saturating_u64(shim_now_ns(), hit.duration_ns);
	if (SIM_FAULT_HAS_ACT(&hit, HANG))
		ret_plan->due_ns = SIM_JOB_NEVER_DUE;
	return SIM_FAULT_HAS_ACT(&hit, FAIL) ? shim_fault_error(hit.status) : DOCA_SUCCESS;
}
