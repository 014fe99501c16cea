/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs on a private card: states, deadlines, and what a peer may write into an inbox that it has mapped. */
#include "cmocka_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sim/base/log.h"
#include "sim/rdma/queue_pair_priv.h"

#define MS UINT64_C(1000000)

struct end {
	struct sim_qp_group group;
	struct sim_qp *qp;
};

struct fixture {
	struct sim_session *session;
	struct end a, b;
};

static void open_end_for(struct fixture *f, struct end *end, uint64_t rnr_budget_ns, bool needs_no_peer)
{
	const struct sim_qp_cfg cfg = { .group = &end->group,
					.max_works = 4,
					.rnr_budget_ns = rnr_budget_ns,
					.ack_timeout_ns = 50 * MS,
					.needs_no_peer = needs_no_peer,
					.device = "mlx5_0",
					.wake_fd = -1 };

	sim_qp_group_init(&end->group);
	assert_int_equal(sim_qp_create(f->session, &cfg, &end->qp), 0);
}

static void open_end(struct fixture *f, struct end *end, uint64_t rnr_budget_ns)
{
	open_end_for(f, end, rnr_budget_ns, false);
}

static int open_fixture(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(sim_session_attach(&cfg, &f->session), 0);
	open_end(f, &f->a, 10 * MS);
	open_end(f, &f->b, 10 * MS);
	*state = f;
	return 0;
}

static int open_connected(void **state)
{
	struct fixture *f;

	open_fixture(state);
	f = *state;
	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), 0);
	assert_int_equal(sim_qp_connect(f->b.qp, sim_qp_key(f->a.qp)), 0);
	return 0;
}

/* Requesters need no connect of the other end. */
static int open_for_any_peer(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(sim_session_attach(&cfg, &f->session), 0);
	open_end_for(f, &f->a, 10 * MS, true);
	open_end_for(f, &f->b, 10 * MS, true);
	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), 0);
	*state = f;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	sim_qp_destroy(f->a.qp);
	sim_qp_destroy(f->b.qp);
	sim_qp_group_close(&f->a.group);
	sim_qp_group_close(&f->b.group);
	sim_session_detach(f->session);
	free(f);
	return 0;
}

static struct sim_rdma_work message(uint8_t *bytes, size_t len, struct sim_rdma_segment *segment)
{
	*segment = (struct sim_rdma_segment){ .addr = (uintptr_t)bytes, .bytes = len };
	return (struct sim_rdma_work){ .has_message = true, .segments = segment, .num_segments = 1, .bytes = len };
}

static struct sim_rdma_receive receive_into(uint8_t *bytes, size_t len, struct sim_rdma_segment *segment)
{
	*segment = (struct sim_rdma_segment){ .addr = (uintptr_t)bytes, .bytes = len };
	return (struct sim_rdma_receive){ .segments = segment, .num_segments = 1, .room_bytes = len };
}

/* ---- states ---- */

static void test_edges_of_the_states(void **state)
{
	static const bool wanted[SIM_NUM_QP_STATES][SIM_NUM_QP_STATES] = {
		[SIM_QP_RESET] = { false, true, true },
		[SIM_QP_READY] = { false, false, true },
		[SIM_QP_ERROR] = { false, false, false },
	};

	for (int from = 0; from < SIM_NUM_QP_STATES; from++)
		for (int to = 0; to < SIM_NUM_QP_STATES; to++)
			assert_int_equal(sim_qp_state_can_become(from, to), wanted[from][to]);
}

static void test_only_a_connected_queue_pair_takes_work(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	assert_int_equal(sim_qp_post(f->a.qp, &work), -ENOTCONN);
	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), 0);
	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), -EISCONN);
	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	sim_qp_fail(f->a.qp, -EIO);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, -EIO);
	assert_int_equal(sim_qp_post(f->a.qp, &work), -ENOTCONN);
}

