/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs on a private card that the program does not progress: the engine's thread does what a card does by itself. */
#include "cmocka_test.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/monotonic.h"
#include "sim/engine/engine_priv.h"
#include "sim/fabric/remote.h"
#include "sim/rdma/queue_pair_priv.h"
#include "sim/rdma/unpolled.h"

#define MS UINT64_C(1000000)

#define DEADLINE_NS (60 * 1000 * MS)
#define PATIENCE_MS 100 /* of the clock */

struct end {
	struct sim_qp_group group;
	struct sim_qp *qp;
	atomic_int num_notified;
};

struct fixture {
	struct sim_session *session;
	struct end a, b; /* requester, responder */
	/* One message, and the receive for it. */
	uint8_t from[1 << 19], to[1 << 19];
	struct sim_rdma_segment source, room;
	struct sim_rdma_work work;
	struct sim_rdma_receive receive;
};

static void count_notification(void *arg)
{
	struct end *end = arg;

	atomic_fetch_add(&end->num_notified, 1);
}

static void open_end(struct fixture *f, struct end *end)
{
	const struct sim_qp_cfg cfg = { .group = &end->group,
					.max_works = 64,
					.rnr_budget_ns = UINT64_MAX,
					.ack_timeout_ns = DEADLINE_NS,
					.wake_fd = -1,
					.notify = count_notification,
					.arg = end };

	sim_qp_group_init(&end->group);
	sim_unpolled_begin(&end->group, f->session);
	assert_int_equal(sim_qp_create(f->session, &cfg, &end->qp), 0);
}

static void close_end(struct end *end)
{
	sim_qp_destroy(end->qp);
	sim_unpolled_end(&end->group);
	sim_qp_group_close(&end->group);
}

static void connect_ends(struct end *a, struct end *b)
{
	assert_int_equal(sim_qp_connect(a->qp, sim_qp_key(b->qp)), 0);
	assert_int_equal(sim_qp_connect(b->qp, sim_qp_key(a->qp)), 0);
}

/* The times are the test's, not the model's. */
static void forget_model(struct fixture *f)
{
	sim_qp_timing_destroy(f->a.qp->timing);
	f->a.qp->timing = NULL;
}

static void open_with_clock(void **state, enum sim_clock_mode clock)
{
	const struct sim_session_cfg cfg = { .side = "dpu", .clock = clock };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(sim_session_attach(&cfg, &f->session), 0);
	open_end(f, &f->a);
	open_end(f, &f->b);
	connect_ends(&f->a, &f->b);
	memset(f->from, 0x5a, sizeof(f->from));
	*state = f;
}

static int open_fixture(void **state)
{
	open_with_clock(state, SIM_CLOCK_FUNCTIONAL);
	return 0;
}

static int open_virtual(void **state)
{
	char patience[16];

	snprintf(patience, sizeof(patience), "%dms", PATIENCE_MS);
	setenv("BFSIM_CLOCK_PATIENCE", patience, 1);
	open_with_clock(state, SIM_CLOCK_VIRTUAL);
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	close_end(&f->a);
	close_end(&f->b);
	sim_session_detach(f->session);
	free(f);
	return 0;
}

static void post_receive(struct fixture *f, size_t len)
{
	f->room = (struct sim_rdma_segment){ .addr = (uintptr_t)f->to, .bytes = len };
	f->receive = (struct sim_rdma_receive){ .segments = &f->room, .num_segments = 1, .room_bytes = len };
	sim_qp_group_post_receive(&f->b.group, &f->receive);
}

static void post_message(struct fixture *f, size_t len)
{
	f->source = (struct sim_rdma_segment){ .addr = (uintptr_t)f->from, .bytes = len };
	f->work =
		(struct sim_rdma_work){ .has_message = true, .segments = &f->source, .num_segments = 1, .bytes = len };
	assert_int_equal(sim_qp_post(f->a.qp, &f->work), 0);
}

static void progress_now(struct fixture *f, struct end *end)
{
	sim_qp_progress(end->qp, sim_session_now_ns(f->session));
}

/* Progress the requester until its message is complete. */
static void complete_message(struct fixture *f)
{
	uint64_t end_ns = sim_monotonic_ns() + DEADLINE_NS;
	struct sim_rdma_work *reaped = NULL;

	while (!reaped && sim_monotonic_ns() < end_ns) {
		progress_now(f, &f->a);
		reaped = sim_qp_group_reap(&f->a.group);
	}
	assert_ptr_equal(reaped, &f->work);
}

