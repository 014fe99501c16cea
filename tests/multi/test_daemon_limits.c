/* SPDX-License-Identifier: BSD-3-Clause */
/* What one process may take from the daemon, and which users the daemon serves. */
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "actor.h"
#include "raw_client.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define HOST_FUNCTION 2 /* of the built-in topology */

static const struct sim_msg export_msg = {
	.type = SIM_MSG_EXPORT,
	.body.export = { .addr = 4096, .len_bytes = 4096, .access = SIM_ACCESS_READ, .function = HOST_FUNCTION }
};

static uint64_t raw_export(int sock)
{
	struct sim_msg reply = raw_call(sock, export_msg);

	assert_int_equal(reply.status, 0);
	return reply.body.exported.id;
}

/* ... and the daemon ends in order. */
static void expect_unharmed(void)
{
	actor_expect_served(test_session.dir);
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

/* ---- a process that takes too much ---- */

#define SOME_FDS 128 /* for a daemon; some of them are reserved */

static int try_attach(void)
{
	int sock = raw_connect(), rc;
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach.side = "dpu" };

	rc = raw_call(sock, msg).status;
	close(sock);
	return rc;
}

/* Exports beyond the part of one process have no object; nothing else fails. Two such processes use all descriptors up
 * but those for connections: then no further process can attach, and the status is shown. */
static void test_descriptors_are_left_for_others_and_for_the_status(void **state)
{
	int greedy[2];

	daemon_stop(&test_session.daemon);
	daemon_start_limited(&test_session.daemon, test_session.dir, SOME_FDS);
	greedy[0] = raw_attach("host");
	greedy[1] = raw_attach("host");
	for (int i = 0; i < 3 * SOME_FDS; i++)
		assert_int_equal(raw_call_fds(greedy[0], export_msg, 1), 0);
	actor_expect_served(test_session.dir);
	for (int i = 0; i < 3 * SOME_FDS; i++)
		assert_int_equal(raw_call_fds(greedy[1], export_msg, 1), 0);
	assert_true(daemon_knows(test_session.dir, getpid()));
	assert_int_equal(try_attach(), -EUSERS);
	assert_true(daemon_knows(test_session.dir, getpid()));
	close(greedy[0]);
	raw_settle(greedy[1]);
	assert_int_equal(try_attach(), 0);
	close(greedy[1]);
	expect_unharmed();
}

/* Each unread reply to a STATUS request holds a descriptor. */
static void test_unread_replies_do_not_use_all_descriptors_up(void **state)
{
	struct sim_msg status = { .type = SIM_MSG_STATUS };
	int greedy;

	daemon_stop(&test_session.daemon);
	daemon_start_limited(&test_session.daemon, test_session.dir, SOME_FDS);
	greedy = raw_attach("host");
	for (int sent = 0; sent < 1000 && sim_msg_send(greedy, &status, -1) == 0; sent++)
		if (sent % 50 == 0)
			assert_true(daemon_knows(test_session.dir, getpid()) || sent > SOME_FDS);
	actor_expect_served(test_session.dir);
	assert_false(daemon_knows(test_session.dir, getpid())); /* its connection was closed */
	close(greedy);
	expect_unharmed();
}

static void test_exports_of_one_process_are_limited(void **state)
{
	int greedy = raw_attach("host"), other = raw_attach("host");
	struct sim_msg revoke = { .type = SIM_MSG_REVOKE };

	for (int i = 0; i < SIM_MAX_EXPORTS; i++)
		revoke.body.key.id = raw_export(greedy);
	assert_int_equal(raw_call(greedy, export_msg).status, -EDQUOT);
	assert_true(daemon_knows(test_session.dir, getpid()));
	raw_export(other);
	assert_int_equal(raw_call(greedy, revoke).status, 0);
	raw_export(greedy);
	assert_int_equal(raw_call(greedy, export_msg).status, -EDQUOT);
	close(other);
	close(greedy);
	expect_unharmed();
}

/* ---- another user ---- */

#define STRANGER   23456 /* a number that no account needs to have */
#define NUM_SILENT 64    /* more connections than the daemon keeps of users that it refuses */

static void expect_refused(int dir_fd, uint16_t type)
{
	struct sim_msg msg = { .type = type, .body.attach.side = "host" };
	int sock = sim_session_dir_connect(dir_fd), fd = -1;

	CHECK(sock >= 0);
	CHECK(sim_msg_send(sock, &msg, -1) == 0);
	if (sim_msg_size(type, true) > 0) {
		CHECK(sim_msg_recv(sock, &msg, &fd) == 0);
		CHECK(msg.type == type && msg.is_reply && msg.status == -EACCES && fd < 0);
	}
	CHECK(sim_msg_recv(sock, &msg, &fd) == -EPIPE);
	close(sock);
}

static void intrude(int ctl, const void *dir_fd)
{
	int socks[NUM_SILENT];
	char byte;

	CHECK(setgroups(0, NULL) == 0 && setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
	for (uint16_t type = SIM_MSG_ATTACH; type < SIM_MSG_COUNT; type++)
		if (sim_msg_size(type, false) > 0)
			expect_refused(*(const int *)dir_fd, type);
	for (int i = 0; i < NUM_SILENT; i++)
		CHECK((socks[i] = sim_session_dir_connect(*(const int *)dir_fd)) >= 0);
	CHECK(recv(socks[NUM_SILENT - 1], &byte, 1, 0) == 0);
	proc_send(ctl, "", 1);
	proc_recv(ctl, &byte, 1);
}

/* Whatever the modes of the directory and the socket are. */
static void test_each_request_of_another_user_is_refused(void **state)
{
	int dir_fd = sim_session_dir_open(test_session.dir, false), own = raw_connect(), fds;
	struct proc stranger;
	char byte;

	if (geteuid() != 0) {
		close(dir_fd);
		close(own);
		skip();
	}
	raw_settle(own); /* the daemon has finished its start */
	fds = proc_num_fds(test_session.daemon.pid);
	assert_int_equal(chmod(test_session.dir, 0777), 0);
	assert_int_equal(fchmodat(dir_fd, "bfsimd.sock", 0777, 0), 0);
	proc_start(&stranger, intrude, &dir_fd);
	proc_recv(stranger.ctl, &byte, 1);
	actor_expect_served(test_session.dir);
	proc_send(stranger.ctl, "", 1);
	proc_end(&stranger);
	proc_await_fds(test_session.daemon.pid, fds);
	close(own);
	close(dir_fd);
	expect_unharmed();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_descriptors_are_left_for_others_and_for_the_status),
		TEST(test_unread_replies_do_not_use_all_descriptors_up),
		TEST(test_exports_of_one_process_are_limited),
		TEST(test_each_request_of_another_user_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
