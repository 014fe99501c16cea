/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/rdma_util.h - the rig of tests of RDMA: peers, each with a context, memory and a trace of its callbacks.
 *
 *   send 1 done
 *   receive 2 done: 5 bytes by SEND
 *   write 3 failed: DOCA_ERROR_IO_FAILED
 *
 * Tasks are numbered by the test (the task's user data); a callback frees its task. What the rig itself calls must
 * succeed: otherwise the process ends. Include it after cmocka.h.
 *
 * With RDMA_OF_2_5, the rig and its tests are compiled for the interface of releases 2.5 and 2.6: one connection, of which
 * no parameter tells, and a start that lasts up to peers_connect().
 */
#ifndef TESTS_API_RDMA_UTIL_H
#define TESTS_API_RDMA_UTIL_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "doca_check.h"

#define PEER_ARENA_BYTES (1 << 20)
#define PEER_TASKS       64
#define PEER_CONNECTIONS 4
#define PEER_DEADLINE_S  60

#define RDMA_ALL_ACCESS                                                                                 \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

struct peer {
	struct doca_dev *dev;
	uint8_t *arena;           /* page-aligned, zeroed */
	struct doca_mmap *mmap;   /* over the arena */
	struct doca_mmap *remote; /* the other peer's, imported; NULL = none */
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_rdma_connection *connections[PEER_CONNECTIONS];
	uint32_t num_connections;
	uint32_t num_pending;                               /* tasks submitted and not completed */
	const struct doca_rdma_connection *last_connection; /* of the last receive */
	uint32_t last_immediate;                            /* likewise */
	bool may_be_refused;                                /* a submission that fails is traced: "send 2 refused" */
	struct doca_sync_event *event;                      /* NULL = none */
	struct doca_sync_event_remote_net *events[2];       /* of the other peer; NULL = none */
	void (*on_received)(struct peer *peer);             /* in the callback of each receive; NULL = nothing */
	char trace[4096];
};

/* Compare result codes by name. */
#define assert_result(call, code) assert_string_equal(doca_error_get_name(call), #code)

/* Compare the lines traced since the last call, and clear the trace. */
#define assert_peer_trace(peer, expected)                       \
	do {                                                    \
		assert_string_equal((peer)->trace, (expected)); \
		(peer)->trace[0] = '\0';                        \
	} while (0)

/* A peer on the n-th device of this side, with all task types configured, idle. @access is of its map and context. */
struct peer *peer_open(uint32_t device, uint32_t access);
struct peer *peer_open_with(uint32_t device, uint32_t access, uint32_t map_access);
void peer_start(struct peer *peer);
void peer_stop(struct peer *peer); /* until it is idle; from any state */
void peer_close(struct peer *peer);

/* Add a connection between two started peers, by descriptors; and import each other's memory at the first. */
void peers_connect(struct peer *a, struct peer *b);
void peers_import(struct peer *a, struct peer *b); /* the memory alone */

/* @owner gets a sync event, and @peer two imports of it; both are freed with their peer. */
void peer_share_event(struct peer *owner, struct peer *peer);

/* A buffer of the peer's memory with @data_len bytes of data, and one of @of's memory as @peer imported it. */
struct doca_buf *peer_buf(struct peer *peer, size_t offset, size_t len, size_t data_len);
struct doca_buf *peer_remote_buf(struct peer *peer, const struct peer *of, size_t offset, size_t len, size_t data_len);

/* Submit a task of number @number on the first connection; buffers may be NULL. Their references go to the task. */
void peer_receive(struct peer *peer, uint64_t number, struct doca_buf *dst);
void peer_send(struct peer *peer, uint64_t number, struct doca_buf *src);
void peer_send_on(struct peer *peer, struct doca_rdma_connection *connection, uint64_t number, struct doca_buf *src);
void peer_send_imm(struct peer *peer, uint64_t number, struct doca_buf *src, uint32_t immediate);
void peer_read(struct peer *peer, uint64_t number, struct doca_buf *src, struct doca_buf *dst);
void peer_write(struct peer *peer, uint64_t number, struct doca_buf *src, struct doca_buf *dst);
void peer_write_imm(struct peer *peer, uint64_t number, struct doca_buf *src, struct doca_buf *dst, uint32_t immediate);
void peer_cmp_swp(struct peer *peer, uint64_t number, struct doca_buf *dst, struct doca_buf *result, uint64_t compare,
		  uint64_t swap);
void peer_fetch_add(struct peer *peer, uint64_t number, struct doca_buf *dst, struct doca_buf *result, uint64_t add);

/* On the first event. */
void peer_event_get(struct peer *peer, uint64_t number, struct doca_buf *dst);
void peer_event_set(struct peer *peer, uint64_t number, struct doca_buf *src);
void peer_event_add(struct peer *peer, uint64_t number, struct doca_buf *result, uint64_t add);

/* Progress both until no task is pending (but for @but_for of @b), or the deadline passes. */
void peers_drain(struct peer *a, struct peer *b, uint32_t but_for);

/* Progress both, or @a where @b is NULL, once. If neither has anything to do, sleep for a moment. */
void peers_progress(struct peer *a, struct peer *b);

/* Progress one, once. */
void peer_progress(struct peer *peer);

#endif
