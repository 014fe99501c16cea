/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/channel.h: listeners and channels. The test is the owner: it takes the requests, and reports what other processes
 * do. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/log.h"
#include "sim/session/channel_list.h"
#include "sim/session/session_priv.h"

#define LONG_NAME                                                                \
	"0123456789012345678901234567890123456789012345678901234567890123456789" \
	"0123456789012345678901234567890123456789012345678901234567890123456789"

#define TOPOLOGY                                                                             \
	"cards: [{profile: bluefield-3, functions: [{side: dpu, type: pf, pci: '03:00.0'}, " \
	"{side: host, type: pf, pci: '3b:00.0'}]}]\n"

static struct sim_session session;
static const struct sim_service service = { .name = "service" };
static unsigned int num_lines;

/* ---- the owner ---- */

static struct {
	int answer; /* to each request */
	unsigned int num_requests;
	uint64_t number; /* of the last request */
	unsigned int num_closed, num_unlistened, num_notified;
	uint64_t closed[4];
	int reasons[4];
} asked;

static int take_request(uint64_t number)
{
	asked.num_requests++;
	asked.number = number;
	return asked.answer;
}

static int take_listen(struct sim_owner *owner, uint64_t number, const struct sim_service *wanted)
{
	assert_string_equal(wanted->name, "service");
	return take_request(number);
}

static int take_connect(struct sim_owner *owner, uint64_t number, const struct sim_connect *request)
{
	assert_string_equal(request->name, "service");
	return take_request(number);
}

static int take_msg(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *msg)
{
	return take_request(number);
}

static void take_unlisten(struct sim_owner *owner, uint64_t number)
{
	asked.num_unlistened++;
}

static void take_notify_peer(struct sim_owner *owner, uint64_t number)
{
	asked.num_notified++;
}

static void take_close(struct sim_owner *owner, uint64_t number, int reason)
{
	if (asked.num_closed < 4) {
		asked.closed[asked.num_closed] = number;
		asked.reasons[asked.num_closed] = reason;
	}
	asked.num_closed++;
}

static const struct sim_owner_channel_ops ops = {
	.listen = take_listen,
	.unlisten = take_unlisten,
	.connect = take_connect,
	.accept = take_msg,
	.send = take_msg,
	.notify_peer = take_notify_peer,
	.close = take_close,
};

static struct sim_owner owner = { .channels = &ops };

static void count_line(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	num_lines++;
}

static int set_up(void **state)
{
	memset(&asked, 0, sizeof(asked));
	num_lines = 0;
	session.owner = &owner;
	sim_log_set_sink(count_line);
	return sim_channels_create(&session, &session.channels);
}

static int tear_down(void **state)
{
	sim_log_set_sink(NULL);
	sim_channels_destroy(session.channels);
	return 0;
}

/* ---- the two sides ---- */

static struct sim_handshake_msg msg(uint8_t text)
{
	return (struct sim_handshake_msg){ .len_bytes = 1, .body = { text } };
}

/* *ret_number: as the owner knows it. */
static struct sim_listener *listen_to(uint64_t *ret_number)
{
	struct sim_listener *listener;

	assert_int_equal(sim_session_listen(&session, &service, NULL, NULL, &listener), 0);
	*ret_number = asked.number;
	return listener;
}

/* A client connects to listener @number: channel @channel. */
static void offer(uint64_t number, uint64_t channel, uint8_t text)
{
	const struct sim_handshake_msg connect_msg = msg(text);

	assert_int_equal(sim_channels_offered(session.channels, number, channel, &connect_msg), 0);
}

static struct sim_channel *expect_client(struct sim_listener *listener, uint8_t text)
{
	struct sim_handshake_msg connect_msg;
	struct sim_channel *channel;

	assert_true(sim_listener_next_client(listener, NULL, NULL, &channel, &connect_msg));
	assert_int_equal(connect_msg.body[0], text);
	return channel;
}