static void test_max_works_is_the_limit(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work works[5];

	for (int i = 0; i < 5; i++) {
		works[i] = message(&byte, 1, &segment);
		assert_int_equal(sim_qp_post(f->a.qp, &works[i]), i < 4 ? 0 : -ENOBUFS);
	}
	sim_qp_fail(f->a.qp, -EIO);
	for (int i = 0; i < 4; i++) {
		assert_ptr_equal(sim_qp_group_reap(&f->a.group), &works[i]);
		assert_int_equal(works[i].status, i == 0 ? -EIO : -ECANCELED);
	}
	assert_null(sim_qp_group_reap(&f->a.group));
}

/* The peer of a connection by an address tells what it does with the request before it connects. */
static void test_peer_that_was_reached_is_told_and_connected_later(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sim_qp_get_answer(f->a.qp), SIM_QP_NOT_ASKED);
	assert_int_equal(sim_qp_reach(f->b.qp, sim_qp_key(f->a.qp)), 0);
	assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_RESET);
	sim_qp_tell_answer(f->b.qp, SIM_QP_ASKED);
	assert_int_equal(sim_qp_get_answer(f->a.qp), SIM_QP_ASKED);
	sim_qp_tell_answer(f->b.qp, SIM_QP_ANSWERED);
	assert_int_equal(sim_qp_get_answer(f->a.qp), SIM_QP_ANSWERED);
	assert_int_equal(sim_qp_connect(f->b.qp, sim_qp_key(f->a.qp)), 0);
	assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_READY);
	assert_int_equal(sim_qp_reach(f->b.qp, sim_qp_key(f->a.qp)), -EISCONN);
	assert_int_equal(sim_qp_connect(f->b.qp, sim_qp_key(f->a.qp)), -EISCONN);
}

/* ---- deadlines ---- */

/* The peer is not connected: at 100 ms the wait begins, at 150 ms it ends. */
static void test_requests_wait_for_a_peer_that_connects_late(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), 0);
	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	sim_qp_progress(f->a.qp, 100 * MS);
	assert_int_equal(sim_qp_deadline_ns(f->a.qp), 150 * MS);
	sim_qp_progress(f->a.qp, 149 * MS);
	assert_null(sim_qp_group_reap(&f->a.group));
	sim_qp_progress(f->a.qp, 150 * MS);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, -ETIMEDOUT);
}

static int access_nothing(struct sim_rdma_work *work)
{
	(void)work;
	return 0;
}

/* The peer serves its memory without a connect, but takes no message: requests behind a message wait with it, from 100 ms to 150 ms. */
static void test_message_to_a_peer_that_only_exported_fails_in_time(void **state)
{
	struct sim_rdma_work first = { .execute = access_nothing }, last = first;
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	assert_int_equal(sim_qp_post(f->a.qp, &first), 0);
	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	assert_int_equal(sim_qp_post(f->a.qp, &last), 0);
	sim_qp_progress(f->a.qp, 100 * MS);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &first);
	assert_int_equal(first.status, 0);
	for (uint64_t now_ns = 101 * MS; now_ns < 150 * MS; now_ns += MS)
		sim_qp_progress(f->a.qp, now_ns);
	assert_null(sim_qp_group_reap(&f->a.group));
	assert_int_equal(sim_qp_deadline_ns(f->a.qp), 150 * MS);
	sim_qp_progress(f->a.qp, 150 * MS);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, -ETIMEDOUT);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &last);
	assert_int_equal(last.status, -ECANCELED);
}

static unsigned int num_errors;

static void count_errors(int level, const char *format, va_list args)
{
	num_errors += level <= SIM_LOG_ERROR;
}

/* The responder's process has no descriptor left. */
static void test_requester_that_cannot_be_served_is_logged(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	struct rlimit limit, none;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	sim_qp_progress(f->a.qp, 100 * MS);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	sim_log_set_recorder(count_errors);
	sim_qp_progress_servers(f->b.qp);
	sim_log_set_recorder(NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(num_errors, 1);
	sim_qp_progress(f->a.qp, 150 * MS);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, -ETIMEDOUT);
}

