/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/trace.h - records what this process's contexts, tasks and messages do, and when.
 *
 *   begin --> (a segment, format.h; its descriptor goes to the session's daemon) --> end
 *
 * There is at most one recording, that of the attached session. Without a recording, and when tracing is
 * off, all functions here do nothing and return the number 0. Numbers and statistics of one
 * recording must not be used in the next; use after the end is harmless.
 *
 * All tasks and messages are counted. The sampler (sampler.h) selects those that are recorded one by
 * one; the level "full" records all. Tasks that failed, states, connections, faults, warnings
 * and errors are always recorded.
 *
 * Any thread may call; one thread at a time uses a sim_trace_task_stats or sim_trace_conn_stats. Only
 * functions that add a name, an object or an operation take a lock. The segment is
 * untrusted, since holders of its descriptor may write: only counters are read back from it.
 */
#ifndef SIM_TRACE_TRACE_H
#define SIM_TRACE_TRACE_H

#include <stdarg.h>
#include <time.h>

#include "format.h"
#include "sampler.h"
#include "sim/base/monotonic.h"

enum sim_trace_level {
	SIM_TRACE_UNSET, /* not given: use the next source of a level */
	SIM_TRACE_OFF,
	SIM_TRACE_SAMPLED,
	SIM_TRACE_FULL,
	SIM_TRACE_COUNTS, /* count, and record failed tasks only; users can't choose it */
};

/* Parse "off", "sampled" or "full". Returns 0, or -EINVAL with *ret_level unchanged. */
int sim_trace_level_parse(const char *text, enum sim_trace_level *ret_level);
const char *sim_trace_level_name(uint32_t level);

/* Begin a recording at the level of $BFSIM_TRACE, else at @level (UNSET = sampled). clock->virtual_ns is
 * borrowed until the end. The caller closes *ret_fd. Returns 0, -ENOENT (the level is off), -EBUSY (there is
 * a recording), -EINVAL (the variable is no level) or another -errno. */
int sim_trace_begin(enum sim_trace_level level, const struct sim_trace_clock *clock, int *ret_fd);
void sim_trace_end(void);

/* The process is command @number of "bfsim run", from 1. */
void sim_trace_set_command(uint32_t number);

struct sim_trace_recording;

/* Read this process's recording (recording.h). Returns 0, -ENOENT (no recording) or an error of
 * sim_trace_recording_read(). */
int sim_trace_read_own(struct sim_trace_recording *ret_recording);

/* Call in a forked child: the child has no recording; the parent's continues. */
void sim_trace_forked(void);

extern atomic_bool sim_trace_time_is_virtual; /* of the current recording */
uint64_t sim_trace_virtual_ns(void);

/* Session time for records. */
static inline uint64_t sim_trace_now_ns(void)
{
	if (__builtin_expect(atomic_load_explicit(&sim_trace_time_is_virtual, memory_order_relaxed), 0))
		return sim_trace_virtual_ns();
	return sim_monotonic_ns();
}

/* ---- contexts and connections ---- */

/* Add an object and return its number. @device is the device's name, or NULL. */
uint32_t sim_trace_object_new(enum sim_trace_object_kind kind, uint32_t parent, const char *name, const char *device);
void sim_trace_object_end(uint32_t object);

/* Make @object part of @parent, which must be older. */
void sim_trace_object_set_parent(uint32_t object, uint32_t parent);

void sim_trace_state(uint32_t object, uint32_t from, uint32_t to);

/* A task of the context ended so much after the model's time. */
void sim_trace_late(uint32_t object, uint64_t late_ns);

/* An object has been created (@by is 1) or destroyed (-1). Counts before the recording begins, too. */
void sim_trace_count_open(enum sim_trace_open what, int by);

/* The data path @name (sim/fabric/path.h) was chosen for an import of this process. */
void sim_trace_path_used(const char *name);

/* ---- tasks ---- */

/* Statistics of one kind of task of one context. */
struct sim_trace_task_stats {
	struct sim_trace_op *op; /* NULL = nothing is recorded */
	uint32_t number;
	struct sim_trace_sampler sampler;
};

void sim_trace_task_stats_init(struct sim_trace_task_stats *stats, uint32_t object, const char *name);

struct sim_trace_task_times {
	uint64_t submitted_ns, began_ns, ended_ns; /* 0 = unknown */
	uint32_t depth;                            /* tasks in flight at its submission, itself included */
	enum sim_trace_direction direction;        /* set when the task began */
};

static inline void sim_trace_counter_add(_Atomic uint64_t *count, uint64_t more)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

/* Whether the sampler selects the next task. */
static inline bool sim_trace_task_stats_should_sample(const struct sim_trace_task_stats *stats)
{
	return atomic_load_explicit(&stats->op->submitted, memory_order_relaxed) >= stats->sampler.next;
}

/* Record the submission time of a selected task. */
void sim_trace_task_submitted(struct sim_trace_task_stats *stats, struct sim_trace_task_times *ret_times);

/* Record that a task ended now. @reason is the name of its error, or NULL. */
void sim_trace_task_done(const struct sim_trace_task_stats *stats, const struct sim_trace_task_times *times,
			 uint64_t bytes, const char *reason);

/* ---- messages ---- */

/* A number that is unique among the session's streams. It is even, and the next odd number is not used either. 0 without
 * a recording. */
uint64_t sim_trace_new_stream_id(void);

/* Statistics of one end of a connection. */
struct sim_trace_conn_stats {
	struct sim_trace_object *object; /* NULL = nothing is recorded */
	uint32_t number;                 /* of the object */
	uint64_t tx_stream_id, rx_stream_id;
	uint64_t task_ns; /* submission of the task that sends the next message; 0 = not sampled */
	struct sim_trace_sampler sampler;
};

/* Record that a connection @name of @parent is open. Both ends know the numbers of its streams. */
void sim_trace_conn_stats_open(struct sim_trace_conn_stats *stats, uint32_t parent, const char *name,
			       const char *device, uint64_t tx_stream_id, uint64_t rx_stream_id);

/* Record that it is closed; @reason as for sim_trace_task_done(). Later calls do nothing. The number stays valid. */
void sim_trace_conn_stats_close(struct sim_trace_conn_stats *stats, const char *reason);

/* The time now if the sampler selects the next message; else 0. Call before sending, since the
 * receiver may be quick, and tell the receiver to record the message too. */
static inline uint64_t sim_trace_conn_stats_sample_ns(const struct sim_trace_conn_stats *stats)
{
	if (!stats->object || atomic_load_explicit(&stats->object->sent, memory_order_relaxed) < stats->sampler.next)
		return 0;
	return sim_trace_now_ns();
}

/* Count a sent message with @number; @at_ns is the result of sim_trace_conn_stats_sample_ns(). */
void sim_trace_conn_stats_sent(struct sim_trace_conn_stats *stats, uint64_t number, uint64_t bytes, uint64_t at_ns);

/* Count a received message; the sender's sampler decides on @is_sampled. */
void sim_trace_conn_stats_received(struct sim_trace_conn_stats *stats, uint64_t number, uint64_t bytes,
				   bool is_sampled);

/* Record a message without counting: SIM_TRACE_SENT or SIM_TRACE_RECEIVED, of @object, by its task that was
 * submitted at @task_ns; 0 = by no sampled task. */
void sim_trace_message(enum sim_trace_kind kind, uint32_t object, uint64_t stream, uint64_t number, uint64_t bytes,
		       uint64_t at_ns, uint64_t task_ns);

/* ---- faults, log lines, hits of the checker ---- */

/* A fault that a rule of the plan injected. The plan holds the rule's text. */
struct sim_trace_fault_hit {
	uint32_t rule;         /* its id */
	const char *operation; /* the operation that was hit, by its name in rules */
	uint64_t match;        /* number of this process's match of the rule, counted from 1 */
	uint64_t bytes;        /* of the operation */
	uint64_t delay_ns;     /* injected delay */
};

/* Record a fault at @object; 0 = at no object. */
void sim_trace_fault(uint32_t object, const struct sim_trace_fault_hit *hit);

/* Record a log line; levels are those of sim/base/log.h. */
void sim_trace_log(int level, const char *format, va_list args);

/* Record a hit of the checker; severities are those of sim/check/rules.h. */
void sim_trace_check_hit(const char *rule, uint32_t severity, const char *message);

#endif
