/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that connect, send and close concurrently, with each other and with the helper thread's notifications: no
 * notification arrives after its channel was closed. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "sim/session/channel.h"
#include "channel_actor.h"

#define THREADS 4
#define ROUNDS  40

/* The receiver of notifications. A closed one stays allocated, to detect late notifications. */
struct notifier {
	int fd;
	_Atomic bool over;
};

static struct notifier notifiers[THREADS * (ROUNDS + 1)];
static _Atomic unsigned int num_notifiers;

/* Takes some time, so that a close happens during the callback. */
static void on_notification(void *arg)
{
	struct notifier *notifier = arg;

	for (int i = 0; i < 10; i++)
		sched_yield();
	CHECK(!atomic_load(&notifier->over));
	eventfd_write(notifier->fd, 1);
}

static struct notifier *notifier_new(void)
{
	unsigned int number = atomic_fetch_add(&num_notifiers, 1);

	CHECK(number < sizeof(notifiers) / sizeof(notifiers[0]));
	notifiers[number].fd = eventfd(0, EFD_CLOEXEC);
	return &notifiers[number];
}

static void notifier_end(struct notifier *notifier)
{
	atomic_store(&notifier->over, true);
	close(notifier->fd);
}

static void notifier_wait(struct notifier *notifier)
{
	struct pollfd event = { .fd = notifier->fd, .events = POLLIN };
	eventfd_t count;

	CHECK(poll(&event, 1, PROC_DEADLINE_MS) == 1);
	CHECK(eventfd_read(notifier->fd, &count) == 0);
}

static struct sim_session *attach(const char *side)
{
	struct sim_session_cfg cfg = { .dir = test_session.dir, .side = side };
	struct sim_session *session;

	CHECK(sim_session_attach(&cfg, &session) == 0);
	return session;
}

static struct sim_handshake_msg text_msg(const char *text)
{
	struct sim_handshake_msg msg = { .len_bytes = (uint32_t)strlen(text), .num_fds = 1, .fds = { STDERR_FILENO } };

	memcpy(msg.body, text, msg.len_bytes);
	return msg;
}

/* ---- servers: each thread serves a name of its own, and sends until its client is gone ---- */

struct worker {
	struct sim_session *session;
	char name[16];
	pthread_t thread;
};

static void serve_one(struct sim_session *session, struct sim_listener *listener, struct notifier *offers)
{
	struct notifier *notifier = notifier_new();
	struct sim_handshake_msg hello, welcome = text_msg("welcome");
	struct sim_channel *channel;

	while (!sim_listener_next_client(listener, on_notification, notifier, &channel, &hello))
		notifier_wait(offers);
	close(hello.fds[0]);
	if (sim_channel_accept(channel, &welcome) == 0)
		while (sim_channel_send(channel, &welcome) == 0)
			sim_channel_notify_peer(channel);
	CHECK(sim_channel_status(channel) == -ECONNRESET || sim_channel_status(channel) == -ENOBUFS);
	sim_channel_close(session, channel, -ECONNRESET);
	notifier_end(notifier);
}

static void *serve(void *arg)
{
	struct worker *worker = arg;
	const struct sim_service service = { .function = DPU0, .rep = HOST0, .name = worker->name };
	struct notifier *offers = notifier_new();
	struct sim_listener *listener;

	CHECK(sim_session_listen(worker->session, &service, on_notification, offers, &listener) == 0);
	for (int i = 0; i < ROUNDS; i++)
		serve_one(worker->session, listener, offers);
	sim_session_unlisten(worker->session, listener);
	notifier_end(offers);
	return NULL;
}

/* ---- clients: each thread closes while its server sends ---- */

static bool is_alive(const struct sim_channel *channel)
{
	int status = sim_channel_status(channel);

	return status == 0 || status == -EINPROGRESS;
}

/* Receive so many messages, unless the server is refused for sending faster than we read. */
static void receive_some(struct sim_channel *channel, struct notifier *notifier, int count)
{
	struct sim_handshake_msg got;

	while (count > 0) {
		bool alive = is_alive(channel);

		if (sim_channel_receive(channel, &got)) {
			close(got.fds[0]);
			count--;
		} else if (alive) {
			notifier_wait(notifier);
		} else {
			return;
		}
	}
}

static void *ask(void *arg)
{
	struct worker *worker = arg;
	struct sim_handshake_msg hello = text_msg("hello");

	for (int i = 0; i < ROUNDS; i++) {
		struct notifier *notifier = notifier_new();
		struct sim_channel *channel;

		CHECK(sim_session_connect(worker->session, HOST0, worker->name, PROC_DEADLINE_MS, &hello,
					  on_notification, notifier, &channel) == 0);
		if (i % 7 == 0)
			while (sim_channel_status(channel) == -EINPROGRESS)
				notifier_wait(notifier);
		receive_some(channel, notifier, i % 7);
		sim_channel_close(worker->session, channel, -ECONNRESET);
		notifier_end(notifier);
	}
	return NULL;
}

/* All earlier messages of the daemon have been read. */
static void settle(struct sim_session *session)
{
	struct sim_handshake_msg hello = { 0 };
	struct sim_channel *channel;

	CHECK(sim_session_connect(session, UINT32_MAX, "nobody", 0, &hello, on_notification, NULL, &channel) ==
	      -EINVAL);
}

static void run_threads(int ctl, const void *arg)
{
	bool serves = strcmp(arg, "dpu") == 0;
	struct worker workers[THREADS];
	struct sim_session *session = attach(arg);
	int before = proc_num_fds(getpid());
	char byte;

	for (int i = 0; i < THREADS; i++) {
		workers[i].session = session;
		snprintf(workers[i].name, sizeof(workers[i].name), "server %d", i);
		CHECK(pthread_create(&workers[i].thread, NULL, serves ? serve : ask, &workers[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	proc_send(ctl, "", 1);
	recv(ctl, &byte, 1, 0); /* the other side is ready, too */
	settle(session);
	CHECK(proc_num_fds(getpid()) <= before);
	sim_session_detach(session);
}

static void test_threads_open_and_close_channels_during_traffic(void **state)
{
	struct proc server, client;
	char byte;

	proc_start(&server, run_threads, "dpu");
	proc_start(&client, run_threads, "host");
	proc_recv(client.ctl, &byte, 1);
	proc_recv(server.ctl, &byte, 1);
	proc_end(&client);
	proc_end(&server);
	daemon_stop(&test_session.daemon);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_threads_open_and_close_channels_during_traffic, session_setup,
						session_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
