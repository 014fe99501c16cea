/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_toy.h - sums of two numbers, by tasks. No header of the vendor. */
#ifndef DOCA_TOY_H_
#define DOCA_TOY_H_

#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_task;
struct doca_toy;
struct doca_toy_task_sum;

typedef void (*doca_toy_task_sum_completion_cb_t)(struct doca_toy_task_sum *task, union doca_data task_user_data,
						  union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_toy_create(struct doca_dev *dev, struct doca_toy **toy);

DOCA_EXPERIMENTAL
doca_error_t doca_toy_destroy(struct doca_toy *toy);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_toy_as_ctx(struct doca_toy *toy);

DOCA_EXPERIMENTAL
doca_error_t doca_toy_task_sum_set_conf(struct doca_toy *toy, doca_toy_task_sum_completion_cb_t completion_cb,
					doca_toy_task_sum_completion_cb_t error_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_toy_task_sum_alloc_init(struct doca_toy *toy, uint32_t a, uint32_t b, union doca_data user_data,
					  struct doca_toy_task_sum **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_toy_task_sum_as_task(struct doca_toy_task_sum *task);

/* The sum, modulo 2^32; 0 before the task has succeeded. */
DOCA_EXPERIMENTAL
uint32_t doca_toy_task_sum_get_result(const struct doca_toy_task_sum *task);

#ifdef __cplusplus
}
#endif

#endif