static void expect_no_client(struct sim_listener *listener)
{
	struct sim_handshake_msg connect_msg;
	struct sim_channel *channel;

	assert_int_equal(sim_listener_num_waiting(listener), 0);
	assert_false(sim_listener_next_client(listener, NULL, NULL, &channel, &connect_msg));
}

static void expect_closed(unsigned int nth, uint64_t number, int reason)
{
	assert_true(asked.num_closed > nth);
	assert_int_equal(asked.closed[nth], number);
	assert_int_equal(asked.reasons[nth], reason);
}

static int connect_client(struct sim_channel **ret_channel)
{
	const struct sim_handshake_msg connect_msg = msg('c');

	return sim_session_connect(&session, 0, "service", 0, &connect_msg, NULL, NULL, ret_channel);
}

/* ---- listening ---- */

static void test_clients_come_in_their_order_each_to_its_listener(void **state)
{
	uint64_t first_number, second_number;
	struct sim_listener *first = listen_to(&first_number), *second = listen_to(&second_number);
	struct sim_channel *channels[3];

	offer(first_number, 101, 'a');
	offer(second_number, 102, 'b');
	offer(first_number, 103, 'c');
	assert_int_equal(sim_listener_num_waiting(first), 2);
	assert_int_equal(sim_listener_num_waiting(second), 1);
	channels[1] = expect_client(second, 'b');
	expect_no_client(second);
	channels[0] = expect_client(first, 'a');
	channels[2] = expect_client(first, 'c');
	expect_no_client(first);
	for (unsigned int i = 0; i < 3; i++) {
		sim_channel_close(&session, channels[i], -ECONNRESET);
		expect_closed(i, 101 + i, -ECONNRESET);
	}
	sim_session_unlisten(&session, first);
	sim_session_unlisten(&session, second);
}

/* A client sends more than a channel holds before the server takes it: the channel has failed, and the next client is taken. */
static void test_client_whose_channel_failed_before_is_not_taken(void **state)
{
	const struct sim_handshake_msg more = msg('m');
	uint64_t number;
	struct sim_listener *listener = listen_to(&number);
	struct sim_channel *channel;

	offer(number, 101, 'a');
	for (int i = 1; i < SIM_CHANNEL_MAX_UNREAD; i++)
		assert_int_equal(sim_channels_received(session.channels, 101, &more), 0);
	assert_int_equal(sim_listener_num_waiting(listener), 1);
	assert_int_equal(sim_channels_received(session.channels, 101, &more), -ENOBUFS);
	assert_int_equal(num_lines, 1);
	expect_no_client(listener);
	offer(number, 102, 'b');
	assert_int_equal(sim_listener_num_waiting(listener), 1);
	channel = expect_client(listener, 'b');
	expect_no_client(listener);
	sim_channel_close(&session, channel, -ECONNRESET);
	expect_closed(0, 102, -ECONNRESET);
	sim_session_unlisten(&session, listener);
}

static void test_end_of_a_listener_refuses_its_clients_alone(void **state)
{
	uint64_t first_number, second_number;
	struct sim_listener *first = listen_to(&first_number), *second = listen_to(&second_number);

	offer(second_number, 101, 'a');
	offer(first_number, 102, 'b');
	offer(first_number, 103, 'c');
	sim_session_unlisten(&session, first);
	assert_int_equal(asked.num_unlistened, 1);
	assert_int_equal(asked.num_closed, 2);
	expect_closed(0, 102, -ECONNREFUSED);
	expect_closed(1, 103, -ECONNREFUSED);
	assert_int_equal(sim_listener_num_waiting(second), 1);
	sim_session_unlisten(&session, second);
	assert_int_equal(asked.num_closed, 3);
}

