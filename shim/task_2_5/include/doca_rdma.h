/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_rdma.h - reliable connections over the network between cards, as releases 2.5 and 2.6 have them.
 *
 *   rdma_create(device) --> permissions, task configurations --> connect to a progress engine --> doca_ctx_start
 *     --> [starting] --export, connect--> [running] --> tasks: alloc_init, submit, callback ... --> doca_ctx_stop
 *     --> rdma_destroy
 *
 * A context has one connection, to one context of another program, or of the same. doca_ctx_start() returns
 * DOCA_ERROR_IN_PROGRESS, and the context is starting. doca_rdma_export() gives the local end's descriptor; the program
 * carries it to the peer, and gives the peer's to doca_rdma_connect(). The next doca_pe_progress() takes the context to
 * the running state. No handshake follows: each side may submit before the other has connected. Both functions may be
 * called in the callback for the starting state.
 *
 * A send is taken by the oldest receive task that the peer's context posted. Reads, writes and atomic operations access
 * memory that the peer exported by doca_mmap_export_rdma(), and need no help of the peer's program. Tasks are executed at
 * the peer, and complete, in the order of their submission. A task that fails at the peer (no receive, rights, bounds, a
 * message that is longer than its receive) takes the connection to an error: later tasks are flushed.
 *
 * Later releases have these functions under the same names, with the connection as one more parameter. A program of 2.5 or
 * 2.6 therefore needs this header, and the library of this release at run time. What both have alike is in the header of the
 * later ones, which this tree has as bfsim_rdma.h.
 *
 * Sizes and lengths are bytes. Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument;
 * setters return DOCA_ERROR_BAD_STATE after the start. A context is used by one thread at a time: the thread that
 * drives its progress engine.
 */
#ifndef DOCA_RDMA_OF_2_5_H_
#define DOCA_RDMA_OF_2_5_H_

#include <stdint.h>
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sync_event.h>
#include <doca_types.h>

/* Mark the program: bfsim run and exec then select the library of this release by themselves. */
__asm__(".pushsection .note.bfsim.task-2.5, \"a\", %note\n"
	".balign 4\n"
	".long 6, 0, 1\n"
	".asciz \"bfsim\"\n"
	".balign 4\n"
	".popsection");

#define DOCA_RDMA_2_5
#include <bfsim_rdma.h>
#undef DOCA_RDMA_2_5

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dpa_dev_rdma;
struct doca_dpa_dev_rdma_srq;
struct doca_rdma_srq; /* 2.6 */

/* The form of a shared receive queue. 2.6 */
enum doca_rdma_srq_type {
	DOCA_RDMA_SRQ_TYPE_LINKED_LIST = 0,
	DOCA_RDMA_SRQ_TYPE_CYCLIC = 1,
};

/* --- Device and properties --- */

/* The device's GIDs: their number, and @num_entries of them from index @start_index on. Entries that the device does not
 * use are zero. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid_table_size(struct doca_devinfo *devinfo, uint32_t *gid_table_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_cap_get_gid(struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
				   struct doca_rdma_gid *gid_array);

/* Whether packets have a global routing header: true, the default, or false, which Ethernet does not permit
 * (DOCA_ERROR_NOT_SUPPORTED). */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, bool *grh_enabled);

/* --- Connect --- */

/* Return the descriptor of the context's connection, which is for one peer and is secret: its owner can send to this
 * context. The context owns it; it is valid until the context stops. Each call gives the same. DOCA_ERROR_BAD_STATE
 * (not started), DOCA_ERROR_CONNECTION_ABORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size);

/* Connect to the peer that made the descriptor. Returns at once; the peer need not have connected. DOCA_ERROR_BAD_STATE
 * (not starting, or connected before), DOCA_ERROR_CONNECTION_ABORTED (not a descriptor of a living connection on a
 * network that this device reaches). */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
			       size_t remote_rdma_conn_details_size);

