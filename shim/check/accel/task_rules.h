/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/accel/task_rules.h - the rules about a task with source and destination when it is posted, or refused.
 *
 * dma_submit.c calls them for each memcpy task that its fast check did not clear, rules_accel.c for tasks of the other
 * accelerators.
 */
#ifndef SHIM_CHECK_TASK_RULES_H
#define SHIM_CHECK_TASK_RULES_H

#include <pcie_model/profile.h>

#include "shim/check/base/check.h"
#include "shim/check/report/hit.h"
#include "shim/common/accel/accel.h"

/* Begin a hit in the public function that this thread is in. */
#define CHECK_HIT_HERE(rule, ...)                                                            \
	(check_watched_call() ? check_hit_begin((rule), check_watched_call(), __VA_ARGS__) : \
				check_hit_begin_at((rule), NULL, __VA_ARGS__))

/* task_report.c: the name of the public function that this thread is in, or @otherwise while the hooks pause. */
const char *check_current_name(const char *otherwise);

/* task_report.c: add the task's context, and the maps of its first source and its first destination, as objects. */
void check_task_add_objects(struct check_hit *hit, const struct shim_buf_task *task);

/* task_report.c: report a task that was refused because source or destination is no list. Returns false if both are. */
bool check_task_misses_buffer(const struct shim_call *call, const struct shim_buf_task *task);

/* task_report.c: the task that a submission refused with @error before it was posted, or NULL. */
struct doca_task *check_refused_task(const struct shim_call *call, doca_error_t error);

/* task_report.c: report a list that is longer than @max. @end: "source" or "destination". */
void check_task_list_len(const struct shim_buf_task *task, const char *end, uint32_t num_bufs, uint32_t max);

/* task_report.c: report a source without data, or with more than @max_bytes. Returns false if it is neither. */
bool check_task_source_size(const struct shim_buf_task *task, uint64_t data_bytes, uint64_t max_bytes);

/* dma_sizes.c: empty sources, full destinations, and the device's limits. */
void check_dma_sizes(const struct shim_buf_task *memcpy);

/* rules_accel.c: the rules for a task of an accelerator other than DMA that is posted. */
void check_accel_task(const struct shim_accel_task *task);

/* rules_gcm_tag.c: the number of failed decryptions whose plaintext is known; reports a task that uses it. */
extern _Atomic uint32_t check_num_unverified;
void check_unverified_use(const struct doca_task *task);

/* rules_gcm_tag.c: @task is a decrypt task whose program can't tell a success from a failure, unless it asks for the status. */
bool check_tag_is_ignored(const struct doca_task *task);

/* rules_gcm_iv.c: the rule about IVs, for any task. */
void check_gcm_iv_use(const struct doca_task *task);

/* task_access.c: what the maps of the buffers permit, and to which devices. */
void check_task_access(const struct shim_buf_task *task);

/* task_overlap.c: the source has bytes in common with the first @output_bytes of the destination's room. */
void check_task_overlap(const struct shim_buf_task *task, uint64_t output_bytes);

/* dma_defined.c: under valgrind, source bytes that the program never wrote. */
void check_dma_defined(const struct shim_buf_task *memcpy);

/* dma_defined.c: whether check_dma_defined() can tell. */
bool check_dma_knows_defined(void);

#endif
