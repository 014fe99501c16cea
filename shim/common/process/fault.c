/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injection at public calls and at allocations. */
#include "fault.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "shim/common/base/alloc.h"
#include "sim/base/monotonic.h"
#include "sim/clock/vclock_sched.h"
#include "sim/faults/inject/inject.h"

bool shim_fault_hits(struct sim_injector *faults, struct sim_fault_site *site, uint32_t object,
		     struct sim_fault_hit *ret_hit)
{
	return sim_inject(faults, sim_session_clock(shim_session()), site, object, ret_hit);
}

/* Let virtual time pass, as a participant of its own. Returns false without memory. */
static bool wait_virtual_ns(uint64_t ns)
{
	uint64_t now_ns = shim_now_ns(),
		 due_ns = ns < SIM_CLOCK_NEVER_NS - now_ns ? now_ns + ns : SIM_CLOCK_NEVER_NS - 1;
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct sim_vclock_source *source;

	if (sim_vclock_source_create(shim_vclock, &cfg, &source) < 0)
		return false;
	sim_vclock_source_mark_busy(source);
	sim_vclock_source_mark_busy(source);
	while (shim_now_ns() < due_ns)
		while (!sim_vclock_source_wait_turn(source, due_ns))
			;
	sim_vclock_source_destroy(source);
	return true;
}

static void sleep_real_ns(uint64_t ns)
{
	struct timespec left = sim_timespec_from_ns(ns);

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

void shim_wait_session_ns(uint64_t ns)
{
	if (ns > 0 && (!shim_vclock || !wait_virtual_ns(ns)))
		sleep_real_ns(ns);
}

void shim_fault_delay(const struct sim_fault_hit *hit)
{
	if (SIM_FAULT_HAS_ACT(hit, DELAY))
		shim_wait_session_ns(hit->delay_ns);
}

doca_error_t shim_fault_error(uint32_t status)
{
	static const doca_error_t codes[SIM_STATUS_COUNT] = {
#define DOCA_ERROR_SUCCESS DOCA_SUCCESS
#define X(status)          [SIM_STATUS_##status] = DOCA_ERROR_##status,
		SIM_STATUSES(X)
#undef X
#undef DOCA_ERROR_SUCCESS
	};

	return status < SIM_STATUS_COUNT ? codes[status] : DOCA_ERROR_UNEXPECTED;
}

doca_error_t shim_fault_status(const struct sim_fault_hit *hit)
{
	if (SIM_FAULT_HAS_ACT(hit, HANG) && shim_vclock)
		sim_vclock_sched_detach_thread(shim_vclock); /* virtual time goes on without this thread */
	while (SIM_FAULT_HAS_ACT(hit, HANG))
		pause();
	if (SIM_FAULT_HAS_ACT(hit, REFUSE))
		return shim_fault_error(hit->refuse_status);
	return SIM_FAULT_HAS_ACT(hit, FAIL) ? shim_fault_error(hit->status) : DOCA_SUCCESS;
}

doca_error_t shim_fault_inject(const struct pcie_function *function, enum sim_op op, uint64_t size, uint64_t addr)
{
	struct sim_fault_site site = {
		.op = op, .function = function ? function->id : SIM_NO_FUNCTION, .size = size, .addr = addr
	};
	struct sim_injector *faults = shim_faults();
	struct sim_fault_hit hit;

	if (doca_likely(!sim_injector_may_hit(faults, op)) || !shim_fault_hits(faults, &site, 0, &hit))
		return DOCA_SUCCESS;
	shim_fault_delay(&hit);
	return shim_fault_status(&hit);
}

static bool alloc_fault_hits(size_t bytes)
{
	struct sim_fault_site site = { .op = SIM_OP_ALLOC, .function = SIM_NO_FUNCTION, .size = bytes };
	struct sim_injector *faults = shim_faults();
	struct sim_fault_hit hit;

	return sim_injector_may_hit(faults, site.op) && shim_fault_hits(faults, &site, 0, &hit);
}

static void __attribute__((constructor)) set_alloc_hook(void)
{
	shim_alloc_fault_hook = alloc_fault_hits;
}
