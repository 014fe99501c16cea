/* SPDX-License-Identifier: BSD-3-Clause */
/* The exporter's end of a stream.
 *
 *   [request] --write--> [write bytes] --> [reply]      the reply returns to [request]
 *       '------read-----------------------^
 *
 * The kernel moves the bytes between the socket and the exposed memory. If a part of that memory is not mapped, the system
 * call returns EFAULT; the rest of a write is then thrown away, and the rest of a read is sent as zeros. An exposure may
 * end in the middle of a request, so each step looks the memory up again. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "served_priv.h"

#define MAX_STEPS   8 /* of one connection before the next gets its turn */
#define SPARE_BYTES 16384

/* One system call. The bare calls keep sanitizers from taking the importer's access for one of this thread.
 * Returns the bytes moved, 0 if the socket is not ready, or -errno. */
static long socket_io(struct served_conn *conn, long call, struct iovec *iov, size_t count)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = count };
	long moved;

	do {
		moved = syscall(call, conn->sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (moved < 0 && errno == EINTR);
	if (moved > 0)
		return moved;
	if (moved == 0)
		return call == SYS_recvmsg ? -ECONNRESET : 0;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return -errno;
	conn->is_ready = false;
	return 0;
}

static long receive(struct served_conn *conn, void *addr, size_t len)
{
	struct iovec iov = { .iov_base = addr, .iov_len = len };

	return socket_io(conn, SYS_recvmsg, &iov, 1);
}

static void begin_reply(struct served_stream *stream)
{
	bool has_bytes = stream->request.kind == SIM_SERVED_READ && stream->status == 0;

	stream->reply = (struct served_reply){ .status = stream->status,
					       .len_bytes = has_bytes ? stream->request.len_bytes : 0 };
	stream->phase = STREAM_REPLY;
	stream->moved = 0;
}

static long receive_request(const struct served_table *table, struct served_conn *conn)
{
	struct served_stream *stream = &conn->stream;
	uint8_t *addr;
	long got = receive(conn, (uint8_t *)&stream->request + stream->moved, sizeof(stream->request) - stream->moved);

	if (got <= 0)
		return got;
	stream->moved += (size_t)got;
	if (stream->moved < sizeof(stream->request))
		return got;
	if (stream->request.len_bytes > SERVED_MAX_STREAM_BYTES)
		return -EPROTO;
	stream->moved = 0;
	stream->status = served_table_check(table, &stream->request, &addr);
	if (stream->request.kind != SIM_SERVED_READ && stream->request.len_bytes > 0)
		stream->phase = STREAM_WRITE_BYTES;
	else
		begin_reply(stream);
	return got;
}

static long receive_write_bytes(const struct served_table *table, struct served_conn *conn)
{
	struct served_stream *stream = &conn->stream;
	size_t left = stream->request.len_bytes - stream->moved;
	uint8_t spare[SPARE_BYTES], *addr;
	long got = -EFAULT;

	if (stream->status == 0)
		stream->status = served_table_check(table, &stream->request, &addr);
	if (stream->status == 0) {
		got = receive(conn, addr + stream->moved, left);
		if (got == -EFAULT)
			stream->status = -EFAULT;
	}
	if (stream->status < 0)
		got = receive(conn, spare, left < sizeof(spare) ? left : sizeof(spare));
	if (got <= 0)
		return got;
	stream->moved += (size_t)got;
	if (stream->moved == stream->request.len_bytes)
		begin_reply(stream);
	return got;
}

/* The unsent part of the reply's head, its bytes and the status behind them. */
static size_t reply_parts(struct served_stream *stream, uint8_t *addr, struct iovec iov[3])
{
	static const uint8_t zeros[SPARE_BYTES];
	size_t head = sizeof(stream->reply), bytes = stream->reply.len_bytes, sent = stream->moved, count = 0;

	if (sent < head)
		iov[count++] = (struct iovec){ (uint8_t *)&stream->reply + sent, head - sent };
	sent = sent > head ? sent - head : 0;
	if (sent < bytes && stream->status == 0) {
		iov[count++] = (struct iovec){ addr + sent, bytes - sent };
	} else if (sent < bytes) {
		size_t part = bytes - sent < sizeof(zeros) ? bytes - sent : sizeof(zeros);

		iov[count++] = (struct iovec){ (void *)(uintptr_t)zeros, part };
		if (part < bytes - sent)
			return count;
	}
	sent = sent > bytes ? sent - bytes : 0;
	if (bytes > 0)
		iov[count++] = (struct iovec){ (uint8_t *)&stream->status + sent, sizeof(stream->status) - sent };
	return count;
}

static size_t reply_len(const struct served_stream *stream)
{
	size_t bytes = stream->reply.len_bytes;

	return sizeof(stream->reply) + (bytes > 0 ? bytes + sizeof(stream->status) : 0);
}

static long send_reply(const struct served_table *table, struct served_conn *conn)
{
	struct served_stream *stream = &conn->stream;
	struct iovec iov[3];
	uint8_t *addr = NULL;
	long sent;

	if (stream->reply.len_bytes > 0 && stream->status == 0)
		stream->status = served_table_check(table, &stream->request, &addr);
	sent = socket_io(conn, SYS_sendmsg, iov, reply_parts(stream, addr, iov));
	if (sent == -EFAULT && stream->status == 0) {
		stream->status = -EFAULT;
		sent = socket_io(conn, SYS_sendmsg, iov, reply_parts(stream, NULL, iov));
	}
	if (sent <= 0)
		return sent;
	stream->moved += (size_t)sent;
	if (stream->moved == reply_len(stream)) {
		stream->phase = STREAM_REQUEST;
		stream->moved = 0;
	}
	return sent;
}

static long step(const struct served_table *table, struct served_conn *conn)
{
	switch (conn->stream.phase) {
	case STREAM_REQUEST:
		return receive_request(table, conn);
	case STREAM_WRITE_BYTES:
		return receive_write_bytes(table, conn);
	case STREAM_REPLY:
		return send_reply(table, conn);
	}
	return -EPROTO;
}

int served_tcp_serve(const struct served_table *table, struct served_conn *conn)
{
	int steps = 0;

	while (conn->is_ready && steps < MAX_STEPS) {
		long moved = step(table, conn);

		if (moved < 0)
			return (int)moved;
		steps += moved > 0;
	}
	return steps;
}
