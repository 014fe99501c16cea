/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <assert.h>
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
		[SIM_MSG_LISTEN] = {WITH(listen), HEAD_BYTES},
		[SIM_MSG_UNLISTEN] = {WITH(channel), HEAD_BYTES},
		[SIM_MSG_CONNECT] = {WITH(connect), HEAD_BYTES},
		[SIM_MSG_OFFER] = {WITH(letter), 0},
		[SIM_MSG_ACCEPT] = {WITH(letter), HEAD_BYTES},
		[SIM_MSG_LETTER] = {WITH(letter), HEAD_BYTES},
		[SIM_MSG_CLOSE] = {WITH(channel), 0},
		[SIM_MSG_KNOCK] = {WITH(channel), 0},
		[SIM_MSG_BOARD] = {HEAD_BYTES, HEAD_BYTES},
		[SIM_MSG_FAULT] = {WITH(fault), WITH(fault)},
		[SIM_MSG_RECORD] = {HEAD_BYTES, 0},
		[SIM_MSG_FUNCTION] = {HEAD_BYTES, 0},
		[SIM_MSG_RECORDING] = {WITH(recording), WITH(recorded)},
	};

	return type < SIM_MSG_COUNT ? sizes[type][is_reply] : 0;
}

void sim_fds_close(struct sim_fds *fds)
{
	for (uint32_t i = 0; i < fds->count; i++)
		if (fds->fd[i] >= 0)
			close(fds->fd[i]);
	fds->count = 0;
}

int sim_msg_send_fds(int sock, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * SIM_LETTER_FDS)];
	} control = {0};
	struct iovec data = {.iov_base = msg, .iov_len = sim_msg_size(msg->type, msg->is_reply)};
	struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t sent;

	assert(num_fds <= SIM_LETTER_FDS);
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
	do {
		sent = sendmsg(sock, &packet, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
}

int sim_msg_send(int sock, struct sim_msg *msg, int fd)
{
	return sim_msg_send_fds(sock, msg, &fd, fd >= 0);
}

/* The passed descriptors; those beyond what a message may have are closed. */
static void take_fds(struct msghdr *packet, struct sim_fds *fds)
{
	fds->count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(packet); c; c = CMSG_NXTHDR(packet, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (fds->count < SIM_LETTER_FDS)
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

/* An end that closes with packets unread makes our next call say ECONNRESET,
 * once: what it had sent before is behind that. */
static ssize_t receive(int sock, struct msghdr *packet)
{
	ssize_t got;

	do {
		got = recvmsg(sock, packet, MSG_CMSG_CLOEXEC);
	} while (got < 0 && (errno == EINTR || errno == ECONNRESET));
	return got;
}

int sim_msg_recv_fds(int sock, struct sim_msg *ret_msg, struct sim_fds *ret_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * (SIM_LETTER_FDS + 1))];
	} control;
	struct iovec data = {.iov_base = ret_msg, .iov_len = sizeof(*ret_msg)};
	struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1,
				.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
	ssize_t got = receive(sock, &packet);
	struct sim_fds fds;

	if (got < 0)
		return -errno;
	take_fds(&packet, &fds);
	if (got == 0 || packet.msg_flags & MSG_TRUNC || !is_message(ret_msg, (size_t)got)) {
		sim_fds_close(&fds);
		return got == 0 ? -EPIPE : -EPROTO;
	}
	*ret_fds = fds;
	return 0;
}

int sim_msg_recv(int sock, struct sim_msg *ret_msg, int *ret_fd)
{
	struct sim_fds fds;
	int rc = sim_msg_recv_fds(sock, ret_msg, &fds);

	if (rc < 0)
		return rc;
	*ret_fd = -1;
	if (fds.count > 0) {
		*ret_fd = fds.fd[0];
		fds.fd[0] = -1;
	}
	sim_fds_close(&fds);
	return 0;
}

/* ---- letters ---- */

void sim_letter_pack(const struct sim_letter *letter, struct sim_msg_letter *ret_packed)
{
	assert(letter->len_bytes <= SIM_LETTER_SIZE && letter->num_fds <= SIM_LETTER_FDS);
	memset(ret_packed, 0, sizeof(*ret_packed)); /* what lies in memory beside it is nobody's business */
	ret_packed->len_bytes = letter->len_bytes;
	ret_packed->num_fds = letter->num_fds;
	memcpy(ret_packed->body, letter->body, letter->len_bytes);
}

int sim_letter_check(const struct sim_msg_letter *packed, const struct sim_fds *fds)
{
	if (packed->len_bytes > SIM_LETTER_SIZE || packed->num_fds > SIM_LETTER_FDS)
		return -EPROTO;
	return packed->num_fds <= fds->count ? 0 : -EMFILE;
}

int sim_letter_unpack(const struct sim_msg_letter *packed, struct sim_fds *fds, struct sim_letter *ret_letter)
{
	int rc = sim_letter_check(packed, fds);

	if (rc < 0)
		return rc;
	*ret_letter = (struct sim_letter){.len_bytes = packed->len_bytes, .num_fds = packed->num_fds};
	memcpy(ret_letter->body, packed->body, packed->len_bytes);
	for (uint32_t i = 0; i < packed->num_fds; i++) {
		ret_letter->fds[i] = fds->fd[i];
		fds->fd[i] = -1;
	}
	return 0;
}

void sim_letter_close(struct sim_letter *letter)
{
	for (uint32_t i = 0; i < letter->num_fds; i++)
		close(letter->fds[i]);
	letter->num_fds = 0;
}
