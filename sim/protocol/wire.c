/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes, the transfer and the checks of messages between processes and the daemon. */
#include "wire.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/monotonic.h"

#define HEAD_BYTES        offsetof(struct sim_msg, body)
#define MSG_BYTES(member) (HEAD_BYTES + sizeof(((struct sim_msg *)0)->body.member))

size_t sim_msg_size(uint16_t type, bool is_reply)
{
	static const size_t sizes[SIM_MSG_COUNT][2] = {
		/* request, reply */
		[SIM_MSG_ATTACH] = { MSG_BYTES(attach), MSG_BYTES(attached) },
		[SIM_MSG_EXPORT] = { MSG_BYTES(export), MSG_BYTES(exported) },
		[SIM_MSG_EXPORT_ALIAS] = { MSG_BYTES(alias), MSG_BYTES(exported) },
		[SIM_MSG_REVOKE] = { MSG_BYTES(key), HEAD_BYTES },
		[SIM_MSG_IMPORT] = { MSG_BYTES(import), MSG_BYTES(imported) },
		[SIM_MSG_UNIMPORT] = { MSG_BYTES(key), 0 },
		[SIM_MSG_PATH] = { MSG_BYTES(path), 0 },
		[SIM_MSG_DESCRIBE] = { MSG_BYTES(describe), MSG_BYTES(described) },
		[SIM_MSG_REVOKED] = { MSG_BYTES(key), HEAD_BYTES },
		[SIM_MSG_STATUS] = { HEAD_BYTES, HEAD_BYTES },
		[SIM_MSG_SHUTDOWN] = { HEAD_BYTES, HEAD_BYTES },
		[SIM_MSG_DETACH] = { HEAD_BYTES, 0 },
		[SIM_MSG_LISTEN] = { MSG_BYTES(listen), HEAD_BYTES },
		[SIM_MSG_UNLISTEN] = { MSG_BYTES(channel), HEAD_BYTES },
		[SIM_MSG_CONNECT] = { MSG_BYTES(connect), HEAD_BYTES },
		[SIM_MSG_OFFER] = { MSG_BYTES(handshake), 0 },
		[SIM_MSG_ACCEPT] = { MSG_BYTES(handshake), HEAD_BYTES },
		[SIM_MSG_HANDSHAKE] = { MSG_BYTES(handshake), HEAD_BYTES },
		[SIM_MSG_CLOSE] = { MSG_BYTES(channel), 0 },
		[SIM_MSG_NOTIFY_PEER] = { MSG_BYTES(channel), 0 },
		[SIM_MSG_SHARED_STATE] = { HEAD_BYTES, HEAD_BYTES },
		[SIM_MSG_FAULT] = { MSG_BYTES(fault), MSG_BYTES(fault) },
		[SIM_MSG_ADD_RECORDING] = { HEAD_BYTES, 0 },
		[SIM_MSG_FUNCTIONS_CHANGED] = { HEAD_BYTES, 0 },
		[SIM_MSG_GATEWAY] = { MSG_BYTES(gateway), 0 },
		[SIM_MSG_FAR_IMPORT] = { MSG_BYTES(import), MSG_BYTES(imported) },
		[SIM_MSG_FAR_UNUSED] = { MSG_BYTES(key), 0 },
		[SIM_MSG_OUTAGE] = { MSG_BYTES(outage), HEAD_BYTES },
		[SIM_MSG_SLOW_LINK] = { MSG_BYTES(slow_link), 0 },
		[SIM_MSG_REACH] = { MSG_BYTES(reach), HEAD_BYTES },
		[SIM_MSG_GET_RECORDING] = { MSG_BYTES(recording), MSG_BYTES(recorded) },
	};

	return type < SIM_MSG_COUNT ? sizes[type][is_reply] : 0;
}

int sim_fds_take(struct sim_fds *fds, uint32_t index)
{
	int fd = index < fds->count ? fds->fd[index] : -1;

	if (fd >= 0)
		fds->fd[index] = -1;
	return fd;
}

void sim_fds_close(struct sim_fds *fds)
{
	for (uint32_t i = 0; i < fds->count; i++)
		if (fds->fd[i] >= 0)
			close(fds->fd[i]);
	fds->count = 0;
}

int sim_msg_send_packet(int sock, const struct msghdr *packet)
{
	ssize_t sent;

	do {
		sent = sendmsg(sock, packet, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
}

int sim_msg_send_fds(int sock, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * SIM_HANDSHAKE_MSG_FDS)];
	} control = { 0 };
	struct iovec data = { .iov_base = msg, .iov_len = sim_msg_size(msg->type, msg->is_reply) };
	struct msghdr packet = { .msg_iov = &data, .msg_iovlen = 1 };

	assert(num_fds <= SIM_HANDSHAKE_MSG_FDS);
	msg->version = SIM_WIRE_VERSION;
	if (num_fds > 0) {
		struct cmsghdr *passed;

		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * num_fds);
		passed = CMSG_FIRSTHDR(&packet);
		passed->cmsg_level = SOL_SOCKET;
		passed->cmsg_type = SCM_RIGHTS;
		passed->cmsg_len = CMSG_LEN(sizeof(int) * num_fds);
		memcpy(CMSG_DATA(passed), fds, sizeof(int) * num_fds);
	}
	return sim_msg_send_packet(sock, &packet);
}