static void test_message_reaches_such_a_peer_once_it_connects(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment, room;
	uint8_t byte = 1, to[8];
	struct sim_rdma_work work = message(&byte, 1, &segment);
	struct sim_rdma_receive receive = receive_into(to, sizeof(to), &room);

	sim_qp_group_post_receive(&f->b.group, &receive);
	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	sim_qp_progress(f->a.qp, 100 * MS);
	assert_false(sim_qp_arm(f->a.qp));
	assert_int_equal(sim_qp_connect(f->b.qp, sim_qp_key(f->a.qp)), 0);
	assert_true(sim_qp_arm(f->a.qp));
	sim_qp_progress(f->a.qp, 149 * MS);
	sim_qp_progress(f->b.qp, 149 * MS);
	sim_qp_progress(f->a.qp, 149 * MS);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, 0);
	assert_ptr_equal(sim_receive_pool_reap(&f->b.group.receives, 0), &receive);
}

/* The responder has no receive from 20 ms on; the budget is 10 ms. */
static void test_message_without_a_receive_is_given_up(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment, room;
	uint8_t byte = 1, to[8];
	struct sim_rdma_work work = message(&byte, 1, &segment);
	struct sim_rdma_receive receive = receive_into(to, sizeof(to), &room);

	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	sim_qp_progress(f->a.qp, 20 * MS);
	sim_qp_progress(f->b.qp, 20 * MS);
	sim_qp_progress(f->a.qp, 20 * MS);
	assert_int_equal(sim_qp_deadline_ns(f->a.qp), 30 * MS);
	sim_qp_progress(f->a.qp, 30 * MS);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, -ENOBUFS);
	/* The responder does not take what was given up. */
	sim_qp_group_post_receive(&f->b.group, &receive);
	sim_qp_progress(f->b.qp, 31 * MS);
	assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_ERROR);
	assert_true(sim_receive_pool_has_posted(&f->b.group.receives));
}

/* The peer gives no sign of life from 1 ms on. The time-out is 50 ms, and the peer's process is kicked eight times before. */
static void test_peer_without_a_sign_of_life_is_given_up(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment, room;
	uint8_t byte = 1, to[8];
	struct sim_rdma_work work = message(&byte, 1, &segment);
	struct sim_rdma_receive receive = receive_into(to, sizeof(to), &room);
	uint64_t now_ns = MS;

	sim_qp_group_post_receive(&f->b.group, &receive);
	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	for (; now_ns <= 50 * MS; now_ns += MS)
		sim_qp_progress(f->a.qp, now_ns);
	assert_null(sim_qp_group_reap(&f->a.group));
	for (; now_ns <= 80 * MS; now_ns += MS)
		sim_qp_progress(f->a.qp, now_ns);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, -EHOSTDOWN);
	/* The responder does not take what was given up. */
	sim_qp_progress(f->b.qp, now_ns);
	assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_ERROR);
	assert_true(sim_receive_pool_has_posted(&f->b.group.receives));
}

/* The process was stopped for an hour, and its peer with it: the peer gets time to answer. */
static void test_peer_is_not_given_up_for_a_stop_of_both(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment, room;
	uint8_t byte = 1, to[8];
	struct sim_rdma_work work = message(&byte, 1, &segment);
	struct sim_rdma_receive receive = receive_into(to, sizeof(to), &room);
	const uint64_t hour_ns = 3600 * 1000 * MS;

	sim_qp_group_post_receive(&f->b.group, &receive);
	assert_int_equal(sim_qp_post(f->a.qp, &work), 0);
	sim_qp_progress(f->a.qp, MS);
	sim_qp_progress(f->a.qp, hour_ns);
	assert_null(sim_qp_group_reap(&f->a.group));
	sim_qp_progress(f->b.qp, hour_ns);
	sim_qp_progress(f->a.qp, hour_ns);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, 0);
}