static void expect_received(struct fixture *f, size_t len)
{
	assert_ptr_equal(sim_receive_pool_reap(&f->b.group.receives, 0), &f->receive);
	assert_int_equal(f->receive.status, 0);
	assert_int_equal(f->receive.bytes, len);
	assert_memory_equal(f->to, f->from, len);
}

#define WAIT_UNTIL(condition)                                       \
	do {                                                        \
		uint64_t end_ns = sim_monotonic_ns() + DEADLINE_NS; \
		while (!(condition) && sim_monotonic_ns() < end_ns) \
			sched_yield();                              \
		assert_true(condition);                             \
	} while (0)

/* ---- the responder ---- */

static void test_message_to_a_responder_that_does_nothing_is_received(void **state)
{
	struct fixture *f = *state;

	post_receive(f, 100);
	post_message(f, 100);
	complete_message(f);
	assert_int_equal(f->work.status, 0);
	WAIT_UNTIL(atomic_load(&f->b.num_notified) > 0); /* behind the answer */
	expect_received(f, 100);
}

/* 512 KiB are more than the inbox holds. */
static void test_long_message_is_received(void **state)
{
	struct fixture *f = *state;

	post_receive(f, sizeof(f->to));
	post_message(f, sizeof(f->from));
	complete_message(f);
	assert_int_equal(f->work.status, 0);
	expect_received(f, sizeof(f->from));
}

static void test_message_is_received_though_the_requester_does_nothing_either(void **state)
{
	struct fixture *f = *state;

	post_receive(f, 100);
	post_message(f, 100);
	progress_now(f, &f->a);
	WAIT_UNTIL(atomic_load(&f->b.qp->inbox->executed) == 1);
	expect_received(f, 100);
	complete_message(f);
}

/* The message comes first: the post of the receive takes it. */
static void test_late_receive_takes_the_message_that_waits(void **state)
{
	struct fixture *f = *state;

	post_message(f, 100);
	progress_now(f, &f->a);
	WAIT_UNTIL(atomic_load(&f->b.qp->inbox->not_ready) == 1);
	post_receive(f, 100);
	expect_received(f, 100);
	complete_message(f);
}

/* The requester waits for ever, and its peer has said that it has no receive: nobody has to be woken. */
static void test_engine_sleeps_while_a_message_waits_for_a_receive(void **state)
{
	struct fixture *f = *state;
	struct sim_engine *engine = sim_session_engine(f->session);

	post_message(f, 100);
	progress_now(f, &f->a);
	WAIT_UNTIL(atomic_load(&f->b.qp->inbox->not_ready) == 1);
	WAIT_UNTIL(!atomic_load(&engine->awake));
	post_receive(f, 100);
	complete_message(f);
}

static void test_message_that_is_longer_than_its_receive_fails_both(void **state)
{
	struct fixture *f = *state;

	post_receive(f, 99);
	post_message(f, 100);
	complete_message(f);
	assert_int_equal(f->work.status, -EMSGSIZE);
	assert_ptr_equal(sim_receive_pool_reap(&f->b.group.receives, 0), &f->receive);
	assert_int_equal(f->receive.status, -EMSGSIZE);
	assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_READY); /* the program's thread changes it */
	progress_now(f, &f->b);
	assert_int_equal(sim_qp_get_state(f->b.qp), SIM_QP_ERROR);
}

/* ---- virtual time ---- */

/* At 1 ms the message is written, at 1.05 ms the responder's process is kicked. When that progress returns, the message is received: the
 * speed of the engine's thread decides nothing. Without a kick the thread does nothing. */
static void test_kick_in_virtual_time_is_answered_at_once(void **state)
{
	struct fixture *f = *state;

	forget_model(f);
	for (int i = 1; i <= 50; i++) {
		uint64_t now_ns = (uint64_t)i * MS;

		post_receive(f, 100);
		post_message(f, 100);
		sim_qp_progress(f->a.qp, now_ns);
		assert_int_equal(sim_qp_deadline_ns(f->a.qp), now_ns + 50000);
		sim_engine_wake_at(sim_session_engine(f->session), 0);
		sim_qp_progress(f->a.qp, now_ns + 49999);
		assert_int_equal(atomic_load(&f->b.qp->inbox->executed), i - 1);
		sim_qp_progress(f->a.qp, now_ns + 50000);
		assert_int_equal(atomic_load(&f->b.qp->inbox->executed), i);
		sim_qp_progress(f->a.qp, now_ns + 50000);
		assert_ptr_equal(sim_qp_group_reap(&f->a.group), &f->work);
		assert_true(sim_qp_deadline_ns(f->a.qp) == UINT64_MAX);
		expect_received(f, 100);
	}
}

