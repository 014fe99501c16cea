/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/owner_call.h: requests and their replies. The test is the daemon, at the other end of the socket, and the receive
 * thread; callers are threads, and receive their own replies in the tests that watch the socket. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/protocol/session_dir.h"
#include "sim/session/owner_call.h"

#define UNTOUCHED 77

static struct sim_calls calls;
static int daemon_sock;
static unsigned int num_lines;

/* ---- time that passes at once ---- */

static unsigned int num_waits, timeout_at; /* 0 = wait as ever */
static unsigned int num_waiting;           /* so many have begun to; under the lock of the calls */
static uint64_t waited_until_ns;

int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
	num_waiting++;
	if (timeout_at == 0)
		return __real_pthread_cond_timedwait(cond, lock, until);
	waited_until_ns = (uint64_t)until->tv_sec * SIM_NS_PER_S + (uint64_t)until->tv_nsec;
	if (++num_waits > timeout_at)
		abort();
	return num_waits == timeout_at ? ETIMEDOUT : 0;
}

/* So the next receive at this end of the socket ends instead; 0 = it receives. */
static atomic_int recv_error;

ssize_t __real_recvmsg(int sock, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int sock, struct msghdr *msg, int flags);

ssize_t __wrap_recvmsg(int sock, struct msghdr *msg, int flags)
{
	int error = sock == calls.sock ? atomic_exchange(&recv_error, 0) : 0;

	if (error == 0)
		return __real_recvmsg(sock, msg, flags);
	errno = error;
	return -1;
}

static void count_line(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	num_lines++;
}

static int set_up(void **state)
{
	int socks[2];

	num_lines = num_waits = num_waiting = timeout_at = 0;
	recv_error = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
	daemon_sock = socks[1];
	sim_calls_init(&calls, socks[0]);
	sim_log_set_sink(count_line);
	return 0;
}

static int tear_down(void **state)
{
	sim_calls_fini(&calls);
	if (calls.epoll_fd >= 0)
		close(calls.epoll_fd);
	close(calls.sock);
	close(daemon_sock);
	sim_log_set_sink(NULL);
	return 0;
}

/* ---- callers ---- */

struct caller {
	struct sim_msg msg;
	bool wants_fds;
	struct sim_fds fds;
	int rc;
	pthread_t thread;
};

static void *call(void *arg)
{
	struct caller *caller = arg;

	caller->rc = sim_calls_call(&calls, &caller->msg, NULL, 0, caller->wants_fds ? &caller->fds : NULL);
	return NULL;
}

static void start(struct caller *caller, uint16_t type, bool wants_fds)
{
	*caller = (struct caller){ .msg.type = type, .wants_fds = wants_fds, .fds.count = UNTOUCHED };
	assert_int_equal(pthread_create(&caller->thread, NULL, call, caller), 0);
}

static int join(const struct caller *caller)
{
	assert_int_equal(pthread_join(caller->thread, NULL), 0);
	return caller->rc;
}

/* The next request that the daemon gets. */
static struct sim_msg get_request(void)
{
	struct sim_msg msg;
	int fd;

	assert_int_equal(sim_msg_recv(daemon_sock, &msg, &fd), 0);
	return msg;
}

static void await_waiting(void)
{
	for (bool is_waiting = false; !is_waiting; sched_yield()) {
		pthread_mutex_lock(&calls.lock);
		is_waiting = num_waiting > 0;
		pthread_mutex_unlock(&calls.lock);
	}
}

