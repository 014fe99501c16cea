/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_rdma.h - reliable connections over the network between cards.
 *
 *   doca_rdma_create --> doca_ctx_dev_add --> permissions, queue sizes --> doca_ctx_start
 *     --> doca_rdma_export --(descriptors, carried by the program)--> doca_rdma_connect
 *     --> doca_ctx_workq_add --> doca_workq_submit, doca_workq_progress_retrieve ...
 *     --> doca_ctx_workq_rm --> doca_ctx_stop --> doca_ctx_dev_rm --> doca_rdma_destroy
 *
 * A context has one connection, to one context of another program, or of the same. Each side exports a descriptor and
 * connects to the descriptor of the other. No handshake follows: each side may connect and submit before the other has
 * connected. After a stop and another start, both sides export and connect again.
 *
 *   [RESET] --start--> [INIT] --connect--> [CONNECTED] --a job failed, or the peer is lost--> [ERROR]
 *
 * A send is taken by the oldest receive job that the peer submitted. Reads, writes and atomic operations access memory
 * that the peer exported by doca_mmap_export_rdma(), and need no help of the peer's program. Jobs besides receives are
 * executed at the peer, and end, in the order of their submission. A job that fails at the peer (no receive, rights,
 * bounds, a message that is longer than its receive) ends the connection: later jobs fail, too.
 *
 * Sizes and lengths are bytes. Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument.
 * The thread rule is the work queue's (doca_ctx.h).
 */
#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

#include <stdint.h>
#include <doca_types.h>
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_rdma;
struct doca_rdma_addr; /* of a peer; for transports that bfsim and the releases lack */

/* Of a connection; the picture is above. */
enum doca_rdma_state {
	DOCA_RDMA_STATE_RESET = 0,
	DOCA_RDMA_STATE_INIT = 1,
	DOCA_RDMA_STATE_CONNECTED = 2,
	DOCA_RDMA_STATE_ERROR = 3,
};

/* Reliable connections; dynamically connected transport, which these releases lack. */
enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_RC = 0,
	DOCA_RDMA_TRANSPORT_DC = 1,
};

/* A GID in network byte order. */
struct doca_rdma_gid {
	uint8_t raw[DOCA_GID_BYTE_LENGTH];
};

/* --- Jobs --- */

enum doca_rdma_job_types {
	DOCA_RDMA_JOB_RECV = DOCA_ACTION_RDMA_FIRST + 1,
	DOCA_RDMA_JOB_SEND = DOCA_ACTION_RDMA_FIRST + 2,
	DOCA_RDMA_JOB_SEND_IMM = DOCA_ACTION_RDMA_FIRST + 3,
	DOCA_RDMA_JOB_READ = DOCA_ACTION_RDMA_FIRST + 4,
	DOCA_RDMA_JOB_WRITE = DOCA_ACTION_RDMA_FIRST + 5,
	DOCA_RDMA_JOB_WRITE_IMM = DOCA_ACTION_RDMA_FIRST + 6,
	DOCA_RDMA_JOB_ATOMIC_CMP_SWP = DOCA_ACTION_RDMA_FIRST + 7,
	DOCA_RDMA_JOB_ATOMIC_FETCH_ADD = DOCA_ACTION_RDMA_FIRST + 8,
};

/* Receive a message behind the data of the list @dst_buff. NULL: for an empty message, or a write with immediate. May be
 * submitted before the connect. */
struct doca_rdma_job_recv {
	struct doca_job base;
	struct doca_buf *dst_buff;
};

/* Send the data of the list @src_buff; NULL = an empty message. @immediate_data is of SEND_IMM, and comes to the receiver bit for
 * bit. @rdma_peer_addr is not used. */
struct doca_rdma_job_send {
	struct doca_job base;
	struct doca_buf const *src_buff;
	doca_be32_t immediate_data;
	struct doca_rdma_addr const *rdma_peer_addr;
};

/* READ: append the data of @src_buff, the peer's, to the list @dst_buff. WRITE, WRITE_IMM: append the data of the list
 * @src_buff to @dst_buff, the peer's; WRITE_IMM takes a receive of the peer besides. */
struct doca_rdma_job_read_write {
	struct doca_job base;
	struct doca_buf *dst_buff;
	struct doca_buf const *src_buff;
	doca_be32_t immediate_data;
	struct doca_rdma_addr const *rdma_peer_addr;
};

