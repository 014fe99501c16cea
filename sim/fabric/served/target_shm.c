/* SPDX-License-Identifier: BSD-3-Clause */
/* The exporter's end of a ring.
 *
 * The application may have unmapped or truncated the exposed memory, so that the target's copy faults. The target then moves
 * the bytes by pread() and pwrite() on the ring's memfd, which return EFAULT, or fill in a page that has come back. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "served_priv.h"
#include "sim/base/move_foreign.h"

/* Pass the memfd through the socket, where it waits for the importer. */
static int send_ring_fd(int sock, int ring_fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};
	struct cmsghdr *passed = CMSG_FIRSTHDR(&msg);

	passed->cmsg_level = SOL_SOCKET;
	passed->cmsg_type = SCM_RIGHTS;
	passed->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(passed), &ring_fd, sizeof(int));
	return sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -errno;
}

int served_shm_open(struct served_conn *conn, int *ret_importer_fd)
{
	int socks[2];
	int rc = sim_segment_create(sizeof(struct served_ring), &conn->segment, &conn->ring_fd);

	if (rc < 0)
		return rc;
	/* The first request always wakes the target: its thread may sleep by then. */
	atomic_store(&((struct served_ring *)conn->segment.base)->target_asleep, 1);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	conn->sock = socks[0];
	rc = send_ring_fd(conn->sock, conn->ring_fd);
	if (rc < 0)
		close(socks[1]);
	else
		*ret_importer_fd = socks[1];
	return rc;
}

/* By system calls, which fail where a part of the program's memory is not mapped. */
static int move_by_calls(const struct served_conn *conn, const struct served_request *request, uint8_t *addr,
			 const uint8_t *buffer)
{
	off_t at = (off_t)(buffer - (const uint8_t *)conn->segment.base);
	long call = request->kind == SIM_SERVED_WRITE ? SYS_pread64 : SYS_pwrite64;

	for (uint32_t done = 0; done < request->len_bytes;) {
		long moved = syscall(call, conn->ring_fd, addr + done, (size_t)(request->len_bytes - done), at + done);

		if (moved < 0 && errno == EINTR)
			continue;
		if (moved <= 0)
			return moved < 0 ? -errno : -EFAULT;
		done += (uint32_t)moved;
	}
	return 0;
}

/* Move bytes between @addr and the slot's buffer. */
static int move_bytes(struct served_conn *conn, const struct served_request *request, uint8_t *addr, uint32_t slot)
{
	size_t len = request->len_bytes;
	uint8_t *buffer = served_ring_buffer(conn->segment.base, slot, len);
	bool is_write = request->kind == SIM_SERVED_WRITE;

	conn->has_buffers |= len > SERVED_SMALL_BYTES;
	if (sim_move_foreign(is_write ? addr : buffer, is_write ? buffer : addr, len) == 0)
		return 0;
	return move_by_calls(conn, request, addr, buffer);
}

void served_shm_trim(struct served_conn *conn)
{
	struct served_ring *ring = conn->segment.base;
	unsigned int free = SERVED_LEASE_FREE;

	if (!conn->has_buffers || !atomic_compare_exchange_strong(&ring->lease, &free, SERVED_LEASE_TARGET))
		return;
	(void)!fallocate(conn->ring_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 offsetof(struct served_ring, buffers), sizeof(ring->buffers));
	conn->has_buffers = false;
	atomic_store(&ring->lease, SERVED_LEASE_FREE);
}

static uint64_t token_of(const struct served_conn *conn, uint32_t slot)
{
	return conn->id * SERVED_RING_SLOTS + slot;
}

