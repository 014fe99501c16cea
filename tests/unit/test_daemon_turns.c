/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that asks the daemon for much does not hold up the others. The daemon's loop runs here, step by step. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/daemon/daemon_priv.h"
#include "sim/protocol/session_dir.h"

#define NUM_REQUESTS 8

static struct daemon card_daemon;
static char dir[sizeof("/tmp/bfsim-turns-XXXXXX")];
static int num_made;

int __real_daemon_status_fd(struct daemon *daemon);
int __wrap_daemon_status_fd(struct daemon *daemon);

int __wrap_daemon_status_fd(struct daemon *daemon)
{
	num_made++;
	return __real_daemon_status_fd(daemon);
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/bfsim-turns-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	return daemon_open(&card_daemon, &(struct sim_daemon_cfg){ .dir = dir, .ready_fd = -1 });
}

static int teardown(void **state)
{
	daemon_close(&card_daemon);
	return rmdir(dir);
}

static int attach(const char *side)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach = { .pid = getpid() } };
	int sock = sim_session_dir_connect(card_daemon.dir_fd), fd;

	assert_true(sock >= 0);
	strcpy(msg.body.attach.side, side);
	assert_int_equal(sim_msg_send(sock, &msg, -1), 0);
	while (daemon_step(&card_daemon, 0) > 0)
		;
	assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
	assert_int_equal(msg.status, 0);
	close(fd);
	return sock;
}

static void send_request(int sock, uint16_t type)
{
	struct sim_msg msg = { .type = type };

	assert_int_equal(sim_msg_send(sock, &msg, -1), 0);
}

static int count_replies(int sock)
{
	struct sim_msg msg;
	int count = 0, fd;

	fcntl(sock, F_SETFL, O_NONBLOCK);
	while (sim_msg_recv(sock, &msg, &fd) == 0) {
		count += msg.is_reply;
		if (fd >= 0)
			close(fd);
	}
	return count;
}

static void expect_turns(uint16_t type)
{
	int asking = attach("host"), other = attach("dpu");
	int num_answered;

	for (int i = 0; i < NUM_REQUESTS; i++)
		send_request(asking, type);
	send_request(other, SIM_MSG_SHARED_STATE);
	assert_int_equal(daemon_step(&card_daemon, 0), 2);
	assert_int_equal(count_replies(other), 1);
	num_answered = count_replies(asking);
	assert_int_equal(num_answered, 1);
	while (daemon_step(&card_daemon, 0) > 0)
		num_answered += count_replies(asking);
	assert_int_equal(num_answered, NUM_REQUESTS);
	close(asking);
	close(other);
	while (daemon_step(&card_daemon, 0) > 0)
		;
}

static void test_a_request_ends_its_senders_turn(void **state)
{
	expect_turns(SIM_MSG_STATUS);
	expect_turns(SIM_MSG_SHARED_STATE);
}

static void test_a_status_is_made_for_a_process_that_can_read_it(void **state)
{
	int asking = attach("host");

	num_made = 0;
	for (int i = 0; i < NUM_REQUESTS; i++)
		send_request(asking, SIM_MSG_STATUS);
	assert_int_equal(daemon_step(&card_daemon, 0), 1);
	assert_int_equal(num_made, 1);
	close(asking);
	while (daemon_step(&card_daemon, 0) > 0)
		;
	assert_int_equal(num_made, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_request_ends_its_senders_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_status_is_made_for_a_process_that_can_read_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
