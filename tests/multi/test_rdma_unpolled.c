/* SPDX-License-Identifier: BSD-3-Clause */
/* A responder needs no help for messages: its program is in a callback, waits for a sync event, does nothing, or is stopped. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "rdma_util.h"
#include "session_util.h"

#define LONG_BYTES (600 * 1024) /* more than an inbox holds */
#define TO         64           /* where messages go to in the arena; they are sent from its begin */

enum order {
	ORDER_EXPORT,
	ORDER_CONNECT,
	ORDER_RECEIVE, /* post @count receives of @len bytes */
	ORDER_SEND,    /* submit @count sends of @len bytes */
	ORDER_ADD,     /* submit a notify-add of 1 to the peer's event */
	ORDER_DRAIN,   /* progress until no task is pending; reply: the trace */
	ORDER_HOLD, /* progress, and stay in the first receive's callback until the next order; then as ORDER_DRAIN */
	ORDER_WAIT, /* wait until the event is not 0, and do not progress */
	ORDER_PEEK, /* reply: the last byte of @len that were received */
	ORDER_FORK, /* a child stops the context; reply: its status */
	ORDER_STOP,
};

struct details {
	uint8_t connection[64], event[128];
	size_t event_len;
};

struct request {
	enum order order;
	uint64_t count, len;
	struct details details;
};

struct reply {
	char text[2048];
	int value;
	struct details details;
};

/* ---- in the processes ---- */

static int worker_ctl;

static void export_all(struct peer *peer, struct details *details)
{
	const void *bytes;
	const uint8_t *event;
	size_t len;

	MUST(doca_rdma_export(peer->rdma, &bytes, &len, &peer->connections[0]));
	memcpy(details->connection, bytes, len);
	MUST(doca_sync_event_create(&peer->event));
	MUST(doca_sync_event_add_publisher_location_remote_net(peer->event));
	MUST(doca_sync_event_add_subscriber_location_cpu(peer->event, peer->dev));
	MUST(doca_sync_event_start(peer->event));
	MUST(doca_sync_event_export_to_remote_net(peer->event, &event, &details->event_len));
	if (details->event_len > sizeof(details->event))
		abort();
	memcpy(details->event, event, details->event_len);
}

static void connect_to(struct peer *peer, const struct details *details)
{
	MUST(doca_rdma_connect(peer->rdma, details->connection, 64, peer->connections[0]));
	MUST(doca_sync_event_remote_net_create_from_export(peer->dev, details->event, details->event_len,
							   &peer->events[0]));
}

static void stay_until_next_order(struct peer *peer)
{
	const struct reply held = { 0 };
	struct request next;

	peer->on_received = NULL;
	proc_send(worker_ctl, &held, sizeof(held));
	proc_recv(worker_ctl, &next, sizeof(next));
}

static int stop_in_child(struct peer *peer)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		alarm(30);
		(void)!doca_ctx_stop(peer->ctx);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		abort();
	return status;
}

static void drain(struct peer *peer, struct reply *reply)
{
	peers_drain(peer, NULL, 0);
	strncpy(reply->text, peer->trace, sizeof(reply->text) - 1);
	peer->trace[0] = '\0';
}

static void submit(struct peer *peer, const struct request *request)
{
	for (uint64_t i = 0; i < request->count; i++) {
		if (request->order == ORDER_RECEIVE)
			peer_receive(peer, i, peer_buf(peer, TO + i * request->len, request->len, 0));
		else
			peer_send(peer, i, peer_buf(peer, 0, request->len, request->len));
	}
}

/* The card may write meanwhile, as on hardware: sanitizers are not to report this access. */
static __attribute__((no_sanitize("address", "thread"))) int peek(const struct peer *peer, uint64_t len)
{
	return *(volatile const uint8_t *)(peer->arena + TO + len - 1);
}

static void obey(struct peer *peer, const struct request *request, struct reply *reply)
{
	switch (request->order) {
	case ORDER_EXPORT:
		export_all(peer, &reply->details);
		break;
	case ORDER_CONNECT:
		connect_to(peer, &request->details);
		break;
	case ORDER_ADD:
		peer_event_add(peer, 0, peer_buf(peer, TO, 8, 0), 1);
		break;
	case ORDER_HOLD:
		peer->on_received = stay_until_next_order;
		drain(peer, reply);
		break;
	case ORDER_DRAIN:
		drain(peer, reply);
		break;
	case ORDER_WAIT:
		MUST(doca_sync_event_wait_gt(peer->event, 0, UINT64_MAX));
		break;
	case ORDER_PEEK:
		reply->value = peek(peer, request->len);
		break;
	case ORDER_FORK:
		reply->value = stop_in_child(peer);
		break;
	case ORDER_STOP:
		peer_stop(peer);
		break;
	default:
		submit(peer, request);
		break;
	}
}

