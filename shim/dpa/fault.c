/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of kernels and of calls that run them. */
#include "dpa_priv.h"
#include "shim/common/process/fault.h"

bool dpa_find_fault(void *arg, enum sim_op op, struct sim_fault_hit *ret_hit)
{
	const struct doca_dpa *dpa = arg;
	struct sim_fault_site site = { .op = op, .function = shim_dev_function(dpa->dev)->id };
	struct sim_injector *faults = shim_faults();

	return sim_injector_may_hit(faults, op) && shim_fault_hits(faults, &site, 0, ret_hit);
}

doca_error_t dpa_inject(const struct doca_dpa *dpa, enum sim_op op, uint64_t size)
{
	return shim_fault_inject(shim_dev_function(dpa->dev), op, size, 0);
}

doca_error_t dpa_inject_launch(struct doca_dpa *dpa, bool *ret_is_lost)
{
	struct sim_fault_hit hit;

	*ret_is_lost = false;
	if (!dpa_find_fault(dpa, SIM_OP_DPA_LAUNCH, &hit))
		return DOCA_SUCCESS;
	*ret_is_lost = SIM_FAULT_HAS_ACT(&hit, DROP);
	if (SIM_FAULT_HAS_ACT(&hit, DELAY))
		shim_wait_session_ns(hit.delay_ns);
	return shim_fault_status(&hit);
}
