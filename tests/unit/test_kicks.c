/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/kick.h: who is asked for a descriptor, how often, and what becomes of it. The test is the owner of the peer's session, and
 * carries the descriptors. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "open_fds.h"
#include "sim/engine/engine.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/wire.h"
#include "sim/session/kick.h"
#include "sim/session/session_priv.h"
#include "sim/shm/wake.h"
#include "unordered.h"

static struct sim_session peer, target;
static struct sim_engine *engine;
static int epoll_fd;
static const struct sim_remote memory = { .key = 5, .exporter_id = 7 }, other = { .key = 6, .exporter_id = 8 },
			       own = { .key = 4, .exporter_id = 1 };

static struct {
	unsigned int count;
	int rc;
	void (*done)(void *arg, struct sim_fds *fds);
	void *arg;
} asked;

static int ask(struct sim_owner *owner, uint64_t key, void (*done)(void *arg, struct sim_fds *fds), void *arg)
{
	asked.count++;
	asked.done = done;
	asked.arg = arg;
	return asked.rc;
}

static const struct sim_owner_memory_ops memory_ops = { .ask_for_kicks = ask };
static struct sim_owner owner = { .memory = &memory_ops };

static unsigned int num_fds_before;

static int set_up(void **state)
{
	num_fds_before = count_open_fds();
	memset(&asked, 0, sizeof(asked));
	peer = (struct sim_session){ .owner = &owner, .self.id = 1 };
	target = (struct sim_session){ .owner = &owner, .self.id = 7 };
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return sim_engine_create(&engine) < 0 || sim_kicks_create(engine, epoll_fd, &peer.kicks) < 0 ||
	       sim_kicks_create(engine, epoll_fd, &target.kicks) < 0;
}

static int tear_down(void **state)
{
	sim_kicks_destroy(peer.kicks);
	sim_kicks_destroy(target.kicks);
	sim_engine_destroy(engine);
	close(epoll_fd);
	assert_int_equal(count_open_fds(), num_fds_before);
	return 0;
}

/* @fd: -1 = the process had none to give. It is the kicks' now. */
static void answer_with(int fd)
{
	struct sim_fds fds = { .count = fd >= 0, .fd = { fd } };

	asked.done(asked.arg, &fds);
}

static int describe(void)
{
	int fd;

	assert_int_equal(sim_kicks_describe(target.kicks, &fd), 0);
	return fd;
}

/* Whether a kick has come; then it is answered, and counted once. */
static bool was_kicked(void)
{
	uint64_t before = sim_session_num_kicks(&target);
	struct epoll_event event;

	if (epoll_wait(epoll_fd, &event, 1, 0) == 0)
		return false;
	assert_int_equal(event.data.u64, SIM_OWNER_KICK_TAG);
	sim_kicks_answer(target.kicks);
	assert_int_equal(sim_session_num_kicks(&target), before + 1);
	return true;
}

static void test_process_is_asked_once_and_kicked_then(void **state)
{
	struct sim_kick_target *kicks = sim_session_get_kick_target(&peer, &memory);

	for (int i = 0; i < 3; i++)
		sim_session_kick(&peer, kicks, &memory);
	assert_int_equal(asked.count, 1);
	answer_with(describe());
	assert_true(was_kicked()); /* the kick for which it was asked */
	assert_false(was_kicked());
	sim_session_kick(&peer, kicks, &memory);
	assert_true(was_kicked());
	assert_int_equal(asked.count, 1);
	sim_session_put_kick_target(&peer, kicks);
}

static void test_own_process_is_not_asked(void **state)
{
	struct sim_kick_target *kicks = sim_session_get_kick_target(&peer, &own);

	sim_session_kick(&peer, kicks, &own);
	assert_int_equal(asked.count, 0);
	assert_int_equal(sim_session_num_kicks(&peer), 1);
	assert_int_equal(sim_session_num_kicks(&target), 0);
	sim_session_put_kick_target(&peer, kicks);
}

