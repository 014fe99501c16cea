/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner that is a daemon (sim/session/owner.h): what becomes of the daemon's answers and of their descriptors. A thread of the test is
 * the daemon. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "open_fds.h"
#include "sim/base/log.h"
#include "sim/engine/engine.h"
#include "sim/protocol/wire.h"
#include "sim/session/channel_list.h"
#include "sim/session/exports.h"
#include "sim/session/imports.h"
#include "sim/session/kick.h"
#include "sim/session/owner.h"
#include "sim/session/session_priv.h"

#define KEY        5
#define EXPORTER   9
#define UNTOUCHED  77
#define DEADLINE_S 30

/* ---- time that passes at once ---- */

static atomic_bool is_time_over;

int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	return atomic_load(&is_time_over) ? 0 : __real_ppoll(fds, count, timeout, mask);
}

/* ---- the daemon ---- */

/* To each request but DETACH, UNIMPORT and PATH. */
static struct {
	uint16_t attach_type; /* of the reply to ATTACH; SIM_MSG_ATTACH is right */
	bool is_request;      /* that reply is marked as a request */
	int32_t attach_status, status;
	uint32_t function; /* of the imported region */
	uint32_t num_fds;
} answer;

static int sock, daemon_sock, state_fd;
static pthread_t daemon_thread;
static struct sim_segment state_segment;
static struct sim_msg closed; /* the last CLOSE */
static sem_t has_closed, has_replied;

static void reply_attach(struct sim_msg *msg)
{
	memset(&msg->body, 0, sizeof(msg->body));
	msg->type = answer.attach_type;
	msg->is_reply = !answer.is_request;
	msg->status = answer.attach_status;
	sim_msg_send(daemon_sock, msg, answer.attach_status == 0 ? state_fd : -1);
}

static void reply(struct sim_msg *msg)
{
	const int fds[] = { STDIN_FILENO, STDIN_FILENO, STDIN_FILENO };

	memset(&msg->body, 0, sizeof(msg->body));
	if (msg->type == SIM_MSG_IMPORT)
		msg->body.imported.region.function = answer.function;
	msg->is_reply = 1;
	msg->status = answer.status;
	sim_msg_send_fds(daemon_sock, msg, fds, answer.num_fds);
}

static void *serve(void *arg)
{
	struct sim_msg msg;
	int fd;

	while (sim_msg_recv(daemon_sock, &msg, &fd) == 0) {
		if (fd >= 0)
			close(fd);
		if (msg.is_reply)
			sem_post(&has_replied);
		if (msg.type == SIM_MSG_ATTACH) {
			reply_attach(&msg);
		} else if (msg.type == SIM_MSG_CLOSE) {
			closed = msg;
			sem_post(&has_closed);
		} else if (!msg.is_reply && msg.type != SIM_MSG_DETACH && msg.type != SIM_MSG_UNIMPORT &&
			   msg.type != SIM_MSG_PATH) {
			reply(&msg);
		}
	}
	return NULL;
}

/* ---- the process ---- */

static struct sim_session session;
static struct sim_owner *owner;
static struct sim_segment shared;
static unsigned int num_fds_before;
static _Atomic unsigned int num_lines;
static int epoll_fd;

static void count_line(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	atomic_fetch_add(&num_lines, 1);
}

static void on_functions_changed(struct sim_session *changed)
{
}