static bool has_request(void)
{
	char byte;

	return recv(daemon_sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* Answer with a descriptor, or -1. Returns whether a call took it. */
static bool answer(const struct sim_msg *request, int status, int fd)
{
	struct sim_fds fds = { .fd = { fd }, .count = fd >= 0 };
	struct sim_msg reply = *request;

	reply.is_reply = 1;
	reply.status = status;
	reply.body.key.id = 1000 + request->seq;
	sim_calls_complete(&calls, &reply, &fds);
	return fds.count == 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int new_fd(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 0);

	assert_true(fd > 0);
	return fd;
}

/* ---- replies ---- */

static void test_each_call_gets_its_reply(void **state)
{
	struct sim_msg first, second;
	struct caller a, b;

	start(&a, SIM_MSG_REVOKE, false);
	first = get_request();
	start(&b, SIM_MSG_REVOKE, false);
	second = get_request();
	assert_int_not_equal(first.seq, second.seq);
	answer(&second, -EPERM, -1);
	assert_int_equal(join(&b), -EPERM);
	answer(&first, 0, -1);
	assert_int_equal(join(&a), 0);
	assert_int_equal(a.msg.body.key.id, 1000 + first.seq);
}

/* Of a call that nobody made, of another type, of one that is over. */
static void test_replies_that_belong_to_no_call_are_ignored(void **state)
{
	struct sim_msg request, wrong;
	struct caller caller;
	int fd = new_fd();

	start(&caller, SIM_MSG_REVOKE, false);
	wrong = request = get_request();
	wrong.seq += 5;
	assert_false(answer(&wrong, -EPERM, fd));
	wrong = request;
	wrong.type = SIM_MSG_EXPORT;
	assert_false(answer(&wrong, -EPERM, fd));
	answer(&request, 0, -1);
	assert_int_equal(join(&caller), 0);
	assert_false(answer(&request, -EPERM, fd));
	assert_true(is_open(fd));
	close(fd);
}

/* The request waits for room in the socket, and its reply is there, twice: the first counts. */
static void test_the_first_reply_counts_also_before_the_request_has_left(void **state)
{
	const char filler[64] = { 0 };
	struct sim_msg request = { .type = SIM_MSG_REVOKE, .seq = 1 };
	struct caller caller;
	char bytes[4096];

	while (send(calls.sock, filler, sizeof(filler), MSG_DONTWAIT) > 0)
		;
	start(&caller, SIM_MSG_REVOKE, false);
	for (bool is_listed = false; !is_listed; sched_yield()) {
		pthread_mutex_lock(&calls.lock);
		is_listed = !LIST_EMPTY(&calls.pending);
		pthread_mutex_unlock(&calls.lock);
	}
	answer(&request, 0, -1);
	answer(&request, -EPERM, -1);
	while (recv(daemon_sock, bytes, sizeof(bytes), 0) == sizeof(filler))
		;
	assert_int_equal(join(&caller), 0);
}

/* ---- descriptors ---- */

static void test_a_caller_gets_the_descriptors_of_a_success(void **state)
{
	struct sim_msg request;
	struct caller caller;
	int fd = new_fd();

	start(&caller, SIM_MSG_IMPORT, true);
	request = get_request();
	assert_true(answer(&request, 0, fd));
	assert_int_equal(join(&caller), 0);
	assert_int_equal(caller.fds.count, 1);
	assert_int_equal(sim_fds_take(&caller.fds, 0), fd);
	assert_true(is_open(fd));
	close(fd);
}

static void test_descriptors_that_no_caller_wants_are_closed(void **state)
{
	struct sim_msg request;
	struct caller caller;
	int fd = new_fd();

	start(&caller, SIM_MSG_IMPORT, false);
	request = get_request();
	assert_true(answer(&request, 0, fd));
	assert_int_equal(join(&caller), 0);
	assert_false(is_open(fd));
}

static void test_descriptors_of_a_failure_are_closed(void **state)
{
	struct sim_msg request;
	struct caller caller;
	int fd = new_fd();

	start(&caller, SIM_MSG_IMPORT, true);
	request = get_request();
	assert_true(answer(&request, -EPERM, fd));
	assert_int_equal(join(&caller), -EPERM);
	assert_int_equal(caller.fds.count, UNTOUCHED);
	assert_false(is_open(fd));
}

/* ---- ends ---- */

/* Half of the time after which the call would have ended by itself. */
static void test_a_lost_daemon_ends_calls(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_REVOKE };
	uint64_t begin_ns = sim_monotonic_ns();
	struct caller caller;

	start(&caller, SIM_MSG_REVOKE, false);
	get_request();
	await_waiting();
	sim_calls_set_lost(&calls);
	assert_int_equal(join(&caller), -ESHUTDOWN);
	assert_in_range(sim_monotonic_ns() - begin_ns, 0, SIM_CALL_TIMEOUT_S * SIM_NS_PER_S / 2);
	assert_int_equal(sim_calls_call(&calls, &msg, NULL, 0, NULL), -ESHUTDOWN);
	assert_false(has_request());
}

/* The thread wakes up once for nothing. An exporter may take longer than the daemon. */
static void test_a_call_without_a_reply_ends_in_time(void **state)
{
	static const struct {
		uint16_t type;
		unsigned int s;
	} cases[] = { { SIM_MSG_REVOKE, 10 }, { SIM_MSG_DESCRIBE, 15 } };

	timeout_at = 2;
	for (int i = 0; i < 2; i++) {
		struct sim_msg msg = { .type = cases[i].type };
		uint64_t begin_ns = sim_monotonic_ns();

		num_waits = num_lines = 0;
		assert_int_equal(sim_calls_call(&calls, &msg, NULL, 0, NULL), -ETIMEDOUT);
		assert_int_equal(num_waits, 2);
		assert_int_equal(num_lines, 1);
		assert_in_range(waited_until_ns, begin_ns + cases[i].s * SIM_NS_PER_S,
				sim_monotonic_ns() + cases[i].s * SIM_NS_PER_S);
	}
}

/* The daemon says that an exporter has not answered: it has been answered itself. */
static void test_a_timeout_that_the_daemon_replies_blames_no_daemon(void **state)
{
	struct sim_msg request;
	struct caller caller;

	start(&caller, SIM_MSG_REVOKE, false);
	request = get_request();
	answer(&request, -ETIMEDOUT, -1);
	assert_int_equal(join(&caller), -ETIMEDOUT);
	assert_int_equal(num_lines, 0);
}

static void test_a_closed_socket_fails_calls(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_REVOKE };

	shutdown(daemon_sock, SHUT_RDWR);
	assert_int_equal(sim_calls_call(&calls, &msg, NULL, 0, NULL), -ESHUTDOWN);
	assert_true(LIST_EMPTY(&calls.pending));
	assert_int_equal(num_lines, 0);
}

