/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_event_priv.h - a sync event: a context around a value (sync_value.h).
 *
 *   sync_event.c            life, configuration, what the context does
 *   sync_event_blocking.c        operations at once
 *   sync_event_export.c     to the card's other side, and from it
 *   sync_event_progress.c        how tasks run
 *   sync_event_deferred.c       faults at tasks
 *   sync_event_task.c       get, notify_set, notify_add
 *   sync_event_task_wait.c  wait_eq, wait_neq
 *   sync_event_task_wait_gt.c  wait_gt, of 2.5 and 2.6
 *   sync_event_unsupported.c       what takes a DPA, a GPU or a network
 */
#ifndef SHIM_SYNC_EVENT_PRIV_H
#define SHIM_SYNC_EVENT_PRIV_H

#include <doca_sync_event.h>

#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/mem/export.h"
#include "sync_value.h"
#include "sync_watch.h"
#include "shim/common/process/fault.h"
#include "shim/common/pe/task_priv.h"

/* Settled by the first doca_sync_event_start() or doca_sync_event_as_ctx(), for life. */
enum shim_sync_mode {
	SHIM_SYNC_MODE_UNSET,
	SHIM_SYNC_MODE_STANDALONE,
	SHIM_SYNC_MODE_CONTEXT,
};

/* Who publishes, or who subscribes: locations to be or-ed. They are hints on a card, too. */
enum shim_sync_location {
	SHIM_SYNC_LOCATION_CPU = 1,
	SHIM_SYNC_LOCATION_REMOTE_PCI = 2,
};

struct shim_sync_role {
	uint32_t locations;
	struct doca_dev *dev; /* of the CPU's; held */
};

enum shim_sync_kind {
	SHIM_SYNC_GET,
	SHIM_SYNC_SET,
	SHIM_SYNC_ADD,
	SHIM_SYNC_WAIT_EQ,
	SHIM_SYNC_WAIT_NEQ,
	SHIM_SYNC_WAIT_GT,
	SHIM_SYNC_NUM_KINDS,
};

/* Any task of a sync event; the public types contain it and nothing else. */
struct shim_sync_task {
	struct doca_task task; /* first */
	enum shim_sync_kind kind;
	uint64_t operand;                 /* to set, to add, to compare with */
	uint64_t mask;                    /* of a wait */
	enum shim_sync_relation relation; /* of a wait */
	uint64_t *out;                    /* of a get or an add */
	uint64_t result;                  /* what goes there */
	int rc;
	uint64_t due_ns;             /* when a fault lets it go on; SIM_JOB_NEVER_DUE = not before the context stops */
	struct shim_sync_task *next; /* in one of the event's queues */
};

struct shim_sync_queue {
	struct shim_sync_task *first, *last; /* oldest first */
};

struct doca_sync_event {
	struct doca_ctx ctx; /* first: a sync event is a context */
	enum shim_sync_mode mode;
	bool is_started; /* alone */
	struct shim_sync_role publisher, subscriber;
	uint64_t *addr;       /* given by the user ... */
	struct doca_buf *buf; /* ... or this, to which it holds a reference; both NULL: memory of ours */
	struct shim_sync_value value;
	struct sim_session *session; /* of the exports or the import */
	struct shim_export *exports;
	struct sim_remote *remote;              /* imported ones only */
	struct doca_dev *import_dev;            /* held */
	const struct doca_sync_event *alias_of; /* NULL = it has a value of its own */
	/* As a context: */
	uint32_t num_tasks[SHIM_SYNC_NUM_KINDS];
	struct shim_task_pool *pools[SHIM_SYNC_NUM_KINDS]; /* while not idle; NULL = none configured */
	struct shim_sync_queue done;                       /* have run, not reported */
	struct shim_sync_queue waiting;
	struct shim_sync_queue deferred; /* held back by faults */
	bool reports_waits_first;        /* the next time; they take turns */
	struct shim_sync_watch watch;
	bool is_watched; /* its owner may sleep */
	bool holds_watcher;
	struct {
		doca_sync_event_task_get_completion_cb_t done, failed;
	} get;
	struct {
		doca_sync_event_task_notify_set_completion_cb_t done, failed;
	} set;
	struct {
		doca_sync_event_task_notify_add_completion_cb_t done, failed;
	} add;
	struct {
		doca_sync_event_task_wait_eq_completion_cb_t done, failed;
	} wait_eq;
	struct {
		doca_sync_event_task_wait_neq_completion_cb_t done, failed;
	} wait_neq;
	struct {
		doca_sync_event_task_wait_gt_completion_cb_t done, failed;
	} wait_gt;
};