/* Nobody looks after the kick, though the peer's process runs: real time ends the wait, at the clock's patience. */
static void test_peer_that_does_not_look_in_virtual_time_is_given_up(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns, waited_ns;

	forget_model(f);
	post_receive(f, 100);
	post_message(f, 100);
	sim_qp_progress(f->a.qp, MS);
	sim_unpolled_end(&f->b.group);
	begin_ns = sim_monotonic_ns();
	sim_qp_progress(f->a.qp, 2 * MS);
	waited_ns = sim_monotonic_ns() - begin_ns;
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &f->work);
	assert_int_equal(f->work.status, -EHOSTDOWN);
	assert_true(waited_ns >= PATIENCE_MS * MS);
	assert_true(waited_ns < DEADLINE_NS / 2);
}

/* A process that is stopped can't look: time goes on. Its message fails at the time-out, by the clock, after kicks at 50 us,
 * 150 us, ... 15.05 ms, and then every 10 ms. */
static void test_peer_whose_process_is_stopped_in_virtual_time_is_given_up_by_the_clock(void **state)
{
	struct fixture *f = *state;
	uint64_t now_ns = MS;
	int num_kicks = 0;
	pid_t stopped = fork();

	if (stopped == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(stopped > 0);
	kill(stopped, SIGSTOP);
	assert_int_equal(waitpid(stopped, NULL, WUNTRACED), stopped);
	forget_model(f);
	post_receive(f, 100);
	post_message(f, 100);
	sim_unpolled_end(&f->b.group);
	f->a.qp->cfg.ack_timeout_ns = 50 * MS;
	f->a.qp->peer->exporter_pid = stopped;
	sim_qp_progress(f->a.qp, now_ns);
	while (sim_qp_get_state(f->a.qp) == SIM_QP_READY) {
		assert_true(++num_kicks < 20);
		now_ns = sim_qp_deadline_ns(f->a.qp);
		sim_qp_progress(f->a.qp, now_ns);
	}
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &f->work);
	assert_int_equal(f->work.status, -EHOSTDOWN);
	assert_in_range(now_ns, 51 * MS, 61 * MS);
	kill(stopped, SIGKILL);
	assert_int_equal(waitpid(stopped, NULL, 0), stopped);
}

/* ---- life, forks ---- */

/* Queue pairs come and go while the engine's thread serves others of their pools. */
static void test_queue_pairs_come_and_go_under_traffic(void **state)
{
	enum { ROUNDS = 100 };
	struct fixture *f = *state;
	const struct sim_qp_cfg cfg = {
		.group = &f->b.group, .max_works = 1, .rnr_budget_ns = MS, .ack_timeout_ns = MS, .wake_fd = -1
	};

	for (int i = 0; i < ROUNDS; i++) {
		struct sim_qp *qp;

		post_receive(f, 100);
		post_message(f, 100);
		progress_now(f, &f->a);
		sim_session_kick(f->session, f->a.qp->peer_group->kick_target, f->a.qp->peer_group->remote);
		assert_int_equal(sim_qp_create(f->session, &cfg, &qp), 0);
		sim_qp_destroy(qp);
		complete_message(f);
		expect_received(f, 100);
	}
}

static bool watches(struct sim_qp_group *group)
{
	bool watches;

	pthread_mutex_lock(&group->receives.lock);
	watches = !TAILQ_EMPTY(&group->unpolled.watched);
	pthread_mutex_unlock(&group->receives.lock);
	return watches;
}

/* Idle queue pairs, of which a context may have thousands, cost no tick anything. */
static void test_ticks_look_at_queue_pairs_under_traffic_alone(void **state)
{
	struct fixture *f = *state;
	struct sim_engine *engine = sim_session_engine(f->session);

	assert_false(watches(&f->a.group));
	for (int i = 0; i < 3; i++) {
		post_message(f, 100);
		progress_now(f, &f->a);
		assert_true(atomic_load(&f->a.qp->is_watched) || atomic_load(&f->b.qp->inbox->not_ready) > 0);
		post_receive(f, 100);
		complete_message(f);
		expect_received(f, 100);
		WAIT_UNTIL(!watches(&f->a.group) && !watches(&f->b.group));
	}
	WAIT_UNTIL(!atomic_load(&engine->awake));
}