static void worker(int ctl, const void *arg)
{
	struct request request;
	struct peer *peer;

	worker_ctl = ctl;
	setenv("BFSIM_SIDE", arg, 1);
	peer = peer_open(0, RDMA_ALL_ACCESS);
	peer->may_be_refused = true; /* the trace says so */
	peer_start(peer);
	if (strcmp(arg, "host") == 0)
		memset(peer->arena, 'm', PEER_ARENA_BYTES);
	for (;;) {
		struct reply reply = { 0 };

		proc_recv(ctl, &request, sizeof(request));
		obey(peer, &request, &reply);
		proc_send(ctl, &reply, sizeof(reply));
	}
}

/* ---- in the test ---- */

static struct reply receive_reply(struct proc *proc)
{
	struct reply reply;

	proc_recv(proc->ctl, &reply, sizeof(reply));
	return reply;
}

static void order(struct proc *proc, enum order order, uint64_t count, uint64_t len)
{
	const struct request request = { .order = order, .count = count, .len = len };

	proc_send(proc->ctl, &request, sizeof(request));
}

static struct reply ask(struct proc *proc, enum order what, uint64_t count, uint64_t len)
{
	order(proc, what, count, len);
	return receive_reply(proc);
}

/* A requester on the host, and a responder on the DPU, connected. */
static void start_both(struct proc *a, struct proc *b)
{
	struct proc *procs[] = { a, b };
	struct request connect[2] = { { .order = ORDER_CONNECT }, { .order = ORDER_CONNECT } };

	proc_start(a, worker, "host");
	proc_start(b, worker, "dpu");
	for (int i = 0; i < 2; i++)
		connect[!i].details = ask(procs[i], ORDER_EXPORT, 0, 0).details;
	for (int i = 0; i < 2; i++) {
		proc_send(procs[i]->ctl, &connect[i], sizeof(connect[i]));
		receive_reply(procs[i]);
	}
}

#define expect_text(reply, wanted) assert_string_equal((reply).text, wanted)

/* The second message comes while the program is in the callback of the first. */
static void test_responder_in_a_callback_receives(void **state)
{
	struct proc a, b;

	start_both(&a, &b);
	ask(&b, ORDER_RECEIVE, 3, 8);
	order(&b, ORDER_HOLD, 0, 0);
	ask(&a, ORDER_SEND, 1, 8);
	expect_text(ask(&a, ORDER_DRAIN, 0, 0), "send 0 done\n");
	receive_reply(&b); /* it is in the callback */
	ask(&a, ORDER_SEND, 2, 8);
	expect_text(ask(&a, ORDER_DRAIN, 0, 0), "send 0 done\nsend 1 done\n");
	order(&b, ORDER_DRAIN, 0, 0); /* lets the callback return */
	expect_text(receive_reply(&b), "receive 0 done: 8 bytes by SEND\n"
				       "receive 1 done: 8 bytes by SEND\n"
				       "receive 2 done: 8 bytes by SEND\n");
}

static void test_responder_that_waits_for_a_sync_event_receives(void **state)
{
	struct proc a, b;

	start_both(&a, &b);
	ask(&b, ORDER_RECEIVE, 1, 8);
	order(&b, ORDER_WAIT, 0, 0);
	ask(&a, ORDER_SEND, 1, 8);
	expect_text(ask(&a, ORDER_DRAIN, 0, 0), "send 0 done\n");
	assert_false(proc_readable_within(b.ctl, 0));
	ask(&a, ORDER_ADD, 0, 0);
	expect_text(ask(&a, ORDER_DRAIN, 0, 0), "event_add 0 done\n");
	receive_reply(&b);
	expect_text(ask(&b, ORDER_DRAIN, 0, 0), "receive 0 done: 8 bytes by SEND\n");
}

/* Many messages, and a long one, while the responder does nothing. */
static void test_idle_responder_receives_in_order(void **state)
{
	enum { MANY = 30 };
	char wanted[2048] = "";
	struct proc a, b;

	start_both(&a, &b);
	ask(&b, ORDER_RECEIVE, MANY, 8);
	ask(&a, ORDER_SEND, MANY, 8);
	ask(&a, ORDER_DRAIN, 0, 0);
	for (int i = 0; i < MANY; i++)
		sprintf(wanted + strlen(wanted), "receive %d done: 8 bytes by SEND\n", i);
	expect_text(ask(&b, ORDER_DRAIN, 0, 0), wanted);
	ask(&b, ORDER_RECEIVE, 1, LONG_BYTES);
	ask(&a, ORDER_SEND, 1, LONG_BYTES);
	expect_text(ask(&a, ORDER_DRAIN, 0, 0), "send 0 done\n");
	assert_int_equal(ask(&b, ORDER_PEEK, 0, LONG_BYTES).value, 'm');
	expect_text(ask(&b, ORDER_DRAIN, 0, 0), "receive 0 done: 614400 bytes by SEND\n");
}

