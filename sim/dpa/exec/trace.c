/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of kernels and of the calls that run them. */
#include "trace.h"

#include <stdio.h>

#include "process_priv.h"
#include "sim/trace/task_kinds.h"

/* As numbers of contexts' states (sim/trace/format.h). */
enum { IDLE = 0, RUNNING = 2 };

void sim_dpa_trace_begin(struct sim_dpa_trace *trace, const char *device)
{
	trace->object = sim_trace_object_new(SIM_TRACE_CONTEXT, 0, "DPA", device);
	sim_trace_task_stats_init(&trace->rpc, trace->object, SIM_TASK_DPA_RPC);
	sim_trace_task_stats_init(&trace->launch, trace->object, SIM_TASK_DPA_LAUNCH);
	sim_trace_task_stats_init(&trace->activation, trace->object, SIM_TASK_DPA_ACTIVATION);
	sim_trace_state(trace->object, IDLE, RUNNING);
}

void sim_dpa_trace_end(struct sim_dpa_trace *trace)
{
	sim_trace_state(trace->object, RUNNING, IDLE);
	sim_trace_object_end(trace->object);
	*trace = (struct sim_dpa_trace){ 0 };
}

void sim_dpa_trace_submit(struct sim_dpa_call_trace *call, struct sim_trace_task_stats *stats)
{
	*call = (struct sim_dpa_call_trace){ .stats = stats };
	if (!stats->op)
		return;
	if (sim_trace_task_stats_should_sample(stats))
		sim_trace_task_submitted(stats, &call->times);
	sim_trace_counter_add(&stats->op->submitted, 1);
}

static void count_end(struct sim_trace_task_stats *stats, const struct sim_trace_task_times *times, const char *reason)
{
	if (!stats->op)
		return;
	sim_trace_counter_add(reason ? &stats->op->failed : &stats->op->completed, 1);
	if (times->submitted_ns || reason)
		sim_trace_task_done(stats, times, 0, reason);
}

void sim_dpa_trace_done(struct sim_dpa_call_trace *call, const char *reason)
{
	if (call->stats)
		count_end(call->stats, &call->times, reason);
	call->stats = NULL;
}

void sim_dpa_trace_begin_eu(struct sim_dpa_eu_trace *trace, const struct sim_dpa_trace *process, uint32_t eu,
			    const char *device)
{
	char name[16];

	if (!process->object)
		return;
	snprintf(name, sizeof(name), "EU %u", eu);
	trace->object = sim_trace_object_new(SIM_TRACE_CONTEXT, process->object, name, device);
}

void sim_dpa_trace_end_eu(struct sim_dpa_eu_trace *trace)
{
	sim_trace_object_end(trace->object);
	*trace = (struct sim_dpa_eu_trace){ 0 };
}

static struct sim_trace_task_stats *find_stats(struct sim_dpa_trace *process, struct sim_dpa_eu_trace *trace,
					       const struct sim_dpa_work *work)
{
	struct sim_dpa_kernel_stats *entry;
	char name[SIM_TRACE_NAME_SIZE];

	for (uint32_t i = 0; i < trace->num_stats && i < SIM_DPA_MAX_KERNEL_STATS; i++)
		if (trace->stats[i].kernel == work->kernel && trace->stats[i].rank == work->rank)
			return &trace->stats[i].stats;
	entry = &trace->stats[trace->num_stats++ % SIM_DPA_MAX_KERNEL_STATS];
	if (work->num_ranks > 1 && process->num_ranked++ < SIM_DPA_MAX_RANKED)
		snprintf(name, sizeof(name), "%.40s rank %u", work->kernel->name, work->rank);
	else
		snprintf(name, sizeof(name), "%s", work->kernel->name);
	*entry = (struct sim_dpa_kernel_stats){ .kernel = work->kernel, .rank = work->rank };
	sim_trace_task_stats_init(&entry->stats, trace->object, name);
	return &entry->stats;
}

void sim_dpa_trace_kernel(struct sim_dpa_trace *process, struct sim_dpa_eu_trace *trace,
			  const struct sim_dpa_work *work, uint64_t began_ns, enum sim_dpa_end end)
{
	struct sim_trace_task_times times = { 0 }, sampled;
	struct sim_trace_task_stats *stats;

	if (!trace->object)
		return;
	stats = find_stats(process, trace, work);
	if (!stats->op)
		return;
	if (sim_trace_task_stats_should_sample(stats)) {
		sim_trace_task_submitted(stats, &sampled); /* the sampler goes on */
		times.submitted_ns = times.began_ns = began_ns;
		times.ended_ns = sampled.submitted_ns;
	}
	sim_trace_counter_add(&stats->op->submitted, 1);
	count_end(stats, &times, sim_dpa_trace_reason(end));
}

const char *sim_dpa_trace_reason(enum sim_dpa_end end)
{
	return end == SIM_DPA_FATAL ? "fatal" : end == SIM_DPA_STOPPED ? "stopped" : NULL;
}