static int set_up(void **state)
{
	int socks[2];

	alarm(DEADLINE_S);
	num_fds_before = count_open_fds();
	memset(&answer, 0, sizeof(answer));
	answer.attach_type = SIM_MSG_ATTACH;
	owner = NULL;
	session = (struct sim_session){ .self.id = 1 };
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	sem_init(&has_closed, 0, 0);
	sem_init(&has_replied, 0, 0);
	atomic_store(&num_lines, 0);
	sim_log_set_sink(count_line);
	assert_int_equal(sim_shared_state_create(SIM_CLOCK_FUNCTIONAL, &state_segment, &state_fd), 0);
	assert_int_equal(sim_exports_create(epoll_fd, SIM_OWNER_TARGET_TAG, &session.exports), 0);
	assert_int_equal(sim_imports_create(&session, &session.imports), 0);
	assert_int_equal(sim_channels_create(&session, &session.channels), 0);
	assert_int_equal(sim_engine_create(&session.engine), 0);
	assert_int_equal(sim_kicks_create(session.engine, epoll_fd, &session.kicks), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
	sock = socks[0];
	daemon_sock = socks[1];
	assert_int_equal(pthread_create(&daemon_thread, NULL, serve, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	atomic_store(&is_time_over, false);
	if (owner)
		owner->life->destroy(owner);
	shutdown(daemon_sock, SHUT_RDWR);
	pthread_join(daemon_thread, NULL);
	close(daemon_sock);
	sim_kicks_destroy(session.kicks);
	sim_engine_destroy(session.engine);
	sim_channels_destroy(session.channels);
	sim_imports_destroy(session.imports);
	sim_exports_destroy(session.exports);
	sim_segment_unmap(&shared);
	sim_segment_unmap(&state_segment);
	close(state_fd);
	close(epoll_fd);
	sem_destroy(&has_closed);
	sem_destroy(&has_replied);
	sim_log_set_sink(NULL);
	assert_int_equal(count_open_fds(), num_fds_before);
	alarm(0);
	return 0;
}

static int attach(void)
{
	const struct sim_owner_env env = { .session = &session,
					   .self = &session.self,
					   .exports = session.exports,
					   .imports = session.imports,
					   .channels = session.channels,
					   .kicks = session.kicks,
					   .on_functions_changed = on_functions_changed };
	struct sim_attach_reply attached;

	return sim_owner_daemon_create(&env, sock, epoll_fd, &attached, &shared, &owner);
}

/* ---- attach ---- */

static void test_answer_of_another_kind_is_no_answer_to_attach(void **state)
{
	answer.attach_type = SIM_MSG_IMPORT;
	assert_int_equal(attach(), -EPROTO);
	assert_null(owner);
}

static void test_request_is_no_answer_to_attach(void **state)
{
	answer.is_request = true;
	assert_int_equal(attach(), -EPROTO);
}

static void test_daemon_that_refuses_says_why(void **state)
{
	answer.attach_status = -ENOENT;
	assert_int_equal(attach(), -ENOENT);
}

static void test_daemon_that_does_not_answer_is_not_waited_for(void **state)
{
	atomic_store(&is_time_over, true);
	assert_int_equal(attach(), -ETIMEDOUT);
}

/* ---- memory ---- */

static void test_refused_import_names_the_function_of_the_exporter_and_keeps_no_descriptor(void **state)
{
	static const struct {
		int rc;
		uint32_t function;
	} refused[] = { { -EXDEV, EXPORTER }, { -EPERM, EXPORTER }, { -EINVAL, UNTOUCHED } };
	const struct sim_key key = { .id = KEY };

	assert_int_equal(attach(), 0);
	answer.function = EXPORTER;
	answer.num_fds = 2;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct sim_imported imported = { .region.function = UNTOUCHED, .object_fd = -1, .pidfd = -1 };

		answer.status = refused[i].rc;
		assert_int_equal(owner->memory->import(owner, &key, 0, &imported), refused[i].rc);
		assert_int_equal(imported.region.function, refused[i].function);
		assert_int_equal(imported.object_fd, -1);
	}
}

static void test_surplus_descriptors_of_an_answer_are_closed(void **state)
{
	struct sim_grant grant;
	unsigned int num_fds;
	int fd;

	const struct sim_key key = { .id = KEY };
	struct sim_imported imported;

	assert_int_equal(attach(), 0);
	num_fds = count_open_fds();
	answer.num_fds = 3;
	assert_int_equal(owner->memory->import(owner, &key, 0, &imported),
			 0); /* says of none that it is the memory's */
	assert_int_equal(count_open_fds(), num_fds);
	assert_int_equal(owner->memory->describe(owner, KEY, SIM_TRANSPORT_TCP, true, &grant, &fd), 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(count_open_fds(), num_fds);
}

/* The process has ended the export, though the daemon refuses. */
static void test_revoked_export_is_exposed_no_more(void **state)
{
	static uint8_t memory[64];
	const struct sim_region region = { .cpu_addr = (uintptr_t)memory,
					   .len_bytes = sizeof(memory),
					   .access = SIM_ACCESS_READ };
	struct sim_grant grant;
	int fd;

	assert_int_equal(attach(), 0);
	assert_int_equal(sim_exports_add(session.exports, KEY, &region), 0);
	assert_int_equal(sim_exports_describe(session.exports, KEY, KEY, SIM_TRANSPORT_TCP, false, &grant, &fd), 0);
	answer.status = -EIO;
	assert_int_equal(owner->memory->revoke(owner, KEY), -EIO);
	assert_true(sim_exports_describe(session.exports, KEY, KEY, SIM_TRANSPORT_TCP, false, &grant, &fd) < 0);
}

/* The daemon asks; the reply has a descriptor of the connection, of which the process keeps one end. */
static void test_answer_to_the_daemon_leaves_no_copy_of_its_descriptor(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE,
			       .body.describe = { .id = KEY, .memory = KEY, .transport = SIM_TRANSPORT_KICK } };
	unsigned int num_fds;

	assert_int_equal(attach(), 0);
	assert_int_equal(sim_msg_send(daemon_sock, &msg, -1), 0);
	while (sem_wait(&has_replied) < 0)
		;
	num_fds = count_open_fds(); /* with those of the kicks */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sim_msg_send(daemon_sock, &msg, -1), 0);
		while (sem_wait(&has_replied) < 0)
			;
	}
	owner->life->leave(owner); /* the thread that replies has closed its copies */
	assert_in_range(count_open_fds(), 1, num_fds);
}