/* Change 8 bytes at the data of @cmp_or_add_dest_buff, the peer's, aligned to 8 bytes; and append their former value to
 * @result_buff. FETCH_ADD adds @swap_or_add_data; CMP_SWP replaces them by @swap_or_add_data if they equal @cmp_data. */
struct doca_rdma_job_atomic {
	struct doca_job base;
	struct doca_buf *cmp_or_add_dest_buff;
	struct doca_buf *result_buff;
	uint64_t swap_or_add_data;
	uint64_t cmp_data;
	struct doca_rdma_addr const *rdma_peer_addr;
};

/* What ended a receive job. */
enum doca_rdma_opcode_t {
	DOCA_RDMA_OPCODE_RECV_SEND = 0,
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM = 1,
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM = 2,
};

/* The result of each job. The program gives its memory: it sets event.result.ptr before each doca_workq_progress_retrieve(), which
 * fills the memory and leaves the pointer. */
struct doca_rdma_result {
	doca_error_t result;                   /* status of the job */
	enum doca_rdma_opcode_t opcode;        /* of a receive */
	uint32_t length;                       /* received, or read; 0 of other jobs */
	struct doca_rdma_addr *rdma_peer_addr; /* NULL */
	doca_be32_t immediate_data;            /* of a receive whose opcode has one */
};

/* --- Creation and destruction --- */

/* A context without a device, owned by the caller. create: DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION. destroy, while it is
 * stopped: DOCA_ERROR_BAD_STATE otherwise. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_create(struct doca_rdma **rdma);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);

/* The same object as a context. NULL for NULL. */
__DOCA_EXPERIMENTAL
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/* --- Connecting --- */

/* Get the descriptor of the local end, for the peer's doca_rdma_connect(). It stays valid until the stop. DOCA_ERROR_BAD_STATE
 * unless started. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size);

/* Connect to the peer with that descriptor. DOCA_ERROR_BAD_STATE (not started, or connected already),
 * DOCA_ERROR_CONNECTION_ABORTED (the descriptor is altered, or of a connection that has ended). */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
			       size_t remote_rdma_conn_details_size);

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS if the device can run jobs of that type, or has that transport; else DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
						    enum doca_rdma_transport_type transport_type);

/* The most that the setters of queue sizes below accept, and the longest message of one job. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_send_queue_size(const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size);

/* The longest list of local buffers of a job. DOCA_ERROR_NOT_SUPPORTED for a transport that the device lacks. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_max_buf_chain_len(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type,
					     enum doca_rdma_transport_type transport_type, uint32_t *max_buf_chain_len);

/* The device's GIDs: their number, and @num_entries of them from index @start_index on. Entries that the device does not
 * use are zero. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid_table_size(struct doca_devinfo *devinfo, uint32_t *gid_table_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid(struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
			       struct doca_rdma_gid *gid_array);

/* --- Properties: set before the start, else DOCA_ERROR_BAD_STATE; read once the context has a device, else likewise --- */

/* The most jobs in flight besides receives, and the most receives; rounded up to a power of two. 1 to the device's maximum;
 * DOCA_ERROR_NOT_SUPPORTED above it, here if the context has its device, else at the start. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size);

/* DOCA_RDMA_TRANSPORT_RC; the other one is DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type);

/* Data in a packet, up to 4 KiB; DOCA_ERROR_NOT_SUPPORTED for DOCA_MTU_SIZE_RAW_ETHERNET. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu);

/* What the peer may do with memory through the connection, beside the permissions of the map: bits DOCA_ACCESS_RDMA_READ,
 * _RDMA_WRITE and _RDMA_ATOMIC. DOCA_ACCESS_LOCAL_READ_WRITE is accepted; other bits are DOCA_ERROR_INVALID_VALUE. The default is
 * none. Set once the context has its device, else DOCA_ERROR_BAD_STATE. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions);

/* Whether packets have a global routing header, as they must on Ethernet; else DOCA_ERROR_NOT_SUPPORTED. Likewise. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, bool *grh_enabled);

/* The index of the device's GID; one that the device does not use is refused at the start. Likewise. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index);

/* The longest list of buffers of a receive; 1 to the device's maximum. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma, uint32_t recv_buf_chain_len);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_recv_buf_chain_len(const struct doca_rdma *rdma, uint32_t *recv_buf_chain_len);

/* The service level, 0 to 15. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);

__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);

/* The connection's state. DOCA_ERROR_BAD_STATE without a device. */
__DOCA_EXPERIMENTAL
doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma, enum doca_rdma_state *state);

#ifdef __cplusplus
}
#endif

#endif
