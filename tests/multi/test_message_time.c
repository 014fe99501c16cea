/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of control messages in a modelled clock (doc/time.md): a one-way latency from program to program, and
 * send time at the sender, which limits the rate of a burst.
 *
 * The host sends a burst and disconnects; the DPU records the arrival times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comm_channel.h>

#include "cmocka_test.h"
#include "sim/api/bfsim.h"
#include "comch_endpoint.h"
#include "pcie_model/topology/topology.h"

#define BURST 20
#define NAME  "burst"

static uint64_t one_way_ns(void)
{
	return pcie_profile_find("bluefield-3")->comch_timing.one_way_ps / 1000; /* whole ns, as is ... */
}

static uint64_t send_ns(void)
{
	return pcie_profile_find("bluefield-3")->comch_timing.send_ps / 1000; /* ... this */
}

/* The kind of a run, and its results. */
struct plan {
	bool sleeps;
	bool stays;     /* until all send tasks are back */
	uint16_t queue; /* messages that a channel's receiver has room for; 0 = all */
};

struct host_diary {
	uint64_t sent_ns;        /* the burst */
	uint64_t back_ns[BURST]; /* send tasks, if it stayed */
};

struct dpu_diary {
	uint64_t came_ns[BURST];
	uint32_t num_came;
};

/* ---- Comch ---- */

static void on_sent(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct host_diary *diary = endpoint->cfg.owner;

	diary->back_ns[endpoint->sent - 1] = bfsim_now_ns();
}

static void run_sender(int ctl)
{
	static struct endpoint endpoint;
	struct host_diary diary = { 0 };
	const struct endpoint_cfg cfg = { .name = NAME, .owner = &diary, .num_tasks = BURST, .sent = on_sent };
	struct doca_dev *dev;
	struct plan plan;
	struct loop loop;

	proc_recv(ctl, &plan, sizeof(plan));
	dev = device_open(NULL);
	loop_open(&loop, plan.sleeps);
	endpoint_open_client(&endpoint, &cfg, &loop, dev);
	endpoint_start(&endpoint);
	LOOP_UNTIL(&loop, endpoint.state == DOCA_CTX_STATE_RUNNING);
	diary.sent_ns = bfsim_now_ns();
	for (uint8_t i = 0; i < BURST; i++)
		CHECK(endpoint_send(&endpoint, endpoint.connection, &i, 1));
	if (plan.stays)
		LOOP_UNTIL(&loop, endpoint.sent == BURST);
	endpoint_stop(&endpoint);
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
	proc_send(ctl, &diary, sizeof(diary));
}

static void on_message(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		       uint32_t len)
{
	struct dpu_diary *diary = endpoint->cfg.owner;

	CHECK(len == 1 && bytes[0] == diary->num_came && diary->num_came < BURST);
	diary->came_ns[diary->num_came++] = bfsim_now_ns();
}

static void run_receiver(int ctl)
{
	static struct endpoint endpoint;
	struct dpu_diary diary = { 0 };
	const struct endpoint_cfg cfg = { .name = NAME, .owner = &diary, .recv_queue = BURST, .message = on_message };
	struct doca_dev *dev;
	struct plan plan;
	struct loop loop;

	proc_recv(ctl, &plan, sizeof(plan));
	dev = device_open(NULL);
	loop_open(&loop, plan.sleeps);
	endpoint_open_server(&endpoint, &cfg, &loop, dev);
	endpoint_start(&endpoint);
	proc_send(ctl, "l", 1);
	LOOP_UNTIL(&loop, endpoint.num_disconnected == 1);
	endpoint_stop(&endpoint);
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
	proc_send(ctl, &diary, sizeof(diary));
}

/* ---- Comm Channel ---- */

static struct doca_comm_channel_ep_t *open_endpoint(struct doca_dev *dev, const struct plan *plan)
{
	struct doca_comm_channel_ep_t *ep;

	MUST(doca_comm_channel_ep_create(&ep));
	MUST(doca_comm_channel_ep_set_device(ep, dev));
	MUST(doca_comm_channel_ep_set_recv_queue_size(ep, plan->queue ? plan->queue : BURST));
	return ep;
}

