/* SPDX-License-Identifier: BSD-3-Clause */
/* The bare means of control operations: packets through a third process. */
#include "broker.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"

struct packet {
	enum bench_packet_kind kind;
	uint8_t rest[BENCH_PACKET_BYTES - sizeof(enum bench_packet_kind)];
};

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_packet(int fd, struct packet *packet, int passed_fd)
{
	union control control = { 0 };
	struct iovec data = { .iov_base = packet, .iov_len = sizeof(*packet) };
	struct msghdr msg = { .msg_iov = &data, .msg_iovlen = 1 };

	if (passed_fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		CMSG_FIRSTHDR(&msg)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&msg)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&msg)->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &passed_fd, sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) == sizeof(*packet) ? 0 : -1;
}

static int receive_packet(int fd, struct packet *packet, int *ret_fd)
{
	union control control;
	struct iovec data = { .iov_base = packet, .iov_len = sizeof(*packet) };
	struct msghdr msg = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};
	const struct cmsghdr *passed;

	*ret_fd = -1;
	if (recvmsg(fd, &msg, MSG_CMSG_CLOEXEC) != sizeof(*packet))
		return -1;
	passed = CMSG_FIRSTHDR(&msg);
	if (passed && passed->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(passed), sizeof(int));
	return 0;
}

/* ---- the broker ---- */

static int serve_one(const int ends[2], int from)
{
	struct packet packet;
	int passed_fd, rc;

	if (receive_packet(ends[from], &packet, &passed_fd) < 0)
		return -1;
	rc = packet.kind == BENCH_PACKET_TELL ?
		     0 :
		     send_packet(ends[packet.kind == BENCH_PACKET_PASS ? !from : from], &packet, passed_fd);
	if (passed_fd >= 0)
		close(passed_fd);
	return rc;
}

/* Until @fd, which is the third, has something. */
static int run(void *arg, int fd)
{
	const int *ends = arg, fds[] = { ends[0], ends[1], fd };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	for (uint32_t i = 0; i < 3; i++) {
		event = (struct epoll_event){ .events = EPOLLIN, .data.u32 = i };
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fds[i], &event) < 0)
			return bench_fail("epoll_ctl: %s", strerror(errno));
	}
	while (epoll_wait(epoll_fd, &event, 1, -1) == 1 && event.data.u32 < 2)
		if (serve_one(ends, (int)event.data.u32) < 0)
			return bench_fail("the broker has lost an end");
	return 0;
}

int bench_broker_start(struct bench_broker *broker)
{
	int host[2], dpu[2], ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, host) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, dpu) < 0)
		return bench_fail("socketpair: %s", strerror(errno));
	ends[0] = host[1];
	ends[1] = dpu[1];
	rc = bench_process_fork(run, ends, &broker->process);
	close(host[1]);
	close(dpu[1]);
	broker->host = host[0];
	broker->dpu = dpu[0];
	return rc;
}

int bench_broker_end(struct bench_broker *broker)
{
	int rc = bench_process_end(&broker->process);

	close(broker->host);
	close(broker->dpu);
	return rc;
}

/* ---- the ends ---- */

int bench_packet_send(int fd, enum bench_packet_kind kind, int passed_fd)
{
	struct packet packet = { .kind = kind };

	return send_packet(fd, &packet, passed_fd);
}

int bench_packet_receive(int fd, int *ret_fd)
{
	struct packet packet;

	return receive_packet(fd, &packet, ret_fd);
}

int bench_packet_ask(int fd)
{
	int passed_fd;

	return bench_packet_send(fd, BENCH_PACKET_ASK, -1) < 0 ? -1 : bench_packet_receive(fd, &passed_fd);
}