static void test_listen_that_fails_leaves_nothing(void **state)
{
	const struct sim_service too_long = { .name = LONG_NAME };
	struct sim_listener *listener = NULL;

	assert_int_equal(sim_session_listen(&session, &too_long, NULL, NULL, &listener), -ENAMETOOLONG);
	assert_int_equal(asked.num_requests, 0);
	asked.answer = -EADDRINUSE;
	assert_int_equal(sim_session_listen(&session, &service, NULL, NULL, &listener), -EADDRINUSE);
	assert_int_equal(asked.num_unlistened, 1);
	assert_int_equal(num_lines, 0);
	asked.answer = -EDQUOT;
	assert_int_equal(sim_session_listen(&session, &service, NULL, NULL, &listener), -ENOMEM);
	assert_int_equal(asked.num_unlistened, 2);
	assert_int_equal(num_lines, 1);
	assert_null(listener);
	assert_true(LIST_EMPTY(&session.channels->listeners));
}

/* ---- connecting ---- */

static void test_connect_that_fails_leaves_nothing(void **state)
{
	const struct sim_handshake_msg connect_msg = msg('c');
	struct sim_channel *channel = NULL;

	assert_int_equal(sim_session_connect(&session, 0, LONG_NAME, 0, &connect_msg, NULL, NULL, &channel),
			 -ENAMETOOLONG);
	assert_int_equal(asked.num_requests, 0);
	asked.answer = -EINVAL;
	assert_int_equal(connect_client(&channel), -EINVAL);
	expect_closed(0, asked.number, -ECONNRESET);
	assert_int_equal(num_lines, 0);
	asked.answer = -EDQUOT;
	assert_int_equal(connect_client(&channel), -ENOMEM);
	expect_closed(1, asked.number, -ECONNRESET);
	assert_int_equal(num_lines, 1);
	assert_null(channel);
	assert_true(TAILQ_EMPTY(&session.channels->channels));
}

static void test_connect_that_is_refused_at_once_is_a_closed_channel(void **state)
{
	struct sim_channel *channel;

	asked.answer = -ECONNREFUSED;
	assert_int_equal(connect_client(&channel), 0);
	assert_int_equal(sim_channel_status(channel), -ECONNREFUSED);
	assert_int_equal(asked.num_closed, 0);
	sim_channel_close(&session, channel, -ECONNRESET);
	assert_int_equal(asked.num_closed, 0); /* the owner has closed it */
}

static void test_client_is_pending_until_it_is_accepted(void **state)
{
	const struct sim_handshake_msg accept_msg = msg('a');
	struct sim_handshake_msg first;
	struct sim_channel *channel;

	assert_int_equal(connect_client(&channel), 0);
	assert_int_equal(sim_channel_status(channel), -EINPROGRESS);
	sim_channel_notify_peer(channel);
	assert_int_equal(asked.num_notified, 0);
	assert_int_equal(sim_channels_accepted(session.channels, asked.number, &accept_msg), 0);
	assert_int_equal(sim_channel_status(channel), 0);
	assert_true(sim_channel_receive(channel, &first));
	assert_int_equal(first.body[0], 'a');
	assert_false(sim_channel_receive(channel, &first));
	sim_channel_notify_peer(channel);
	assert_int_equal(asked.num_notified, 1);
	sim_channel_close(&session, channel, -EPROTO);
	expect_closed(0, asked.number, -EPROTO);
	assert_true(TAILQ_EMPTY(&session.channels->channels));
}

/* ---- handshake messages ---- */

static void test_server_accepts_and_sends(void **state)
{
	const struct sim_handshake_msg text = msg('t');
	uint64_t number;
	struct sim_listener *listener = listen_to(&number);
	struct sim_channel *channel;

	offer(number, 101, 'a');
	channel = expect_client(listener, 'a');
	assert_int_equal(sim_channel_status(channel), -EINPROGRESS);
	assert_int_equal(sim_channel_accept(channel, &text), 0);
	assert_int_equal(sim_channel_status(channel), 0);
	assert_int_equal(sim_channel_send(channel, &text), 0);
	assert_int_equal(sim_channel_status(channel), 0);
	assert_int_equal(asked.num_closed, 0);
	sim_channel_close(&session, channel, -ECONNRESET);
	sim_session_unlisten(&session, listener);
}

