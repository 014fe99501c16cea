/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/process/fault.h - fault injection at public calls and at allocations.
 *
 * A caller asks the session's injector about an operation at a site. A hit is traced and logged. For
 * tasks see pe/task_fault.h. Without a rule for the operation a question costs two loads and a branch.
 */
#ifndef SHIM_FAULT_H
#define SHIM_FAULT_H

#include <doca_common_defines.h>

#include "runtime.h"
#include "sim/faults/inject/injector.h"

/* Ask about @site, whose operation and place are set. Returns whether a fault hits; then the log
 * and the recording of @object (sim/trace/trace.h; 0 = none) have an entry. */
SHIM_INTERNAL_API bool shim_fault_hits(struct sim_injector *faults, struct sim_fault_site *site, uint32_t object,
				       struct sim_fault_hit *ret_hit);

/* Wait for the hit's delay, in session time. */
SHIM_INTERNAL_API /* Let @ns of session time pass: in virtual time as a participant, else in real time. */
	void
	shim_wait_session_ns(uint64_t ns);

void shim_fault_delay(const struct sim_fault_hit *hit);

/* The code of an injected enum sim_status; UNEXPECTED if there is none of that number. */
SHIM_INTERNAL_API doca_error_t shim_fault_error(uint32_t status);

/* The status with which the hit fails or refuses the call, or SUCCESS. Does not return if the hit is a hang. */
SHIM_INTERNAL_API doca_error_t shim_fault_status(const struct sim_fault_hit *hit);

/* Ask about the public call @op of @function (NULL = none), of @size bytes at @addr. SUCCESS, or the status that the call
 * must fail with. A fault may delay the return; a hang never returns. */
SHIM_INTERNAL_API doca_error_t shim_fault_inject(const struct pcie_function *function, enum sim_op op, uint64_t size,
						 uint64_t addr);

#endif