static void test_message_that_was_begun_is_not_given_up(void **state)
{
	struct fixture *f = *state;
	struct sim_inbox_shared *inbox = f->b.qp->inbox;

	assert_true(sim_inbox_begin(inbox, 1));
	assert_false(sim_inbox_give_up(inbox, 1));
	assert_true(sim_inbox_give_up(inbox, 2));
	assert_false(sim_inbox_begin(inbox, 2));
}

/* ---- hostile peers ---- */

/* Post one message from a to b, and let a write it. */
static void send_one(struct fixture *f, struct sim_rdma_work *work)
{
	assert_int_equal(sim_qp_post(f->a.qp, work), 0);
	sim_qp_progress(f->a.qp, MS);
}

static void expect_failed(struct end *end, struct sim_rdma_work *work, int status)
{
	sim_qp_progress(end->qp, 2 * MS);
	assert_int_equal(sim_qp_get_state(end->qp), SIM_QP_ERROR);
	assert_ptr_equal(sim_qp_group_reap(&end->group), work);
	assert_int_equal(work->status, status);
}

static void test_answers_to_what_was_not_sent_end_the_connection(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	send_one(f, &work);
	atomic_store(&f->b.qp->inbox->executed, 2);
	expect_failed(&f->a, &work, -EPROTO);
}

static void test_reasons_that_are_no_error_number_are_not_believed(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	send_one(f, &work);
	atomic_store(&f->b.qp->inbox->failure, 0x80000000u);
	atomic_store(&f->b.qp->inbox->state, SIM_QP_ERROR);
	expect_failed(&f->a, &work, -ECONNRESET);
}

static void test_not_ready_of_another_message_starts_no_deadline(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	send_one(f, &work);
	atomic_store(&f->b.qp->inbox->not_ready, 7);
	sim_qp_progress(f->a.qp, 2 * MS);
	assert_true(sim_qp_deadline_ns(f->a.qp) == UINT64_MAX);
	sim_qp_fail(f->a.qp, -EIO);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
}

/* Write one record into b's inbox, as a's process can. */
static void forge(struct fixture *f, uint32_t kind, const struct sim_inbox_head *head, size_t head_len,
		  const void *data, size_t len)
{
	assert_int_equal(sim_ring_write_parts(&f->a.qp->out, kind, head, head_len, data, len), 0);
}

struct forged {
	uint32_t kind;
	struct sim_inbox_head head;
	size_t head_len, len;
};

/* Each ends the responder's side, and leaves the receive untouched or failed. */
static void test_forged_records_end_the_connection(void **state)
{
	static const struct forged records[] = {
		{ 0, { .number = 1, .bytes = 4 }, sizeof(struct sim_inbox_head), 4 },
		{ 99, { .number = 1, .bytes = 4 }, sizeof(struct sim_inbox_head), 4 },
		{ SIM_INBOX_MORE, { .number = 1, .bytes = 4 }, sizeof(struct sim_inbox_head), 4 },
		{ SIM_INBOX_SEND, { .number = 2, .bytes = 4 }, sizeof(struct sim_inbox_head), 4 },
		{ SIM_INBOX_SEND, { .number = 1, .bytes = 4 }, sizeof(struct sim_inbox_head), 3 },
		{ SIM_INBOX_SEND, { .number = 1, .bytes = 4 }, sizeof(struct sim_inbox_head), 5 },
		{ SIM_INBOX_SEND, { .number = 1, .bytes = UINT64_MAX }, sizeof(struct sim_inbox_head), 4 },
		{ SIM_INBOX_SEND, { .number = 1, .bytes = 4 }, 7, 0 },
		{ SIM_INBOX_WRITTEN, { .number = 1, .bytes = 4 }, sizeof(struct sim_inbox_head), 1 },
	};

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		const struct forged *forged = &records[i];
		struct sim_rdma_segment room;
		uint8_t guarded[24];
		struct sim_rdma_receive receive = receive_into(guarded + 8, 8, &room);
		struct fixture *f;

		open_connected(state);
		f = *state;
		memset(guarded, 0xee, sizeof(guarded));
		sim_qp_group_post_receive(&f->b.group, &receive);
		forge(f, forged->kind, &forged->head, forged->head_len, "abcdefgh", forged->len);
		sim_qp_progress(f->b.qp, MS);
		assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_ERROR);
		assert_false(sim_qp_arm(f->b.qp)); /* the owner may sleep */
		assert_true(guarded[7] == 0xee && guarded[16] == 0xee);
		close_fixture(state);
	}
}