/* The owner refuses a message: the channel is closed once, and stays closed. */
static void test_message_that_is_refused_closes_the_channel(void **state)
{
	const struct sim_handshake_msg text = msg('t');
	struct sim_channel *channel;

	assert_int_equal(connect_client(&channel), 0);
	asked.answer = -EMFILE;
	assert_int_equal(sim_channel_send(channel, &text), -EINPROGRESS);
	asked.answer = 0;
	assert_int_equal(sim_channels_accepted(session.channels, asked.number, &text), 0);
	asked.answer = -EMFILE;
	assert_int_equal(sim_channel_send(channel, &text), -EMFILE);
	expect_closed(0, asked.number, -ECONNRESET);
	asked.answer = 0;
	assert_int_equal(sim_channel_send(channel, &text), -EMFILE);
	assert_int_equal(sim_channel_accept(channel, &text), -EMFILE);
	sim_channels_closed(session.channels, asked.number, -EPIPE, 0);
	assert_int_equal(sim_channel_status(channel), -EMFILE);
	sim_channel_close(&session, channel, -ECONNRESET);
	assert_int_equal(asked.num_closed, 1);
}

static void test_channel_that_the_owner_does_not_know_was_reset(void **state)
{
	const struct sim_handshake_msg text = msg('t');
	uint64_t number;
	struct sim_listener *listener = listen_to(&number);
	struct sim_channel *channel;

	offer(number, 101, 'a');
	channel = expect_client(listener, 'a');
	asked.answer = -ENOENT;
	assert_int_equal(sim_channel_accept(channel, &text), -ECONNRESET);
	expect_closed(0, 101, -ECONNRESET);
	sim_channel_close(&session, channel, -ECONNRESET);
	sim_session_unlisten(&session, listener);
}

/* ---- reports of the owner ---- */

/* No lock is held. */
static void count(void *arg)
{
	assert_int_equal(pthread_mutex_trylock(&session.channels->lock), 0);
	pthread_mutex_unlock(&session.channels->lock);
	(*(unsigned int *)arg)++;
}

static struct sim_channel *connect_counted(unsigned int *num_told)
{
	const struct sim_handshake_msg connect_msg = msg('c');
	struct sim_channel *channel;

	assert_int_equal(sim_session_connect(&session, 0, "service", 0, &connect_msg, count, num_told, &channel), 0);
	return channel;
}

static void expect_text(struct sim_channel *channel, uint8_t text)
{
	struct sim_handshake_msg first;

	assert_true(sim_channel_receive(channel, &first));
	assert_int_equal(first.body[0], text);
}

static void test_each_end_is_told_of_what_is_new(void **state)
{
	const struct sim_handshake_msg text = msg('t');
	unsigned int num_offers = 0, num_told = 0;
	struct sim_handshake_msg connect_msg;
	struct sim_listener *listener;
	struct sim_channel *channel;

	assert_int_equal(sim_session_listen(&session, &service, count, &num_offers, &listener), 0);
	offer(asked.number, 101, 'a');
	assert_int_equal(num_offers, 1);
	assert_true(sim_listener_next_client(listener, count, &num_told, &channel, &connect_msg));
	assert_int_equal(sim_channels_received(session.channels, 101, &text), 0);
	assert_int_equal(num_told, 1);
	assert_int_equal(sim_channel_status(channel), -EINPROGRESS); /* a message accepts nothing */
	sim_channels_notified(session.channels, 101);
	sim_channels_notified(session.channels, 102); /* of no channel of this process */
	assert_int_equal(num_told, 2);
	sim_channels_closed(session.channels, 101, -EPIPE, 0);
	assert_int_equal(num_told, 3);
	sim_channels_closed(session.channels, 101, -ECONNREFUSED, 0);
	sim_channels_closed(session.channels, 102, -ECONNREFUSED, 0);
	assert_int_equal(num_told, 3);
	assert_int_equal(sim_channel_status(channel), -EPIPE); /* the first reason stays */
	expect_text(channel, 't');                             /* what came before the close */
	assert_int_equal(num_offers, 1);
	sim_channel_close(&session, channel, -ECONNRESET);
	sim_session_unlisten(&session, listener);
}

