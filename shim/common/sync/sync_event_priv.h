/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_event_priv.h - a sync event: a context around a value (sync_value.h).
 *
 *   [new] --start--> [started] <--start, stop--> [stopped]
 *     '--as_ctx--> [context]   from here on the context's states apply (ctx_priv.h)
 *
 * An event belongs to one of the two lives for good. Every state leads to destroy.
 *
 * A task of a context:
 *
 *              .--> [waiting] --condition holds--.
 *   [idle] ----+--> [done] ----------------------+--> [idle], reported by progress
 *              '--> [deferred] --due--> [done]   |
 *                        ^----fault delays-------'
 *
 *   waiting   a wait whose condition does not hold yet
 *   done      has run or failed, and is not reported yet
 *   deferred  held back by an injected fault, or until the context stops
 *
 * Files, from the lowest:
 *
 *   sync_event_check.c        checks and errors of all operations
 *   sync_event_task_state.c   states of a task
 *   sync_event_task.c         parts that all kinds of tasks share: configuration, allocation
 *   sync_event_deferred.c     updates, also deferred ones, which run though the owner blocks
 *   sync_event_task_fault.c   injected faults of tasks
 *   sync_event_task_update.c  the tasks get, notify_set, notify_add
 *   sync_event_task_wait.c    the tasks wait_eq, wait_neq, wait_gt
 *   sync_event_progress.c     how tasks are reported
 *   sync_event.c              life, configuration, operations of the context
 *   sync_event_blocking.c     operations in the caller's thread
 *   sync_event_export.c       export to the card's other side, and import
 *   sync_event_remote.c       export to the network, and events of peers there
 *   sync_event_dpa.c          kernels on the DPA
 *   sync_event_unsupported.c  functions that need a GPU, or the network of a DPA
 */
#ifndef SHIM_SYNC_EVENT_PRIV_H
#define SHIM_SYNC_EVENT_PRIV_H

#include <doca_sync_event.h>
#include <pthread.h>
#include <sys/queue.h>

#include "shim/common/mem/buf_priv.h"
#include "shim/common/mem/export.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/pe/task_fault.h"
#include "shim/common/pe/task_submit.h"
#include "sim/engine/engine.h"
#include "sync_value.h"
#include "sync_watch.h"

enum shim_sync_event_state {
	SHIM_SYNC_EVENT_NEW,
	SHIM_SYNC_EVENT_STARTED,
	SHIM_SYNC_EVENT_STOPPED,
	SHIM_SYNC_EVENT_CONTEXT,
	SHIM_SYNC_EVENT_NUM_STATES,
};

/* Locations of publishers and of subscribers, to be or-ed. They are hints on a card, too. */
enum shim_sync_location {
	SHIM_SYNC_LOCATION_CPU = 1,
	SHIM_SYNC_LOCATION_REMOTE_PCI = 2,
	SHIM_SYNC_LOCATION_REMOTE_NET = 4,
	SHIM_SYNC_LOCATION_DPA = 8,
};

struct shim_sync_role {
	uint32_t locations;
	struct doca_dev *dev; /* of the CPU's or the DPA's location; held; NULL = none */
};

/* Add a location that has a device. */
void shim_sync_role_add(struct shim_sync_role *role, enum shim_sync_location location, struct doca_dev *dev);

enum shim_sync_kind {
	SHIM_SYNC_GET,
	SHIM_SYNC_SET,
	SHIM_SYNC_ADD,
	SHIM_SYNC_WAIT_EQ,
	SHIM_SYNC_WAIT_NEQ,
	SHIM_SYNC_WAIT_GT,
	SHIM_SYNC_NUM_KINDS,
};

enum shim_sync_task_state {
	SHIM_SYNC_TASK_IDLE, /* the user's */
	SHIM_SYNC_TASK_WAITING,
	SHIM_SYNC_TASK_DEFERRED,
	SHIM_SYNC_TASK_DONE,
	SHIM_SYNC_TASK_NUM_STATES,
};

/* A task of any kind; each public type holds this struct alone. */
struct shim_sync_task {
	struct doca_task task; /* first */
	enum shim_sync_kind kind;
	enum shim_sync_task_state state;  /* written by shim_sync_task_set_state() alone */
	uint64_t operand;                 /* to set, to add, to compare with */
	uint64_t mask;                    /* of a wait */
	enum shim_sync_relation relation; /* of a wait */
	uint64_t *out;                    /* of a get or an add: receives @result with the completion */
	uint64_t result;
	int rc;
	uint64_t due_ns;                         /* while deferred; SIM_JOB_NEVER_DUE = when the context stops */
	bool has_run;                            /* a deferred update: the value has been changed */
	TAILQ_ENTRY(shim_sync_task) link;        /* in the event's list of its state */
	TAILQ_ENTRY(shim_sync_task) update_link; /* while it is a deferred update that has not run */
};

TAILQ_HEAD(shim_sync_task_list, shim_sync_task); /* oldest first */