static void test_daemon_that_is_gone_is_reported_once(void **state)
{
	assert_int_equal(attach(), 0);
	shutdown(daemon_sock, SHUT_RDWR);
	while (atomic_load(&num_lines) == 0)
		sched_yield();
	usleep(10000); /* a thread that goes on to hear of it reports it again */
	assert_int_equal(atomic_load(&num_lines), 1);
	assert_true(owner->memory->revoke(owner, KEY) < 0);
}

/* ---- handshake messages ---- */

/* An offer for a service that this process does not have, with @given of its two descriptors; returns the lines logged by the time at
 * which it is refused. */
static unsigned int refuse_offer(uint32_t given)
{
	const int fds[] = { STDIN_FILENO, STDIN_FILENO };
	struct sim_msg msg = { .type = SIM_MSG_OFFER,
			       .body.handshake = { .service = 1, .number = 2, .msg.num_fds = 2 } };

	assert_int_equal(sim_msg_send_fds(daemon_sock, &msg, fds, given), 0);
	while (sem_wait(&has_closed) < 0)
		;
	assert_int_equal(closed.body.channel.number, 2);
	return atomic_load(&num_lines);
}

static void test_handshake_message_without_its_descriptors_is_logged(void **state)
{
	assert_int_equal(attach(), 0);
	assert_int_equal(refuse_offer(1), 1);
}

static void test_handshake_message_that_nobody_awaits_is_not_logged_as_incomplete(void **state)
{
	assert_int_equal(attach(), 0);
	assert_int_equal(refuse_offer(2), 0);
}

/* ---- the end ---- */

/* The daemon sees the end of the parent by its sockets, of which a child must have none. */
static void test_forked_child_that_abandons_the_owner_has_none_of_its_descriptors(void **state)
{
	unsigned int num_fds = count_open_fds();
	int status;
	pid_t pid;

	assert_int_equal(attach(), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		owner->life->abandon(owner);
		_exit(count_open_fds() + 1 == num_fds ? 0 : 1); /* the socket was open before */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answer_of_another_kind_is_no_answer_to_attach),
		TEST(request_is_no_answer_to_attach),
		TEST(daemon_that_refuses_says_why),
		TEST(daemon_that_does_not_answer_is_not_waited_for),
		TEST(refused_import_names_the_function_of_the_exporter_and_keeps_no_descriptor),
		TEST(surplus_descriptors_of_an_answer_are_closed),
		TEST(revoked_export_is_exposed_no_more),
		TEST(answer_to_the_daemon_leaves_no_copy_of_its_descriptor),
		TEST(daemon_that_is_gone_is_reported_once),
		TEST(handshake_message_without_its_descriptors_is_logged),
		TEST(handshake_message_that_nobody_awaits_is_not_logged_as_incomplete),
		TEST(forked_child_that_abandons_the_owner_has_none_of_its_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
