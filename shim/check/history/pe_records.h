/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/pe_records.h - what the program does with its progress engines ("engine" in the files that use it).
 *
 * A record lives as long as the process; an engine that is created at the address of an earlier one begins it anew. The
 * thread that uses an engine writes its record, without atomic additions: if several threads use it at once, counts are
 * about right. The watchdog reads records at any time. Jobs are counted by the queues of the engine's contexts; all else is
 * of calls and tasks that are watched (shim/check/base/sampling.h).
 */
#ifndef SHIM_CHECK_PE_RECORDS_H
#define SHIM_CHECK_PE_RECORDS_H

#include <stdatomic.h>

#include "shim/check/base/check.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/check/base/thread.h"

/* Tasks that are jobs: they end without the other side's help. */
struct check_jobs {
	uint64_t num_submitted, num_ended;
};

/* A queue of the engine, and what it counted up to the last tick. */
struct check_queue {
	const struct sim_queue *queue;
	uint32_t submitted, returned;
	struct check_queue *next;
};

/* What the watchdog saw at its last tick. */
struct check_pe_watch {
	uint64_t num_progress, num_submitted, num_calls;
	uint64_t stalled_ns;  /* without progress */
	uint64_t busy_ns;     /* of that: the engine's thread called other functions meanwhile */
	uint64_t stopping_ns; /* with a context that stops, and no task in flight */
	uint32_t incarnation;
	uint32_t
		num_asked; /* of the times that the stall has lasted for the stall timeout: the kernel was asked who sleeps */
	bool is_reported;
};

struct check_pe {
	const struct doca_pe *pe;
	struct check_pe *next;              /* in its bucket */
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
	const char *_Atomic ctx_name;                /* of the last submission */
	const struct doca_ctx *_Atomic transitional; /* a context that is starting or stopping; NULL = none */
	_Atomic uint32_t transitional_state;         /* enum doca_ctx_states */
	const char *_Atomic transitional_name;
	const struct doca_ctx
		*_Atomic pending_check; /* the thread that progresses asks whether its tasks are not freed */
	_Atomic uint32_t num_kept;      /* tasks that it found at the last such check */
	_Atomic bool has_events;        /* calls the user for other reasons than tasks and states */
	_Atomic int handle;             /* the notification handle; 0 = the program has not asked for it */
	const void *_Atomic handle_at;  /* the caller that asked for it last */
	_Atomic int armed_handle;       /* its thread may sleep on this descriptor; 0 = it does not */
	_Atomic uint32_t num_uncleared; /* of rules_notify.c: requests in a row with a readable handle */
	_Atomic uint64_t
		parked_probe_ns; /* likewise: the handle was probed, while the engine is armed and progressed in vain */
	_Atomic uint64_t uncleared_since_ns; /* likewise: it is readable since; 0 = it is not */
	_Atomic uint32_t incarnation;        /* engines that were created at this address */
	struct check_pe_watch watch;         /* the watchdog's */
};

#define CHECK_SMALL_BYTES 512

/* Find the record of an engine, or make it; NULL without memory. */
struct check_pe *check_pe_get(const struct doca_pe *pe);

/* The engine is a new one, at the address of an earlier one. */
void check_pe_renew(struct check_pe *engine);

/* In a forked child: another thread of the parent may have held the lock. */
void check_pes_forked(void);

/* Call @see for each record. */
void check_pes_each(void (*see)(struct check_pe *engine, void *arg), void *arg);

static inline uint64_t check_load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* What the queues of the engine count. */
struct check_jobs check_pe_jobs(struct check_pe *engine);

static inline uint64_t check_pe_in_flight(struct check_pe *engine)
{
	struct check_jobs jobs = check_pe_jobs(engine);

	return jobs.num_submitted - jobs.num_ended;
}

/* Whether a job of the engine is reported, and waits for progress. */
bool check_pe_has_done(struct check_pe *engine);

/* The engine ends. Returns the number of its jobs that ended, which are not counted any more. */
uint64_t check_pe_take_ended(struct check_pe *engine);

#endif