/* ---- calls for which nobody waits ---- */

struct outcome {
	unsigned int num_calls;
	uint32_t num_fds;
};

static void note(void *arg, struct sim_fds *fds)
{
	struct outcome *outcome = arg;

	outcome->num_calls++;
	outcome->num_fds = fds->count;
}

static void test_the_reply_of_a_begun_call_calls_its_function(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE }, request, wrong;
	struct outcome outcome = { 0 };
	int fd = new_fd();

	assert_int_equal(sim_calls_begin(&calls, &msg, note, &outcome), 0);
	wrong = request = get_request();
	wrong.type = SIM_MSG_REVOKE;
	answer(&wrong, 0, -1);
	assert_int_equal(outcome.num_calls, 0);
	answer(&request, 0, fd); /* the receive thread closes what the function does not take */
	assert_int_equal(outcome.num_calls, 1);
	assert_int_equal(outcome.num_fds, 1);
	answer(&request, 0, -1);
	assert_int_equal(outcome.num_calls, 1);
	assert_true(LIST_EMPTY(&calls.pending));
	close(fd);
}

static void test_a_begun_call_without_a_reply_ends_with_the_calls(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE };
	struct outcome outcome = { .num_fds = UNTOUCHED };

	assert_int_equal(sim_calls_begin(&calls, &msg, note, &outcome), 0);
	sim_calls_fini(&calls);
	assert_int_equal(outcome.num_calls, 1);
	assert_int_equal(outcome.num_fds, 0);
	sim_calls_init(&calls, calls.sock);
}

static void test_a_call_that_can_not_begin_calls_nothing(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE };
	struct outcome outcome = { 0 };

	shutdown(daemon_sock, SHUT_RDWR);
	assert_int_equal(sim_calls_begin(&calls, &msg, note, &outcome), -ESHUTDOWN);
	assert_true(LIST_EMPTY(&calls.pending));
	sim_calls_set_lost(&calls);
	assert_int_equal(sim_calls_begin(&calls, &msg, note, &outcome), -ESHUTDOWN);
	assert_true(LIST_EMPTY(&calls.pending));
	assert_int_equal(outcome.num_calls, 0);
}

static void *begin_calls(void *arg)
{
	struct outcome outcome = { 0 };

	for (int i = 0; i < 200; i++) {
		struct sim_msg msg = { .type = SIM_MSG_DESCRIBE };

		if (sim_calls_begin(&calls, &msg, note, &outcome) != -ESHUTDOWN)
			return "a call has begun";
	}
	return NULL;
}

static void test_threads_fail_to_begin_calls(void **state)
{
	pthread_t threads[2];
	void *result;

	shutdown(daemon_sock, SHUT_RDWR);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, begin_calls, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
	assert_true(LIST_EMPTY(&calls.pending));
}

/* ---- callers that receive ---- */

#define TAG 5

static void watch(void)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	assert_true(epoll_fd >= 0);
	assert_int_equal(sim_calls_watch(&calls, epoll_fd, (epoll_data_t){ .u64 = TAG }), 0);
}

/* Whether the receive thread would wake up, in time or at once. */
static bool wakes_up(int timeout_ms)
{
	struct epoll_event event;
	int count = epoll_wait(calls.epoll_fd, &event, 1, timeout_ms);

	assert_true(count <= 0 || event.data.u64 == TAG);
	return count > 0;
}

