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
#include "sim/dpa/queue/async.h"
#include "sim/dpa/queue/hash_table.h"
#include "sim/dpa/queue/notification.h"

struct doca_dpa_eu_affinity {
	struct shim_object object;
	struct doca_dpa *dpa;
	bool is_set;
	unsigned int eu;
	uint32_t num_users; /* threads */
};

struct doca_dpa_notification_completion {
	struct shim_object object;
	struct doca_dpa *dpa;
	struct doca_dpa_thread *thread;
	bool is_started;
	struct sim_dpa_notification notification;
};

struct doca_dpa_async_ops {
	struct shim_object object;
	struct doca_dpa *dpa;
	unsigned int queue_size;
	uint64_t user_data;
	struct doca_dpa_completion *completion; /* attached; NULL = none */
	bool is_started;
	struct sim_dpa_async queue;
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

/* Of output_file.c. Create the file, which has each line at once and lives as long as @dpa; refused if the context is started. @func: the
 * public function, for the log. */
doca_error_t dpa_file_set_path(const char *func, const struct doca_dpa *dpa, struct shim_dpa_file *file,
			       const char *path);
doca_error_t dpa_file_get_path(const char *func, const struct shim_dpa_file *file, char *path, uint32_t *path_len);
void dpa_file_close(struct shim_dpa_file *file);

/* Of log.c and trace_file.c: where lines and entries of device code go. */
void dpa_log_line(void *dpa, unsigned level, const char *text);
void dpa_trace(void *dpa, const uint64_t values[5]);

/* Of fault.c: a fault at @op (process.h); the status that the call fails with, or SUCCESS; of a launch also whether it is lost. */
bool dpa_find_fault(void *dpa, enum sim_op op, struct sim_fault_hit *ret_hit);
doca_error_t dpa_inject(const struct doca_dpa *dpa, enum sim_op op, uint64_t size);
doca_error_t dpa_inject_launch(struct doca_dpa *dpa, bool *ret_is_lost);

/* Of crash_file.c: what is known of a fatal kernel, in FILE.PID.crash. */
void dpa_write_crash_file(void *dpa, const struct sim_dpa_failure *failure);

#endif
