/* SPDX-License-Identifier: BSD-3-Clause */
/* Hostile processes at the daemon's socket: random and changed messages with random descriptors, and floods of them. An
 * exporter and an importer are served meanwhile. */
#include "hostile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define MESSAGES    400 /* of one hostile process */
#define CONNECTIONS 200
#define REQUESTS    10 /* on each of them */

static int connect_to(const struct bout *bout)
{
	int dir_fd = sim_session_dir_open(bout->dir, false), sock;

	CHECK(dir_fd >= 0);
	sock = sim_session_dir_connect(dir_fd);
	close(dir_fd);
	return sock;
}

static void fill(struct bout *bout, void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)bytes)[i] = (uint8_t)bout_random(bout, 256);
}

/* Of any kind that a message may bring. */
static int random_fd(struct bout *bout)
{
	int fds[2];

	switch (bout_random(bout, 6)) {
	case 0:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 1:
		return eventfd(0, EFD_CLOEXEC);
	case 2:
		return memfd_create("short", MFD_CLOEXEC);
	case 3:
		return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	case 4:
		return connect_to(bout);
	default:
		CHECK(pipe2(fds, O_CLOEXEC) == 0);
		close(fds[0]);
		return fds[1];
	}
}

static struct sim_msg attach_msg(struct bout *bout)
{
	struct sim_msg msg = { .version = SIM_WIRE_VERSION, .type = SIM_MSG_ATTACH, .body.attach.pid = getpid() };

	strcpy(msg.body.attach.side, bout_random(bout, 2) ? "host" : "dpu");
	return msg;
}

/* A message with valid head and random body, or small numbers in the body, or random altogether. Not SHUTDOWN: that
 * ends the session by right. */
static size_t make_message(struct bout *bout, struct sim_msg *msg)
{
	size_t len;

	memset(msg, 0, sizeof(*msg));
	switch (bout_random(bout, 4)) {
	case 0:
		fill(bout, msg, sizeof(*msg));
		break;
	case 1:
		fill(bout, &msg->body, sizeof(msg->body));
		break;
	case 2:
		fill(bout, &msg->body, 8 * (1 + bout_random(bout, 4)));
		break;
	default:
		for (size_t i = 0; i < 64; i += 8)
			((uint8_t *)&msg->body)[i] = (uint8_t)bout_random(bout, 3);
	}
	msg->version = SIM_WIRE_VERSION;
	msg->type = (uint16_t)bout_random(bout, SIM_MSG_COUNT + 1);
	if (msg->type == SIM_MSG_SHUTDOWN)
		msg->type = SIM_MSG_CONNECT;
	msg->is_reply = bout_random(bout, 8) == 0;
	msg->seq = bout_random(bout, 4);
	len = sim_msg_size(msg->type, msg->is_reply);
	return len == 0 || bout_random(bout, 10) == 0 ? bout_random(bout, sizeof(*msg)) : len;
}

static ssize_t send_raw(int sock, const void *bytes, size_t len, const int *fds, size_t num_fds)
{
	union {
		char space[CMSG_SPACE(sizeof(int) * 32)];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, len };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };

	if (num_fds > 0) {
		packet.msg_control = &control;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * num_fds);
		CMSG_FIRSTHDR(&packet)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&packet)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&packet)->cmsg_len = CMSG_LEN(sizeof(int) * num_fds);
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&packet)), fds, sizeof(int) * num_fds);
	}
	return sendmsg(sock, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_something(struct bout *bout, int sock)
{
	struct sim_msg msg;
	size_t len = make_message(bout, &msg), num_fds = bout_random(bout, 4) == 0 ? bout_random(bout, 5) : 0;
	int fds[4] = { -1, -1, -1, -1 }, got = 0;

	for (size_t i = 0; i < num_fds; i++) {
		fds[got] = random_fd(bout);
		got += fds[got] >= 0;
	}
	send_raw(sock, &msg, len, fds, (size_t)got);
	for (int i = 0; i < got; i++)
		close(fds[i]);
}

static int say_nonsense(struct bout *bout, int unused)
{
	struct sim_msg msg;
	int sock = -1;

	bout->random += bout->num_parties; /* each its own */
	for (int i = 0; i < MESSAGES; i++) {
		if (sock < 0 || bout_random(bout, 12) == 0) {
			if (sock >= 0)
				close(sock);
			sock = connect_to(bout);
			msg = attach_msg(bout);
			if (bout_random(bout, 5) > 0)
				send_raw(sock, &msg, sim_msg_size(SIM_MSG_ATTACH, false), NULL, 0);
		}
		say_something(bout, sock);
		if (bout_random(bout, 2) == 0)
			recv(sock, &msg, sizeof(msg), MSG_DONTWAIT);
	}
	close(sock);
	return ROLE_REFUSED;
}

/* The honest pair is served: both end well. */
static void expect_service(struct bout *bout)
{
	struct party *exporter, *importer;
	int socks[2];

	bout_pair(socks);
	exporter = bout_start(bout, "exporter", "host", role_exporter, socks[0]);
	importer = bout_start(bout, "importer", "dpu", role_importer, socks[1]);
	close(socks[0]);
	close(socks[1]);
	if (bout_wait(bout, importer) && bout_wait(bout, exporter) && importer->status + exporter->status != 0)
		bout_defect(bout, &bout->tally->wrong, "an honest pair was not served", "daemon");
}

static void talk_nonsense(struct bout *bout)
{
	bout_session(bout);
	for (int i = 0; i < 3; i++)
		bout_start(bout, "liar", i % 2 ? "host" : "dpu", say_nonsense, -1);
	bout->tally->tried += 3 * MESSAGES;
	expect_service(bout);
}

const struct attack attack_protocol = { "protocol", attack_no_path, 100, 4, talk_nonsense };

/* Requests whose replies are not read, and more connections than the daemon takes. */
static int flood(struct bout *bout, int unused)
{
	struct sim_msg status = { .version = SIM_WIRE_VERSION, .type = SIM_MSG_STATUS }, attach = attach_msg(bout);
	int socks[CONNECTIONS];
	int count = 0;

	while (count < CONNECTIONS && (socks[count] = connect_to(bout)) >= 0)
		count++;
	for (int round = 0; round < REQUESTS; round++)
		for (int i = 0; i < count; i++) {
			if (round == 0)
				send_raw(socks[i], &attach, sim_msg_size(SIM_MSG_ATTACH, false), NULL, 0);
			send_raw(socks[i], &status, sim_msg_size(SIM_MSG_STATUS, false), NULL, 0);
		}
	for (int i = 0; i < count; i++)
		close(socks[i]);
	return ROLE_REFUSED;
}

static void flood_daemon(struct bout *bout)
{
	bout_session(bout);
	bout_start(bout, "flooder", "dpu", flood, -1);
	bout->tally->tried += CONNECTIONS * REQUESTS;
	expect_service(bout);
}

const struct attack attack_flood = { "flood", attack_no_path, 10, 1, flood_daemon };