/* The descriptor stays as long as there is a user, and no longer. */
static void test_users_of_one_process_share_its_descriptor(void **state)
{
	struct sim_kick_target *first = sim_session_get_kick_target(&peer, &memory),
			       *second = sim_session_get_kick_target(&peer, &memory),
			       *another = sim_session_get_kick_target(&peer, &other);
	struct sim_wake wake;

	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, another);
	assert_int_equal(sim_wake_open(&wake), 0);
	sim_session_kick(&peer, first, &memory);
	answer_with(wake.send_fd);
	assert_true(sim_wake_clear(&wake));
	sim_session_put_kick_target(&peer, first);
	assert_true(sim_wake_clear(&wake));
	sim_session_put_kick_target(&peer, second);
	assert_false(sim_wake_clear(&wake)); /* the other end is closed */
	close(wake.recv_fd);
	sim_session_put_kick_target(&peer, another);
	sim_session_put_kick_target(&peer, NULL);
}

/* Without one, with one that is no socket of kicks, and when there was no question. */
static void test_process_is_asked_again_after_an_answer_without_a_descriptor(void **state)
{
	struct sim_kick_target *kicks = sim_session_get_kick_target(&peer, &memory);
	int fds[2];
	char byte;

	sim_session_kick(&peer, kicks, &memory);
	answer_with(-1);
	sim_session_kick(&peer, kicks, &memory);
	assert_int_equal(asked.count, 2);
	assert_int_equal(pipe(fds), 0);
	answer_with(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0); /* it is closed, and nothing was written */
	close(fds[0]);
	asked.rc = -ENOMEM;
	sim_session_kick(&peer, kicks, &memory);
	asked.rc = 0;
	sim_session_kick(&peer, kicks, &memory);
	assert_int_equal(asked.count, 4);
	answer_with(describe());
	assert_true(was_kicked());
	sim_session_put_kick_target(&peer, kicks);
}

/* Another peer has shut the sockets down: the process makes new ones, and the kick is not lost. */
static void test_sockets_that_were_shut_down_are_replaced(void **state)
{
	struct sim_kick_target *kicks = sim_session_get_kick_target(&peer, &memory);
	int hostile;

	sim_session_kick(&peer, kicks, &memory);
	answer_with(describe());
	assert_true(was_kicked());
	hostile = describe();
	assert_int_equal(shutdown(hostile, SHUT_RDWR), 0);
	close(hostile);
	sim_session_kick(&peer, kicks, &memory);
	assert_int_equal(asked.count, 2);
	answer_with(describe());
	assert_true(was_kicked());
	assert_false(was_kicked());
	sim_session_put_kick_target(&peer, kicks);
}

/* Who asks later gets the same sockets, and who has asked before keeps his. */
static void test_peers_share_the_sockets(void **state)
{
	int fds[2] = { describe(), describe() };

	for (int i = 0; i < 2; i++) {
		assert_int_equal(sim_wake_send(fds[i]), 0);
		assert_true(was_kicked());
		close(fds[i]);
	}
}

static void test_closed_kicks_give_no_descriptor_and_count_no_more(void **state)
{
	int fd = describe(), none;
	uint64_t before = sim_session_num_kicks(&target);

	sim_kicks_close(target.kicks);
	assert_int_equal(sim_kicks_describe(target.kicks, &none), -ESTALE);
	sim_kicks_answer(target.kicks);
	assert_int_equal(sim_session_num_kicks(&target), before);
	assert_true(sim_wake_send(fd) < 0);
	close(fd);
}

/* Bytes to another program's socket would be its data. */
static void test_answer_with_another_kind_of_socket_is_closed_and_gets_no_byte(void **state)
{
	struct sim_kick_target *kicks = sim_session_get_kick_target(&peer, &memory);
	int socks[2];
	char byte;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
	sim_session_kick(&peer, kicks, &memory);
	answer_with(socks[0]);
	assert_int_equal(read(socks[1], &byte, 1), 0);
	close(socks[1]);
	sim_session_put_kick_target(&peer, kicks);
}

