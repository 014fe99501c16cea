/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_comch_consumer.h - the receiving end of Comch's data path.
 *
 *   consumer_create(connection, map) --> set_conf --> connect to a progress engine --> doca_ctx_start
 *     --> the peer gets a consumer event with this consumer's id
 *     --> post receive tasks; each completes when a producer's message has filled it
 *     --> doca_ctx_stop --> consumer_destroy
 *
 * A consumer belongs to an established connection (doca_comch.h), on either side.
 * A connection can have several, each on its own progress engine and thread. A
 * consumer posts buffers: a producer of the peer (doca_comch_producer.h) that sends
 * to the consumer's id writes straight into the oldest one. A message is appended to
 * the data that the buffer holds, and the buffer's data length grows. A message
 * may also carry a few bytes of immediate data; a task without a buffer takes
 * immediate data only. Messages of one producer arrive in the order they were sent.
 *
 * The memory map has to allow the card's other side to write to it
 * (DOCA_ACCESS_FLAG_PCI_READ_WRITE). Buffers come from that map and are not chained.
 *
 * After the start, the context is starting until the peer knows the consumer. For
 * that, the progress engines of the connection's server and client have to be driven.
 *
 * A consumer can also come from a MsgQ (doca_comch_msgq.h), for messages between
 * this processor and the DPA; the DPA part of this header is for those.
 *
 * Sizes and lengths are bytes. Functions that return doca_error_t return
 * DOCA_ERROR_INVALID_VALUE for a NULL argument. A consumer is used by one thread
 * at a time: the thread that drives its progress engine.
 */
#ifndef DOCA_COMCH_CONSUMER_H_
#define DOCA_COMCH_CONSUMER_H_

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
struct doca_comch_consumer;
struct doca_comch_consumer_completion;
struct doca_comch_consumer_task_post_recv;
struct doca_comch_gpu_consumer;
struct doca_ctx;
struct doca_devinfo;
struct doca_dpa_thread;
struct doca_mmap;
struct doca_task;

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS if the device can have consumers, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);

/* The most tasks that doca_comch_consumer_task_post_recv_set_conf() accepts. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/* The largest message that a buffer can receive. DOCA_ERROR_NOT_SUPPORTED on a device without consumers. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

/* The longest list of buffers to receive into; 1 means no lists. DOCA_ERROR_NOT_SUPPORTED as above. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len);

/* The most consumers that one end of a connection has at once. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo, uint32_t *max_consumers);

/* The most immediate data that doca_comch_consumer_set_imm_data_len() accepts, in bytes. */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_imm_data_len);

/* --- Create and destroy --- */

/* A consumer on @comch_connection whose buffers lie in @buf_mmap, a started map.
 * Both are borrowed and outlive it; the caller owns the result. create:
 * DOCA_ERROR_NO_MEMORY, DOCA_ERROR_BAD_STATE (the connection is not established),
 * DOCA_ERROR_NOT_PERMITTED (the peer speaks another version). destroy, while
 * idle: DOCA_ERROR_IN_USE otherwise. */
DOCA_STABLE
doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection, struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer);

DOCA_STABLE
doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/* The same object as a context, until @consumer is destroyed. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/* The consumer's number, unique on its connection: the id in the peer's consumer event. */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id);

/* The most immediate data that a message to this consumer may carry. set:
 * DOCA_ERROR_BAD_STATE unless idle; DOCA_ERROR_INVALID_VALUE above the device's limit. */
DOCA_STABLE
doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer, uint32_t imm_data_len);

DOCA_STABLE
doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer, uint32_t *imm_data_len);

/* --- The post receive task --- */

/* Called from doca_pe_progress() when a message filled @task, or the task failed; the
 * program owns the task again (doca_pe.h). doca_task_get_status() returns the result. */
typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(struct doca_comch_consumer_task_post_recv *task,
								   union doca_data task_user_data,
								   union doca_data ctx_user_data);

/* Before start: the callbacks for tasks that succeed and for those that fail, and the
 * number of tasks. DOCA_ERROR_BAD_STATE unless idle. */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks);

/* Allocate a task of a running consumer; the caller submits and frees it. @buf is NULL
 * for immediate data only. It is borrowed until the task's callback, and must not be
 * used from the submit on. DOCA_ERROR_NO_MEMORY when all tasks are allocated. */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer, struct doca_buf *buf,
							   struct doca_comch_consumer_task_post_recv **task);

/* The same object as a task: submit, free, user data, status. */
DOCA_STABLE
struct doca_task *doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task);

/* The task's buffer; set it while the task is not in flight. */
DOCA_STABLE
void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf);

DOCA_STABLE
struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task);

/* After completion: the producer's id (0 before), and the message's immediate data,
 * which the task holds until it is freed or submitted again; NULL and 0 for none. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_producer_id(const struct doca_comch_consumer_task_post_recv *task);

DOCA_STABLE
const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(const struct doca_comch_consumer_task_post_recv *task);

DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(const struct doca_comch_consumer_task_post_recv *task);

/* --- Consumers on the DPA --- */

/* The handles of these objects in DPA kernels. */
typedef uint64_t doca_dpa_dev_comch_consumer_t;
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;

/* A completion context: it collects the completions of DPA consumers' receives, and
 * wakes a DPA thread.
 *
 *   create --> [stopped] --start--> [started] --stop--> [stopped] --> destroy
 *
 * Its properties are set while stopped; consumers are attached while started, and
 * it can stop when none is attached. DOCA_ERROR_BAD_STATE otherwise. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **consumer_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp);

/* Before the start, set the thread and the numbers of consumers and receives. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp);

/* The DPA thread that completions wake. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_dpa_thread(struct doca_comch_consumer_completion *consumer_comp,
							   struct doca_dpa_thread *dpa_thread);

/* The most consumers that can be attached, and the most receives that they can have in
 * flight together. Both are rounded up to a power of two; the getters return the result. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_consumers(struct doca_comch_consumer_completion *consumer_comp,
								  uint32_t max_num_consumers);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_consumers(
	const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_consumers);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_max_num_recv(struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t max_num_recv);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_max_num_recv(const struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t *max_num_recv);

/* The room for immediate data in a completion: as much as any of its consumers needs. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_set_imm_data_len(struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t imm_data_len);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_imm_data_len(const struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t *imm_data_len);

/* Its handle on the DPA, while started. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_completion_get_dpa_handle(
	struct doca_comch_consumer_completion *consumer_comp,
	doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle);

/* For a consumer whose data path is on the DPA (doca_ctx_set_datapath_on_dpa()),
 * before start: the most receives in flight, rounded up to a power of two; and the
 * completion context that reports them, with @user_data in each completion. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer, uint32_t dev_num_recv);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
						struct doca_comch_consumer_completion *consumer_comp,
						uint32_t user_data);

/* Its handle on the DPA. DOCA_ERROR_BAD_STATE unless running with its data path there. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
						doca_dpa_dev_comch_consumer_t *dpa_consumer);

/* --- Release 3.2 --- */

/* Get the handle of a consumer whose data path is on a GPU. DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_get_gpu_handle(struct doca_comch_consumer *consumer,
						struct doca_comch_gpu_consumer **gpu_consumer);

/* --- Names of release 2.7 --- */

/* doca_comch_consumer_set_dev_max_num_recv() */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_consumer_set_dev_num_recv(struct doca_comch_consumer *consumer, uint32_t dev_num_recv);

#ifdef __cplusplus
}
#endif

#endif
