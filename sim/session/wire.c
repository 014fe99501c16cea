/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_BYTES offsetof(struct sim_msg, body)
#define WITH(member) (HEAD_BYTES + sizeof(((struct sim_msg *)0)->body.member))

size_t sim_msg_size(uint16_t type, bool is_reply)
{
	static const size_t sizes[SIM_MSG_COUNT][2] = {
		/* request, reply */
		[SIM_MSG_ATTACH] = {WITH(attach), WITH(attached)},
		[SIM_MSG_EXPORT] = {WITH(export), WITH(exported)},
		[SIM_MSG_REVOKE] = {WITH(key), HEAD_BYTES},
		[SIM_MSG_IMPORT] = {WITH(import), WITH(imported)},
		[SIM_MSG_UNIMPORT] = {WITH(key), 0},
		[SIM_MSG_PATH] = {WITH(path), 0},
		[SIM_MSG_DESCRIBE] = {WITH(describe), WITH(described)},
		[SIM_MSG_NUDGE] = {WITH(key), 0},
		[SIM_MSG_GONE] = {WITH(key), HEAD_BYTES},
		[SIM_MSG_STATUS] = {HEAD_BYTES, HEAD_BYTES},
		[SIM_MSG_SHUTDOWN] = {HEAD_BYTES, HEAD_BYTES},
		[SIM_MSG_DETACH] = {HEAD_BYTES, 0},
	};

	return type < SIM_MSG_COUNT ? sizes[type][is_reply] : 0;
}

int sim_msg_send(int sock, struct sim_msg *msg, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec data = {.iov_base = msg, .iov_len = sim_msg_size(msg->type, msg->is_reply)};
	struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t sent;

	msg->version = SIM_WIRE_VERSION;
	if (fd >= 0) {
		struct cmsghdr *passed;

		packet.msg_control = control.bytes;
		packet.msg_controllen = sizeof(control.bytes);
		passed = CMSG_FIRSTHDR(&packet);
		passed->cmsg_level = SOL_SOCKET;
		passed->cmsg_type = SCM_RIGHTS;
		passed->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(passed), &fd, sizeof(fd));
	}
	do {
		sent = sendmsg(sock, &packet, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
}

/* The first passed descriptor; any others are closed. */
static int take_fd(struct msghdr *packet)
{
	int taken = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(packet); c; c = CMSG_NXTHDR(packet, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (taken < 0)
				taken = fd;
			else
				close(fd);
		}
	}
	return taken;
}

static bool is_message(const struct sim_msg *msg, size_t len)
{
	return len >= HEAD_BYTES && msg->version == SIM_WIRE_VERSION && msg->is_reply <= 1 && msg->status <= 0 &&
	       len == sim_msg_size(msg->type, msg->is_reply);
}

int sim_msg_recv(int sock, struct sim_msg *ret_msg, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct iovec data = {.iov_base = ret_msg, .iov_len = sizeof(*ret_msg)};
	struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1,
				.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
	ssize_t got;
	int fd;

	do {
		got = recvmsg(sock, &packet, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	fd = take_fd(&packet);
	if (got == 0) {
		if (fd >= 0)
			close(fd);
		return -EPIPE;
	}
	if (packet.msg_flags & MSG_TRUNC || !is_message(ret_msg, (size_t)got)) {
		if (fd >= 0)
			close(fd);
		return -EPROTO;
	}
	*ret_fd = fd;
	return 0;
}