static void test_message_to_a_closed_or_unknown_channel_is_refused(void **state)
{
	const struct sim_handshake_msg text = msg('t');
	unsigned int num_told = 0;
	struct sim_channel *channel = connect_counted(&num_told);
	struct sim_handshake_msg first;

	assert_int_equal(sim_channels_received(session.channels, asked.number + 1, &text), -ECONNRESET);
	sim_channels_closed(session.channels, asked.number, -ECONNREFUSED, 0);
	assert_int_equal(sim_channels_accepted(session.channels, asked.number, &text), -ECONNRESET);
	assert_int_equal(num_told, 1);
	assert_int_equal(sim_channel_status(channel), -ECONNREFUSED);
	assert_false(sim_channel_receive(channel, &first));
	assert_int_equal(num_lines, 0);
	sim_channel_close(&session, channel, -ECONNRESET);
}

/* The one message too many closes the channel, of which its end is told; the others can be taken. */
static void test_channel_whose_messages_are_not_taken_fails(void **state)
{
	const struct sim_handshake_msg text = msg('t');
	unsigned int num_told = 0;
	struct sim_channel *channel = connect_counted(&num_told);
	struct sim_handshake_msg first;

	assert_int_equal(sim_channels_accepted(session.channels, asked.number, &text), 0);
	for (unsigned int i = 1; i < SIM_CHANNEL_MAX_UNREAD; i++)
		assert_int_equal(sim_channels_received(session.channels, asked.number, &text), 0);
	expect_text(channel, 't');
	assert_int_equal(sim_channels_received(session.channels, asked.number, &text), 0);
	assert_int_equal(sim_channel_status(channel), 0);
	assert_int_equal(sim_channels_received(session.channels, asked.number, &text), -ENOBUFS);
	assert_int_equal(sim_channel_status(channel), -ENOBUFS);
	assert_int_equal(num_told, SIM_CHANNEL_MAX_UNREAD + 2);
	assert_int_equal(num_lines, 1);
	for (unsigned int i = 0; i < SIM_CHANNEL_MAX_UNREAD; i++)
		expect_text(channel, 't');
	assert_false(sim_channel_receive(channel, &first));
	sim_channel_close(&session, channel, -ECONNRESET);
}

static void test_client_of_no_listener_is_refused(void **state)
{
	const struct sim_handshake_msg connect_msg = msg('c');
	uint64_t number;
	struct sim_listener *listener = listen_to(&number);

	assert_int_equal(sim_channels_offered(session.channels, number + 1, 101, &connect_msg), -ECONNREFUSED);
	assert_true(TAILQ_EMPTY(&session.channels->channels));
	expect_no_client(listener);
	sim_session_unlisten(&session, listener);
}

/* A message with a descriptor: the other end of the pipe tells when that was closed. */
static int add_fd(struct sim_handshake_msg *to)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	to->fds[to->num_fds++] = fds[1];
	return fds[0];
}

static bool was_closed(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 0;
}

/* The application has not seen it: nothing of it is left. */
static void test_client_that_gives_up_before_it_is_taken_is_forgotten(void **state)
{
	struct sim_handshake_msg connect_msg = msg('a');
	int fd = add_fd(&connect_msg);
	uint64_t number;
	struct sim_listener *listener = listen_to(&number);

	assert_int_equal(sim_channels_offered(session.channels, number, 101, &connect_msg), 0);
	assert_false(was_closed(fd));
	sim_channels_closed(session.channels, 101, -ECONNRESET, 0);
	assert_true(was_closed(fd));
	expect_no_client(listener);
	assert_true(TAILQ_EMPTY(&session.channels->channels));
	close(fd);
	sim_session_unlisten(&session, listener);
}

