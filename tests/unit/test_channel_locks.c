/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/channel.h: each call takes the lock of the lists. The thread sanitizer looks on. The owner answers nothing. */
#include <errno.h>
#include <stdlib.h>

#include "cmocka_test.h"
#include "sim/session/channel_list.h"
#include "sim/session/session_priv.h"
#include "unordered.h"

#define CLIENT 1 /* the number of the first channel */

static struct sim_session session;
static const struct sim_service service = { .name = "service" };
static const struct sim_handshake_msg text = { .len_bytes = 1 };
static struct sim_listener *listener;
static uint64_t listener_number;

/* ---- the owner ---- */

static int owner_listen(struct sim_owner *owner, uint64_t number, const struct sim_service *wanted)
{
	return 0;
}

static int owner_connect(struct sim_owner *owner, uint64_t number, const struct sim_connect *request)
{
	return 0;
}

static void owner_unlisten(struct sim_owner *owner, uint64_t number)
{
}

static void owner_close(struct sim_owner *owner, uint64_t number, int reason)
{
}

static const struct sim_owner_channel_ops ops = {
	.listen = owner_listen,
	.connect = owner_connect,
	.unlisten = owner_unlisten,
	.close = owner_close,
};

static struct sim_owner owner = { .channels = &ops };

/* ---- calls; each takes the lock once ---- */

static void begin_to_listen(void *ret_listener)
{
	if (sim_session_listen(&session, &service, NULL, NULL, ret_listener) < 0)
		abort();
}

static void end_listening(void *other)
{
	sim_session_unlisten(&session, other);
}

static void connect_client(void *ret_channel)
{
	if (sim_session_connect(&session, 0, "service", 0, &text, NULL, NULL, ret_channel) < 0)
		abort();
}

static void close_client(void *channel)
{
	sim_channel_close(&session, channel, -ECONNRESET);
}

static void take_next_client(void *ret_channel)
{
	struct sim_handshake_msg received;

	if (!sim_listener_next_client(listener, NULL, NULL, ret_channel, &received))
		abort();
}

static void count_waiting(void *arg)
{
	sim_listener_num_waiting(listener);
}

static void receive(void *channel)
{
	struct sim_handshake_msg received;

	if (!sim_channel_receive(channel, &received))
		abort();
}

static void offer(void *arg)
{
	if (sim_channels_offered(session.channels, listener_number, 1000, &text) < 0)
		abort();
}

static void deliver(void *arg)
{
	if (sim_channels_received(session.channels, CLIENT, &text) < 0)
		abort();
}

static void notify(void *arg)
{
	sim_channels_notified(session.channels, UINT64_MAX);
}

static void end(void *arg)
{
	sim_channels_closed(session.channels, UINT64_MAX, -EPIPE, 0);
}

static void lose_owner(void *arg)
{
	sim_channels_lost(session.channels);
}

/* Each stands before an offer, which changes the list of channels, or beside a call that changes the same. */
static void test_each_call_takes_the_lock_of_the_lists(void **state)
{
	static struct unordered calls;
	struct sim_channel *client, *closed, *taken[2], *connected;
	struct sim_listener *others[2];

	session.owner = &owner;
	assert_int_equal(sim_channels_create(&session, &session.channels), 0);
	connect_client(&client);
	connect_client(&closed);
	begin_to_listen(&listener);
	begin_to_listen(&others[0]);
	listener_number = listener->number;

	unordered_run(&calls, begin_to_listen, &others[1]);
	unordered_run(&calls, end_listening, others[0]);
	unordered_run(&calls, offer, NULL);
	unordered_run(&calls, take_next_client, &taken[0]);
	unordered_run(&calls, offer, NULL);
	unordered_run(&calls, take_next_client, &taken[1]);
	unordered_run(&calls, connect_client, &connected);
	unordered_run(&calls, count_waiting, NULL);
	unordered_run(&calls, offer, NULL);
	unordered_run(&calls, notify, NULL);
	unordered_run(&calls, offer, NULL);
	unordered_run(&calls, end, NULL);
	unordered_run(&calls, close_client, closed);
	unordered_run(&calls, deliver, NULL);
	unordered_run(&calls, receive, client);
	unordered_run(&calls, deliver, NULL);
	unordered_run(&calls, lose_owner, NULL);
	unordered_run(&calls, offer, NULL);
	unordered_end(&calls);

	for (int i = 0; i < 2; i++)
		close_client(taken[i]);
	close_client(connected);
	close_client(client);
	end_listening(others[1]);
	end_listening(listener);
	sim_channels_destroy(session.channels);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_call_takes_the_lock_of_the_lists) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