/* --- Tasks: allocated for the connection --- */

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
					       union doca_data user_data, struct doca_rdma_task_send **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						   doca_be32_t immediate_data, union doca_data user_data,
						   struct doca_rdma_task_send_imm **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
					       struct doca_buf *dst_buf, union doca_data user_data,
					       struct doca_rdma_task_read **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						struct doca_buf *dst_buf, union doca_data user_data,
						struct doca_rdma_task_write **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						    struct doca_buf *dst_buf, doca_be32_t immediate_data,
						    union doca_data user_data, struct doca_rdma_task_write_imm **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
							 struct doca_buf *result_buf, uint64_t cmp_data,
							 uint64_t swap_data, union doca_data user_data,
							 struct doca_rdma_task_atomic_cmp_swp **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
							   struct doca_buf *result_buf, uint64_t add_data,
							   union doca_data user_data,
							   struct doca_rdma_task_atomic_fetch_add **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, const struct doca_buf *src_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, struct doca_buf *result_buf,
	uint64_t add_data, union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_add **task);

/* Other names of get_result_len, 2.5. */
DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_receive_get_result_length(const struct doca_rdma_task_receive *task);

DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_read_get_result_length(const struct doca_rdma_task_read *task);

DOCA_EXPERIMENTAL
uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_length(
	const struct doca_rdma_task_remote_net_sync_event_get *task);

/* --- Data path on the DPA --- */

/* DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, struct doca_dpa_dev_rdma **dpa_rdma);

/* --- Receive queues that contexts on the DPA share, 2.6 --- */

/* The functions that make one, or a context with one, return DOCA_ERROR_NOT_SUPPORTED; so do the capabilities. */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_cap_get_max_shared_recv_queue_size(const struct doca_devinfo *devinfo,
							      uint32_t *max_shared_recv_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
								     uint32_t *max_buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_create(struct doca_dev *dev, struct doca_rdma_srq **rdma_srq);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_destroy(struct doca_rdma_srq *rdma_srq);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_rdma_srq_as_ctx(struct doca_rdma_srq *rdma_srq_ctx);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_create_with_srq(struct doca_dev *dev, struct doca_rdma_srq *rdma_srq, struct doca_rdma **rdma);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_set_type(struct doca_rdma_srq *rdma_srq, enum doca_rdma_srq_type srq_type);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_get_type(struct doca_rdma_srq *rdma_srq, enum doca_rdma_srq_type *srq_type);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_set_shared_recv_queue_size(struct doca_rdma_srq *rdma_srq, uint32_t shared_recv_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_get_shared_recv_queue_size(const struct doca_rdma_srq *rdma_srq,
						      uint32_t *shared_recv_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_task_receive_set_dst_buf_list_len(struct doca_rdma_srq *rdma_srq, uint32_t buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_task_receive_get_dst_buf_list_len(const struct doca_rdma_srq *rdma_srq,
							     uint32_t *buf_list_len);

DOCA_EXPERIMENTAL
doca_error_t doca_rdma_srq_get_dpa_handle(const struct doca_rdma_srq *rdma_srq,
					  struct doca_dpa_dev_rdma_srq **dpa_rdma_srq);

/* --- 2.6's type, selected by C11's _Generic --- */

#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L && defined(DOCA_ALLOW_EXPERIMENTAL_API)

static inline doca_error_t doca_rdma_get_grh_enabled_of_2_6(const struct doca_rdma *rdma, uint8_t *grh_enabled)
{
	bool value = false;
	doca_error_t result = doca_rdma_get_grh_enabled(rdma, grh_enabled ? &value : NULL);

	if (result == DOCA_SUCCESS)
		*grh_enabled = value;
	return result;
}

#define doca_rdma_get_grh_enabled(rdma, value)               \
	_Generic((value), uint8_t *                          \
		 : doca_rdma_get_grh_enabled_of_2_6, default \
		 : doca_rdma_get_grh_enabled)(rdma, value)

#endif

#ifdef __cplusplus
}
#endif

#endif