/* Before its arrival a message takes no receive; its owner has to look then. */
static void test_message_is_taken_at_its_arrival(void **state)
{
	const struct sim_inbox_head head = { .number = 1, .bytes = 4, .due_ns = 5 * MS };
	struct fixture *f = *state;
	struct sim_rdma_segment room;
	uint8_t bytes[8] = { 0 };
	struct sim_rdma_receive receive = receive_into(bytes, 8, &room);

	sim_receive_pool_post(&f->b.group.receives, &receive);
	forge(f, SIM_INBOX_SEND, &head, sizeof(head), "abcd", 4);
	sim_qp_progress(f->b.qp, 5 * MS - 1);
	assert_true(sim_receive_pool_has_posted(&f->b.group.receives));
	assert_int_equal(sim_qp_deadline_ns(f->b.qp), 5 * MS);
	sim_qp_progress(f->b.qp, 5 * MS);
	assert_ptr_equal(sim_receive_pool_reap(&f->b.group.receives, 5 * MS), &receive);
	assert_memory_equal(bytes, "abcd", 4);
	assert_true(sim_qp_deadline_ns(f->b.qp) == UINT64_MAX);
}

/* A receive that is posted takes the first of two messages; the owner has to look when the second one arrives. */
static void test_message_behind_a_late_receive_is_looked_after(void **state)
{
	const uint64_t due_ns = UINT64_MAX / 2;
	const struct sim_inbox_head heads[] = { { .number = 1, .bytes = 4 },
						{ .number = 2, .bytes = 4, .due_ns = due_ns } };
	struct fixture *f = *state;
	struct sim_rdma_segment room;
	uint8_t bytes[8] = { 0 };
	struct sim_rdma_receive receive = receive_into(bytes, 8, &room);

	forge(f, SIM_INBOX_SEND, &heads[0], sizeof(heads[0]), "abcd", 4);
	forge(f, SIM_INBOX_SEND, &heads[1], sizeof(heads[1]), "efgh", 4);
	sim_qp_group_progress(&f->b.group);
	sim_qp_progress(f->b.qp, MS);
	(void)sim_qp_group_take_deadline(&f->b.group);
	sim_qp_group_post_receive(&f->b.group, &receive);
	assert_memory_equal(bytes, "abcd", 4);
	sim_qp_group_progress(&f->b.group);
	assert_true(sim_qp_group_take_deadline(&f->b.group) == due_ns);
}

/* ---- messages that the ring does not hold whole ---- */

static void test_long_message_without_a_receive_is_given_up(void **state)
{
	static uint8_t bytes[65536];
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	struct sim_rdma_work work = message(bytes, sizeof(bytes), &segment);

	send_one(f, &work);
	sim_qp_progress(f->b.qp, 2 * MS);
	sim_qp_progress(f->a.qp, 3 * MS);
	assert_int_equal(sim_qp_deadline_ns(f->a.qp), 13 * MS);
	sim_qp_progress(f->a.qp, 13 * MS);
	assert_int_equal(sim_qp_get_state(f->a.qp), SIM_QP_ERROR);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_int_equal(work.status, -ENOBUFS);
}

