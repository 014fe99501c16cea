/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/dpa/dpa.h - a DPA context, for libdoca_dpa and for the libraries whose objects device code uses.
 *
 *   [created] --start--> [started] --stop--> [created]
 *                           '--device_extend--> an extended context: started, on its base's process, destroyed before it
 *
 * The process (sim/dpa/exec/process.h) lives from start to stop. Sync events that device code has handles of are withdrawn from all
 * processes when they end: hence the list of started contexts.
 */
#ifndef SHIM_DPA_H
#define SHIM_DPA_H

#include <doca_dpa.h>
#include <sys/queue.h>

#include "shim/common/base/object.h"
#include "shim/common/process/runtime.h"
#include "sim/dpa/queue/completion.h"

struct doca_dev;
struct doca_dpa_eu_affinity;
struct doca_dpa_tg;

/* A file that a kernel's output goes to. */
struct shim_dpa_file {
	char *path;   /* NULL = none set */
	void *stream; /* a FILE, or NULL */
};

struct doca_dpa {
	struct shim_object object;
	struct doca_dev *dev;            /* held */
	struct doca_dpa *base;           /* of an extended context; else itself */
	struct sim_dpa_process *process; /* NULL = not started; an extended context has its base's */
	struct doca_dpa_app *app;
	uint64_t handle;
	uint32_t fork_generation; /* at the start */
	uint32_t num_users;       /* threads, groups, completions, ... and extended contexts */
	int log_level;
	struct shim_dpa_file log, trace;
	LIST_ENTRY(doca_dpa) link; /* in the list of started contexts, unless it is extended */
};

struct doca_dpa_thread {
	struct shim_object object;
	struct doca_dpa *dpa;
	doca_dpa_func_t *func; /* NULL = not set */
	uint64_t arg;
	doca_dpa_dev_uintptr_t local_storage;
	struct doca_dpa_eu_affinity *affinity; /* NULL = any EU */
	struct doca_dpa_tg *group;             /* in which it has a rank */
	struct sim_dpa_activity *activity;     /* NULL = not started */
	uint32_t num_users;                    /* completions and notifications that activate it */
};

struct doca_dpa_completion {
	struct shim_object object;
	struct doca_dpa *dpa;
	unsigned int queue_size;
	struct doca_dpa_thread *thread; /* NULL = polled */
	bool is_started;
	uint32_t num_users; /* queues that are attached, and keep it started */
	struct sim_dpa_completion ring;
};

/* Whether the context's process is this one's, which can be used. In a forked child it is the parent's: it has no threads, and its locks may
 * be held for ever, so that its objects are left alone. */
static inline bool shim_dpa_is_own(const struct doca_dpa *dpa)
{
	return dpa->process && dpa->fork_generation == shim_fork_generation;
}

/* Add a started context to the list, and remove it before its process ends. */
SHIM_INTERNAL_API void shim_dpa_add(struct doca_dpa *dpa);
SHIM_INTERNAL_API void shim_dpa_remove(struct doca_dpa *dpa);

/* No kernel uses the object afterwards, which has a handle of that kind. */
void shim_dpa_withdraw(enum sim_dpa_handle_kind kind, const void *object);

/* The window of a memory map is gone: no kernel uses it from its next block on. */
void shim_dpa_forget_ranges(void);

/* Return BAD_STATE, after a log line, if the context is not started, and DRIVER if it can't be used: after a fatal error, after a
 * reset of the function, in a forked child. */
SHIM_INTERNAL_API doca_error_t shim_dpa_check_running(const char *func, const struct doca_dpa *dpa);

#endif
