/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_comch_producer.h - the sending end of Comch's data path.
 *
 *   producer_create(connection) --> set_conf --> connect to a progress engine --> doca_ctx_start
 *     --> alloc_init(buffer, immediate data, consumer's id), submit, callback ...
 *     --> doca_ctx_stop --> producer_destroy
 *
 * A producer belongs to an established connection (doca_comch.h), on either side. A
 * connection can have several, each on its own progress engine and thread. A
 * send task sends a buffer's data, or a few bytes of immediate data, or both, to
 * one consumer of the peer (doca_comch_consumer.h), into the oldest buffer that the
 * consumer posted. The consumer event of the server or client announces consumers
 * and their ids. Messages of one producer to one consumer arrive in order.
 *
 * A message that is larger than the posted buffer is refused, and so is a message to
 * a consumer that has posted none (DOCA_ERROR_AGAIN: submit again later). Buffers
 * come from a local memory map and are not chained.
 *
 * A producer can also come from a MsgQ (doca_comch_msgq.h), for messages between
 * this processor and the DPA; the DPA part of this header is for those.
 *
 * Sizes and lengths are bytes. Functions that return doca_error_t return
 * DOCA_ERROR_INVALID_VALUE for a NULL argument. A producer is used by one thread
 * at a time: the thread that drives its progress engine.
 */
#ifndef DOCA_COMCH_PRODUCER_H_
#define DOCA_COMCH_PRODUCER_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_comch_connection;
struct doca_comch_gpu_producer;
struct doca_comch_producer;
struct doca_comch_producer_task_send;
struct doca_ctx;
struct doca_devinfo;
struct doca_dpa_completion;
struct doca_task;

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS if the device can have producers, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);

/* The most tasks that doca_comch_producer_task_send_set_conf() accepts. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/* The largest buffer that one task sends. DOCA_ERROR_NOT_SUPPORTED on a device without producers. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

/* The longest list of buffers in one task; 1 means no lists. DOCA_ERROR_NOT_SUPPORTED as above. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len);

/* The most producers that one end of a connection has at once. */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo, uint32_t *max_producers);

/* --- Create and destroy --- */

/* A producer on @comch_connection, which is borrowed and outlives it; the caller
 * owns the result. create: DOCA_ERROR_NO_MEMORY, DOCA_ERROR_BAD_STATE (the
 * connection is not established), DOCA_ERROR_NOT_PERMITTED (the peer speaks
 * another version). destroy, while idle: DOCA_ERROR_IN_USE otherwise. */
DOCA_STABLE
doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
					struct doca_comch_producer **producer);

DOCA_STABLE
doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/* The same object as a context, until @producer is destroyed. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/* The producer's number, unique on its connection: the id that the consumer's task returns. */
DOCA_STABLE
doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id);

/* --- The send task --- */

/* Called from doca_pe_progress() when @task completes; the program owns the task again
 * (doca_pe.h). doca_task_get_status() returns the result. */
typedef void (*doca_comch_producer_task_send_completion_cb_t)(struct doca_comch_producer_task_send *task,
							      union doca_data task_user_data,
							      union doca_data ctx_user_data);

/* Before start: the callbacks for tasks that succeed and for those that fail, and the
 * number of tasks. DOCA_ERROR_BAD_STATE unless idle. */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
						    doca_comch_producer_task_send_completion_cb_t task_completion_cb,
						    doca_comch_producer_task_send_completion_cb_t task_error_cb,
						    uint32_t num_send_tasks);

/* Allocate a task of a running producer; the caller submits and frees it. @buf (or NULL)
 * and @imm_data (or NULL and 0) are borrowed until the task's callback, and must not
 * change from the submit on. DOCA_ERROR_NO_MEMORY when all tasks are allocated. */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer, const struct doca_buf *buf,
						      uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **task);

/* The same object as a task: submit, free, user data, status. */
DOCA_STABLE
struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task);

/* The task's data and destination; set them while the task is not in flight. */
DOCA_STABLE
void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf);

DOCA_STABLE
const struct doca_buf *doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task);

DOCA_STABLE
void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task, uint8_t *imm_data,
						uint32_t imm_data_len);

DOCA_STABLE
uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task);

DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task);

DOCA_STABLE
void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
						   const uint32_t consumer_id);

DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task);

/* --- Producers on the DPA --- */

/* The handle of a producer in DPA kernels. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/* For a producer whose data path is on the DPA (doca_ctx_set_datapath_on_dpa()),
 * before start: the most sends in flight, rounded up to a power of two; and the
 * completion context that reports them. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer, uint32_t dev_num_send);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
						       struct doca_dpa_completion *dpa_comp);

/* Its handle on the DPA. DOCA_ERROR_BAD_STATE unless running with its data path there. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
						doca_dpa_dev_comch_producer_t *dpa_producer);

/* --- Release 3.2 --- */

/* Get the handle of a producer whose data path is on a GPU. DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_get_gpu_handle(struct doca_comch_producer *producer,
						struct doca_comch_gpu_producer **gpu_producer);

/* --- Names of release 2.7 --- */

/* doca_comch_producer_set_dev_max_num_send() */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_producer_set_dev_num_send(struct doca_comch_producer *producer, uint32_t dev_num_send);

#ifdef __cplusplus
}
#endif

#endif