/* The deferred updates of an event that have not run. */
struct shim_sync_deferred {
	struct sim_engine *engine; /* NULL = none was deferred since the start; then the rest is not set */
	struct sim_engine_member member;
	struct sim_vclock_sched *vclock; /* NULL in other clock modes */
	pthread_mutex_t lock;            /* of what follows, and of such a task's rc, result and has_run */
	struct shim_sync_task_list updates;
};

struct doca_sync_event {
	struct doca_ctx ctx; /* first: a sync event is a context */
	enum shim_sync_event_state state;
	struct shim_sync_role publisher, subscriber;
	uint64_t *addr;       /* the user's memory for the value; or ... */
	struct doca_buf *buf; /* ... the user's buffer, with a reference; both NULL: memory of the event */
	struct shim_sync_value value;
	uint64_t update_ns; /* the time that a change takes, by the topology; 0 in functional mode. Set at the start */
	struct sim_session *session; /* of the exports or the import */
	struct shim_export *exports;
	struct sim_remote *remote;              /* of an imported event */
	struct doca_dev *import_dev;            /* held */
	const struct doca_sync_event *alias_of; /* NULL = the event has a value of its own */
	bool has_dpa_handle;                    /* kernels may use it */
	/* As a context: */
	const struct shim_task_type *types[SHIM_SYNC_NUM_KINDS]; /* of the kinds that are configured */
	struct shim_task_conf conf[SHIM_SYNC_NUM_KINDS];
	struct shim_sync_task_list tasks[SHIM_SYNC_TASK_NUM_STATES]; /* by state; none for IDLE */
	struct shim_sync_deferred deferred;
	bool reports_waits_first; /* the next progress call; waits and other tasks take turns */
	struct shim_sync_watch watch;
	bool is_watched; /* the owner may sleep */
	bool holds_watcher;
};

static inline bool shim_sync_event_is_started(const struct doca_sync_event *event)
{
	return event->state == SHIM_SYNC_EVENT_STARTED || event->ctx.state != DOCA_CTX_STATE_IDLE;
}

static inline struct shim_sync_task *shim_to_sync_task(const struct doca_task *task)
{
	return (struct shim_sync_task *)(uintptr_t)task;
}

static inline struct doca_sync_event *shim_sync_task_event(const struct doca_task *task)
{
	return (struct doca_sync_event *)task->ctx;
}

static inline bool shim_sync_kind_is_wait(enum shim_sync_kind kind)
{
	return kind >= SHIM_SYNC_WAIT_EQ;
}

/* ---- sync_event_check.c ---- */

/* Translate and log the failure of an operation on the value. */
doca_error_t shim_sync_event_fail(const char *func, int rc);

static inline doca_error_t shim_sync_event_error(const char *func, int rc)
{
	return doca_likely(rc == 0) ? DOCA_SUCCESS : shim_sync_event_fail(func, rc);
}

/* Return BAD_STATE, after a log line, if the event is its parent's in a forked child, or if its
 * buffer's memory map was stopped or destroyed. */
doca_error_t shim_sync_event_check(const char *func, const struct doca_sync_event *event);

/* ---- sync_event_task_state.c ---- */

/* Return whether a task may go from @from to @to. */
bool shim_sync_task_has_edge(enum shim_sync_task_state from, enum shim_sync_task_state to);

/* The one function that writes a task's state; moves the task to the end of the event's list of that state. */
void shim_sync_task_set_state(struct shim_sync_task *task, enum shim_sync_task_state to);

/* ---- sync_event_task.c ---- */

/* set_conf() of a kind. NOT_PERMITTED if the event is started. */
doca_error_t shim_sync_event_set_task_conf(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
					   const struct shim_task_type *type, const struct shim_task_conf *conf);

/* Make the pools of the configured kinds, while the context starts. */
doca_error_t shim_sync_event_make_pools(struct doca_sync_event *event);

/* alloc_init() of a kind. */
doca_error_t shim_sync_event_alloc_task(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
					union doca_data user_data, struct shim_sync_task **ret_task);

/* Return whether @handle is a live task of that kind. */
bool shim_sync_task_is(const void *handle, enum shim_sync_kind kind);

/* Return whether @handle is such a task and not in flight; log if not. */
bool shim_sync_task_check_settable(const char *func, const void *handle, enum shim_sync_kind kind);

/* The task has ended, with task->rc: make it done, and wake a sleeping owner. */
void shim_sync_task_end(struct shim_sync_task *task);

/* The task runs, or ends, at @due_ns (SIM_JOB_NEVER_DUE: when the context stops). */
void shim_sync_task_defer(struct shim_sync_task *task, uint64_t due_ns);

/* post() of an update, and of a wait. */
doca_error_t shim_sync_update_post(struct doca_task *task);
doca_error_t shim_sync_wait_post(struct doca_task *task);

/* ---- sync_event_deferred.c ---- */

/* Set or add, as the task's kind says. Return 0 or -errno. */
int shim_sync_task_update(struct shim_sync_task *task);

/* The deferred task is an update, which runs when it is due. */
void shim_sync_deferred_add(struct shim_sync_task *task);

