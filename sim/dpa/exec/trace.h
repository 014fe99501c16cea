/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/exec/trace.h - a DPA process in the recording.
 *
 *   object "DPA"    the context: its state, and its calls as tasks: RPCs, launches, activations, from the call or event to the end
 *   object "EU n"   an execution unit: each kernel that it has run, with its name, and its rank if it is one of several
 *
 * All are counted; the sampler (sim/trace/sampler.h) selects those whose times are recorded. Under the process's lock.
 */
#ifndef SIM_DPA_TRACE_H
#define SIM_DPA_TRACE_H

#include "process.h"
#include "sim/trace/trace.h"

enum {
	SIM_DPA_MAX_KERNEL_STATS = 16, /* of an EU, that are known without a search */
	SIM_DPA_MAX_RANKED =
		256, /* names with ranks in a process; later ones are the kernel's, as recordings have 1024 kinds */
};

struct sim_dpa_work;

/* Of a call or an activation. */
struct sim_dpa_call_trace {
	struct sim_trace_task_stats *stats;
	struct sim_trace_task_times times; /* submitted_ns is 0 unless the sampler has selected it */
};

struct sim_dpa_trace {
	uint32_t object;
	struct sim_trace_task_stats rpc, launch, activation;
	uint32_t num_ranked; /* kinds of tasks with a rank in their name */
};

struct sim_dpa_eu_trace {
	uint32_t object;
	uint32_t num_stats;
	struct sim_dpa_kernel_stats {
		const struct sim_dpa_kernel *kernel;
		uint32_t rank;
		struct sim_trace_task_stats stats;
	} stats[SIM_DPA_MAX_KERNEL_STATS];
};

/* A process has begun on @device; and has ended. */
void sim_dpa_trace_begin(struct sim_dpa_trace *trace, const char *device);
void sim_dpa_trace_end(struct sim_dpa_trace *trace);

/* A call: made, and ended. @reason is the name of its error, or NULL. */
void sim_dpa_trace_submit(struct sim_dpa_call_trace *call, struct sim_trace_task_stats *stats);
void sim_dpa_trace_done(struct sim_dpa_call_trace *call, const char *reason);

/* An EU has begun, and will run no more. */
void sim_dpa_trace_begin_eu(struct sim_dpa_eu_trace *trace, const struct sim_dpa_trace *process, uint32_t eu,
			    const char *device);
void sim_dpa_trace_end_eu(struct sim_dpa_eu_trace *trace);

/* The EU has run @work since @began_ns. */
void sim_dpa_trace_kernel(struct sim_dpa_trace *process, struct sim_dpa_eu_trace *trace,
			  const struct sim_dpa_work *work, uint64_t began_ns, enum sim_dpa_end end);

/* The name of the error of a call whose kernel has ended so; NULL = none. */
const char *sim_dpa_trace_reason(enum sim_dpa_end end);

#endif