/* The receive comes late, and then the responder's program does nothing: its process is kicked. */
static void test_long_message_that_was_begun_late_is_watched(void **state)
{
	static uint8_t bytes[65536], to[65536];
	struct fixture *f = *state;
	struct sim_rdma_segment segment, room;
	struct sim_rdma_work work = message(bytes, sizeof(bytes), &segment);
	struct sim_rdma_receive receive = receive_into(to, sizeof(to), &room);

	send_one(f, &work);
	sim_qp_progress(f->b.qp, 2 * MS);
	sim_qp_progress(f->a.qp, 3 * MS);
	sim_qp_group_post_receive(&f->b.group, &receive);
	sim_qp_progress(f->a.qp, 4 * MS);
	assert_int_equal(atomic_load(&f->b.qp->inbox->kicks), 0);
	sim_qp_progress(f->a.qp, 5 * MS);
	assert_int_equal(atomic_load(&f->b.qp->inbox->kicks), 1);
	sim_qp_fail(f->a.qp, -ECANCELED);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	sim_qp_fail(f->b.qp, -ECANCELED);
	assert_ptr_equal(sim_receive_pool_reap(&f->b.group.receives, 6 * MS), &receive);
}

static void test_ring_with_an_impossible_head_ends_the_connection(void **state)
{
	struct fixture *f = *state;
	struct sim_ring_shared *ring = (struct sim_ring_shared *)(void *)f->b.qp->inbox->ring;

	atomic_store(&ring->head, UINT64_MAX / 2);
	sim_qp_progress(f->b.qp, MS);
	assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_ERROR);
}

/* What is an inbox of another size or version is refused, and what is no inbox. */
static void test_keys_of_other_objects_are_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t memory[64];
	const struct sim_region region = { .addr = (uintptr_t)memory,
					   .cpu_addr = (uintptr_t)memory,
					   .len_bytes = sizeof(memory),
					   .access = SIM_ACCESS_READ | SIM_ACCESS_NET };
	struct sim_key key;

	assert_int_equal(sim_session_export(f->session, &region, -1, &key), 0);
	assert_int_equal(sim_qp_connect(f->a.qp, &key), -EMEDIUMTYPE);
	f->b.qp->inbox->version++;
	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), -EPROTO);
	assert_int_equal(sim_qp_get_state(f->a.qp), SIM_QP_RESET);
	f->b.qp->inbox->version--;
	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), 0);
	assert_int_equal(sim_session_unexport(f->session, key.id), 0);
}

static void test_requests_of_a_peer_that_is_gone_fail(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segment;
	uint8_t byte = 1;
	struct sim_rdma_work work = message(&byte, 1, &segment);

	sim_qp_destroy(f->b.qp);
	f->b.qp = NULL;
	send_one(f, &work);
	assert_int_equal(sim_qp_get_state(f->a.qp), SIM_QP_ERROR);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
	assert_true(work.status == -ECONNRESET || work.status == -EPIPE);
}

/* ---- what the checker asks ---- */

/* The peer's memory holds what its own end learns. */
static void test_refused_accesses_are_told_once(void **state)
{
	struct fixture *f = *state;

	sim_qp_note_refused(f->a.qp, SIM_ACCESS_WRITE, false);
	sim_qp_note_refused(f->a.qp, SIM_ACCESS_READ, false);
	sim_qp_note_refused(f->a.qp, SIM_ACCESS_ATOMIC, true);
	assert_int_equal(sim_qp_take_refused(f->a.qp, false), 0);
	assert_int_equal(sim_qp_take_refused(f->b.qp, false), SIM_ACCESS_WRITE | SIM_ACCESS_READ);
	assert_int_equal(sim_qp_take_refused(f->b.qp, true), SIM_ACCESS_ATOMIC);
	assert_int_equal(sim_qp_take_refused(f->b.qp, false), 0);
	assert_int_equal(sim_qp_take_refused(f->b.qp, true), 0);
}

