/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA by the interface of releases 2.5 and 2.6: a start that lasts up to the connect, one connection a context, names of
 * results, shared receive queues. */
#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

struct pair {
	struct peer *a, *b;
};

static int open_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->a = peer_open(0, RDMA_ALL_ACCESS);
	pair->b = peer_open(0, RDMA_ALL_ACCESS);
	*state = pair;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *pair = *state;

	peer_close(pair->a);
	peer_close(pair->b);
	free(pair);
	return 0;
}

static enum doca_ctx_states state_of(const struct peer *peer)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(peer->ctx, &state));
	return state;
}

struct descriptor {
	const void *bytes;
	size_t len;
};

static struct descriptor export_of(const struct peer *peer)
{
	struct descriptor descriptor;

	MUST(doca_rdma_export(peer->rdma, &descriptor.bytes, &descriptor.len));
	return descriptor;
}

/* ---- the start ---- */

static void test_start_is_in_progress_until_the_step_behind_the_connect(void **state)
{
	struct pair *pair = *state;
	struct descriptor of_b;

	assert_result(doca_ctx_start(pair->a->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_result(doca_ctx_start(pair->b->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STARTING);
	assert_int_equal(doca_pe_progress(pair->a->pe), 0);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STARTING);
	of_b = export_of(pair->b);
	MUST(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len));
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STARTING);
	assert_int_equal(doca_pe_progress(pair->a->pe), 1);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(doca_pe_progress(pair->b->pe), 0);
	assert_int_equal(state_of(pair->b), DOCA_CTX_STATE_STARTING); /* each for itself */
}

/* Both sides call export and connect in the callback of the starting state, as the vendor's samples do. */
static struct descriptor descriptors[2];
static char states[256];

static void on_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states from,
		     enum doca_ctx_states to)
{
	struct peer *peer = user_data.ptr;
	size_t used = strlen(states);

	(void)ctx;
	snprintf(states + used, sizeof(states) - used, "%d-%d ", (int)from, (int)to);
	if (to != DOCA_CTX_STATE_STARTING)
		return;
	descriptors[1] = export_of(peer);
	MUST(doca_rdma_connect(peer->rdma, descriptors[0].bytes, descriptors[0].len));
}

static void test_connect_in_the_callback_of_the_starting_state(void **state)
{
	struct pair *pair = *state;

	states[0] = '\0';
	MUST(doca_ctx_set_state_changed_cb(pair->a->ctx, on_state));
	peer_start(pair->b);
	descriptors[0] = export_of(pair->b);
	assert_result(doca_ctx_start(pair->a->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STARTING);
	assert_int_equal(doca_pe_progress(pair->a->pe), 1);
	MUST(doca_rdma_connect(pair->b->rdma, descriptors[1].bytes, descriptors[1].len));
	assert_int_equal(doca_pe_progress(pair->b->pe), 1);
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 8, 0));
	peer_send(pair->a, 2, peer_buf(pair->a, 0, 8, 8));
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->b, "receive 1 done: 8 bytes by SEND\n");
	peer_stop(pair->a);
	assert_string_equal(states, "0-1 1-2 2-3 3-0 ");
}

/* What the vendor's samples do when the exchange of descriptors fails. */
static void export_and_stop(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states from,
			    enum doca_ctx_states to)
{
	size_t used = strlen(states);

	snprintf(states + used, sizeof(states) - used, "%d-%d ", (int)from, (int)to);
	if (to != DOCA_CTX_STATE_STARTING)
		return;
	export_of(user_data.ptr);
	assert_result(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
}

static void test_stop_in_the_callback_of_the_starting_state(void **state)
{
	struct pair *pair = *state;

	states[0] = '\0';
	MUST(doca_ctx_set_state_changed_cb(pair->a->ctx, export_and_stop));
	assert_result(doca_ctx_start(pair->a->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STOPPING);
	peer_stop(pair->a); /* steps of the engine alone */
	assert_string_equal(states, "0-1 1-3 3-0 ");
}

static bool is_notified(const struct peer *peer)
{
	struct pollfd handle = { .events = POLLIN };

	MUST(doca_pe_get_notification_handle(peer->pe, &handle.fd));
	return poll(&handle, 1, 0) == 1;
}

/* A program that sleeps on the notification handle wakes for the running state. */
static void test_connect_wakes_a_sleeping_program(void **state)
{
	struct pair *pair = *state;
	struct descriptor of_b;

	peer_start(pair->a);
	peer_start(pair->b);
	MUST(doca_pe_request_notification(pair->a->pe));
	assert_false(is_notified(pair->a));
	of_b = export_of(pair->b);
	MUST(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len));
	assert_true(is_notified(pair->a));
	MUST(doca_pe_clear_notification(pair->a->pe, 0));
	assert_int_equal(doca_pe_progress(pair->a->pe), 1);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_RUNNING);
}