/* Two queue pairs that a tick has to look at again. */
static void test_several_queue_pairs_are_watched(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_work works[2] = { { .has_message = true }, { .has_message = true } };
	struct sim_rdma_receive receives[2] = { { 0 }, { 0 } };
	struct sim_qp *peers[2], *own[2];

	for (int i = 0; i < 2; i++) {
		assert_int_equal(sim_qp_create(f->session, &f->a.qp->cfg, &own[i]), 0);
		assert_int_equal(sim_qp_create(f->session, &f->b.qp->cfg, &peers[i]), 0);
		assert_int_equal(sim_qp_connect(own[i], sim_qp_key(peers[i])), 0);
		assert_int_equal(sim_qp_connect(peers[i], sim_qp_key(own[i])), 0);
		sim_qp_group_post_receive(&f->b.group, &receives[i]);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sim_qp_post(own[i], &works[i]), 0);
		sim_qp_progress_requests(own[i]);
	}
	for (int i = 0; i < 2; i++)
		WAIT_UNTIL(atomic_load(&peers[i]->inbox->executed) == 1);
	for (int i = 0; i < 2; i++) {
		sim_qp_destroy(peers[i]);
		sim_qp_destroy(own[i]);
	}
}

/* A child's copy of a pool is never one in which the engine's thread was at work. */
static void test_fork_waits_for_the_engines_thread(void **state)
{
	enum { FORKS = 50 };
	struct fixture *f = *state;

	for (int i = 0; i < FORKS; i++) {
		int status = -1;
		pid_t child;

		post_receive(f, sizeof(f->to));
		post_message(f, sizeof(f->from));
		progress_now(f, &f->a);
		sim_session_kick(f->session, f->a.qp->peer_group->kick_target, f->a.qp->peer_group->remote);
		child = fork();
		if (child == 0) {
			alarm(30);
			sim_receive_pool_flush(&f->b.group.receives);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		complete_message(f);
		expect_received(f, sizeof(f->from));
	}
}

struct holder {
	struct sim_qp_group *group;
	atomic_bool holds, must_end;
};

static void *hold_group(void *arg)
{
	struct holder *holder = arg;

	sim_qp_group_lock(holder->group);
	atomic_store(&holder->holds, true);
	while (!atomic_load(&holder->must_end))
		sched_yield();
	sim_qp_group_unlock(holder->group);
	return NULL;
}

/* Another thread of the program is in a group while this one forks. The child abandons its copy. */
static void test_child_gets_a_group_that_another_thread_holds(void **state)
{
	struct fixture *f = *state;
	struct holder holder = { .group = &f->b.group };
	pthread_t thread;
	int status = -1;
	pid_t child;

	post_receive(f, 100);
	assert_int_equal(pthread_create(&thread, NULL, hold_group, &holder), 0);
	WAIT_UNTIL(atomic_load(&holder.holds));
	child = fork();
	if (child == 0) {
		alarm(10);
		sim_receive_pool_flush(&f->b.group.receives);
		sim_qp_abandon(f->b.qp);
		sim_unpolled_end(&f->b.group);
		sim_qp_group_abandon(&f->b.group);
		_exit(f->receive.status == -ECANCELED ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	atomic_store(&holder.must_end, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	post_message(f, 100);
	complete_message(f);
	expect_received(f, 100);
}

#define FUNCTIONAL(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
#define VIRTUAL(test)    cmocka_unit_test_setup_teardown(test, open_virtual, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FUNCTIONAL(test_message_to_a_responder_that_does_nothing_is_received),
		FUNCTIONAL(test_long_message_is_received),
		FUNCTIONAL(test_message_is_received_though_the_requester_does_nothing_either),
		FUNCTIONAL(test_late_receive_takes_the_message_that_waits),
		FUNCTIONAL(test_engine_sleeps_while_a_message_waits_for_a_receive),
		FUNCTIONAL(test_message_that_is_longer_than_its_receive_fails_both),
		VIRTUAL(test_kick_in_virtual_time_is_answered_at_once),
		VIRTUAL(test_peer_that_does_not_look_in_virtual_time_is_given_up),
		VIRTUAL(test_peer_whose_process_is_stopped_in_virtual_time_is_given_up_by_the_clock),
		FUNCTIONAL(test_queue_pairs_come_and_go_under_traffic),
		FUNCTIONAL(test_ticks_look_at_queue_pairs_under_traffic_alone),
		FUNCTIONAL(test_several_queue_pairs_are_watched),
		FUNCTIONAL(test_fork_waits_for_the_engines_thread),
		FUNCTIONAL(test_child_gets_a_group_that_another_thread_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
