/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/dpa/dpa_priv.h - objects of a DPA context.
 *
 * An object counts as a user of its context from create to destroy, so that the context can't end before. A started object has its
 * counterpart of sim/dpa, which is gone when the object stops.
 */
#ifndef SHIM_DPA_PRIV_H
#define SHIM_DPA_PRIV_H

#include <doca_dpa.h>

#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/dpa/dpa.h"
#include "sim/dpa/queue/completion.h"
#include "sim/dpa/queue/hash_table.h"
#include "sim/dpa/queue/notification.h"

struct doca_dpa_eu_affinity {
	struct shim_object object;
	struct doca_dpa *dpa;
	bool is_set;
	unsigned int eu;
	uint32_t num_users; /* threads */
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
	struct sim_dpa_completion ring;
};

struct doca_dpa_notification_completion {
	struct shim_object object;
	struct doca_dpa *dpa;
	struct doca_dpa_thread *thread;
	bool is_started;
	struct sim_dpa_notification notification;
};

struct doca_dpa_tg {
	struct shim_object object;
	struct doca_dpa *dpa;
	bool is_started;
	unsigned int num_threads;
	struct doca_dpa_thread **threads; /* by rank; NULL = not set */
};

struct doca_dpa_hash_table {
	struct shim_object object;
	struct doca_dpa *dpa;
	struct sim_dpa_hash_table table;
};

/* Create an object of @size bytes, as a user of @dpa. NULL without memory, after a log line. */
void *dpa_object_new(const char *func, enum shim_kind kind, size_t size, struct doca_dpa *dpa);

/* Its end. */
void dpa_object_free(void *object, enum shim_kind kind, struct doca_dpa *dpa);

/* The code of @rc of a call of a process. */
doca_error_t dpa_error(const char *func, int rc);

static inline const struct pcie_caps *dpa_caps(const struct doca_dpa *dpa)
{
	return &shim_dev_function(dpa->dev)->caps;
}

/* Of log.c: where lines of device code go. */
void dpa_log_line(void *dpa, unsigned level, const char *text);
void dpa_log_close(struct doca_dpa *dpa);

/* Of crash_file.c: what is known of a fatal kernel, in FILE.PID.crash. */
void dpa_write_crash_file(void *dpa, const struct sim_dpa_failure *failure);

#endif
