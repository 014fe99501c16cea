/* SPDX-License-Identifier: BSD-3-Clause */
/* The recording's rings: each thread's ring, and writing records. */
#include <sys/prctl.h>
#include <unistd.h>

#include "trace_priv.h"

#define self sim_trace_self

/* The calling thread's ring in the recording that it wrote to last. */
static _Thread_local struct {
	uint32_t epoch;
	uint32_t id;
	uint32_t ring;
} this_thread;

/* If there are more threads than rings, threads share rings. */
static void claim_ring(uint32_t epoch)
{
	uint32_t number = atomic_fetch_add(&self.used_threads, 1);
	struct sim_trace_thread *threads = (void *)(self.memory + self.layout.threads);
	struct sim_trace_head *head = (void *)self.memory;

	this_thread.epoch = epoch;
	this_thread.id = (uint32_t)gettid();
	this_thread.ring = SIM_TRACE_RING_THREADS + number % (self.head.num_rings - SIM_TRACE_RING_THREADS);
	if (number >= self.head.num_threads)
		return; /* the thread gets no name, but its records have its number */
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
