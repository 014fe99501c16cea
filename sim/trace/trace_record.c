/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of states, tasks, faults and log lines. */
#include <stdio.h>
#include <string.h>

#include "trace_priv.h"

void sim_trace_state(uint32_t object, uint32_t from, uint32_t to)
{
	struct sim_trace_record record = { .time_ns = sim_trace_now_ns(),
					   .kind = SIM_TRACE_STATE,
					   .subject = object,
					   .data.state = { .from = from, .to = to } };

	if (object == 0 || !sim_trace_is_on())
		return;
	atomic_store_explicit(&sim_trace_object_at(object)->state, to, memory_order_relaxed);
	sim_trace_write(SIM_TRACE_RING_LIFECYCLE, &record, 1);
}

void sim_trace_task_submitted(struct sim_trace_task_stats *stats, struct sim_trace_task_times *ret_times)
{
	const struct sim_trace_op *op = stats->op;
	uint64_t number = atomic_load_explicit(&op->submitted, memory_order_relaxed);
	uint64_t ended = atomic_load_explicit(&op->completed, memory_order_relaxed) +
			 atomic_load_explicit(&op->failed, memory_order_relaxed);
	uint64_t now_ns = sim_trace_now_ns();

	sim_trace_sampler_advance(&stats->sampler, number, now_ns);
	*ret_times = (struct sim_trace_task_times){ .submitted_ns = now_ns, .depth = (uint32_t)(number + 1 - ended) };
}

void sim_trace_task_done(const struct sim_trace_task_stats *stats, const struct sim_trace_task_times *times,
			 uint64_t bytes, const char *reason)
{
	struct sim_trace_record record = { .time_ns = times->submitted_ns,
					   .kind = SIM_TRACE_TASK,
					   .direction = (uint8_t)times->direction,
					   .in_flight = times->depth < UINT16_MAX ? (uint16_t)times->depth : UINT16_MAX,
					   .subject = stats->number,
					   .reason = reason ? sim_trace_intern_name(reason) : 0,
					   .data.task = { .began_ns = times->began_ns,
							  .ended_ns = times->ended_ns,
							  .reaped_ns = sim_trace_now_ns(),
							  .bytes = bytes } };

	if (times->submitted_ns && stats->op) {
		sim_trace_counter_add(&stats->op->num_timed, 1);
		sim_trace_counter_add(&stats->op->latency_ns, record.data.task.reaped_ns - times->submitted_ns);
	}
	sim_trace_write(SIM_TRACE_RING_THREADS, &record, 1);
}

void sim_trace_fault(uint32_t object, const struct sim_trace_fault_hit *hit)
{
	struct sim_trace_record record = {
		.time_ns = sim_trace_now_ns(),
		.kind = SIM_TRACE_FAULT,
		.subject = object,
		.reason = sim_trace_intern_name(hit->operation),
		.data.fault = { .rule = hit->rule, .match = hit->match, .bytes = hit->bytes, .delay_ns = hit->delay_ns }
	};

	sim_trace_write(SIM_TRACE_RING_FAULTS, &record, 1);
}

/* Write @record with its text, and as many records of SIM_TRACE_TEXT as the text needs. */
static void write_text(const struct sim_trace_record *record, const char *text)
{
	struct sim_trace_record records[SIM_TRACE_MAX_TEXT_RECORDS] = { *record };
	size_t left = strnlen(text, SIM_TRACE_MAX_TEXT_RECORDS * SIM_TRACE_TEXT_BYTES);
	uint32_t count = 0;

	while (left > 0 && count < SIM_TRACE_MAX_TEXT_RECORDS) {
		size_t len = left < SIM_TRACE_TEXT_BYTES ? left : SIM_TRACE_TEXT_BYTES;

		if (count > 0)
			records[count].kind = SIM_TRACE_TEXT;
		memcpy(records[count].data.text, text, len);
		text += len;
		left -= len;
		count++;
	}
	sim_trace_write(SIM_TRACE_RING_LOG, records, count ? count : 1);
}

void sim_trace_log(int level, const char *format, va_list args)
{
	struct sim_trace_record record = { .kind = SIM_TRACE_LOG, .log_level = (uint16_t)level };
	char text[SIM_TRACE_MAX_TEXT_RECORDS * SIM_TRACE_TEXT_BYTES + 1] = "";
	va_list copy;

	if (!sim_trace_is_on())
		return;
	record.time_ns = sim_trace_now_ns();
	va_copy(copy, args);
	vsnprintf(text, sizeof(text), format, copy);
	va_end(copy);
	write_text(&record, text);
}

void sim_trace_check_hit(const char *rule, uint32_t severity, const char *message)
{
	struct sim_trace_record record = { .kind = SIM_TRACE_HIT, .severity = (uint16_t)severity };

	if (!sim_trace_is_on())
		return;
	record.time_ns = sim_trace_now_ns();
	record.reason = sim_trace_intern_name(rule);
	write_text(&record, message);
}