static void test_process_that_cannot_watch_for_kicks_gives_no_descriptor(void **state)
{
	unsigned int num_fds = count_open_fds();
	struct sim_kicks *kicks;
	int fd;

	assert_int_equal(sim_kicks_create(engine, -1, &kicks), 0);
	assert_true(sim_kicks_describe(kicks, &fd) < 0);
	assert_int_equal(count_open_fds(), num_fds);
	assert_true(sim_kicks_describe(kicks, &fd) < 0); /* it does not take itself for one that watches now */
	sim_kicks_destroy(kicks);
}

#define NUM_KICK_FDS 3 /* the target's two, and the peer's copy of one */

/* The parent goes on to be kicked, and the kicks of the child's end tell it nothing. */
static void test_forked_child_that_abandons_the_kicks_has_none_of_their_descriptors(void **state)
{
	unsigned int num_fds = count_open_fds();
	struct sim_kick_target *kicks = sim_session_get_kick_target(&peer, &memory);
	struct sim_kick_target *unasked = sim_session_get_kick_target(&peer, &other);
	int status;
	pid_t pid;

	sim_session_kick(&peer, kicks, &memory);
	answer_with(describe());
	assert_true(was_kicked());
	assert_int_equal(count_open_fds(), num_fds + NUM_KICK_FDS);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) { /* valgrind gives a child descriptors of its own */
		num_fds = count_open_fds();
		sim_kicks_abandon(target.kicks);
		sim_kicks_abandon(peer.kicks);
		_exit(count_open_fds() == num_fds - NUM_KICK_FDS ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	sim_session_kick(&peer, kicks, &memory);
	assert_true(was_kicked());
	sim_session_put_kick_target(&peer, kicks);
	sim_session_put_kick_target(&peer, unasked);
}

/* ---- threads: the thread sanitizer looks on ---- */

static void describe_target(void *arg)
{
	int fd;

	if (sim_kicks_describe(target.kicks, &fd) < 0)
		abort();
	close(fd);
}

static void answer_kick(void *arg)
{
	sim_kicks_answer(target.kicks);
}

static void close_target(void *arg)
{
	sim_kicks_close(target.kicks);
}

static void get_target(void *arg)
{
	sim_session_get_kick_target(&peer, &memory);
}

static void put_target(void *kicks)
{
	sim_session_put_kick_target(&peer, kicks);
}

static void kick(void *kicks)
{
	sim_session_kick(&peer, kicks, &memory);
}

static void answer_without_a_descriptor(void *arg)
{
	answer_with(-1);
}

static void test_each_call_takes_the_lock_of_the_kicks(void **state)
{
	struct sim_kick_target *kicks = sim_session_get_kick_target(&peer, &memory);
	static struct unordered calls;

	unordered_run(&calls, describe_target, NULL);
	unordered_run(&calls, answer_kick, NULL);
	unordered_run(&calls, describe_target, NULL);
	unordered_run(&calls, close_target, NULL);
	unordered_run(&calls, answer_kick, NULL);

	sim_session_kick(&peer, kicks, &memory); /* it asks */
	unordered_run(&calls, get_target, NULL);
	unordered_run(&calls, kick, kicks);
	unordered_run(&calls, answer_without_a_descriptor, NULL);
	unordered_run(&calls, put_target, kicks);
	unordered_run(&calls, kick, kicks); /* it asks again */
	unordered_end(&calls);
	answer_with(-1);
	sim_session_put_kick_target(&peer, kicks);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(process_is_asked_once_and_kicked_then),
		TEST(own_process_is_not_asked),
		TEST(users_of_one_process_share_its_descriptor),
		TEST(process_is_asked_again_after_an_answer_without_a_descriptor),
		TEST(sockets_that_were_shut_down_are_replaced),
		TEST(peers_share_the_sockets),
		TEST(closed_kicks_give_no_descriptor_and_count_no_more),
		TEST(each_call_takes_the_lock_of_the_kicks),
		TEST(answer_with_another_kind_of_socket_is_closed_and_gets_no_byte),
		TEST(process_that_cannot_watch_for_kicks_gives_no_descriptor),
		TEST(forked_child_that_abandons_the_kicks_has_none_of_their_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