int sim_msg_send(int sock, struct sim_msg *msg, int fd)
{
	return sim_msg_send_fds(sock, msg, &fd, fd >= 0);
}

/* Collect the passed descriptors, and close those beyond the maximum of a message. */
static void collect_fds(struct msghdr *packet, struct sim_fds *fds)
{
	fds->count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(packet); c; c = CMSG_NXTHDR(packet, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (fds->count < SIM_HANDSHAKE_MSG_FDS)
				fds->fd[fds->count++] = fd;
			else
				close(fd);
		}
	}
}

static bool is_message(const struct sim_msg *msg, size_t len)
{
	return len >= HEAD_BYTES && msg->version == SIM_WIRE_VERSION && msg->is_reply <= 1 && msg->status <= 0 &&
	       len == sim_msg_size(msg->type, msg->is_reply);
}

/* If the other end closes with unread packets, the next call returns ECONNRESET once. The packets that it had sent
 * follow, so the receive is repeated. */
static ssize_t receive(int sock, struct msghdr *packet, bool ends_at_signal)
{
	ssize_t got;

	do {
		got = recvmsg(sock, packet, MSG_CMSG_CLOEXEC);
	} while (got < 0 && ((errno == EINTR && !ends_at_signal) || errno == ECONNRESET));
	return got;
}

int sim_msg_await(int sock, uint64_t until_ns)
{
	struct pollfd readable = { .fd = sock, .events = POLLIN };
	int rc;

	do {
		uint64_t now_ns = sim_monotonic_ns();
		const struct timespec left = sim_timespec_from_ns(until_ns > now_ns ? until_ns - now_ns : 0);

		rc = ppoll(&readable, 1, &left, NULL);
	} while (rc < 0 && errno == EINTR);
	return rc > 0 ? 0 : rc == 0 ? -ETIMEDOUT : -errno;
}

static int recv_fds(int sock, bool ends_at_signal, struct sim_msg *ret_msg, struct sim_fds *ret_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * (SIM_HANDSHAKE_MSG_FDS + 1))];
	} control;
	struct iovec data = { .iov_base = ret_msg, .iov_len = sizeof(*ret_msg) };
	struct msghdr packet = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};
	ssize_t got = receive(sock, &packet, ends_at_signal);
	struct sim_fds fds;

	if (got < 0)
		return -errno;
	collect_fds(&packet, &fds);
	if (got == 0 || packet.msg_flags & MSG_TRUNC || !is_message(ret_msg, (size_t)got)) {
		sim_fds_close(&fds);
		return got == 0 ? -EPIPE : -EPROTO;
	}
	*ret_fds = fds;
	return 0;
}

int sim_msg_recv_fds(int sock, struct sim_msg *ret_msg, struct sim_fds *ret_fds)
{
	return recv_fds(sock, false, ret_msg, ret_fds);
}

int sim_msg_recv_until_signal(int sock, struct sim_msg *ret_msg, struct sim_fds *ret_fds)
{
	return recv_fds(sock, true, ret_msg, ret_fds);
}

int sim_msg_recv(int sock, struct sim_msg *ret_msg, int *ret_fd)
{
	struct sim_fds fds;
	int rc = sim_msg_recv_fds(sock, ret_msg, &fds);

	if (rc < 0)
		return rc;
	*ret_fd = sim_fds_take(&fds, 0);
	sim_fds_close(&fds);
	return 0;
}

/* ---- handshake messages ---- */

void sim_handshake_msg_pack(const struct sim_handshake_msg *handshake, struct sim_msg_handshake *ret_packed)
{
	assert(handshake->len_bytes <= SIM_HANDSHAKE_MSG_SIZE && handshake->num_fds <= SIM_HANDSHAKE_MSG_FDS);
	memset(ret_packed, 0, sizeof(*ret_packed)); /* send no stale bytes of this memory */
	ret_packed->len_bytes = handshake->len_bytes;
	ret_packed->num_fds = handshake->num_fds;
	memcpy(ret_packed->body, handshake->body, handshake->len_bytes);
}

int sim_handshake_msg_check(const struct sim_msg_handshake *packed, const struct sim_fds *fds)
{
	if (packed->len_bytes > SIM_HANDSHAKE_MSG_SIZE || packed->num_fds > SIM_HANDSHAKE_MSG_FDS)
		return -EPROTO;
	return packed->num_fds <= fds->count ? 0 : -EMFILE;
}

int sim_handshake_msg_unpack(const struct sim_msg_handshake *packed, struct sim_fds *fds,
			     struct sim_handshake_msg *ret_handshake)
{
	int rc = sim_handshake_msg_check(packed, fds);

	if (rc < 0)
		return rc;
	*ret_handshake = (struct sim_handshake_msg){ .len_bytes = packed->len_bytes, .num_fds = packed->num_fds };
	memcpy(ret_handshake->body, packed->body, packed->len_bytes);
	for (uint32_t i = 0; i < packed->num_fds; i++) {
		ret_handshake->fds[i] = fds->fd[i];
		fds->fd[i] = -1;
	}
	return 0;
}

void sim_handshake_msg_close(struct sim_handshake_msg *handshake)
{
	for (uint32_t i = 0; i < handshake->num_fds; i++)
		if (handshake->fds[i] >= 0) /* else its receiver has taken it */
			close(handshake->fds[i]);
	handshake->num_fds = 0;
}