/* Neither of the programs calls the library after the submission. */
static void test_idle_requester_is_helped_as_well(void **state)
{
	int64_t end_ms = proc_now_ms() + PROC_DEADLINE_MS;
	struct proc a, b;

	start_both(&a, &b);
	ask(&b, ORDER_RECEIVE, 1, 8);
	ask(&a, ORDER_SEND, 1, 8);
	while (ask(&b, ORDER_PEEK, 0, 8).value != 'm')
		assert_true(proc_now_ms() < end_ms);
	expect_text(ask(&a, ORDER_DRAIN, 0, 0), "send 0 done\n");
	expect_text(ask(&b, ORDER_DRAIN, 0, 0), "receive 0 done: 8 bytes by SEND\n");
}

/* The receive is posted when the message is there, and nothing else is called. */
static void test_late_receive_of_an_idle_responder_is_filled(void **state)
{
	struct proc a, b;

	start_both(&a, &b);
	ask(&a, ORDER_SEND, 1, 8);
	ask(&b, ORDER_RECEIVE, 1, 8);
	expect_text(ask(&a, ORDER_DRAIN, 0, 0), "send 0 done\n");
	assert_int_equal(ask(&b, ORDER_PEEK, 0, 8).value, 'm');
}

/* The responder stops its context while messages come. The requester's tasks end, whichever way. */
static void test_idle_responder_stops(void **state)
{
	struct proc a, b;

	start_both(&a, &b);
	ask(&b, ORDER_RECEIVE, 8, 8);
	order(&a, ORDER_SEND, 16, 8);
	ask(&b, ORDER_STOP, 0, 0);
	receive_reply(&a);
	ask(&a, ORDER_DRAIN, 0, 0);
}

static void test_child_of_a_responder_stops_its_copy(void **state)
{
	struct proc a, b;

	start_both(&a, &b);
	for (int i = 0; i < 10; i++) {
		ask(&b, ORDER_RECEIVE, 1, LONG_BYTES);
		ask(&a, ORDER_SEND, 1, LONG_BYTES);
		order(&a, ORDER_DRAIN, 0, 0);
		assert_int_equal(ask(&b, ORDER_FORK, 0, 0).value, 0);
		expect_text(receive_reply(&a), "send 0 done\n");
		expect_text(ask(&b, ORDER_DRAIN, 0, 0), "receive 0 done: 614400 bytes by SEND\n");
	}
}

/* A process that is stopped has no thread that could help: the sender waits for its retries, 4 s, and fails. */
static void test_send_to_a_stopped_process_fails(void **state)
{
	int64_t begin_ms;
	struct proc a, b;

	start_both(&a, &b);
	ask(&b, ORDER_RECEIVE, 1, 8);
	proc_signal(&b, SIGSTOP);
	begin_ms = proc_now_ms();
	ask(&a, ORDER_SEND, 1, 8);
	order(&a, ORDER_DRAIN, 0, 0);
	assert_false(proc_readable_within(a.ctl, 1000));
	expect_text(receive_reply(&a), "send 0 failed: DOCA_ERROR_IO_FAILED\n");
	assert_true(proc_now_ms() - begin_ms >= 3900);
	proc_signal(&b, SIGCONT);
	assert_int_equal(ask(&b, ORDER_PEEK, 0, 8).value, 0);
}

/* A short stop is no failure. */
static void test_send_to_a_process_that_goes_on_succeeds(void **state)
{
	struct proc a, b;

	start_both(&a, &b);
	ask(&b, ORDER_RECEIVE, 1, 8);
	proc_signal(&b, SIGSTOP);
	ask(&a, ORDER_SEND, 1, 8);
	order(&a, ORDER_DRAIN, 0, 0);
	assert_false(proc_readable_within(a.ctl, 200));
	proc_signal(&b, SIGCONT);
	expect_text(receive_reply(&a), "send 0 done\n");
	assert_int_equal(ask(&b, ORDER_PEEK, 0, 8).value, 'm');
}

#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(test_responder_in_a_callback_receives),
		IN_SESSION(test_responder_that_waits_for_a_sync_event_receives),
		IN_SESSION(test_idle_responder_receives_in_order),
		IN_SESSION(test_idle_requester_is_helped_as_well),
		IN_SESSION(test_late_receive_of_an_idle_responder_is_filled),
		IN_SESSION(test_idle_responder_stops),
		IN_SESSION(test_child_of_a_responder_stops_its_copy),
		IN_SESSION(test_send_to_a_stopped_process_fails),
		IN_SESSION(test_send_to_a_process_that_goes_on_succeeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
