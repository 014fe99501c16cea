/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy over a stream: one request at a time. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "served_priv.h"

/* The parts of a message that have not moved yet. */
struct parts {
	struct iovec *iov;
	size_t count;
};

static void skip_moved(struct parts *parts, size_t moved)
{
	while (parts->count > 0 && moved >= parts->iov->iov_len) {
		moved -= parts->iov->iov_len;
		parts->iov++;
		parts->count--;
	}
	if (parts->count > 0) {
		parts->iov->iov_base = (uint8_t *)parts->iov->iov_base + moved;
		parts->iov->iov_len -= moved;
	}
}

static size_t left_of(const struct parts *parts)
{
	size_t left = 0;

	for (size_t i = 0; i < parts->count; i++)
		left += parts->iov[i].iov_len;
	return left;
}

/* Send or receive at least @min_bytes, if possible all parts. Returns 0, -EFAULT (a local address is not mapped) or an
 * error of the wait. */
static int transfer(struct served_wait *wait, ssize_t (*call)(int sock, struct msghdr *msg), struct parts *parts,
		    size_t min_bytes)
{
	size_t total = 0;

	served_wait_restart(wait);
	while (total < min_bytes) {
		struct msghdr msg = { .msg_iov = parts->iov, .msg_iovlen = parts->count };
		ssize_t moved = call(wait->sock, &msg);
		int rc = 0;

		if (moved > 0) {
			served_wait_restart(wait);
			skip_moved(parts, (size_t)moved);
			total += (size_t)moved;
		} else if (moved < 0 && errno == EFAULT) {
			rc = -EFAULT;
		} else if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
			rc = served_wait_round(wait);
		} else {
			rc = -ECONNRESET;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static ssize_t send_some(int sock, struct msghdr *msg)
{
	return sendmsg(sock, msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t receive_some(int sock, struct msghdr *msg)
{
	return recvmsg(sock, msg, MSG_DONTWAIT);
}

static int send_request(const struct served_op *op, struct served_wait *wait)
{
	struct served_request request = {
		.grant = *op->grant, .offset = op->offset, .len_bytes = (uint32_t)op->len, .kind = op->kind
	};
	struct iovec iov[] = { { &request, sizeof(request) }, { op->local, op->len } };
	struct parts parts = { iov, op->kind != SIM_SERVED_READ ? 2 : 1 };

	wait->events = POLLOUT;
	return transfer(wait, send_some, &parts, sizeof(request) + (op->kind != SIM_SERVED_READ ? op->len : 0));
}

/* A reply without an error is followed by the bytes of a read and their status. A small one comes as a whole. */
static int receive_reply(const struct served_op *op, struct served_wait *wait, bool *ret_is_in_step)
{
	size_t len = op->kind != SIM_SERVED_READ ? 0 : op->len;
	struct served_reply reply;
	int32_t status = 0;
	struct iovec iov[] = { { &reply, sizeof(reply) }, { op->local, len }, { &status, sizeof(status) } };
	struct parts parts = { iov, len > 0 ? 3 : 1 };
	size_t left;
	int rc;

	wait->events = POLLIN;
	rc = transfer(wait, receive_some, &parts, sizeof(reply));
	if (rc < 0)
		return rc;
	if (served_status(reply.status) != reply.status || reply.len_bytes != (reply.status < 0 ? 0 : len))
		return -EPROTO;
	left = reply.len_bytes > 0 ? left_of(&parts) : 0;
	if (left > 0)
		rc = transfer(wait, receive_some, &parts, left);
	if (rc < 0)
		return rc;
	if (served_status(status) != status)
		return -EPROTO;
	*ret_is_in_step = true;
	return reply.status < 0 ? reply.status : status;
}

static int copy_part(const struct served_op *op, struct served_wait *wait, bool *ret_is_in_step)
{
	int rc = send_request(op, wait);

	return rc < 0 ? rc : receive_reply(op, wait, ret_is_in_step);
}

int served_initiator_stream_copy(const struct served_op *op, struct served_wait *wait, bool *ret_is_in_step)
{
	struct served_op part = *op;
	size_t left = op->len;
	int rc = 0;

	*ret_is_in_step = true;
	while (left > 0 && rc == 0) {
		part.len = left < SERVED_MAX_STREAM_BYTES ? left : SERVED_MAX_STREAM_BYTES;
		*ret_is_in_step = false;
		rc = copy_part(&part, wait, ret_is_in_step);
		part.local += part.len;
		part.offset += part.len;
		left -= part.len;
	}
	return rc;
}