/* Send until it succeeds, letting time pass meanwhile. */
static void send_byte(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer, uint8_t byte)
{
	doca_error_t result;

	while ((result = doca_comm_channel_ep_sendto(ep, &byte, 1, DOCA_CC_MSG_FLAG_NONE, peer)) == DOCA_ERROR_AGAIN)
		; /* being connected, or no room */
	CHECK(result == DOCA_SUCCESS);
}

static doca_error_t receive_byte(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t **peer,
				 uint8_t *byte)
{
	doca_error_t result;
	size_t len = 1;

	while ((result = doca_comm_channel_ep_recvfrom(ep, byte, &len, DOCA_CC_MSG_FLAG_NONE, peer)) ==
	       DOCA_ERROR_AGAIN)
		len = 1;
	return result;
}

/* A request and a reply first: both processes then wait in virtual time when the burst begins, whenever they
 * connected. */
static void run_channel_sender(int ctl)
{
	struct doca_comm_channel_addr_t *peer;
	struct doca_comm_channel_ep_t *ep;
	struct host_diary diary = { 0 };
	struct doca_dev *dev;
	struct plan plan;
	uint8_t byte;

	proc_recv(ctl, &plan, sizeof(plan));
	dev = device_open(NULL);
	ep = open_endpoint(dev, &plan);
	while (doca_comm_channel_ep_connect(ep, NAME, &peer) != DOCA_SUCCESS)
		; /* the message has not arrived yet */
	send_byte(ep, peer, BURST);
	CHECK(receive_byte(ep, &peer, &byte) == DOCA_SUCCESS && byte == BURST);
	diary.sent_ns = bfsim_now_ns();
	for (uint8_t i = 0; i < BURST; i++)
		send_byte(ep, peer, i);
	MUST(doca_comm_channel_ep_disconnect(ep, peer));
	MUST(doca_comm_channel_ep_destroy(ep));
	MUST(doca_dev_close(dev));
	proc_send(ctl, &diary, sizeof(diary));
}

static void run_channel_receiver(int ctl)
{
	struct doca_comm_channel_addr_t *peer = NULL;
	struct doca_comm_channel_ep_t *ep;
	struct dpu_diary diary = { 0 };
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	doca_error_t result;
	struct plan plan;
	uint8_t byte;

	proc_recv(ctl, &plan, sizeof(plan));
	dev = device_open(NULL);
	rep = device_open_rep(dev, NULL);
	ep = open_endpoint(dev, &plan);
	MUST(doca_comm_channel_ep_set_device_rep(ep, rep));
	MUST(doca_comm_channel_ep_listen(ep, NAME));
	proc_send(ctl, "l", 1);
	CHECK(receive_byte(ep, &peer, &byte) == DOCA_SUCCESS && byte == BURST);
	send_byte(ep, peer, BURST);
	while ((result = receive_byte(ep, &peer, &byte)) == DOCA_SUCCESS) {
		CHECK(byte == diary.num_came && diary.num_came < BURST);
		diary.came_ns[diary.num_came++] = bfsim_now_ns();
	}
	CHECK(result == DOCA_ERROR_CONNECTION_RESET);
	MUST(doca_comm_channel_ep_disconnect(ep, peer));
	MUST(doca_comm_channel_ep_destroy(ep));
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(dev));
	proc_send(ctl, &diary, sizeof(diary));
}

static const struct peer_role sender = { "sender", run_sender };
static const struct peer_role receiver = { "receiver", run_receiver };
static const struct peer_role channel_sender = { "channel_sender", run_channel_sender };
static const struct peer_role channel_receiver = { "channel_receiver", run_channel_receiver };

/* ---- the tests ---- */

static void burst(const char *clock, const struct peer_role *from, const struct peer_role *to, struct plan plan,
		  struct host_diary *ret_host, struct dpu_diary *ret_dpu)
{
	struct proc host, dpu;
	char byte;

