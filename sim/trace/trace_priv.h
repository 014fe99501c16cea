/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/trace_priv.h - shared by the files that write the recording.
 *
 * trace_clock.c is below trace_tables.c and trace_ring.c, these are below trace_record.c and trace_conn.c, and trace.c is
 * above all. */
#ifndef SIM_TRACE_TRACE_PRIV_H
#define SIM_TRACE_TRACE_PRIV_H

#include <pthread.h>

#include "trace.h"

/* This process's recording. Other processes can write to the memory, so that only counters are read back
 * from it. */
struct sim_trace_self {
	atomic_bool on;
	_Atomic uint32_t epoch; /* number of the recording; threads claim a ring in each */
	pthread_mutex_t lock;   /* protects the tables */
	uint8_t *memory;        /* of @bytes; stays mapped (trace.c) */
	size_t bytes;
	struct sim_trace_head head; /* trusted copy */
	struct sim_trace_layout layout;
	uint64_t token; /* random base of the numbers of streams */
	_Atomic uint64_t num_streams;
	uint32_t used_names, used_objects, used_ops;
	_Atomic uint32_t used_threads;
	/* Virtual time. The session owns and frees its memory, so readers are counted. */
	uint64_t zero_ns;
	const _Atomic uint64_t *_Atomic virtual_ns;
	_Atomic uint32_t num_clock_readers;
};

extern struct sim_trace_self sim_trace_self __attribute__((visibility("hidden")));

static inline bool sim_trace_is_on(void)
{
	return atomic_load_explicit(&sim_trace_self.on, memory_order_acquire);
}

static inline struct sim_trace_object *sim_trace_object_at(uint32_t number)
{
	return (struct sim_trace_object *)(sim_trace_self.memory + sim_trace_self.layout.objects) + number - 1;
}

static inline struct sim_trace_op *sim_trace_op_at(uint32_t number)
{
	return (struct sim_trace_op *)(sim_trace_self.memory + sim_trace_self.layout.ops) + number - 1;
}

/* trace_clock.c: use @clock from now on; stop using it: on return no thread reads it. */
void sim_trace_set_clock(const struct sim_trace_clock *clock);
void sim_trace_clear_clock(void);

/* trace_tables.c: the number of a name, which is added if it is new; 0 if the table is full. Takes the lock. */
uint32_t sim_trace_intern_name(const char *text);

/* trace_ring.c: write @count records, in a row, to a ring of enum SIM_TRACE_RING_..., or the thread's own
 * (SIM_TRACE_RING_THREADS). Fills in numbers and threads. */
void sim_trace_write(uint32_t ring, const struct sim_trace_record *records, uint32_t count);

#endif
