/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy over a ring: the importer keeps several requests in flight, so that both processes copy at the same time. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "served_priv.h"

#define MIN_PIECE_BYTES ((size_t)8 << 10)
#define PAGE_BYTES      ((size_t)4096)
#define NUM_PIECES      32 /* of a copy, if the pieces are neither too small nor too large */

/* The state of one copy: [0, posted) of its bytes are requested, [0, done) have moved. */
struct ring_copy {
	struct served_initiator_ring *initiator;
	struct served_ring *ring;
	const struct served_op *op;
	struct served_wait *wait;
	size_t piece;
	size_t posted, done;
	int status; /* the first error of the target */
};

/* -EAGAIN: nothing there yet. */
static int receive_fd(int sock, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};
	ssize_t got = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *passed;
	int fds[2]; /* the alignment of the control message makes room for a second one */

	_Static_assert(sizeof(control) < CMSG_LEN(3 * sizeof(int)), "no room for a third descriptor");
	if (got < 0)
		return errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN : -errno;
	passed = CMSG_FIRSTHDR(&msg);
	if (got == 0)
		return -ECONNRESET;
	if (!passed || passed->cmsg_level != SOL_SOCKET || passed->cmsg_type != SCM_RIGHTS)
		return msg.msg_flags & MSG_CTRUNC ? -EMFILE : -EPROTO;
	memcpy(fds, CMSG_DATA(passed), passed->cmsg_len - CMSG_LEN(0));
	if (passed->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
		close(fds[0]);
		close(fds[1]);
		return -EPROTO;
	}
	*ret_fd = fds[0];
	return 0;
}

int served_initiator_ring_open(int sock, struct served_initiator_ring *ret_ring, struct served_wait *wait)
{
	struct served_initiator_ring ring = { 0 };
	int fd = -1, rc;

	while ((rc = receive_fd(sock, &fd)) == -EAGAIN) {
		rc = served_wait_round(wait);
		if (rc < 0)
			break;
	}
	if (rc < 0)
		return rc;
	rc = sim_segment_map(fd, sizeof(struct served_ring), &ring.segment);
	close(fd);
	if (rc == 0)
		*ret_ring = ring;
	return rc;
}

void served_initiator_ring_close(struct served_initiator_ring *ring)
{
	struct served_ring *shared = ring->segment.base;

	if (shared)
		atomic_store(&shared->is_closed, 1);
	sim_segment_unmap(&ring->segment);
}

/* While one process copies the first piece of a copy, the other has nothing to do, and the same at its end. A piece for another
 * machine is a request of the network. */
static size_t piece_bytes(const struct served_op *op)
{
	size_t part = op->len / NUM_PIECES / PAGE_BYTES * PAGE_BYTES;

	if (op->is_far || part > SERVED_SLOT_BYTES)
		return SERVED_SLOT_BYTES;
	return part > MIN_PIECE_BYTES ? part : MIN_PIECE_BYTES;
}

/* Hold the large buffers, which the target may be giving back. Returns 0 or an error of the wait. */
static int lease_buffers(struct ring_copy *copy)
{
	int rc = 0;

	served_wait_restart(copy->wait);
	while (rc == 0) {
		unsigned int lease = SERVED_LEASE_FREE;

		if (atomic_compare_exchange_strong(&copy->ring->lease, &lease, SERVED_LEASE_IMPORTER))
			return 0;
		rc = served_wait_round(copy->wait);
	}
	return rc;
}

static void post(struct ring_copy *copy)
{
	const struct served_op *op = copy->op;
	uint32_t slot = copy->initiator->num_posted % SERVED_RING_SLOTS;
	size_t part = min_size(op->len - copy->posted, copy->piece);

	if (op->kind != SIM_SERVED_READ)
		memcpy(served_ring_buffer(copy->ring, slot, part), op->local + copy->posted, part);
	copy->ring->slots[slot].request = (struct served_request){
		.grant = *op->grant, .offset = op->offset + copy->posted, .len_bytes = (uint32_t)part, .kind = op->kind
	};
	atomic_store_explicit(&copy->ring->posted, ++copy->initiator->num_posted, memory_order_release);
	copy->posted += part;
	/* Pairs with the target, which sets target_asleep and then reads posted. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&copy->ring->target_asleep, memory_order_relaxed) &&
	    atomic_exchange(&copy->ring->target_asleep, 0))
		(void)!send(copy->wait->sock, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* full = it is being woken */
}

static int wait_done(struct ring_copy *copy)
{
	const struct served_initiator_ring *initiator = copy->initiator;
	int rc = 0;

	served_wait_restart(copy->wait);
	while (rc == 0) {
		uint32_t done = atomic_load_explicit(&copy->ring->done, memory_order_acquire);

		if (done != initiator->num_done)
			return done - initiator->num_done <= initiator->num_posted - initiator->num_done ? 0 : -EPROTO;
		rc = served_wait_round(copy->wait);
	}
	return rc;
}

static void take_done(struct ring_copy *copy)
{
	const struct served_op *op = copy->op;
	uint32_t slot = copy->initiator->num_done % SERVED_RING_SLOTS;
	size_t part = min_size(op->len - copy->done, copy->piece);
	int status = served_status(*(volatile int32_t *)&copy->ring->slots[slot].status);

	if (copy->status == 0)
		copy->status = status;
	if (copy->status == 0 && op->kind != SIM_SERVED_WRITE)
		memcpy(op->local + copy->done, served_ring_buffer(copy->ring, slot, part), part);
	copy->done += part;
	copy->initiator->num_done++;
}

static int copy_pieces(struct ring_copy *copy)
{
	struct served_initiator_ring *initiator = copy->initiator;
	const struct served_op *op = copy->op;

	while (copy->done < (copy->status == 0 ? op->len : copy->posted)) {
		int rc;

		while (copy->status == 0 && copy->posted < op->len &&
		       initiator->num_posted - initiator->num_done < SERVED_RING_SLOTS)
			post(copy);
		rc = wait_done(copy);
		if (rc < 0)
			return rc;
		take_done(copy);
	}
	return 0;
}

int served_initiator_ring_copy(struct served_initiator_ring *ring, const struct served_op *op, struct served_wait *wait,
			       bool *ret_is_in_step)
{
	struct ring_copy copy = {
		.initiator = ring, .ring = ring->segment.base, .op = op, .wait = wait, .piece = piece_bytes(op)
	};
	bool is_large = op->len > SERVED_SMALL_BYTES;
	int rc = is_large ? lease_buffers(&copy) : 0;

	if (rc == 0)
		rc = copy_pieces(&copy);
	*ret_is_in_step = rc == 0;
	if (rc < 0)
		return rc;
	if (is_large)
		atomic_store_explicit(&copy.ring->lease, SERVED_LEASE_FREE, memory_order_release);
	return copy.status;
}
