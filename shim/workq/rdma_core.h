/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/rdma_core.h - the RDMA context of the core that a started context of this generation has.
 *
 *   start ---> a context of the core, running, with one connection, on a progress engine of its own
 *   queue added ---> the queue's retrievals progress that engine, too; completions become events of the queue
 *
 * A context is exported, and serves its peer, before a queue is added to it. So the core's context is not the queue's, as it
 * is in other libraries. It keeps its engine for life: peers and virtual time know the engine by then.
 *
 * rdma_core.c is compiled with the core.
 */
#ifndef SHIM_WORKQ_RDMA_CORE_H
#define SHIM_WORKQ_RDMA_CORE_H

#include <doca_error.h>
#include <doca_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_pe;
struct workq_attachment;
struct workq_rdma_core;

struct workq_rdma_cfg {
	uint32_t permissions;
	uint32_t send_queue_size, recv_queue_size; /* tasks in flight, receives apart */
	uint32_t recv_list_len;                    /* of buffers of a receive */
	uint32_t gid_index;
	bool has_gid_index; /* the program set it */
	uint32_t sl;
	enum doca_mtu_size mtu;
};

enum workq_rdma_state {
	WORKQ_RDMA_INIT,
	WORKQ_RDMA_CONNECTED,
	WORKQ_RDMA_ERROR,
};

struct workq_rdma_job {
	int kind; /* of enum rdma_task_index, whose order is that of enum doca_rdma_job_types */
	const struct doca_buf *src;
	struct doca_buf *dst, *result;
	uint32_t immediate;
	uint64_t operand, compare; /* of an atomic operation */
	union doca_data user_data;
};

struct workq_rdma_end {
	int kind;
	union doca_data user_data;
	doca_error_t status;
	int opcode;
	uint32_t len_bytes; /* of what came here */
	uint32_t immediate;
};

/* Create and start a context, with a connection. NO_MEMORY, NOT_SUPPORTED, INVALID_VALUE (the device has no such GID), or an error of
 * the connection; logged. */
doca_error_t workq_rdma_core_start(struct doca_dev *dev, const struct workq_rdma_cfg *cfg,
				   struct workq_rdma_core **ret_core);

/* End the connection, and jobs without an event; then the context. */
void workq_rdma_core_stop(struct workq_rdma_core *core);

struct doca_ctx *workq_rdma_core_as_ctx(struct workq_rdma_core *core);
struct doca_pe *workq_rdma_core_pe(struct workq_rdma_core *core);

typedef void workq_rdma_complete(struct workq_attachment *attachment, const struct workq_rdma_end *end);

/* From now on, call @complete at the end of each task; until the detach, after which ends are forgotten. */
void workq_rdma_core_attach(struct workq_rdma_core *core, struct workq_attachment *attachment,
			    workq_rdma_complete *complete);
void workq_rdma_core_detach(struct workq_rdma_core *core);

/* If all @num_jobs in flight are receives that no message has met, end them without events. Returns whether they are. */
bool workq_rdma_core_forget_receives(struct workq_rdma_core *core, uint32_t num_jobs);

/* The descriptor of the connection, which belongs to it. NULL: it has ended with its function. */
const void *workq_rdma_core_details(const struct workq_rdma_core *core, size_t *ret_len_bytes);

/* Of a connection that has not ended. */
doca_error_t workq_rdma_core_connect(struct workq_rdma_core *core, const void *details, size_t len_bytes);
enum workq_rdma_state workq_rdma_core_state(const struct workq_rdma_core *core);

/* Submit a task. NO_MEMORY: as many as the configured sizes are in flight. */
doca_error_t workq_rdma_core_submit(struct workq_rdma_core *core, const struct workq_rdma_job *job);

/* The longest list of buffers of a receive. */
uint32_t workq_rdma_max_recv_list_len(const struct doca_devinfo *devinfo);

#endif