/* Of far memory: begin the request. */
static int begin_far(struct served_conn *conn, const struct served_request *request, uint32_t slot,
		     sim_far_begin *begin, void *arg)
{
	struct served_ring *ring = conn->segment.base;
	const struct sim_far_request far_request = { .token = token_of(conn, slot),
						     .kind = request->kind,
						     .offset = request->offset,
						     .len_bytes = request->len_bytes,
						     .bytes = served_ring_buffer(ring, slot, request->len_bytes) };
	int rc;

	if (request->kind > SIM_SERVED_FAR_OP)
		return -EPROTO;
	if (request->kind == SIM_SERVED_FAR_OP && request->len_bytes != sizeof(struct sim_far_operands))
		return -EPROTO;
	conn->is_pending[slot] = true;
	conn->far_bytes[slot] = request->len_bytes;
	conn->has_buffers |= request->len_bytes > SERVED_SMALL_BYTES;
	rc = begin(arg, &far_request);
	if (rc < 0)
		conn->is_pending[slot] = false;
	return rc;
}

/* Returns the status, which counts unless the slot is pending now. */
static int serve_request(const struct served_table *table, struct served_conn *conn, uint32_t slot)
{
	const struct served_ring *ring = conn->segment.base;
	struct served_request request;
	sim_far_begin *begin = NULL;
	uint8_t *addr;
	int rc;

	memcpy(&request, &ring->slots[slot].request, sizeof(request));
	atomic_signal_fence(memory_order_seq_cst); /* the copy is checked, not the ring */
	if (request.len_bytes > SERVED_SLOT_BYTES)
		return -EPROTO;
	rc = served_table_check_any(table, &request, &addr, &begin);
	if (rc == 0 && begin)
		return begin_far(conn, &request, slot, begin, addr);
	return rc == 0 ? move_bytes(conn, &request, addr, slot) : rc;
}

/* Requests are done in their order. */
static void finish(struct served_conn *conn)
{
	struct served_ring *ring = conn->segment.base;
	uint32_t before = conn->num_served;

	while (conn->num_served != conn->num_begun && !conn->is_pending[conn->num_served % SERVED_RING_SLOTS])
		conn->num_served++;
	if (conn->num_served != before)
		atomic_store_explicit(&ring->done, conn->num_served, memory_order_release);
}

void served_shm_complete(struct served_conn *conn, uint32_t slot, int status, const void *bytes, size_t len)
{
	struct served_ring *ring = conn->segment.base;

	if (!conn->is_pending[slot])
		return;
	len = min_size(len, conn->far_bytes[slot]);
	if (status == 0 && len > 0)
		memcpy(served_ring_buffer(ring, slot, conn->far_bytes[slot]), bytes, len);
	ring->slots[slot].status = status;
	conn->is_pending[slot] = false;
	finish(conn);
}

/* Take the bytes that woke us off the socket. Returns 0 or -ECONNRESET. */
static int drain_socket(struct served_conn *conn)
{
	char bytes[64];
	ssize_t got;

	do {
		got = recv(conn->sock, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (got > 0 || (got < 0 && errno == EINTR));
	conn->is_ready = false;
	return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -ECONNRESET;
}

static uint32_t num_waiting(const struct served_conn *conn)
{
	struct served_ring *ring = conn->segment.base;

	return atomic_load_explicit(&ring->posted, memory_order_acquire) - conn->num_begun;
}

int served_shm_serve(const struct served_table *table, struct served_conn *conn)
{
	struct served_ring *ring = conn->segment.base;
	uint32_t waiting;
	int served = 0;

	if (conn->is_ready && drain_socket(conn) < 0)
		return -ECONNRESET;
	while ((waiting = num_waiting(conn)) > 0 && served < SERVED_RING_SLOTS) {
		uint32_t slot = conn->num_begun % SERVED_RING_SLOTS;
		int status;

		if (waiting + conn->num_begun - conn->num_served > SERVED_RING_SLOTS || atomic_load(&ring->is_closed))
			return -ECONNRESET;
		status = serve_request(table, conn, slot);
		if (!conn->is_pending[slot])
			ring->slots[slot].status = status;
		conn->num_begun++;
		finish(conn);
		served++;
	}
	return served;
}

bool served_shm_may_sleep(const struct served_conn *conn)
{
	struct served_ring *ring = conn->segment.base;

	/* Pairs with the importer, which increments posted and then reads target_asleep. */
	atomic_store(&ring->target_asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	return num_waiting(conn) == 0;
}
