/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/trace.h - this process's recording: what its contexts, tasks and messages did, and when.
 *
 *   begin --> (a segment, format.h; its descriptor goes to the session's daemon) --> end
 *
 * There is one recording at a time, the attached session's. Between its end and
 * the next begin, and when it is off, all functions here do nothing, and the
 * numbers they return are 0. Numbers and task_stats of one recording must not be used
 * in the next; after its end they do no harm.
 *
 * Tasks and messages are counted, all of them, and recorded one by one as the
 * sampler (pace.h) permits, or all at the level "full". Tasks that failed are
 * recorded always, as are states, connections, faults, warnings and errors.
 *
 * Any thread may call; a stats or a stream is one thread's at a time. Nothing here
 * blocks but the functions that make something new, which take a lock. Of
 * memory that others may write to (they have the descriptor) nothing is believed.
 */
#ifndef SIM_TRACE_TRACE_H
#define SIM_TRACE_TRACE_H

#include <stdarg.h>
#include <time.h>

#include "format.h"
#include "sampler.h"
#include "sim/base/monotonic.h"

enum sim_trace_level {
	SIM_TRACE_UNSET, /* whoever is asked next decides */
	SIM_TRACE_OFF,
	SIM_TRACE_SAMPLED,
	SIM_TRACE_FULL,
	SIM_TRACE_COUNTS, /* tasks and messages are counted and none recorded but those that failed; nobody chooses it by name */
};

/* "off", "sampled", "full". Returns 0, or -EINVAL and leaves *ret_level. */
int sim_trace_level_parse(const char *text, enum sim_trace_level *ret_level);
const char *sim_trace_level_name(uint32_t level);

/* Begin, at $BFSIM_TRACE's level, else at @level (UNSET = sampled). What @clock points to is
 * borrowed until the end. *ret_fd is the caller's. Returns 0; -ENOENT (it is off), -EBUSY
 * (there is one), -EINVAL (the variable says something else) or another -errno. */
int sim_trace_begin(enum sim_trace_level level, const struct sim_trace_clock *clock, int *ret_fd);
void sim_trace_end(void);

/* This process's, as it is now (recording.h). Returns 0; -ENOENT (nothing is recorded) or as of sim_trace_recording_read(). */
struct sim_trace_recording;
int sim_trace_read_own(struct sim_trace_recording *ret_recording);

/* In a forked child: the parent's goes on, this process has none. */
void sim_trace_forked(void);

extern atomic_bool sim_trace_time_is_virtual; /* of the recording that there is */
uint64_t sim_trace_virtual_ns(void);

/* What time it is, for the record. */
static inline uint64_t sim_trace_now_ns(void)
{
	if (__builtin_expect(atomic_load_explicit(&sim_trace_time_is_virtual, memory_order_relaxed), 0))
		return sim_trace_virtual_ns();
	return sim_monotonic_ns();
}

/* ---- contexts and connections ---- */

/* A new object's number. @device is its name, or NULL. */
uint32_t sim_trace_object_new(enum sim_trace_object_kind kind, uint32_t parent, const char *name, const char *device);
void sim_trace_object_end(uint32_t object);

/* It is part of @parent, which is older. */
void sim_trace_object_set_parent(uint32_t object, uint32_t parent);

void sim_trace_state(uint32_t object, uint32_t from, uint32_t to);

/* ---- tasks ---- */

/* One kind of task of one context. */
struct sim_trace_task_stats {
	struct sim_trace_op *op; /* NULL = nothing is recorded */
	uint32_t number;
	struct sim_trace_sampler sampler;
};

void sim_trace_task_stats_init(struct sim_trace_task_stats *stats, uint32_t object, const char *name);

struct sim_trace_task_times {
	uint64_t submitted_ns, began_ns, ended_ns; /* 0 = not noted */
	uint32_t depth;                            /* tasks in flight at its submission, with it */
	enum sim_trace_direction direction;        /* whoever knows it sets it, once the task began */
};

static inline void sim_trace_counter_add(_Atomic uint64_t *count, uint64_t more)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

/* Whether the next task is to be timed. */
static inline bool sim_trace_task_stats_should_sample(const struct sim_trace_task_stats *stats)
{
	return atomic_load_explicit(&stats->op->submitted, memory_order_relaxed) >= stats->sampler.next;
}

/* It is: note its submission. */
void sim_trace_task_submitted(struct sim_trace_task_stats *stats, struct sim_trace_task_times *ret_times);

/* A task is back, now. @reason says what went wrong, NULL = nothing. */
void sim_trace_task_done(const struct sim_trace_task_stats *stats, const struct sim_trace_task_times *times,
			 uint64_t bytes, const char *reason);

/* ---- messages ---- */

/* A number that no other stream of the session has, even: the one behind it is nobody's either. 0 when nothing is recorded. */
uint64_t sim_trace_new_stream_id(void);

/* One end of a connection. */
struct sim_trace_conn_stats {
	struct sim_trace_object *object;     /* NULL = nothing is recorded */
	uint32_t number;                     /* of the object */
	uint64_t tx_stream_id, rx_stream_id; /* streams */
	uint64_t task_ns; /* the sender's: of the task whose message is next, its submission if it is timed, else 0 */
	struct sim_trace_sampler sampler;
};

/* A connection is open: @parent's, that goes by @name. Its streams are by now known to both ends. */
void sim_trace_conn_stats_open(struct sim_trace_conn_stats *stream, uint32_t parent, const char *name,
			       const char *device, uint64_t tx_stream_id, uint64_t rx_stream_id);
/* It is closed. @reason as of sim_trace_task_done(). The first time counts; its number stays. */
void sim_trace_conn_stats_close(struct sim_trace_conn_stats *stream, const char *reason);

/* Now, if the next message is to be recorded; else 0. Ask before it is sent, as
 * its receiver may be quick, and have it record the message, too. */
static inline uint64_t sim_trace_conn_stats_sample_ns(const struct sim_trace_conn_stats *stream)
{
	if (!stream->object || atomic_load_explicit(&stream->object->sent, memory_order_relaxed) < stream->sampler.next)
		return 0;
	return sim_trace_now_ns();
}

/* It was sent, as the @number-th; @at_ns is what turn said. */
void sim_trace_conn_stats_sent(struct sim_trace_conn_stats *stream, uint64_t number, uint64_t bytes, uint64_t at_ns);
void sim_trace_conn_stats_received(struct sim_trace_conn_stats *stream, uint64_t number, uint64_t bytes,
				   bool is_sampled);

/* A message that no stream counts: SIM_TRACE_SENT or SIM_TRACE_RECEIVED by @object, by a task of it that
 * was submitted at @task_ns and is timed; 0 = by none. */
void sim_trace_message(enum sim_trace_kind kind, uint32_t object, uint64_t stream, uint64_t number, uint64_t bytes,
		       uint64_t at_ns, uint64_t task_ns);

/* ---- the rest ---- */

/* A fault: what the plan's rule did. Its words are the plan's to tell. */
struct sim_trace_hit {
	uint32_t rule;         /* its id */
	const char *operation; /* what was struck, as rules name it */
	uint64_t match;        /* which of this process's matches of the rule, counted from 1 */
	uint64_t bytes;        /* of the operation */
	uint64_t delay_ns;     /* by which it is late */
};

/* It struck at @object, or at none of them (0). */
void sim_trace_fault(uint32_t object, const struct sim_trace_hit *hit);

/* A line of log, of a level of sim/base/log.h. */
void sim_trace_log(int level, const char *format, va_list args);

#endif
