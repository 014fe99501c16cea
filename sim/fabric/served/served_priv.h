/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/served/served_priv.h - shared by the files of this folder.
 *
 *   target.c       the exporter: connections
 *   target_table.c the exposed memory, and the check of requests
 *   target_shm.c   serves the ring of one importer
 *   target_tcp.c   serves the stream of one importer
 *   tcp_pair.c     two ends of a TCP connection
 *   initiator.c         the importer's calls, and the connections that initiators share
 *   initiator_shm.c     a copy over a ring
 *   initiator_tcp.c     a copy over a stream
 *   peer_wait.c    waiting for the other process
 *
 * shm. The importer writes a request into the next slot of the ring and increments posted; the target serves the
 * requests in order and increments done. A read's bytes are in the slot's buffer when it is done, a write's when it is
 * posted. After an idle time the target sets target_asleep and sleeps; the next request then sends it a byte.
 *
 *   importer   request 1 | request 2, ... |          | take 1 | take 2 | ...
 *   target                    | fill 1    | fill 2   | fill 3 | ...
 *
 * A large copy is cut into pieces, so that both processes copy at the same time. Its bytes go through buffers that need memory only
 * while such copies go on: a second after the last one the target gives the pages back (served_shm_trim()). Buffers are in use by
 * one process or the other, or being trimmed: @lease says so.
 *
 * tcp. A stream of requests and replies:
 *
 *   importer -> target   struct served_request, for a write followed by the bytes
 *   target -> importer   struct served_reply, for a read that began well followed by the bytes and a status
 *
 * The status behind the bytes tells whether all of them were read: a target sends zeros for those that it can't read.
 *
 * The other process may write anything at any time. Both sides copy a message first and check the copy.
 */
#ifndef SIM_FABRIC_SERVED_PRIV_H
#define SIM_FABRIC_SERVED_PRIV_H

#include <errno.h>
#include <poll.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "served.h"
#include "sim/shm/segment.h"

#define SERVED_RING_SLOTS       16
#define SERVED_SLOT_BYTES       65536u
#define SERVED_SMALL_BYTES      1024u      /* up to here a request has a buffer that is always there */
#define SERVED_MAX_STREAM_BYTES (1u << 20) /* of one request over tcp */

struct served_request {
	struct sim_grant grant;
	uint64_t offset;
	uint32_t len_bytes;
	uint32_t kind; /* enum sim_served_kind */
};

struct served_reply {
	int32_t status;
	uint32_t len_bytes; /* of the bytes that follow */
};

struct served_slot {
	_Alignas(64) struct served_request request;
	int32_t status;
};

enum served_lease {
	SERVED_LEASE_FREE,
	SERVED_LEASE_IMPORTER, /* copies */
	SERVED_LEASE_TARGET,   /* gives the pages back */
};

/* Processors fetch lines of 64 bytes in pairs. */
struct served_ring {
	_Alignas(128) atomic_uint posted; /* by the importer */
	_Alignas(128) atomic_uint done;   /* by the target */
	_Alignas(128) atomic_uint target_asleep;
	_Alignas(128) atomic_uint is_closed; /* the importer gave up: serve no further request */
	atomic_uint lease;                   /* of @buffers; enum served_lease */
	_Alignas(128) struct served_slot slots[SERVED_RING_SLOTS];
	_Alignas(4096) uint8_t small[SERVED_RING_SLOTS][SERVED_SMALL_BYTES];
	_Alignas(4096) uint8_t buffers[SERVED_RING_SLOTS][SERVED_SLOT_BYTES];
};

/* Of a request of at most SERVED_SLOT_BYTES. */
static inline uint8_t *served_ring_buffer(struct served_ring *ring, uint32_t slot, size_t len)
{
	return len <= SERVED_SMALL_BYTES ? ring->small[slot] : ring->buffers[slot];
}

/* ---- the exporter ---- */

struct served_stream {
	enum { STREAM_REQUEST, STREAM_WRITE_BYTES, STREAM_REPLY } phase;
	struct served_request request;
	struct served_reply reply;
	int32_t status; /* of the request so far */
	size_t moved;   /* bytes of this phase that were received or sent */
};

