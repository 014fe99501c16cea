/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels when an end or the daemon is killed; processes that are stopped or have no free descriptor. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "channel_actor.h"

#define PATIENT_MS PROC_DEADLINE_MS
#define MANY       40

static struct channel_actor dpu, host;

static int setup(void **state)
{
	session_setup(state);
	channel_actor_attach(&dpu, test_session.dir, "dpu");
	channel_actor_attach(&host, test_session.dir, "host");
	return 0;
}

/* Client @c of the host and channel @c of the DPU are the ends of an open one. */
static void open_channel(int c)
{
	char hello[16];

	snprintf(hello, sizeof(hello), "hi %d", c);
	assert_int_equal(channel_actor_connect(&host, c, HOST0, "echo", PATIENT_MS, hello), 0);
	channel_actor_expect_offer(&dpu, 0, c, hello);
	assert_int_equal(channel_actor_accept(&dpu, c, "welcome"), 0);
	channel_actor_expect_msg(&host, c, "welcome", 1);
}

static void serve_and_open_channel(void)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	open_channel(0);
}

/* ---- the ends ---- */

static void test_a_killed_client_is_seen_after_its_last_messages(void **state)
{
	serve_and_open_channel();
	for (int i = 0; i < 3; i++)
		assert_int_equal(channel_actor_send(&host, 0, "last words", 2), 0);
	proc_signal(&host.proc, SIGKILL);
	channel_actor_expect_status(&dpu, 0, -EPIPE);
	for (int i = 0; i < 3; i++)
		channel_actor_expect_msg(&dpu, 0, "last words", 2);
	assert_int_equal(channel_actor_send(&dpu, 0, "where are you?", 1), -EPIPE);
	channel_actor_attach(&host, test_session.dir, "host");
	open_channel(1); /* the server continues */
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

/* The daemon, stopped meanwhile, reads its closes and its death at once; there are more closes than the daemon
 * reads in one turn. */
static void test_what_a_killed_client_had_closed_before_is_not_taken_for_dead(void **state)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	for (int c = 0; c < MANY; c++)
		open_channel(c);
	proc_signal(&test_session.daemon, SIGSTOP);
	for (int c = 0; c < MANY; c++)
		channel_actor_close(&host, c, -EPROTO);
	proc_signal(&host.proc, SIGKILL);
	proc_signal(&test_session.daemon, SIGCONT);
	for (int c = 0; c < MANY; c++)
		channel_actor_expect_status(&dpu, c, -EPROTO);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

/* The daemon finds the death by a failed send, before it has read the client's messages. */
static void test_what_a_dead_client_had_said_counts_although_it_cannot_be_sent_to(void **state)
{
	serve_and_open_channel();
	proc_signal(&test_session.daemon, SIGSTOP);
	channel_actor_wake(&dpu, 0);
	channel_actor_close(&host, 0, -EPROTO);
	proc_signal(&host.proc, SIGKILL);
	proc_signal(&test_session.daemon, SIGCONT);
	channel_actor_expect_status(&dpu, 0, -EPROTO);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

static void test_a_killed_server_is_seen_by_all_its_clients(void **state)
{
	serve_and_open_channel();
	assert_int_equal(channel_actor_connect(&host, 1, HOST0, "echo", PATIENT_MS, "taken"), 0);
	channel_actor_expect_offer(&dpu, 0, 1, "taken");
	assert_int_equal(channel_actor_connect(&host, 2, HOST0, "echo", PATIENT_MS, "not taken"), 0);
	assert_int_equal(channel_actor_connect(&host, 3, HOST0, "else", PATIENT_MS, "waits for another"), 0);
	proc_signal(&dpu.proc, SIGKILL);
	for (int c = 0; c < 3; c++)
		channel_actor_expect_status(&host, c, -EPIPE);
	channel_actor_expect_status(&host, 3, -EINPROGRESS);
	channel_actor_attach(&dpu, test_session.dir, "dpu");
	serve_and_open_channel(); /* its name is free */
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

static void test_a_server_that_leaves_in_order_differs_from_a_dead_one(void **state)
{
	serve_and_open_channel();
	assert_int_equal(channel_actor_connect(&host, 1, HOST0, "echo", PATIENT_MS, "not taken"), 0);
	channel_actor_detach(&dpu);
	channel_actor_expect_status(&host, 0, -ECONNRESET);
	channel_actor_expect_status(&host, 1, -ECONNREFUSED);
	channel_actor_detach(&host);
	daemon_stop(&test_session.daemon);
}

static void test_a_client_killed_while_it_waits_is_forgotten(void **state)
{
	pid_t pid = host.proc.pid;
	struct channel_actor second;
	int before = proc_num_fds(test_session.daemon.pid);

	channel_actor_attach(&second, test_session.dir, "host");
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "dead"), 0);
	proc_signal(&host.proc, SIGKILL);
	assert_true(daemon_forgets(test_session.dir, pid));
	assert_int_equal(channel_actor_connect(&second, 0, HOST0, "echo", PATIENT_MS, "alive"), 0);
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "alive");
	proc_await_fds(test_session.daemon.pid, before); /* the hellos' descriptors are closed */
	channel_actor_detach(&second);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

/* Count a process's open files that came with messages. */
static int count_message_files(pid_t pid)
{
	char path[300], target[64];
	struct dirent *entry;
	int count = 0;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	assert_non_null(fds);
	while ((entry = readdir(fds)) != NULL) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		count += strncmp(target, "/memfd:message", 14) == 0;
	}
	closedir(fds);
	return count;
}

