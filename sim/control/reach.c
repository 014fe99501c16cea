/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets between a command and its helper on another machine. */
#include "reach.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "sim/protocol/wire.h"

static bool has_number(enum sim_reach_kind kind)
{
	return kind == SIM_REACH_SIGNAL || kind == SIM_REACH_EXIT || kind == SIM_REACH_LOST || kind == SIM_REACH_ROOM;
}

int sim_reach_open(int dir_fd, const char *machine, enum sim_reach_service service, int *ret_sock)
{
	struct sim_msg msg = { .type = SIM_MSG_REACH, .body.reach.service = service };
	int pair[2], rc;

	if (strlen(machine) >= sizeof(msg.body.reach.machine))
		return -ENAMETOOLONG;
	strcpy(msg.body.reach.machine, machine);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	rc = sim_control_exchange(dir_fd, &msg, pair[1], NULL);
	if (rc == 0)
		rc = msg.status;
	close(pair[1]);
	if (rc == 0)
		*ret_sock = pair[0];
	else
		close(pair[0]);
	return rc;
}

int sim_reach_send(int sock, enum sim_reach_kind kind, const void *bytes, size_t len)
{
	uint8_t first = (uint8_t)kind;
	struct iovec parts[] = { { &first, 1 }, { (void *)bytes, len } };
	const struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };

	return sim_msg_send_packet(sock, &packet);
}

int sim_reach_send_number(int sock, enum sim_reach_kind kind, int32_t number)
{
	return sim_reach_send(sock, kind, &number, sizeof(number));
}

int sim_reach_check(const uint8_t *raw, size_t len, struct sim_reach_packet *ret_packet)
{
	if (len < 1 || len > 1 + SIM_REACH_MAX_BYTES || raw[0] == 0 || raw[0] >= SIM_REACH_NUM_KINDS)
		return -EPROTO;
	ret_packet->kind = raw[0];
	ret_packet->len = len - 1;
	ret_packet->number = 0;
	if (has_number(ret_packet->kind) && ret_packet->len != sizeof(ret_packet->number))
		return -EPROTO;
	memcpy(ret_packet->bytes, raw + 1, ret_packet->len);
	ret_packet->bytes[ret_packet->len] = '\0';
	if (has_number(ret_packet->kind))
		memcpy(&ret_packet->number, raw + 1, sizeof(ret_packet->number));
	return 0;
}

int sim_reach_recv(int sock, struct sim_reach_packet *ret_packet, int timeout_ms)
{
	struct pollfd readable = { .fd = sock, .events = POLLIN };
	uint8_t raw[SIM_REACH_MAX_BYTES + 2];
	ssize_t len;
	int count;

	do {
		count = poll(&readable, 1, timeout_ms);
	} while (count < 0 && errno == EINTR);
	if (count == 0)
		return -ETIMEDOUT;
	do { /* after an end that left something unread, what the other side said before is still there */
		len = recv(sock, raw, sizeof(raw), 0);
	} while (len < 0 && (errno == EINTR || errno == ECONNRESET));
	if (len <= 0)
		return -EPIPE;
	return sim_reach_check(raw, (size_t)len, ret_packet);
}

int sim_reach_words(struct sim_reach_packet *packet, char ***ret_words)
{
	size_t count = 0, at = 0;
	char **words;

	if (packet->len == 0 || packet->bytes[packet->len - 1] != '\0')
		return -EPROTO;
	for (size_t i = 0; i < packet->len; i++)
		count += packet->bytes[i] == '\0';
	words = calloc(count + 1, sizeof(*words));
	if (!words)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		words[i] = (char *)packet->bytes + at;
		at += strlen(words[i]) + 1;
	}
	*ret_words = words;
	return (int)count;
}