static void test_descriptors_of_untaken_messages_are_closed(void **state)
{
	struct sim_handshake_msg first = msg('a'), second = msg('b');
	int fds[2] = { add_fd(&first), add_fd(&second) };
	struct sim_channel *channel;

	assert_int_equal(connect_client(&channel), 0);
	assert_int_equal(sim_channels_accepted(session.channels, asked.number, &first), 0);
	assert_int_equal(sim_channels_received(session.channels, asked.number, &second), 0);
	sim_channel_close(&session, channel, -ECONNRESET);
	for (int i = 0; i < 2; i++) {
		assert_true(was_closed(fds[i]));
		close(fds[i]);
	}
}

/* The end of the session, with a client that nobody took, and a channel and a listener that nobody ended. */
static void test_end_of_all_closes_the_descriptors(void **state)
{
	struct sim_handshake_msg connect_msg = msg('a'), text = msg('b');
	int fds[2] = { add_fd(&connect_msg), add_fd(&text) };
	struct sim_channel *channel;
	uint64_t number;

	listen_to(&number);
	assert_int_equal(sim_channels_offered(session.channels, number, 101, &connect_msg), 0);
	assert_int_equal(connect_client(&channel), 0);
	assert_int_equal(sim_channels_accepted(session.channels, asked.number, &text), 0);
	sim_channels_destroy(session.channels);
	session.channels = NULL;
	for (int i = 0; i < 2; i++) {
		assert_true(was_closed(fds[i]));
		close(fds[i]);
	}
}

/* In a forked child, which keeps the lists; that the parent held the lock at the fork may not matter. */
static void test_abandoned_messages_are_closed(void **state)
{
	struct sim_handshake_msg text = msg('a');
	int fd = add_fd(&text);
	struct sim_channel *channel;

	assert_int_equal(connect_client(&channel), 0);
	assert_int_equal(sim_channels_accepted(session.channels, asked.number, &text), 0);
	pthread_mutex_lock(&session.channels->lock);
	sim_channels_abandon(session.channels);
	assert_false(was_closed(fd));
	pthread_mutex_unlock(&session.channels->lock);
	sim_channels_abandon(session.channels);
	assert_true(was_closed(fd));
	close(fd);
	STAILQ_FIRST(&channel->unread)->msg.num_fds = 0;
	assert_int_equal(pthread_mutex_trylock(&session.channels->lock), 0);
	pthread_mutex_unlock(&session.channels->lock);
	sim_channel_close(&session, channel, -ECONNRESET);
}

static void test_end_of_the_daemon_closes_all_that_is_open(void **state)
{
	unsigned int num_offers = 0, num_told[3] = { 0 };
	struct sim_listener *listener;
	struct sim_channel *channels[3];

	assert_int_equal(sim_session_listen(&session, &service, count, &num_offers, &listener), 0);
	assert_int_equal(sim_listener_status(listener), 0);
	for (unsigned int i = 0; i < 3; i++)
		channels[i] = connect_counted(&num_told[i]);
	sim_channels_closed(session.channels, asked.number, -EPIPE, 0); /* the last one */
	sim_channels_lost(session.channels);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(num_told[i], 1);
		assert_int_equal(sim_channel_status(channels[i]), i == 2 ? -EPIPE : -ESHUTDOWN);
		sim_channel_close(&session, channels[i], -ECONNRESET);
	}
	assert_int_equal(num_offers, 1);
	assert_int_equal(sim_listener_status(listener), -ESHUTDOWN);
	assert_int_equal(asked.num_closed, 0);
	sim_session_unlisten(&session, listener);
}

