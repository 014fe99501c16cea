/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at a client's connect: the start fails, or the connect is refused, late, or never made. */
#include <errno.h>

#include "endpoint_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/process/fault.h"

doca_error_t comch_fault_plan_connect(const struct comch_endpoint *endpoint, struct comch_connect_plan *ret_plan)
{
	enum sim_op op = comch_is_comm_channel(endpoint) ? SIM_OP_COMM_CHANNEL_CONNECT : SIM_OP_COMCH_CONNECT;
	struct sim_fault_site site = { .op = op, .function = shim_dev_function(endpoint->ctx.dev)->id };
	struct sim_fault_hit hit;

	*ret_plan = (struct comch_connect_plan){ 0 };
	if (doca_likely(!sim_injector_may_hit(endpoint->ctx.faults, op)) ||
	    !shim_fault_hits(endpoint->ctx.faults, &site, endpoint->ctx.trace_id, &hit))
		return DOCA_SUCCESS;
	if (SIM_FAULT_HAS_ACT(&hit, REFUSE))
		ret_plan->refused = -ECONNREFUSED;
	if (SIM_FAULT_HAS_ACT(&hit, STALL))
		ret_plan->due_ns = add_saturating_u64(shim_now_ns(), hit.duration_ns);
	if (SIM_FAULT_HAS_ACT(&hit, HANG))
		ret_plan->due_ns = SIM_JOB_NEVER_DUE;
	return SIM_FAULT_HAS_ACT(&hit, FAIL) ? shim_fault_error(hit.status) : DOCA_SUCCESS;
}