static void test_stop_of_a_starting_context(void **state)
{
	struct pair *pair = *state;
	struct descriptor of_b;

	peer_start(pair->a);
	MUST(doca_ctx_stop(pair->a->ctx)); /* without a connection: at once */
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_IDLE);
	peer_start(pair->a);
	peer_start(pair->b);
	of_b = export_of(pair->b);
	MUST(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len));
	MUST(doca_ctx_stop(pair->a->ctx));
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_IDLE);
}

static void test_context_starts_anew_after_a_stop(void **state)
{
	struct pair *pair = *state;

	for (int i = 0; i < 2; i++) {
		peer_start(pair->a);
		peer_start(pair->b);
		assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STARTING);
		peers_connect(pair->a, pair->b);
		peer_receive(pair->b, 1, NULL);
		peer_send(pair->a, 2, NULL);
		peers_drain(pair->a, pair->b, 0);
		assert_peer_trace(pair->b, "receive 1 done: 0 bytes by SEND\n");
		peer_stop(pair->a);
		peer_stop(pair->b);
	}
}

/* Of the transport DC, the responder exports and the requester connects. */
static void test_responder_of_dc_runs_after_the_export(void **state)
{
	struct pair *pair = *state;
	struct descriptor of_b;

	MUST(doca_rdma_set_transport_type(pair->a->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	MUST(doca_rdma_set_transport_type(pair->b->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	peer_start(pair->a);
	peer_start(pair->b);
	of_b = export_of(pair->b);
	MUST(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len));
	assert_int_equal(doca_pe_progress(pair->a->pe), 1);
	assert_int_equal(doca_pe_progress(pair->b->pe), 1);
	assert_int_equal(state_of(pair->b), DOCA_CTX_STATE_RUNNING);
	peers_import(pair->a, pair->b);
	strcpy((char *)pair->a->arena, "a write");
	peer_write(pair->a, 1, peer_buf(pair->a, 0, 8, 8), peer_remote_buf(pair->a, pair->b, 0, 8, 0));
	peers_drain(pair->a, NULL, 0);
	assert_peer_trace(pair->a, "write 1 done\n");
	assert_string_equal((char *)pair->b->arena, "a write");
}

/* ---- what is refused ---- */

static void test_idle_context_neither_exports_nor_connects(void **state)
{
	struct pair *pair = *state;
	struct descriptor of_b, none;

	peer_start(pair->b);
	of_b = export_of(pair->b);
	assert_result(doca_rdma_export(pair->a->rdma, &none.bytes, &none.len), DOCA_ERROR_BAD_STATE);
	assert_result(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len), DOCA_ERROR_BAD_STATE);
}

static void test_tasks_are_for_a_running_context(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	union doca_data none = { .u64 = 0 };

	assert_result(doca_rdma_task_send_allocate_init(pair->a->rdma, NULL, none, &send), DOCA_ERROR_BAD_STATE);
	peer_start(pair->a);
	assert_result(doca_rdma_task_send_allocate_init(pair->a->rdma, NULL, none, &send), DOCA_ERROR_BAD_STATE);
	assert_result(doca_rdma_task_receive_allocate_init(pair->a->rdma, NULL, none, &receive), DOCA_ERROR_BAD_STATE);
	assert_result(doca_rdma_task_send_allocate_init(NULL, NULL, none, &send), DOCA_ERROR_INVALID_VALUE);
}

static void test_context_has_one_connection(void **state)
{
	struct pair *pair = *state;
	struct descriptor first, second;

	peer_start(pair->a);
	peer_start(pair->b);
	first = export_of(pair->b);
	second = export_of(pair->b);
	assert_ptr_equal(first.bytes, second.bytes);
	assert_int_equal(first.len, second.len);
	peers_connect(pair->a, pair->b);
	assert_ptr_equal(export_of(pair->b).bytes, first.bytes);
	assert_result(doca_rdma_connect(pair->a->rdma, first.bytes, first.len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_RUNNING);
}

static void test_refused_connect_leaves_the_context_starting(void **state)
{
	struct pair *pair = *state;
	struct descriptor of_b;
	uint8_t altered[64];

	peer_start(pair->a);
	peer_start(pair->b);
	of_b = export_of(pair->b);
	memcpy(altered, of_b.bytes, of_b.len);
	altered[20] ^= 1;
	assert_result(doca_rdma_connect(pair->a->rdma, altered, of_b.len), DOCA_ERROR_CONNECTION_ABORTED);
	assert_result(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len - 1), DOCA_ERROR_CONNECTION_ABORTED);
	assert_result(doca_rdma_connect(pair->a->rdma, NULL, of_b.len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_progress(pair->a->pe), 0);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STARTING);
	MUST(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len));
	assert_int_equal(doca_pe_progress(pair->a->pe), 1);
}

/* The connect makes the connection, and an export of DC would let the context run. */
static void test_refused_connect_of_dc_leaves_the_context_starting(void **state)
{
	struct pair *pair = *state;
	uint8_t none[64] = { 0 };

	MUST(doca_rdma_set_transport_type(pair->a->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	peer_start(pair->a);
	assert_result(doca_rdma_connect(pair->a->rdma, none, sizeof(none)), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_pe_progress(pair->a->pe), 0);
	assert_int_equal(state_of(pair->a), DOCA_CTX_STATE_STARTING);
	MUST(doca_ctx_stop(pair->a->ctx)); /* without a connection: at once */
}

static void test_stopping_context_neither_exports_nor_connects(void **state)
{
	struct pair *pair = *state;
	struct descriptor of_b, none;

	peer_start(pair->a);
	peer_start(pair->b);
	of_b = export_of(pair->b);
	peers_connect(pair->a, pair->b);
	peer_receive(pair->a, 1, NULL);
	assert_result(doca_ctx_stop(pair->a->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_result(doca_rdma_export(pair->a->rdma, &none.bytes, &none.len), DOCA_ERROR_BAD_STATE);
	assert_result(doca_rdma_connect(pair->a->rdma, of_b.bytes, of_b.len), DOCA_ERROR_BAD_STATE);
}

static void test_arguments_are_checked(void **state)
{
	struct pair *pair = *state;
	struct descriptor none;

	assert_result(doca_rdma_export(NULL, &none.bytes, &none.len), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_export(pair->a->rdma, NULL, &none.len), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_export(pair->a->rdma, &none.bytes, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_connect(NULL, "", 0), DOCA_ERROR_INVALID_VALUE);
}

/* ---- sync events ---- */

static void test_events_of_a_peer(void **state)
{
	struct pair *pair = *state;
	uint64_t value;

	peer_start(pair->a);
	peer_start(pair->b);
	peers_connect(pair->a, pair->b);
	peer_share_event(pair->b, pair->a);
	*(uint64_t *)(void *)pair->a->arena = 40;
	peer_event_set(pair->a, 1, peer_buf(pair->a, 0, 8, 8));
	peer_event_add(pair->a, 2, peer_buf(pair->a, 8, 8, 0), 2);
	peer_event_get(pair->a, 3, peer_buf(pair->a, 16, 8, 0));
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->a, "event_set 1 done\nevent_add 2 done\nevent_get 3 done\n");
	assert_true(((uint64_t *)(void *)pair->a->arena)[1] == 40);
	assert_true(((uint64_t *)(void *)pair->a->arena)[2] == 42);
	MUST(doca_sync_event_get(pair->b->event, &value));
	assert_true(value == 42);
}

/* ---- names and types of 2.5 ---- */

static uint32_t lengths[2];
static bool is_received;

static void on_receive(struct doca_rdma_task_receive *task, union doca_data user_data, union doca_data ctx_user_data)
{
	(void)user_data;
	(void)ctx_user_data;
	lengths[0] = doca_rdma_task_receive_get_result_length(task);
	lengths[1] = doca_rdma_task_receive_get_result_len(task);
	is_received = true;
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void test_length_of_a_result_has_two_names(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_task_receive *task;
	struct doca_buf *buf;

	MUST(doca_rdma_task_receive_set_conf(pair->b->rdma, on_receive, on_receive, 1));
	peer_start(pair->a);
	peer_start(pair->b);
	peers_connect(pair->a, pair->b);
	buf = peer_buf(pair->b, 0, 64, 0);
	MUST(doca_rdma_task_receive_allocate_init(pair->b->rdma, buf, (union doca_data){ .u64 = 0 }, &task));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	peer_send(pair->a, 1, peer_buf(pair->a, 0, 13, 13));
	while (!is_received) {
		peer_progress(pair->a);
		peer_progress(pair->b);
	}
	peers_drain(pair->a, NULL, 0);
	assert_int_equal(lengths[0], 13);
	assert_int_equal(lengths[1], 13);
	MUST(doca_buf_dec_refcount(buf, NULL));
	assert_int_equal(doca_rdma_task_read_get_result_length(NULL), 0);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_get_get_result_length(NULL), 0);
}

static void test_routing_header_is_a_must_on_ethernet(void **state)
{
	struct pair *pair = *state;
	bool is_enabled = false;
	uint8_t as_in_2_6 = 0;

	MUST(doca_rdma_set_grh_enabled(pair->a->rdma, true));
	assert_result(doca_rdma_set_grh_enabled(pair->a->rdma, false), DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_rdma_get_grh_enabled(pair->a->rdma, &is_enabled));
	assert_true(is_enabled);
	MUST(doca_rdma_get_grh_enabled(pair->a->rdma, &as_in_2_6));
	assert_int_equal(as_in_2_6, 1);
	assert_result(doca_rdma_get_grh_enabled(pair->a->rdma, (bool *)NULL), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_get_grh_enabled(NULL, &is_enabled), DOCA_ERROR_INVALID_VALUE);
}

/* ---- not simulated ---- */

static void test_shared_receive_queues_are_not_simulated(void **state)
{
	struct pair *pair = *state;
	struct doca_dpa_dev_rdma_srq *of_dpa;
	struct doca_dpa_dev_rdma *dpa;
	enum doca_rdma_srq_type type;
	struct doca_rdma_srq *srq = NULL;
	struct doca_rdma *rdma;
	uint32_t number;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(pair->a->dev);
	struct doca_rdma_srq *some = (struct doca_rdma_srq *)pair;

	assert_result(doca_rdma_srq_create(pair->a->dev, &srq), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_create(NULL, &srq), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_srq_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_srq_destroy(some), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(doca_rdma_srq_as_ctx(some));
	assert_result(doca_rdma_create_with_srq(pair->a->dev, some, &rdma), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_set_type(some, DOCA_RDMA_SRQ_TYPE_CYCLIC), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_get_type(some, &type), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_set_shared_recv_queue_size(some, 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_get_shared_recv_queue_size(some, &number), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_get_shared_recv_queue_size(some, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_srq_task_receive_set_dst_buf_list_len(some, 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_task_receive_get_dst_buf_list_len(some, &number), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_get_dpa_handle(some, &of_dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_cap_get_max_shared_recv_queue_size(devinfo, &number), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len(devinfo, &number),
		      DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_get_dpa_handle(pair->a->rdma, &dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_get_dpa_handle(pair->a->rdma, NULL), DOCA_ERROR_INVALID_VALUE);
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAIR(test_start_is_in_progress_until_the_step_behind_the_connect),
		WITH_PAIR(test_connect_in_the_callback_of_the_starting_state),
		WITH_PAIR(test_stop_in_the_callback_of_the_starting_state),
		WITH_PAIR(test_connect_wakes_a_sleeping_program),
		WITH_PAIR(test_stop_of_a_starting_context),
		WITH_PAIR(test_context_starts_anew_after_a_stop),
		WITH_PAIR(test_responder_of_dc_runs_after_the_export),
		WITH_PAIR(test_idle_context_neither_exports_nor_connects),
		WITH_PAIR(test_tasks_are_for_a_running_context),
		WITH_PAIR(test_context_has_one_connection),
		WITH_PAIR(test_refused_connect_leaves_the_context_starting),
		WITH_PAIR(test_refused_connect_of_dc_leaves_the_context_starting),
		WITH_PAIR(test_stopping_context_neither_exports_nor_connects),
		WITH_PAIR(test_arguments_are_checked),
		WITH_PAIR(test_events_of_a_peer),
		WITH_PAIR(test_length_of_a_result_has_two_names),
		WITH_PAIR(test_routing_header_is_a_must_on_ethernet),
		WITH_PAIR(test_shared_receive_queues_are_not_simulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