/* ---- a notification that runs while its object ends ---- */

static struct {
	atomic_bool has_begun, may_end, has_ended, object_has_ended;
	bool ended_in_order;
	struct sim_channel *channel;
	struct sim_listener *listener;
} slow;

static void notify_slowly(void *arg)
{
	atomic_store(&slow.has_begun, true);
	while (!atomic_load(&slow.may_end))
		sched_yield();
	atomic_store(&slow.has_ended, true);
}

static void *tell_of_loss(void *arg)
{
	sim_channels_lost(session.channels);
	return NULL;
}

static void *end_object(void *arg)
{
	if (slow.channel)
		sim_channel_close(&session, slow.channel, -ECONNRESET);
	else
		sim_session_unlisten(&session, slow.listener);
	slow.ended_in_order = atomic_load(&slow.has_ended);
	atomic_store(&slow.object_has_ended, true);
	return NULL;
}

static void end_while_notified(void)
{
	pthread_t teller, ender;

	slow.has_begun = slow.may_end = slow.has_ended = slow.object_has_ended = false;
	assert_int_equal(pthread_create(&teller, NULL, tell_of_loss, NULL), 0);
	while (!atomic_load(&slow.has_begun))
		sched_yield();
	assert_int_equal(pthread_create(&ender, NULL, end_object, NULL), 0);
	for (int i = 0; i < 10000; i++)
		sched_yield();
	assert_false(atomic_load(&slow.object_has_ended));
	atomic_store(&slow.may_end, true);
	pthread_join(teller, NULL);
	pthread_join(ender, NULL);
	assert_true(slow.ended_in_order);
}

static void test_end_of_a_channel_or_listener_waits_for_its_notification(void **state)
{
	const struct sim_handshake_msg connect_msg = msg('c');

	assert_int_equal(
		sim_session_connect(&session, 0, "service", 0, &connect_msg, notify_slowly, NULL, &slow.channel), 0);
	end_while_notified();
	slow.channel = NULL;
	assert_int_equal(sim_session_listen(&session, &service, notify_slowly, NULL, &slow.listener), 0);
	end_while_notified();
}

/* ---- the owner's thread beside the application's ---- */

#define NUM_ROUNDS 500

static struct {
	uint64_t listener;
	_Atomic uint64_t client; /* of the application: the owner accepts it */
	atomic_bool is_over;
	atomic_uint num_notified;
} beside;

static void note_notified(void *arg)
{
	atomic_fetch_add(&beside.num_notified, 1);
}

static void *report(void *arg)
{
	const struct sim_handshake_msg text = msg('t');

	for (uint64_t number = 1000; number < 1000 + NUM_ROUNDS; number++) {
		uint64_t client = atomic_load(&beside.client);

		sim_channels_offered(session.channels, beside.listener, number, &text);
		sim_channels_accepted(session.channels, client, &text);
		sim_channels_received(session.channels, number, &text);
		sim_channels_notified(session.channels, number);
		sim_channels_closed(session.channels, client, -EPIPE, 0);
		if (number % 2)
			sim_channels_closed(session.channels, number, -ECONNRESET, 0);
		sched_yield();
	}
	sim_channels_lost(session.channels);
	atomic_store(&beside.is_over, true);
	return NULL;
}

static void serve_next(struct sim_listener *listener)
{
	const struct sim_handshake_msg text = msg('t');
	struct sim_handshake_msg received;
	struct sim_channel *channel;

	sim_listener_num_waiting(listener);
	sched_yield();
	if (!sim_listener_next_client(listener, note_notified, NULL, &channel, &received))
		return;
	asked.answer = asked.num_requests % 3 ? 0 : -EMFILE;
	sim_channel_accept(channel, &text);
	sim_channel_receive(channel, &received);
	asked.answer = 0;
	sim_channel_close(&session, channel, -ECONNRESET);
}