static void send_reply(const struct sim_msg *request, int fd)
{
	struct sim_msg reply = { .type = request->type, .is_reply = 1, .seq = request->seq };

	assert_int_equal(sim_msg_send(daemon_sock, &reply, fd), 0);
}

static void send_notification(int fd)
{
	struct sim_msg msg = { .type = SIM_MSG_NOTIFY_PEER };

	assert_int_equal(sim_msg_send(daemon_sock, &msg, fd), 0);
}

/* The receive thread's turn: the next message has that type, and so many descriptors. */
static void receive_with(uint16_t type, uint32_t num_fds)
{
	struct sim_msg msg;
	struct sim_fds fds;

	assert_true(wakes_up(-1));
	while (!sim_calls_begin_receiving(&calls)) /* the caller that has left it still ends its turn */
		sched_yield();
	assert_int_equal(sim_calls_receive(&calls, &msg, &fds), 0);
	assert_int_equal(msg.type, type);
	assert_int_equal(fds.count, num_fds);
	if (msg.is_reply)
		sim_calls_complete(&calls, &msg, &fds);
	sim_fds_close(&fds);
	sim_calls_end_receiving(&calls);
}

static void receive(uint16_t type)
{
	receive_with(type, 0);
}

static void test_a_caller_receives_its_own_reply(void **state)
{
	struct caller caller;
	struct sim_msg request;

	watch();
	for (int i = 0; i < 3; i++) {
		start(&caller, SIM_MSG_IMPORT, true);
		request = get_request();
		assert_false(sim_calls_begin_receiving(&calls));
		send_reply(&request, daemon_sock);
		assert_int_equal(join(&caller), 0);
		assert_int_equal(caller.fds.count, 1);
		sim_fds_close(&caller.fds);
		assert_false(wakes_up(0));
		assert_int_equal(num_waiting, 0);
	}
	send_notification(-1);
	receive(SIM_MSG_NOTIFY_PEER);
}

static void *call_again(void *arg)
{
	for (int i = 0; i < 3; i++)
		call(arg);
	return NULL;
}

/* The receive thread handles it before the caller goes on; its turn may end when the next call has begun. */
static void test_a_message_before_the_reply_is_the_receive_threads(void **state)
{
	struct caller caller = { .msg.type = SIM_MSG_REVOKE };

	watch();
	assert_int_equal(pthread_create(&caller.thread, NULL, call_again, &caller), 0);
	for (int i = 0; i < 3; i++) {
		struct sim_msg request = get_request();

		send_notification(daemon_sock);
		send_reply(&request, -1);
		receive_with(SIM_MSG_NOTIFY_PEER, 1);
		assert_false(LIST_EMPTY(&calls.pending));
		receive(SIM_MSG_REVOKE);
	}
	assert_int_equal(join(&caller), 0);
	assert_false(wakes_up(0));
}

/* What the caller has received of the daemon, which sends nothing behind it, wakes the receive thread; before that one takes it, no
 * other caller receives. */
static void test_a_message_that_a_caller_left_comes_first(void **state)
{
	struct sim_msg first, second;
	struct caller a, b;

	watch();
	start(&a, SIM_MSG_REVOKE, false);
	first = get_request();
	send_notification(-1);
	await_waiting();
	start(&b, SIM_MSG_EXPORT, false);
	second = get_request();
	send_reply(&first, -1);
	send_reply(&second, -1);
	receive(SIM_MSG_NOTIFY_PEER);
	receive(SIM_MSG_REVOKE);
	receive(SIM_MSG_EXPORT);
	assert_int_equal(join(&a), 0);
	assert_int_equal(join(&b), 0);
}

static void test_a_message_that_was_left_ends_with_the_calls(void **state)
{
	struct caller caller;
	int fd[2];
	char byte;

	watch();
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	start(&caller, SIM_MSG_REVOKE, false);
	get_request();
	send_notification(fd[1]);
	close(fd[1]);
	await_waiting();
	sim_calls_set_lost(&calls);
	assert_int_equal(join(&caller), -ESHUTDOWN);
	sim_calls_fini(&calls);
	assert_int_equal(read(fd[0], &byte, 1), 0); /* nobody has the other end */
	close(fd[0]);
	close(calls.epoll_fd);
	sim_calls_init(&calls, calls.sock);
}

