/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/callable.h - an object that kernels call, outside of the process's lock.
 *
 *   start --> [begin ... end, on any EU]* --> stop: waits until no kernel is in a call, and none can begin one
 */
#ifndef SIM_DPA_CALLABLE_H
#define SIM_DPA_CALLABLE_H

#include "sim/dpa/exec/process.h"

struct sim_dpa_callable {
	struct sim_dpa_process *process;
	enum sim_dpa_handle_kind kind;
	uint64_t handle;
	uint32_t num_calls; /* now; under the process's lock */
};

/* Give the object a handle. Returns 0 or -ENOMEM. */
int sim_dpa_callable_start(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind,
			   struct sim_dpa_callable *callable);
void sim_dpa_callable_stop(struct sim_dpa_callable *callable);

/* Wait until the counter, which counts calls that are under way, is 0; and count such a call down. Under the process's lock. */
void sim_dpa_wait_changed(struct sim_dpa_process *process, const uint32_t *counter);
void sim_dpa_count_down(struct sim_dpa_process *process, uint32_t *counter);

/* On an EU: the object of the handle; a kernel that has none is refused: "... is no @what". No lock is held at the call. Until the end
 * the kernel must not leave. */
struct sim_dpa_callable *sim_dpa_call_begin(enum sim_dpa_handle_kind kind, uint64_t handle, const char *what);
void sim_dpa_call_end(struct sim_dpa_callable *callable);

/* Between two calls, as the object had no room: wait, unless the kernel is to end. */
void sim_dpa_wait_for_room(uint32_t round);

#endif