static void use_client(void)
{
	const struct sim_handshake_msg text = msg('t');
	struct sim_handshake_msg received;
	struct sim_listener *other;
	struct sim_channel *channel;

	sched_yield(); /* between two uses of the lists: each of them may be the first after one of the owner's */
	assert_int_equal(sim_session_listen(&session, &service, note_notified, NULL, &other), 0);
	sched_yield();
	assert_int_equal(sim_session_connect(&session, 0, "service", 0, &text, note_notified, NULL, &channel), 0);
	atomic_store(&beside.client, asked.number);
	sim_channel_send(channel, &text);
	sim_channel_receive(channel, &received);
	sim_channel_close(&session, channel, -ECONNRESET);
	sim_session_unlisten(&session, other);
}

/* The thread sanitizer looks at the lists. */
static void test_owner_and_application_use_the_lists_at_once(void **state)
{
	struct sim_listener *listener;
	pthread_t thread;

	assert_int_equal(sim_session_listen(&session, &service, note_notified, NULL, &listener), 0);
	beside.listener = asked.number;
	beside.is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, report, NULL), 0);
	while (!atomic_load(&beside.is_over)) {
		serve_next(listener);
		use_client();
	}
	pthread_join(thread, NULL);
	assert_true(beside.num_notified >= NUM_ROUNDS); /* of the offers, at least */
	assert_int_equal(sim_listener_status(listener), -ESHUTDOWN);
	sim_session_unlisten(&session, listener);
	assert_true(TAILQ_EMPTY(&session.channels->channels));
	assert_true(LIST_EMPTY(&session.channels->listeners));
}

/* ---- a service of another function ---- */

static void test_refused_client_learns_of_a_function_that_exists(void **state)
{
	struct sim_channel *channel;
	uint32_t function = 77;
	char error[PCIE_ERROR_SIZE];

	assert_int_equal(pcie_topology_parse("test", TOPOLOGY, strlen(TOPOLOGY), &session.topology, error), 0);
	assert_int_equal(connect_client(&channel), 0);
	assert_false(sim_channel_find_elsewhere(channel, &function));
	sim_channels_closed(session.channels, asked.number, -ECONNREFUSED, 2);
	assert_true(sim_channel_find_elsewhere(channel, &function));
	assert_int_equal(function, 1);
	channel->elsewhere = session.topology->num_functions;
	assert_true(sim_channel_find_elsewhere(channel, &function));
	channel->elsewhere++;
	assert_false(sim_channel_find_elsewhere(channel, &function));
	sim_channel_close(&session, channel, -ECONNRESET);
	pcie_topology_destroy(session.topology);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clients_come_in_their_order_each_to_its_listener),
		TEST(client_whose_channel_failed_before_is_not_taken),
		TEST(end_of_a_listener_refuses_its_clients_alone),
		TEST(listen_that_fails_leaves_nothing),
		TEST(connect_that_fails_leaves_nothing),
		TEST(connect_that_is_refused_at_once_is_a_closed_channel),
		TEST(client_is_pending_until_it_is_accepted),
		TEST(server_accepts_and_sends),
		TEST(message_that_is_refused_closes_the_channel),
		TEST(channel_that_the_owner_does_not_know_was_reset),
		TEST(each_end_is_told_of_what_is_new),
		TEST(message_to_a_closed_or_unknown_channel_is_refused),
		TEST(channel_whose_messages_are_not_taken_fails),
		TEST(client_of_no_listener_is_refused),
		TEST(client_that_gives_up_before_it_is_taken_is_forgotten),
		TEST(descriptors_of_untaken_messages_are_closed),
		TEST(end_of_all_closes_the_descriptors),
		TEST(abandoned_messages_are_closed),
		TEST(end_of_the_daemon_closes_all_that_is_open),
		TEST(end_of_a_channel_or_listener_waits_for_its_notification),
		TEST(owner_and_application_use_the_lists_at_once),
		TEST(refused_client_learns_of_a_function_that_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