static void test_peer_is_there_until_it_ends(void **state)
{
	struct fixture *f = *state;

	assert_false(sim_qp_has_peer(f->a.qp));
	assert_int_equal(sim_qp_connect(f->a.qp, sim_qp_key(f->b.qp)), 0);
	assert_true(sim_qp_has_peer(f->a.qp));
	sim_qp_destroy(f->b.qp);
	f->b.qp = NULL;
	assert_false(sim_qp_has_peer(f->a.qp));
}

/* The first message finds no receive, and the second one, as the first one has taken it. Only that one counts as missed. */
static void test_messages_without_a_receive_are_counted(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_segment segments[2], room;
	uint8_t byte = 1, to[8];
	struct sim_rdma_work works[] = { message(&byte, 1, &segments[0]), message(&byte, 1, &segments[1]) };
	struct sim_rdma_receive receive = receive_into(to, sizeof(to), &room);

	send_one(f, &works[0]);
	sim_qp_progress(f->b.qp, 2 * MS);
	assert_true(sim_qp_awaits_receive(f->b.qp));
	assert_false(sim_qp_awaits_receive(f->a.qp));
	assert_int_equal(f->b.group.receives.num_missed, 0);
	sim_receive_pool_post(&f->b.group.receives, &receive);
	assert_false(sim_qp_awaits_receive(f->b.qp));
	sim_qp_progress(f->b.qp, 3 * MS);
	assert_int_equal(f->b.group.receives.num_taken, 1);
	send_one(f, &works[1]);
	sim_qp_progress(f->b.qp, 4 * MS);
	assert_true(sim_qp_awaits_receive(f->b.qp));
	assert_int_equal(f->b.group.receives.num_missed, 1);
	assert_int_equal(f->b.group.receives.num_taken, 1);
	sim_qp_fail(f->a.qp, -ECANCELED);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &works[0]);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &works[1]);
}

#define UNCONNECTED(test)  cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
#define FOR_ANY_PEER(test) cmocka_unit_test_setup_teardown(test, open_for_any_peer, close_fixture)
#define CONNECTED(test)    cmocka_unit_test_setup_teardown(test, open_connected, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_of_the_states),
		UNCONNECTED(test_only_a_connected_queue_pair_takes_work),
		CONNECTED(test_max_works_is_the_limit),
		UNCONNECTED(test_peer_that_was_reached_is_told_and_connected_later),
		UNCONNECTED(test_requests_wait_for_a_peer_that_connects_late),
		FOR_ANY_PEER(test_message_to_a_peer_that_only_exported_fails_in_time),
		FOR_ANY_PEER(test_requester_that_cannot_be_served_is_logged),
		FOR_ANY_PEER(test_message_reaches_such_a_peer_once_it_connects),
		CONNECTED(test_message_without_a_receive_is_given_up),
		CONNECTED(test_peer_without_a_sign_of_life_is_given_up),
		CONNECTED(test_peer_is_not_given_up_for_a_stop_of_both),
		CONNECTED(test_message_that_was_begun_is_not_given_up),
		CONNECTED(test_answers_to_what_was_not_sent_end_the_connection),
		CONNECTED(test_reasons_that_are_no_error_number_are_not_believed),
		CONNECTED(test_not_ready_of_another_message_starts_no_deadline),
		cmocka_unit_test(test_forged_records_end_the_connection),
		CONNECTED(test_message_is_taken_at_its_arrival),
		CONNECTED(test_message_behind_a_late_receive_is_looked_after),
		CONNECTED(test_long_message_without_a_receive_is_given_up),
		CONNECTED(test_long_message_that_was_begun_late_is_watched),
		CONNECTED(test_ring_with_an_impossible_head_ends_the_connection),
		UNCONNECTED(test_keys_of_other_objects_are_refused),
		CONNECTED(test_requests_of_a_peer_that_is_gone_fail),
		CONNECTED(test_refused_accesses_are_told_once),
		UNCONNECTED(test_peer_is_there_until_it_ends),
		CONNECTED(test_messages_without_a_receive_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
