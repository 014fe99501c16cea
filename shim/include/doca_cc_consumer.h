/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_cc_consumer.h - Comch's consumers under their names of releases 2.5 and 2.6; see doca_cc.h. */
#ifndef DOCA_CC_CONSUMER_H_
#define DOCA_CC_CONSUMER_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_cc_connection;
struct doca_cc_consumer;
struct doca_cc_consumer_post_recv_task; /* 2.5 */
struct doca_cc_consumer_task_post_recv; /* 2.6 */
struct doca_ctx;
struct doca_devinfo;
struct doca_mmap;
struct doca_task;

/* --- Capabilities of a device --- */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_is_consumer_supported(const struct doca_devinfo *devinfo); /* 2.5 */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_is_supported(const struct doca_devinfo *devinfo); /* 2.6 */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, size_t *max_buf_size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo, uint32_t *max_consumers);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo,
							size_t *max_log_num_tasks); /* 2.5 */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
						    uint32_t *max_num_tasks); /* 2.6 */

/* --- The consumer --- */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_create(struct doca_cc_connection *cc_connection, struct doca_mmap *buf_mmap,
				     struct doca_cc_consumer **consumer);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_destroy(struct doca_cc_consumer *consumer);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_consumer_as_ctx(struct doca_cc_consumer *consumer);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_get_id(const struct doca_cc_consumer *consumer, uint32_t *id);

/* --- The post-receive task, 2.5: at most 2^log_num_tasks at once --- */

typedef void (*doca_cc_consumer_post_recv_task_comp_handler)(struct doca_cc_consumer_post_recv_task *task,
							     union doca_data task_user_data,
							     union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_post_recv_task_set_conf(struct doca_cc_consumer *consumer,
						      doca_cc_consumer_post_recv_task_comp_handler task_completion_cb,
						      doca_cc_consumer_post_recv_task_comp_handler task_error_cb,
						      size_t log_num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_post_recv_task_alloc_init(struct doca_cc_consumer *consumer, struct doca_buf *buf,
							struct doca_cc_consumer_post_recv_task **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_cc_consumer_post_recv_task_as_task(struct doca_cc_consumer_post_recv_task *task);

DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_consumer_post_recv_task_get_buf(struct doca_cc_consumer_post_recv_task *task);

DOCA_EXPERIMENTAL
void doca_cc_consumer_post_recv_task_set_buf(struct doca_cc_consumer_post_recv_task *task, struct doca_buf *buf);

/* --- The post-receive task, 2.6 --- */

typedef void (*doca_cc_consumer_task_post_recv_completion_cb_t)(struct doca_cc_consumer_task_post_recv *task,
								union doca_data task_user_data,
								union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_task_post_recv_set_conf(
	struct doca_cc_consumer *consumer, doca_cc_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_cc_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_consumer_task_post_recv_alloc_init(struct doca_cc_consumer *consumer, struct doca_buf *buf,
							struct doca_cc_consumer_task_post_recv **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_cc_consumer_task_post_recv_as_task(struct doca_cc_consumer_task_post_recv *task);

DOCA_EXPERIMENTAL
struct doca_buf *doca_cc_consumer_task_post_recv_get_buf(struct doca_cc_consumer_task_post_recv *task);

DOCA_EXPERIMENTAL
void doca_cc_consumer_task_post_recv_set_buf(struct doca_cc_consumer_task_post_recv *task, struct doca_buf *buf);

/* After completion: the id of the message's producer. */
DOCA_EXPERIMENTAL
uint32_t doca_cc_consumer_task_post_recv_get_producer_id(struct doca_cc_consumer_task_post_recv *task);

/* --- 2.6's type, as in doca_cc.h --- */

#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L && defined(DOCA_ALLOW_EXPERIMENTAL_API)

static inline doca_error_t doca_cc_consumer_cap_get_max_buf_size_of_2_6(const struct doca_devinfo *devinfo,
									uint32_t *max_buf_size)
{
	size_t wide = 0;
	doca_error_t result = doca_cc_consumer_cap_get_max_buf_size(devinfo, max_buf_size ? &wide : NULL);

	if (result == DOCA_SUCCESS)
		*max_buf_size = (uint32_t)wide;
	return result;
}

#define doca_cc_consumer_cap_get_max_buf_size(devinfo, max_buf_size)     \
	_Generic((max_buf_size), uint32_t *                              \
		 : doca_cc_consumer_cap_get_max_buf_size_of_2_6, default \
		 : doca_cc_consumer_cap_get_max_buf_size)(devinfo, max_buf_size)

#endif

#ifdef __cplusplus
}
#endif

#endif