/* A forked child has copies of all descriptors; without the session the copies keep nothing open. */
static void test_a_forked_child_does_not_keep_its_parents_channels_open(void **state)
{
	pid_t child;

	serve_and_open_channel();
	channel_actor_expect_notification(&host, 0);
	assert_int_equal(channel_actor_send(&dpu, 0, "untaken", 3), 0);
	channel_actor_expect_notification(&host, 0); /* the message is there */
	child = channel_actor_fork(&host);
	assert_int_equal(count_message_files(host.proc.pid), 3);
	for (int64_t end = proc_now_ms() + PROC_DEADLINE_MS; count_message_files(child) > 0;) /* once it has run */
		assert_true(proc_now_ms() < end);
	assert_int_equal(channel_actor_send(&host, 0, "still here", 1), 0);
	channel_actor_expect_msg(&dpu, 0, "still here", 1);
	channel_actor_expect_msg(&host, 0, "untaken", 3);
	proc_signal(&host.proc, SIGKILL);
	channel_actor_expect_status(&dpu, 0, -EPIPE);
	assert_int_equal(kill(child, SIGKILL), 0);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

/* ---- the daemon ---- */

static void expect_all_lost(void)
{
	channel_actor_expect_status(&host, 0, -ESHUTDOWN);
	channel_actor_expect_status(&host, 1, -ESHUTDOWN);
	channel_actor_expect_status(&dpu, 0, -ESHUTDOWN);
	channel_actor_expect_msg(&dpu, 0, "before", 1);
	assert_int_equal(channel_actor_send(&host, 0, "after", 1), -ESHUTDOWN);
	assert_int_equal(channel_actor_listen(&dpu, 1, DPU0, HOST0, "more"), -ESHUTDOWN);
	assert_int_equal(channel_actor_connect(&host, 2, HOST0, "echo", 0, "hi"), -ESHUTDOWN);
	channel_actor_wake(&host, 0);
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
}

static void test_when_the_daemon_is_killed_all_channels_are_lost(void **state)
{
	serve_and_open_channel();
	assert_int_equal(channel_actor_connect(&host, 1, HOST0, "else", PATIENT_MS, "waits"), 0);
	assert_int_equal(channel_actor_send(&host, 0, "before", 1), 0);
	proc_signal(&test_session.daemon, SIGKILL);
	expect_all_lost();
}

static void test_when_the_daemon_is_asked_to_end_all_channels_are_lost(void **state)
{
	serve_and_open_channel();
	assert_int_equal(channel_actor_connect(&host, 1, HOST0, "else", PATIENT_MS, "waits"), 0);
	assert_int_equal(channel_actor_send(&host, 0, "before", 1), 0);
	daemon_stop(&test_session.daemon);
	expect_all_lost();
}

/* ---- processes that do not read, and servers that do not accept ---- */

static void test_a_listener_that_never_accepts_does_no_harm(void **state)
{
	struct channel_actor second;

	channel_actor_attach(&second, test_session.dir, "dpu");
	assert_int_equal(channel_actor_listen(&second, 0, DPU0, HOST0, "deaf"), 0);
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	for (int c = 100; c < 200; c++)
		assert_int_equal(channel_actor_connect(&host, c, HOST0, "deaf", 1, "hello?"), 0);
	open_channel(0);
	channel_actor_expect_status(&host, 100, -EINPROGRESS); /* the client found its server; the server decides */
	channel_actor_close(&host, 100, -ECONNRESET);
	channel_actor_detach(&second);
	for (int c = 101; c < 200; c++)
		channel_actor_expect_status(&host, c, -ECONNREFUSED);
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

/* The daemon keeps messages for a stopped process up to its limit and refuses more. It serves all others, and the
 * process stays on the card. */
static void test_a_sender_that_floods_a_stopped_process_is_refused(void **state)
{
	struct channel_actor other;
	int refused = 0;

	serve_and_open_channel();
	open_channel(1);
	channel_actor_attach(&other, test_session.dir, "dpu");
	assert_int_equal(channel_actor_listen(&other, 0, DPU1, HOST1, "echo"), 0);
	proc_signal(&dpu.proc, SIGSTOP);
	while (refused == 0)
		refused = channel_actor_send(&host, 0, "flood", 3);
	assert_int_equal(refused, -ENOBUFS);
	channel_actor_expect_status(&host, 0, -ENOBUFS);
	assert_int_equal(channel_actor_connect(&host, 2, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_status(&host, 2, -EBUSY);
	assert_int_equal(channel_actor_connect(&host, 3, HOST1, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_offer(&other, 0, 0, "hi");
	assert_in_range(proc_num_fds(test_session.daemon.pid), 0, 1000); /* bounded, too */
	proc_signal(&dpu.proc, SIGCONT);
	channel_actor_expect_status(&dpu, 0, -ENOBUFS);
	assert_int_equal(channel_actor_send(&dpu, 1, "awake", 1), 0);
	channel_actor_expect_msg(&host, 1, "awake", 1);
	channel_actor_detach(&other);
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

static void test_a_channel_whose_descriptors_find_no_room_is_closed_at_both_ends(void **state)
{
	serve_and_open_channel();
	open_channel(1);
	channel_actor_limit_fds(&host, 1);
	assert_int_equal(channel_actor_send(&dpu, 0, "too much", 3), 0);
	channel_actor_expect_status(&host, 0, -EMFILE);
	channel_actor_expect_status(&dpu, 0, -ECONNRESET);
	assert_false(channel_actor_has_msg(&host, 0));
	assert_int_equal(channel_actor_send(&dpu, 1, "fits", 1),
			 0); /* no descriptor leaked, and other connections work */
	channel_actor_expect_msg(&host, 1, "fits", 1);
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

static void test_a_server_without_room_for_a_hello_says_that_it_is_busy(void **state)
{
	serve_and_open_channel();
	channel_actor_limit_fds(&dpu, 0);
	assert_int_equal(channel_actor_connect(&host, 1, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_status(&host, 1, -EBUSY);
	assert_int_equal(channel_actor_send(&host, 0, "no descriptor", 0), 0);
	channel_actor_expect_msg(&dpu, 0, "no descriptor", 0);
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

/* ---- what stays ---- */

static void test_descriptors_are_closed_with_what_carried_them(void **state)
{
	int at_dpu = channel_actor_count_fds(&dpu), at_host = channel_actor_count_fds(&host),
	    at_daemon = proc_num_fds(test_session.daemon.pid);

	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	for (int round = 0; round < 3; round++) {
		open_channel(0);
		for (int i = 0; i < 10; i++) /* not accepted */
			assert_int_equal(channel_actor_send(&host, 0, "untaken", 3), 0);
		channel_actor_close(&dpu, 0, -ECONNRESET);
		channel_actor_expect_status(&host, 0, -ECONNRESET);
		channel_actor_close(&host, 0, -ECONNRESET);
		assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "gives up"), 0);
		channel_actor_close(&host, 0, -ECONNRESET);
		assert_int_equal(channel_actor_connect(&host, 1, HOST1, "nobody", 0, "expires"), 0);
		channel_actor_expect_status(&host, 1, -ECONNREFUSED); /* the daemon has read what came before */
		channel_actor_close(&host, 1, -ECONNRESET);
		assert_int_equal(channel_actor_listen(&dpu, 1, DPU0, HOST0, "other"), 0); /* and so has the server */
		channel_actor_unlisten(&dpu, 1);
	}
	channel_actor_unlisten(&dpu, 0);
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0); /* the daemon has read all before */
	assert_int_equal(channel_actor_count_fds(&dpu), at_dpu);
	assert_int_equal(channel_actor_count_fds(&host), at_host);
	proc_await_fds(test_session.daemon.pid, at_daemon);
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

static void test_the_status_lists_services_and_channels(void **state)
{
	char text[65536];

	serve_and_open_channel();
	assert_int_equal(channel_actor_connect(&host, 1, HOST1, "else", PATIENT_MS, "waits"), 0);
	daemon_read_status(test_session.dir, text, sizeof(text));
	assert_non_null(strstr(text, "\"services\":[{\"peer\":0,\"name\":\"echo\",\"side\":\"dpu\",\"function\":"
				     "\"0000:03:00.0\",\"rep_side\":\"host\",\"rep\":\"0000:b1:00.0\"}]"));
	assert_non_null(strstr(text, "\"channels\":[{\"name\":\"echo\",\"state\":\"open\",\"client\":1,\"client_side\":"
				     "\"host\",\"client_function\":\"0000:b1:00.0\",\"server\":0,\"server_side\":"
				     "\"dpu\",\"server_function\":\"0000:03:00.0\"},{\"name\":\"else\",\"state\":"
				     "\"pending\",\"client\":1,\"client_side\":\"host\",\"client_function\":"
				     "\"0000:b1:00.1\"}]"));
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_killed_client_is_seen_after_its_last_messages),
		TEST(test_what_a_killed_client_had_closed_before_is_not_taken_for_dead),
		TEST(test_what_a_dead_client_had_said_counts_although_it_cannot_be_sent_to),
		TEST(test_a_killed_server_is_seen_by_all_its_clients),
		TEST(test_a_server_that_leaves_in_order_differs_from_a_dead_one),
		TEST(test_a_client_killed_while_it_waits_is_forgotten),
		TEST(test_a_forked_child_does_not_keep_its_parents_channels_open),
		TEST(test_when_the_daemon_is_killed_all_channels_are_lost),
		TEST(test_when_the_daemon_is_asked_to_end_all_channels_are_lost),
		TEST(test_a_listener_that_never_accepts_does_no_harm),
		TEST(test_a_sender_that_floods_a_stopped_process_is_refused),
		TEST(test_a_channel_whose_descriptors_find_no_room_is_closed_at_both_ends),
		TEST(test_a_server_without_room_for_a_hello_says_that_it_is_busy),
		TEST(test_descriptors_are_closed_with_what_carried_them),
		TEST(test_the_status_lists_services_and_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
