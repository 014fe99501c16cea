/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/engines.h - what the program does with its progress engines.
 *
 * A record lives as long as the process; an engine that is created at the address of an earlier one begins it anew. The
 * thread that uses an engine writes its record, without atomic additions: if several threads use it at once, counts are
 * about right. The watchdog reads records at any time. Jobs are counted by the queues of the engine's contexts; the rest
 * is of calls and tasks that are watched (shim/check/task/rest.h).
 */
#ifndef SHIM_CHECK_ENGINES_H
#define SHIM_CHECK_ENGINES_H

#include <stdatomic.h>

#include "shim/check/base/check.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/check/base/thread.h"

/* Tasks that are jobs: they end without the other side's help. */
struct check_jobs {
	uint64_t num_submitted, num_ended;
};

/* A queue of the engine, and what it counted up to the last look. */
struct check_queue {
	const struct sim_queue *queue;
	uint32_t submitted, returned;
	struct check_queue *next;
};

/* What the watchdog saw at its last look. */
struct check_engine_watch {
	uint64_t num_progress, num_submitted, num_calls;
	uint64_t stalled_ns;  /* without progress */
	uint64_t busy_ns;     /* of that: the engine's thread called other functions meanwhile */
	uint64_t stopping_ns; /* with a context that stops, and no task in flight */
	uint32_t incarnation;
	uint32_t
		num_asked; /* of the times that the stall has lasted for the patience: the kernel was asked who sleeps */
	bool is_reported;
};

struct check_engine {
	const struct doca_pe *pe;
	struct check_engine *next;          /* in its bucket */
	struct check_thread *_Atomic user;  /* in a call on the engine; NULL = none */
	struct check_thread *_Atomic owner; /* submitted or progressed last */
	struct check_queue *queues;         /* and the next: with the lock of the table */
	struct check_jobs jobs;
	_Atomic uint64_t num_progress;    /* calls of doca_pe_progress() */
	_Atomic uint64_t max_in_flight;   /* jobs */
	_Atomic uint64_t num_ended;       /* jobs */
	_Atomic uint64_t num_small;       /* of them, below CHECK_SMALL_BYTES */
	_Atomic uint64_t num_remote;      /* of a sample: at memory of the other side */
	_Atomic uint64_t num_empty;       /* progress calls in a row, with nothing in flight */
	_Atomic uint64_t empty_submitted; /* jobs, at the first of them */
	_Atomic uint64_t empty_since_ns;  /* of rules_perf.c */
	const void *_Atomic submitted_at; /* the last callers */
	const void *_Atomic progressed_at;
	struct check_thread *_Atomic progressed_by;
	const char *_Atomic ctx_name;             /* of the last submission */
	const struct doca_ctx *_Atomic unsettled; /* a context that is starting or stopping; NULL = none */
	_Atomic uint32_t unsettled_state;         /* enum doca_ctx_states */
	const char *_Atomic unsettled_name;
	const struct doca_ctx
		*_Atomic wanted;         /* the thread that progresses is to look whether its tasks are not freed */
	_Atomic uint32_t num_kept;       /* tasks that it found at the last look */
	_Atomic bool has_events;         /* calls the user for other reasons than tasks and states */
	_Atomic int handle;              /* the notification handle; 0 = the program has not asked for it */
	const void *_Atomic handle_at;   /* the caller that asked for it last */
	_Atomic int armed_handle;        /* its thread may sleep on this descriptor; 0 = it does not */
	_Atomic uint32_t num_uncleared;  /* of rules_notify.c: requests in a row with a readable handle */
	_Atomic uint64_t parked_look_ns; /* likewise: of the handle, while the engine is armed and progressed in vain */
	_Atomic uint64_t uncleared_since_ns; /* likewise: it is readable since; 0 = it is not */
	_Atomic uint32_t incarnation;        /* engines that were created at this address */
	struct check_engine_watch watch;     /* the watchdog's */
};

#define CHECK_SMALL_BYTES 512

/* Find the record of an engine, or make it; NULL without memory. */
struct check_engine *check_engine_get(const struct doca_pe *pe);

/* The engine is a new one, at the address of an earlier one. */
void check_engine_renew(struct check_engine *engine);

/* In a forked child: another thread of the parent may have held the lock. */
void check_engines_forked(void);

/* Call @see for each record. */
void check_engines_each(void (*see)(struct check_engine *engine, void *arg), void *arg);

static inline uint64_t check_load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* What the queues of the engine count. */
struct check_jobs check_engine_jobs(struct check_engine *engine);

static inline uint64_t check_engine_in_flight(struct check_engine *engine)
{
	struct check_jobs jobs = check_engine_jobs(engine);

	return jobs.num_submitted - jobs.num_ended;
}

/* Whether a job of the engine is reported, and waits for progress. */
bool check_engine_has_done(struct check_engine *engine);

/* The engine ends. Returns the number of its jobs that ended, which are not counted any more. */
uint64_t check_engine_take_ended(struct check_engine *engine);

/* The hooks. */
void check_queue_opened(const struct doca_ctx *ctx);
void check_queue_closing(const struct doca_ctx *ctx);

/* rules_threads.c: @self begins a call on an engine that another thread is in a call on. */
void check_engine_shared(const struct shim_call *call, struct check_engine *engine, struct check_thread *other);

/* rules_stop.c: engine->wanted is not NULL, and this thread progresses the engine. */
void check_engine_report_wanted(const struct shim_call *call, struct check_engine *engine);

/* rules_perf.c: how the engine was used, at its end. */
void check_perf_look(struct check_engine *engine);

/* The same: num_empty is a multiple of this. */
#define CHECK_EMPTY_CALLS 8192
void check_empty_look(const struct shim_call *call, struct check_engine *engine);

/* rules_notify.c: report a handle that is readable since an earlier event, if it is. Returns whether it is. */
bool check_uncleared_look(const struct shim_call *call, struct check_engine *engine);

/* rules_notify.c: the program progressed the engine, which is armed, and nothing came. */
void check_parked_look(const struct shim_call *call, struct check_engine *engine);

/* rules_notify.c: whether a thread sleeps on the engine's handle, which does not wake it, as no notification was requested. */
bool check_engine_sleeps_unarmed(const struct check_engine *engine);

/* rules_task_use.c: tasks that failed, and whose status the program has not read; one is submitted or freed. */
extern _Atomic uint32_t check_num_unread;
void check_unread_look(const struct shim_call *call, const struct doca_task *task);

/* watchdog.c: something waits for the program. */
void check_watchdog_wake(void);
extern _Atomic bool check_watchdog_is_awake;

static inline void check_watchdog_kick(void)
{
	if (doca_unlikely(!atomic_load_explicit(&check_watchdog_is_awake, memory_order_relaxed)))
		check_watchdog_wake();
}

/* rules_progress.c and rules_stop.c: the watchdog looks at an engine, @ns after the last look; 0 = the time is not to be
 * counted. check_progress_look() returns whether something waits for progress. */
bool check_progress_look(struct check_engine *engine, uint64_t ns);
void check_stop_look(struct check_engine *engine, uint64_t ns);

#endif