	card_start_with(NULL, clock);
	peer_start(&dpu, "dpu", to, &plan, sizeof(plan));
	proc_recv(dpu.ctl, &byte, 1); /* the server listens: a client waits for it for some seconds only */
	peer_start(&host, "host", from, &plan, sizeof(plan));
	proc_recv(host.ctl, ret_host, sizeof(*ret_host));
	proc_recv(dpu.ctl, ret_dpu, sizeof(*ret_dpu));
	proc_end(&host);
	proc_end(&dpu);
	card_end();
	assert_int_equal(ret_dpu->num_came, BURST);
}

static void assert_exact(const struct host_diary *host, const struct dpu_diary *dpu)
{
	for (unsigned int i = 0; i < BURST; i++)
		assert_int_equal(dpu->came_ns[i], host->sent_ns + i * send_ns() + one_way_ns());
}

static void test_message_takes_its_time_behind_those_before_it(void **state)
{
	struct host_diary host;
	struct dpu_diary dpu;

	for (int sleeps = 0; sleeps < 2; sleeps++) {
		burst("virtual", &sender, &receiver, (struct plan){ .sleeps = sleeps, .stays = true }, &host, &dpu);
		assert_exact(&host, &dpu);
	}
}

static void test_send_task_is_over_when_its_senders_time_is(void **state)
{
	struct host_diary host;
	struct dpu_diary dpu;

	burst("virtual", &sender, &receiver, (struct plan){ .stays = true }, &host, &dpu);
	for (unsigned int i = 0; i < BURST; i++)
		assert_int_equal(host.back_ns[i], host.sent_ns + (i + 1) * send_ns());
}

/* The disconnect event carries its own time, however early the daemon reports it. */
static void test_senders_going_makes_its_messages_no_faster(void **state)
{
	struct host_diary host;
	struct dpu_diary dpu;

	for (int i = 0; i < 6; i++) {
		burst("virtual", &sender, &receiver, (struct plan){ .sleeps = i & 1 }, &host, &dpu);
		assert_exact(&host, &dpu);
	}
}

static void test_message_of_a_channel_takes_as_long(void **state)
{
	struct host_diary host;
	struct dpu_diary dpu;

	for (int i = 0; i < 4; i++) {
		burst("virtual", &channel_sender, &channel_receiver, (struct plan){ 0 }, &host, &dpu);
		assert_exact(&host, &dpu);
	}
}

/* A sender that polls for room advances time as well. */
static void test_channel_without_room_waits_in_virtual_time(void **state)
{
	const struct plan plan = { .queue = 3 };
	struct dpu_diary first, again;
	struct host_diary host;

	burst("virtual", &channel_sender, &channel_receiver, plan, &host, &first);
	assert_true(first.came_ns[BURST - 1] > 3 * one_way_ns());
	for (int i = 0; i < 3; i++) {
		burst("virtual", &channel_sender, &channel_receiver, plan, &host, &again);
		assert_memory_equal(&again, &first, sizeof(first));
	}
}

static void test_timed_message_is_not_early(void **state)
{
	struct host_diary host;
	struct dpu_diary dpu;

	for (int sleeps = 0; sleeps < 2; sleeps++) {
		burst("timed", &sender, &receiver, (struct plan){ .sleeps = sleeps }, &host, &dpu);
		for (unsigned int i = 0; i < BURST; i++)
			assert_true(dpu.came_ns[i] >= host.sent_ns + i * send_ns() + one_way_ns());
	}
}

static void test_functional_message_takes_no_time_of_the_model(void **state)
{
	struct host_diary host;
	struct dpu_diary dpu;

	burst("functional", &sender, &receiver, (struct plan){ .stays = true }, &host, &dpu);
	burst("functional", &channel_sender, &channel_receiver, (struct plan){ 0 }, &host, &dpu);
}

#define TEST(test) cmocka_unit_test_teardown(test, card_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_message_takes_its_time_behind_those_before_it),
		TEST(test_send_task_is_over_when_its_senders_time_is),
		TEST(test_senders_going_makes_its_messages_no_faster),
		TEST(test_message_of_a_channel_takes_as_long),
		TEST(test_channel_without_room_waits_in_virtual_time),
		TEST(test_timed_message_is_not_early),
		TEST(test_functional_message_takes_no_time_of_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