/* Run those that are due at @now_ns. */
void shim_sync_deferred_run(struct doca_sync_event *event, uint64_t now_ns);

/* Those that have not run do not run any more. */
void shim_sync_deferred_drop_all(struct doca_sync_event *event);

/* The context is idle. */
void shim_sync_deferred_end(struct doca_sync_event *event);

/* ---- sync_event_task_fault.c ---- */

extern const struct shim_task_fault_ops shim_sync_update_fault_ops, shim_sync_wait_fault_ops;

/* A wait's condition holds: defer the task if a fault delays its end. Return whether one does. */
bool shim_sync_task_defer_wait(struct shim_sync_task *task);

/* Run the deferred tasks that are due, if they have not run, and make them done. When the context
 * stops, all deferred tasks are done; those that have not run are canceled. */
void shim_sync_event_release_due(struct doca_sync_event *event);

/* ---- sync_event_progress.c ---- */

/* The context's operations of these names. */
void shim_sync_event_begin_stop(struct doca_ctx *ctx);
bool shim_sync_event_progress(struct doca_ctx *ctx);
bool shim_sync_event_arm(struct doca_ctx *ctx);

/* The context is idle: stop the watch, forget the pools. */
void shim_sync_event_reset_tasks(struct doca_sync_event *event);

/* ---- kinds of tasks ---- */

/* Define the parts that all kinds of tasks have: the public type, cap_task_*_is_supported(), the type's
 * complete(), task_*_set_conf() and task_*_as_doca_task(). @type is the kind's struct shim_task_type,
 * which refers to complete_@name(). No device is needed for any of them. */
#define SHIM_SYNC_DEFINE_TASK(name, kind, type)                                                                       \
	struct doca_sync_event_task_##name {                                                                          \
		struct shim_sync_task base;                                                                           \
	};                                                                                                            \
                                                                                                                      \
	static const struct shim_task_type type;                                                                      \
                                                                                                                      \
	doca_error_t doca_sync_event_cap_task_##name##_is_supported(const struct doca_devinfo *devinfo)               \
	{                                                                                                             \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                                     \
		return DOCA_SUCCESS;                                                                                  \
	}                                                                                                             \
                                                                                                                      \
	static void complete_##name(struct doca_task *task)                                                           \
	{                                                                                                             \
		SHIM_TASK_CALL(task, &shim_sync_task_event(task)->conf[(kind)], struct doca_sync_event_task_##name,   \
			       doca_sync_event_task_##name##_completion_cb_t);                                        \
	}                                                                                                             \
                                                                                                                      \
	doca_error_t doca_sync_event_task_##name##_set_conf(                                                          \
		struct doca_sync_event *event, doca_sync_event_task_##name##_completion_cb_t completion_cb,           \
		doca_sync_event_task_##name##_completion_cb_t error_cb, uint32_t num_tasks)                           \
	{                                                                                                             \
		SHIM_NEED(event, SHIM_SYNC_EVENT);                                                                    \
		SHIM_NEED_OUT(completion_cb);                                                                         \
		SHIM_NEED_OUT(error_cb);                                                                              \
		return shim_sync_event_set_task_conf(__func__, event, (kind), &(type),                                \
						     &(struct shim_task_conf){ .num_tasks = num_tasks,                \
									       .done = (void (*)(void))completion_cb, \
									       .failed = (void (*)(void))error_cb }); \
	}                                                                                                             \
                                                                                                                      \
	struct doca_task *doca_sync_event_task_##name##_as_doca_task(struct doca_sync_event_task_##name *task)        \
	{                                                                                                             \
		return shim_sync_task_is(task, (kind)) ? &task->base.task : NULL;                                     \
	}

/* Define the public functions that set and get a member of a task; a dead handle's value is 0. */
#define SHIM_SYNC_DEFINE_ACCESSORS(name, kind, parameter, parameter_type, member)                                    \
	void doca_sync_event_task_##name##_set_##parameter(struct doca_sync_event_task_##name *task,                 \
							   parameter_type parameter)                                 \
	{                                                                                                            \
		if (shim_sync_task_check_settable(__func__, task, (kind)))                                           \
			task->base.member = parameter;                                                               \
	}                                                                                                            \
                                                                                                                     \
	parameter_type doca_sync_event_task_##name##_get_##parameter(const struct doca_sync_event_task_##name *task) \
	{                                                                                                            \
		return shim_sync_task_is(task, (kind)) ? task->base.member : 0;                                      \
	}

/* sync_event_export.c: return the export of a started event, for the public function @func: to the network, or to the card's
 * other side. */
doca_error_t shim_sync_event_export(const char *func, struct doca_sync_event *event, struct doca_dev *dev, bool to_net,
				    struct shim_export **ret_export);

/* sync_event_export.c: import an exported event's value, for the public function @func: from the network, or from the card's other
 * side. The caller ends the import by shim_import_release(). */
doca_error_t shim_sync_event_import(const char *func, const uint8_t *data, size_t sz, const struct doca_dev *dev,
				    bool from_net, struct sim_remote **ret_remote);

#endif