struct served_conn {
	enum sim_transport transport;
	int sock;
	bool is_ready; /* the socket may have something to receive, or room to send */
	/* shm */
	struct sim_segment segment;
	int ring_fd;                           /* the memfd of the segment; -1 = none */
	uint32_t num_served;                   /* done */
	uint32_t num_begun;                    /* of far memory, some are begun and not done */
	bool is_pending[SERVED_RING_SLOTS];    /* those */
	uint32_t far_bytes[SERVED_RING_SLOTS]; /* of those */
	bool has_buffers;                      /* pages of the large buffers */
	uint64_t id;                           /* in tokens of requests */
	/* tcp */
	struct served_stream stream;
	LIST_ENTRY(served_conn) entry;
};

/* The exposed memory, by the index of its grant. A zeroed one is empty. */
struct served_table {
	struct served_memory *entries;
	uint32_t capacity, first_free; /* no entry below first_free is free */
};

void served_table_fini(struct served_table *table);

/* As sim_target_expose() and sim_target_hide(). */
int served_table_add(struct served_table *table, void *addr, size_t len, bool writable, struct sim_grant *ret_grant);
void served_table_remove(struct served_table *table, const struct sim_grant *grant);

/* Check a request. Returns 0, -ESTALE (no such memory, or a wrong secret), -EFAULT or -EACCES. */
int served_table_check(const struct served_table *table, const struct served_request *request, uint8_t **ret_addr);

/* The same, of memory here or far. Of far memory *ret_begin is set, and *ret_addr is its argument. */
int served_table_check_any(const struct served_table *table, const struct served_request *request, uint8_t **ret_addr,
			   sim_far_begin **ret_begin);
int served_table_add_far(struct served_table *table, size_t len, sim_far_begin *begin, void *arg,
			 struct sim_grant *ret_grant);

/* A request of far memory has ended, in slot @slot. */
void served_shm_complete(struct served_conn *conn, uint32_t slot, int status, const void *bytes, size_t len);

/* Open the ring of a new connection: *ret_importer_fd is the other end of its socket, which carries the memfd. */
int served_shm_open(struct served_conn *conn, int *ret_importer_fd);

/* Serve a connection. Returns how much was served, 0 = nothing to do, or a negative number: close the connection. */
int served_shm_serve(const struct served_table *table, struct served_conn *conn);
int served_tcp_serve(const struct served_table *table, struct served_conn *conn);

/* Give the pages of large buffers back, unless a copy goes on. */
void served_shm_trim(struct served_conn *conn);

/* Prepare for the target's sleep. Returns whether there is no request to serve. */
bool served_shm_may_sleep(const struct served_conn *conn);

/* ---- tcp_pair.c ---- */

/* Make the two ends of a TCP connection over the loopback interface; both are non-blocking. */
int served_tcp_pair(int ret_fds[2]);

/* ---- the importer ---- */

/* The status that a target gave: 0 or -errno. Anything else is -EPROTO. */
static inline int served_status(int32_t status)
{
	return status > 0 || status < -4095 ? -EPROTO : status;
}

/* One copy. */
struct served_op {
	const struct sim_grant *grant;
	enum sim_served_kind kind;
	bool is_far;
	uint8_t *local;
	uint64_t offset;
	size_t len;
};

/* Waiting for the target during one call. Restart it after each progress: a target that is silent for ten seconds ends
 * the call. So does one that moves less than a megabyte a second in all, a byte now and then. */
struct served_wait {
	const atomic_bool *revoked;
	int sock;
	short events;      /* of the socket, which end a sleep early */
	size_t len_bytes;  /* of the call */
	uint64_t begin_ns; /* of the call's first wait; 0 = not yet */
	uint64_t start_ns; /* of this wait; 0 = not yet */
	unsigned int rounds;
};

void served_wait_restart(struct served_wait *wait);

/* Wait a little: spin, then yield, then sleep. Returns 0, -EIO (revoked), -ECONNRESET (the target hung up) or -ETIMEDOUT
 * (no progress for a long time). */
int served_wait_round(struct served_wait *wait);

struct served_initiator_ring {
	struct sim_segment segment;
	uint32_t num_posted, num_done;
};

/* Receive the ring's memfd from @sock and map it. */
int served_initiator_ring_open(int sock, struct served_initiator_ring *ret_ring, struct served_wait *wait);
void served_initiator_ring_close(struct served_initiator_ring *ring);

/* Run a copy. *ret_is_in_step tells whether the connection can be used further. */
int served_initiator_ring_copy(struct served_initiator_ring *ring, const struct served_op *op, struct served_wait *wait,
			       bool *ret_is_in_step);
int served_initiator_stream_copy(const struct served_op *op, struct served_wait *wait, bool *ret_is_in_step);

#endif
