/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing records: a place in a ring, and what each kind says. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "trace_priv.h"

#define self sim_trace_self

/* ---- threads ---- */

/* A thread's ring in the recording that it wrote to last. */
static _Thread_local struct {
	uint32_t epoch;
	uint32_t id;
	uint32_t ring;
} this_thread;

/* Threads share rings when there are more of them. */
static void claim_ring(uint32_t epoch)
{
	uint32_t number = atomic_fetch_add(&self.used_threads, 1);
	struct sim_trace_thread *threads = (void *)(self.memory + self.layout.threads);
	struct sim_trace_head *head = (void *)self.memory;

	this_thread.epoch = epoch;
	this_thread.id = (uint32_t)gettid();
	this_thread.ring = SIM_TRACE_RING_THREADS + number % (self.head.num_rings - SIM_TRACE_RING_THREADS);
	if (number >= self.head.num_threads)
		return; /* its records have its number, but no name */
	threads[number].id = this_thread.id;
	prctl(PR_GET_NAME, threads[number].name);
	atomic_store_explicit(&head->used_threads, number + 1, memory_order_release);
}

static void ensure_ring(void)
{
	uint32_t epoch = atomic_load(&self.epoch);

	if (this_thread.epoch != epoch)
		claim_ring(epoch);
}

/* ---- rings ---- */

static struct sim_trace_ring *ring_at(uint32_t number)
{
	return (void *)(self.memory + self.layout.rings + number * self.layout.ring_bytes);
}

static void write_record(struct sim_trace_ring *ring, uint64_t number, const struct sim_trace_record *from)
{
	struct sim_trace_record *to = &ring->records[number % self.head.num_records];

	atomic_store_explicit(&to->number, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	to->time_ns = from->time_ns;
	to->kind = from->kind;
	to->direction = from->direction;
	to->in_flight = from->in_flight;
	to->thread = this_thread.id;
	to->subject = from->subject;
	to->reason = from->reason;
	to->data = from->data;
	atomic_store_explicit(&to->number, number + 1, memory_order_release);
}

void sim_trace_write(uint32_t number, const struct sim_trace_record *records, uint32_t count)
{
	struct sim_trace_ring *ring;
	uint64_t first;

	if (!sim_trace_is_on())
		return;
	ensure_ring();
	ring = ring_at(number == SIM_TRACE_RING_THREADS ? this_thread.ring : number);
	first = atomic_fetch_add_explicit(&ring->num_written, count, memory_order_relaxed);
	for (uint32_t i = 0; i < count; i++)
		write_record(ring, first + i, &records[i]);
}

static void write_one(uint32_t ring, const struct sim_trace_record *record)
{
	sim_trace_write(ring, record, 1);
}

/* ---- kinds ---- */

void sim_trace_state(uint32_t object, uint32_t from, uint32_t to)
{
	struct sim_trace_record record = { .time_ns = sim_trace_now_ns(),
					   .kind = SIM_TRACE_STATE,
					   .subject = object,
					   .data.state = { .from = from, .to = to } };

	if (object == 0 || !sim_trace_is_on())
		return;
	atomic_store_explicit(&sim_trace_object_at(object)->state, to, memory_order_relaxed);
	write_one(SIM_TRACE_RING_LIFECYCLE, &record);
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

	write_one(SIM_TRACE_RING_THREADS, &record);
}

void sim_trace_message(enum sim_trace_kind kind, uint32_t object, uint64_t stream, uint64_t number, uint64_t bytes,
		       uint64_t at_ns, uint64_t task_ns)
{
	struct sim_trace_record record = {
		.time_ns = at_ns,
		.kind = (uint8_t)kind,
		.subject = object,
		.data.message = { .stream = stream, .number = number, .bytes = bytes, .task_ns = task_ns }
	};

	if (object)
		write_one(SIM_TRACE_RING_THREADS, &record);
}

void sim_trace_conn_stats_sent(struct sim_trace_conn_stats *stream, uint64_t number, uint64_t bytes, uint64_t at_ns)
{
	struct sim_trace_object *object = stream->object;

	if (!object)
		return;
	if (at_ns) {
		sim_trace_sampler_advance(&stream->sampler, atomic_load_explicit(&object->sent, memory_order_relaxed),
					  at_ns);
		sim_trace_message(SIM_TRACE_SENT, stream->number, stream->tx_stream_id, number, bytes, at_ns,
				  stream->task_ns);
	}
	sim_trace_counter_add(&object->sent, 1);
	sim_trace_counter_add(&object->sent_bytes, bytes);
}

void sim_trace_conn_stats_received(struct sim_trace_conn_stats *stream, uint64_t number, uint64_t bytes,
				   bool is_sampled)
{
	if (!stream->object)
		return;
	if (is_sampled)
		sim_trace_message(SIM_TRACE_RECEIVED, stream->number, stream->rx_stream_id, number, bytes,
				  sim_trace_now_ns(), 0);
	sim_trace_counter_add(&stream->object->received, 1);
	sim_trace_counter_add(&stream->object->received_bytes, bytes);
}

void sim_trace_fault(uint32_t object, const struct sim_trace_hit *hit)
{
	struct sim_trace_record record = {
		.time_ns = sim_trace_now_ns(),
		.kind = SIM_TRACE_FAULT,
		.subject = object,
		.reason = sim_trace_intern_name(hit->operation),
		.data.fault = { .rule = hit->rule, .match = hit->match, .bytes = hit->bytes, .delay_ns = hit->delay_ns }
	};

	write_one(SIM_TRACE_RING_FAULTS, &record);
}

void sim_trace_log(int level, const char *format, va_list args)
{
	struct sim_trace_record records[SIM_TRACE_MAX_TEXT_RECORDS] = { { .kind = SIM_TRACE_LOG,
									  .log_level = (uint16_t)level } };
	char text[SIM_TRACE_MAX_TEXT_RECORDS * SIM_TRACE_TEXT_BYTES + 1] = "";
	va_list copy;
	uint32_t count;

	if (!sim_trace_is_on())
		return;
	records[0].time_ns = sim_trace_now_ns();
	va_copy(copy, args);
	vsnprintf(text, sizeof(text), format, copy);
	va_end(copy);
	count = (uint32_t)(strlen(text) + SIM_TRACE_TEXT_BYTES - 1) / SIM_TRACE_TEXT_BYTES;
	for (uint32_t i = 0; i < count; i++) {
		records[i].kind = i == 0 ? SIM_TRACE_LOG : SIM_TRACE_TEXT;
		memcpy(records[i].data.text, text + i * SIM_TRACE_TEXT_BYTES, SIM_TRACE_TEXT_BYTES);
	}
	sim_trace_write(SIM_TRACE_RING_LOG, records, count ? count : 1);
}
