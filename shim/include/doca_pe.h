/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_pe.h - tasks, and the progress engine that completes them.
 *
 *   allocate (the library's ..._alloc_init())
 *      |
 *      v
 *   [the program's] --submit--> [in flight] --doca_pe_progress()--> completion callback
 *      |       ^                                                       |
 *      v       +-------------------------------------------------------+
 *    free
 *
 * A task belongs to the program, except between a successful submit and its
 * callback. In the callback it is the program's again: submit it once more, free it
 * or keep it. Every task is freed before its context is idle.
 *
 * A progress engine runs the callbacks of the contexts connected to it, from
 * inside doca_pe_progress() and nowhere else. Connect before starting a context;
 * destroying the context's object is the only way to disconnect.
 *
 * A program polls, or sleeps on a file descriptor:
 *
 *   doca_pe_get_notification_handle(pe, &fd);        once
 *   for (;;) {
 *           doca_pe_request_notification(pe);        arm
 *           epoll_wait(... fd ...);
 *           doca_pe_clear_notification(pe, fd);
 *           while (doca_pe_progress(pe))             until there is nothing left
 *                   ;
 *   }
 *
 * doca_pe_request_notification() makes the descriptor readable at once if progress would find
 * something, and otherwise with the next event. So no event is missed between the last progress call
 * and the sleep, and no progress call is needed after arming.
 *
 * In the selective event mode, the default, the clear is a must: until then an engine that is armed progresses the contexts
 * alone that had tasks or events when it was armed.
 *
 * A progress engine, its contexts and their tasks belong to one thread at a
 * time; different engines are independent. Functions that return doca_error_t
 * return DOCA_ERROR_INVALID_VALUE for a NULL argument, except those marked
 * "fast": their arguments must be valid.
 */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stdint.h>
#include <stdlib.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_task_batch;

/* --- The engine --- */

/* An engine without contexts, the caller's to destroy. create:
 * DOCA_ERROR_NO_MEMORY. destroy: DOCA_ERROR_IN_USE while contexts are connected. */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/* Connect an idle context, for good. DOCA_ERROR_BAD_STATE (not idle),
 * DOCA_ERROR_NOT_PERMITTED (connected already), DOCA_ERROR_NO_MEMORY. */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/* Do a piece of outstanding work: complete a task, deliver an event, take a
 * context to its next state. Returns 1 if something was done, 0 if there was
 * nothing. Callbacks run inside and must not call it. Fast. */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/* Tasks in flight on all connected contexts. */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

/* --- Sleeping until there is work --- */

/* A descriptor for poll() and epoll, the engine's: don't read or close it. */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle);

/* Make the handle readable when something completes from now on. Fast. */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/* Take back what made the handle readable; the next sleep needs a new request.
 * In mode PROGRESS_ALL a request does this too. Fast. DOCA_ERROR_OPERATING_SYSTEM. */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/* The contexts that doca_pe_progress() looks at. SELECTIVE: all of them, as long as the engine is not armed; of an armed one
 * those that had tasks or events when it was armed. ALL: all of them, also of an armed engine. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0,
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,
};

/* At any time, except from inside a callback. */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

/* --- Tasks --- */

/* A library calls one of this shape for a task that went well and another for
 * one that failed. @task is the program's again. */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
					  union doca_data ctx_user_data);

/* For doca_task_submit_ex(), to be or-ed. */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0,                  /* may wait for more tasks to go together */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1 << 0,            /* send off this task and those waiting */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 1 << 1, /* its completion may be reported late */
};

/* Hand a task to its context. On success it is in flight and its callback will
 * come; on any error it stays the program's and no callback comes. submit() and
 * submit_ex() trust the task (fast) and submit() flushes; try_submit() checks it
 * first: DOCA_ERROR_INVALID_VALUE. Other errors are those of the task's kind. */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/* Give the task back to the context it came from. Not while in flight: here, a
 * task that is freed then gets its callback, and goes back behind it. */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/* How the task ended: DOCA_SUCCESS, or what its error callback is about. */
DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

/* The context the task was allocated from. */
DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

/* --- Batches: several tasks of one kind, submitted and completed as one --- */

/* How many tasks a batch has room for, and how many events come in one batch. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3,
};

enum doca_event_batch_events_number {
	DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7,
};

/* As the functions of the same name for a task: same ownership, same errors. */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
void doca_task_batch_free(struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

/* Tasks that are in the batch. */
DOCA_EXPERIMENTAL
uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);

DOCA_EXPERIMENTAL
void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);

DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

#ifdef __cplusplus
}
#endif

#endif