/* A receive that a signal ended must not wait for the whole time-out again: signals would keep the caller for ever. */
static void test_a_caller_that_a_signal_interrupts_lets_the_receive_thread_receive(void **state)
{
	struct caller caller;
	struct sim_msg request;

	watch();
	recv_error = EINTR;
	start(&caller, SIM_MSG_REVOKE, false);
	request = get_request();
	await_waiting();
	send_reply(&request, -1);
	receive(SIM_MSG_REVOKE);
	assert_int_equal(join(&caller), 0);
}

static void test_calls_at_the_same_time_get_their_replies(void **state)
{
	struct sim_msg first, second;
	struct caller a, b;

	watch();
	start(&a, SIM_MSG_REVOKE, false);
	first = get_request();
	start(&b, SIM_MSG_EXPORT, false);
	second = get_request();
	send_reply(&second, -1);
	receive(SIM_MSG_EXPORT);
	assert_int_equal(join(&b), 0);
	send_reply(&first, -1);
	receive(SIM_MSG_REVOKE);
	assert_int_equal(join(&a), 0);
}

static void test_the_end_of_the_daemon_is_left_to_the_receive_thread(void **state)
{
	struct caller caller;
	struct sim_msg msg;
	struct sim_fds fds;

	watch();
	start(&caller, SIM_MSG_REVOKE, false);
	get_request();
	shutdown(daemon_sock, SHUT_RDWR);
	while (!sim_calls_begin_receiving(&calls))
		sched_yield();
	assert_true(wakes_up(-1));
	assert_int_equal(sim_calls_receive(&calls, &msg, &fds), -EPIPE);
	sim_calls_set_lost(&calls);
	sim_calls_end_receiving(&calls);
	assert_int_equal(join(&caller), -ESHUTDOWN);
}

static void test_a_caller_that_receives_ends_in_time(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_REVOKE };
	struct timeval timeout = { 0 };
	socklen_t len = sizeof(timeout);

	watch();
	assert_int_equal(getsockopt(calls.sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, &len), 0);
	assert_int_equal(timeout.tv_sec, SIM_CALL_TIMEOUT_S);
	timeout_at = 1;
	recv_error = EAGAIN;
	assert_int_equal(sim_calls_call(&calls, &msg, NULL, 0, NULL), -ETIMEDOUT);
	assert_int_equal(num_lines, 1);
	timeout_at = 0;
	send_notification(-1);
	receive(SIM_MSG_NOTIFY_PEER);
}

/* Its call is on its stack, and nobody else would receive any more. */
static void test_a_thread_is_cancelled_behind_its_call(void **state)
{
	struct caller caller;
	struct sim_msg request;

	watch();
	start(&caller, SIM_MSG_REVOKE, false);
	request = get_request();
	assert_int_equal(pthread_cancel(caller.thread), 0);
	send_reply(&request, -1);
	assert_int_equal(join(&caller), 0);
	assert_true(LIST_EMPTY(&calls.pending));
	assert_true(sim_calls_begin_receiving(&calls));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_call_gets_its_reply),
		TEST(test_replies_that_belong_to_no_call_are_ignored),
		TEST(test_the_first_reply_counts_also_before_the_request_has_left),
		TEST(test_a_caller_gets_the_descriptors_of_a_success),
		TEST(test_descriptors_that_no_caller_wants_are_closed),
		TEST(test_descriptors_of_a_failure_are_closed),
		TEST(test_a_lost_daemon_ends_calls),
		TEST(test_a_call_without_a_reply_ends_in_time),
		TEST(test_a_timeout_that_the_daemon_replies_blames_no_daemon),
		TEST(test_a_closed_socket_fails_calls),
		TEST(test_the_reply_of_a_begun_call_calls_its_function),
		TEST(test_a_begun_call_without_a_reply_ends_with_the_calls),
		TEST(test_a_call_that_can_not_begin_calls_nothing),
		TEST(test_threads_fail_to_begin_calls),
		TEST(test_a_caller_receives_its_own_reply),
		TEST(test_a_message_before_the_reply_is_the_receive_threads),
		TEST(test_a_message_that_a_caller_left_comes_first),
		TEST(test_a_message_that_was_left_ends_with_the_calls),
		TEST(test_a_caller_that_a_signal_interrupts_lets_the_receive_thread_receive),
		TEST(test_calls_at_the_same_time_get_their_replies),
		TEST(test_the_end_of_the_daemon_is_left_to_the_receive_thread),
		TEST(test_a_caller_that_receives_ends_in_time),
		TEST(test_a_thread_is_cancelled_behind_its_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
