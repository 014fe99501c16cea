/* SPDX-License-Identifier: BSD-3-Clause */
/* Kicks: the engine's thread of another process ticks, also after a hostile process has shut the sockets of the kicks down. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "raw_client.h"
#include "session_util.h"
#include "sim/engine/engine.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/wire.h"
#include "sim/session/kick.h"
#include "sim/session/session.h"

/* ---- the process that is kicked ---- */

static atomic_uint num_ticks;

static bool count_tick(struct sim_engine_member *member, uint64_t *next_ns)
{
	(void)member, (void)next_ns;
	atomic_fetch_add(&num_ticks, 1);
	return false;
}

static struct sim_session *attach(const char *side)
{
	struct sim_session_cfg cfg = { .dir = test_session.dir, .side = side };
	struct sim_session *session;

	CHECK(sim_session_attach(&cfg, &session) == 0);
	return session;
}

static uint32_t function_of(const struct sim_session *session)
{
	const struct pcie_topology *topology = sim_session_topology(session);
	uint32_t function = 0;

	while (strcmp(topology->functions[function].side, sim_session_side(session)) != 0)
		function++;
	return function;
}

/* Exports memory, and replies to each byte with the number of ticks. */
static void run_target(int ctl, const void *arg)
{
	static uint8_t memory[4096];
	struct sim_session *session = attach(arg);
	struct sim_engine_member member = { .tick = count_tick };
	struct sim_region region = { .addr = (uintptr_t)memory,
				     .cpu_addr = (uintptr_t)memory,
				     .len_bytes = sizeof(memory),
				     .access = SIM_ACCESS_READ,
				     .function = function_of(session) };
	struct sim_key key;
	uint8_t byte;

	CHECK(sim_session_export(session, &region, -1, &key) == 0);
	sim_engine_add(sim_session_engine(session), &member);
	proc_send(ctl, &key, sizeof(key));
	while (recv(ctl, &byte, 1, 0) == 1) {
		unsigned int ticks = atomic_load(&num_ticks);

		proc_send(ctl, &ticks, sizeof(ticks));
	}
}

/* ---- the test ---- */

static unsigned int count_ticks(struct proc *target)
{
	unsigned int ticks;

	proc_send(target->ctl, "", 1);
	proc_recv(target->ctl, &ticks, sizeof(ticks));
	return ticks;
}

/* Without ticks that are due to earlier kicks. */
static unsigned int settle(struct proc *target)
{
	unsigned int before, ticks = count_ticks(target);

	do {
		before = ticks;
		assert_false(proc_readable_within(target->ctl, 50)); /* more than the engine's thread stays awake */
		ticks = count_ticks(target);
	} while (ticks != before);
	return ticks;
}

/* One kick is enough. */
static void expect_ticks(struct sim_session *session, struct sim_kick_target *kicks, const struct sim_remote *memory,
			 struct proc *target)
{
	unsigned int before = settle(target);
	int64_t end_ms = proc_now_ms() + PROC_DEADLINE_MS;

	sim_session_kick(session, kicks, memory);
	while (count_ticks(target) == before)
		assert_true(proc_now_ms() < end_ms);
}

/* Gets the target's socket, as peers do, and shuts it down. */
static void shut_down(int sock, const struct sim_key *key)
{
	struct sim_msg ask = { .type = SIM_MSG_DESCRIBE,
			       .seq = 1,
			       .body.describe = { .id = key->id, .transport = SIM_TRANSPORT_KICK } };
	int fd = -1;

	raw_send(sock, ask, -1);
	do
		assert_int_equal(sim_msg_recv(sock, &ask, &fd), 0);
	while (!ask.is_reply || ask.type != SIM_MSG_DESCRIBE);
	assert_true(fd >= 0);
	assert_int_equal(shutdown(fd, SHUT_RDWR), 0);
	close(fd);
}

static void test_kicks_go_on_after_the_sockets_were_shut_down(void **state)
{
	struct sim_kick_target *kicks;
	struct sim_session *session;
	struct sim_remote *memory;
	struct proc target;
	struct sim_key key;
	struct sim_msg import = { .type = SIM_MSG_IMPORT };
	int hostile;

	proc_start(&target, run_target, "host");
	proc_recv(target.ctl, &key, sizeof(key));
	session = attach("dpu");
	assert_int_equal(sim_session_import(session, &key, function_of(session), &memory, NULL), 0);
	kicks = sim_session_get_kick_target(session, memory);
	expect_ticks(session, kicks, memory, &target);
	hostile = raw_attach("dpu");
	import.body.import.key = key;
	import.body.import.function = function_of(session);
	assert_int_equal(raw_call(hostile, import).status, 0);
	for (int i = 0; i < 3; i++) {
		shut_down(hostile, &key);
		expect_ticks(session, kicks, memory, &target);
	}
	close(hostile);
	sim_session_put_kick_target(session, kicks);
	sim_session_release(session, memory);
	sim_session_detach(session);
}

/* It is asked once, without a wait, and again when that has failed. */
static void test_kicks_to_a_process_that_does_not_answer_return(void **state)
{
	struct sim_kick_target *kicks;
	struct sim_session *session = attach("dpu");
	struct sim_remote *memory;
	struct proc target;
	struct sim_key key;

	proc_start(&target, run_target, "host");
	proc_recv(target.ctl, &key, sizeof(key));
	assert_int_equal(sim_session_import(session, &key, function_of(session), &memory, NULL), 0);
	proc_signal(&target, SIGSTOP);
	kicks = sim_session_get_kick_target(session, memory);
	for (int i = 0; i < 1000; i++)
		sim_session_kick(session, kicks, memory);
	sim_session_put_kick_target(session, kicks); /* the question is still open */
	kicks = sim_session_get_kick_target(session, memory);
	proc_signal(&target, SIGCONT);
	expect_ticks(session, kicks, memory, &target);
	proc_signal(&target, SIGSTOP);
	sim_session_put_kick_target(session, kicks);
	kicks = sim_session_get_kick_target(session, memory);
	sim_session_kick(session, kicks, memory);
	sim_session_put_kick_target(session, kicks);
	sim_session_release(session, memory);
	sim_session_detach(session); /* with a question that is still open */
}

#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, session_setup, session_stop_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(test_kicks_go_on_after_the_sockets_were_shut_down),
		IN_SESSION(test_kicks_to_a_process_that_does_not_answer_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
