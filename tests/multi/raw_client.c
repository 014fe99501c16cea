/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends single messages of the daemon's protocol and receives the replies. */
#include "cmocka_test.h"
#include "raw_client.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session_util.h"
#include "sim/daemon/daemon.h"
#include "sim/protocol/session_dir.h"

int raw_connect(void)
{
	int dir_fd = sim_session_dir_open(test_session.dir, false), sock = sim_session_dir_connect(dir_fd);

	assert_true(sock >= 0);
	close(dir_fd);
	return sock;
}

int raw_attach(const char *side)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach.pid = getpid() };
	int sock = raw_connect();

	strncpy(msg.body.attach.side, side, sizeof(msg.body.attach.side) - 1);
	assert_int_equal(raw_call(sock, msg).status, 0);
	return sock;
}

void raw_send(int sock, struct sim_msg msg, int fd)
{
	assert_int_equal(sim_msg_send(sock, &msg, fd), 0);
}

struct sim_msg raw_recv(int sock)
{
	struct sim_msg msg;
	int fd = -1;

	assert_true(proc_readable_within(sock, PROC_DEADLINE_MS));
	assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
	if (fd >= 0)
		close(fd);
	return msg;
}

static struct sim_msg call(int sock, struct sim_msg msg, uint32_t num_fds)
{
	static uint64_t seq;

	msg.seq = ++seq;
	assert_int_equal(sim_msg_send_fds(sock, &msg, (int[]){ 2, 2, 2 }, num_fds), 0);
	do
		msg = raw_recv(sock);
	while (!msg.is_reply || msg.seq != seq);
	return msg;
}

struct sim_msg raw_call(int sock, struct sim_msg msg)
{
	return call(sock, msg, 0);
}

int raw_call_fds(int sock, struct sim_msg msg, uint32_t num_fds)
{
	return call(sock, msg, num_fds).status;
}

void raw_settle(int sock)
{
	for (int i = 0; i < 2 * SIM_DAEMON_PACKETS_PER_STEP + 1; i++)
		assert_true(raw_call(sock, (struct sim_msg){ .type = SIM_MSG_ATTACH }).status < 0);
}