static inline bool shim_sync_event_is_started(const struct doca_sync_event *event)
{
	return event->is_started || event->ctx.state != DOCA_CTX_STATE_IDLE;
}

/* What a failed operation on the value is to the user; says why in the log. */
doca_error_t shim_sync_event_error(const char *func, int rc);

/* BAD_STATE for an event that can't be worked on now: the process forked, or its
 * buffer's memory map is gone. */
doca_error_t shim_sync_event_check(const char *func, const struct doca_sync_event *event);

/* sync_event.c: where a buffer's value is, in *ret_word, if the buffer may have one. */
doca_error_t shim_sync_event_check_buf(const char *func, const struct doca_buf *buf, uint64_t **ret_word);

/* For shim/workq, where one event serves any number of queues: an event whose value is
 * that of @event, which is started and outlives it. It takes no configuration but its tasks. */
doca_error_t shim_sync_event_create_alias(const struct doca_sync_event *event, struct doca_sync_event **ret_alias);

/* For shim/workq: the task, not submitted yet, waits for more than its value instead. */
void shim_sync_event_task_wait_for_gt(struct doca_sync_event_task_wait_neq *task);

/* sync_event_export.c: end the exports, the import. */
void shim_sync_event_unexport(struct doca_sync_event *event);
void shim_sync_event_unimport(struct doca_sync_event *event);

/* ---- sync_event_progress.c ---- */

/* The kinds: sync_event_task.c and sync_event_task_wait*.c. */
extern const struct shim_task_type shim_sync_get_type, shim_sync_set_type, shim_sync_add_type;
extern const struct shim_task_type shim_sync_wait_eq_type, shim_sync_wait_neq_type, shim_sync_wait_gt_type;

/* check() and post() of any task that waits. */
doca_error_t shim_sync_wait_check(const struct doca_task *task);
doca_error_t shim_sync_wait_post(struct doca_task *task);

/* Make the pools, while the context starts. */
doca_error_t shim_sync_event_make_pools(struct doca_sync_event *event);

/* The context's operations of these names. */
void shim_sync_event_begin_stop(struct doca_ctx *ctx);
bool shim_sync_event_progress(struct doca_ctx *ctx);
bool shim_sync_event_arm(struct doca_ctx *ctx);

/* The context is idle: nothing of its tasks is left. */
void shim_sync_event_reset_tasks(struct doca_sync_event *event);

/* set_conf() of any kind, but for its callbacks: whether it may, and how many. */
doca_error_t shim_sync_event_set_num_tasks(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
					   uint32_t num_tasks);

/* alloc_init() of any kind. */
doca_error_t shim_sync_event_alloc(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
				   union doca_data user_data, struct shim_sync_task **ret_task);

/* For post(): the task has run, with task->rc, or waits. */
void shim_sync_event_queue_completion(struct shim_sync_task *task);
void shim_sync_event_queue_wait(struct shim_sync_task *task);

/* Queues: behind the others; the one behind @before, or the first for NULL (NULL = there is none). */
void shim_sync_queue_push(struct shim_sync_queue *queue, struct shim_sync_task *task);
struct shim_sync_task *shim_sync_queue_remove_after(struct shim_sync_queue *queue, struct shim_sync_task *before);

/* ---- sync_event_deferred.c ---- */

extern const struct shim_task_fault_ops shim_sync_update_fault_ops, shim_sync_wait_fault_ops;

/* For post(), of a task that a fault strikes: whether it is held back, or has failed. */
bool shim_sync_event_apply_fault(struct shim_sync_task *task);

/* A wait has ended well: whether its end is held back. */
bool shim_sync_event_defer_wait(struct shim_sync_task *task);

/* Let go those that are due: they run, if they have not, and are reported. When the context stops, all do, canceled. */
void shim_sync_event_release_due(struct doca_sync_event *event);

/* Set or add, as the task says. 0 or -errno. */
int shim_sync_task_update(struct shim_sync_task *task);

static inline struct shim_sync_task *shim_to_sync_task(const struct doca_task *task)
{
	return (struct shim_sync_task *)(uintptr_t)task;
}

static inline struct doca_sync_event *shim_sync_task_event(const struct doca_task *task)
{
	return (struct doca_sync_event *)task->ctx;
}

/* Whether the handle is a live task of a sync event, of that kind. */
static inline bool shim_sync_task_is(const void *handle, enum shim_sync_kind kind)
{
	const struct shim_sync_task *task = handle;

	return shim_object_is(handle, SHIM_TASK) && shim_object_is(task->task.ctx, SHIM_SYNC_EVENT) &&
	       task->kind == kind;
}

/* Whether it may be changed now; says so in the log if not. */
bool shim_sync_task_check_settable(const char *func, const void *handle, enum shim_sync_kind kind);

#endif
