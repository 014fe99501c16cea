/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of another machine for memory of this one: their order. The test is the rest of the gateway. */
#include "cmocka_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/gateway/near.h"
#include "sim/session/session.h"

#define MACHINE     3
#define BYTES       4096
#define MAX_ANSWERS 16

static struct {
	struct gateway gateway;
	struct sim_key key;
	struct near near;
	uint8_t memory[BYTES];
	struct job *jobs[MAX_ANSWERS];
	int num_jobs;
	uint64_t ids[MAX_ANSWERS];
	int status[MAX_ANSWERS];
	uint8_t bytes[MAX_ANSWERS][8];
	int num_answers, num_seen;
	bool is_lost;
} t;

/* ---- the rest of the gateway ---- */

struct near *near_find(struct gateway *gateway, const struct gateway_frame *frame, uint64_t handle)
{
	assert_ptr_equal(gateway, &t.gateway);
	assert_int_equal(frame->from, MACHINE);
	return handle == t.near.handle ? &t.near : NULL;
}

void near_release_if_idle(struct near *near)
{
	assert_ptr_equal(near, &t.near);
}

bool members_has(const struct gateway *gateway, uint32_t machine)
{
	(void)gateway, (void)machine;
	return !t.is_lost;
}

int gateway_send(struct gateway *gateway, uint32_t machine, struct gateway_frame *frame)
{
	(void)gateway;
	assert_int_equal(machine, MACHINE);
	assert_int_equal(frame->kind, GATEWAY_DONE);
	assert_true(t.num_answers < MAX_ANSWERS);
	t.ids[t.num_answers] = frame->id;
	t.status[t.num_answers] = frame->status;
	if (frame->len_bytes > 0)
		memcpy(t.bytes[t.num_answers], frame->body, frame->len_bytes < 8 ? frame->len_bytes : 8);
	t.num_answers++;
	return 0;
}

/* In place of port_load.c: no port is loaded. */
void port_load_answer(struct gateway *gateway, const struct port_load *load, const struct gateway_frame *request,
		      struct gateway_frame *answer)
{
	(void)load;
	gateway_send(gateway, request->from, answer);
}

void jobs_add(struct jobs *jobs, struct job *job)
{
	assert_ptr_equal(jobs, &t.gateway.jobs);
	t.jobs[t.num_jobs++] = job;
}

/* ---- the fixture ---- */

static int setup(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };
	struct sim_region region = { .addr = (uintptr_t)t.memory,
				     .cpu_addr = (uintptr_t)t.memory,
				     .len_bytes = BYTES,
				     .access =
					     SIM_ACCESS_NET | SIM_ACCESS_READ | SIM_ACCESS_WRITE | SIM_ACCESS_ATOMIC };

	memset(&t, 0, sizeof(t));
	assert_int_equal(sim_session_attach(&cfg, &t.gateway.session), 0);
	assert_int_equal(sim_session_export(t.gateway.session, &region, -1, &t.key), 0);
	t.near = (struct near){ .gateway = &t.gateway, .handle = 5, .machine = MACHINE, .is_quick = true };
	assert_int_equal(sim_session_import(t.gateway.session, &t.key, 0, &t.near.remote, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	for (int i = 0; i < GATEWAY_LISTS; i++)
		assert_true(LIST_EMPTY(&t.gateway.near_streams[i])); /* nothing is remembered */
	assert_int_equal(t.gateway.near_waiting_bytes, 0);
	sim_session_release(t.gateway.session, t.near.remote);
	sim_session_detach(t.gateway.session);
	return 0;
}

static uint64_t id_of(uint64_t stream, uint64_t number)
{
	return stream << GATEWAY_STREAM_SHIFT | number;
}

static void request(enum gateway_kind kind, uint64_t stream, uint64_t number, uint64_t handle, uint64_t offset,
		    const void *body, uint32_t len)
{
	const struct gateway_frame frame = { .kind = kind,
					     .from = MACHINE,
					     .id = id_of(stream, number),
					     .a = handle,
					     .b = (uintptr_t)t.memory + offset,
					     .body = body,
					     .len_bytes = len };

	near_on_request(&t.gateway, &frame);
}

static void write_to(uint64_t stream, uint64_t number, uint64_t offset, const char *text)
{
	request(GATEWAY_WRITE, stream, number, 5, offset, text, (uint32_t)strlen(text));
}

static void write_to_nothing(uint64_t stream, uint64_t number)
{
	request(GATEWAY_WRITE, stream, number, 6, 0, "", 0);
}

static void add(uint64_t stream, uint64_t number, uint64_t offset)
{
	uint8_t body[GATEWAY_OPERANDS_BYTES];
	const struct sim_far_operands operands = { .op = SIM_FAR_ADD, .operand = 1 };

	gateway_operands_write(&operands, body);
	request(GATEWAY_OPERATE, stream, number, 5, offset, body, sizeof(body));
}

static void end_stream(uint64_t stream)
{
	near_on_stream(&t.gateway, &(struct gateway_frame){ .kind = GATEWAY_STREAM, .from = MACHINE, .id = stream });
}

static void run_job(int number)
{
	assert_true(number < t.num_jobs);
	t.jobs[number]->run(t.jobs[number]);
	t.jobs[number]->done(t.jobs[number]);
}

static void expect_answer(uint64_t stream, uint64_t number, int status)
{
	assert_true(t.num_seen < t.num_answers);
	assert_int_equal(t.ids[t.num_seen], id_of(stream, number));
	assert_int_equal(t.status[t.num_seen++], status);
}

static void expect_no_answer(void)
{
	assert_int_equal(t.num_seen, t.num_answers);
}

/* ---- tests ---- */

static void test_requests_behind_a_job_wait_for_it(void **state)
{
	uint8_t len[4] = { 8 };

	write_to(1, 1, 0, "before");
	expect_answer(1, 1, 0);
	add(1, 2, 8);
	write_to(1, 3, 0, "behind");
	add(1, 4, 8);
	request(GATEWAY_READ, 1, 5, 5, 8, len, sizeof(len));
	expect_no_answer();
	assert_memory_equal(t.memory, "before", 6);
	assert_int_equal(t.num_jobs, 1);
	run_job(0);
	expect_answer(1, 2, 0);
	expect_answer(1, 3, 0);
	assert_memory_equal(t.memory, "behind", 6);
	expect_no_answer(); /* the next one is a job, too */
	run_job(1);
	expect_answer(1, 4, 0);
	expect_answer(1, 5, 0);
	assert_memory_equal(t.bytes[4], "\2\0\0\0\0\0\0\0", 8);
}

static void test_other_streams_do_not_wait(void **state)
{
	add(1, 1, 8);
	write_to(2, 1, 0, "other");
	expect_answer(2, 1, 0);
	write_to(0, 7, 0, "none of a stream");
	expect_answer(0, 7, 0);
	run_job(0);
	expect_answer(1, 1, 0);
}

static void test_nothing_behind_a_failure_is_executed(void **state)
{
	write_to(1, 1, 0, "done");
	write_to_nothing(1, 2);
	write_to(1, 3, 0, "lost");
	write_to(2, 1, 8, "other");
	expect_answer(1, 1, 0);
	expect_answer(1, 2, -EIO);
	expect_answer(1, 3, -ECANCELED);
	expect_answer(2, 1, 0);
	assert_memory_equal(t.memory, "done\0\0\0\0other", 13);
	end_stream(1);
	write_to(1, 4, 0, "anew");
	expect_answer(1, 4, 0);
	assert_memory_equal(t.memory, "anew", 4);
}

static void test_a_failure_of_a_job_ends_those_that_wait(void **state)
{
	add(1, 1, 7); /* not aligned */
	write_to(1, 2, 0, "lost");
	run_job(0);
	expect_answer(1, 1, -EINVAL);
	expect_answer(1, 2, -ECANCELED);
	assert_int_equal(t.memory[0], 0);
	end_stream(1);
}

static void test_a_failure_without_a_stream_ends_no_other_one(void **state)
{
	write_to_nothing(0, 1);
	write_to(0, 2, 0, "goes on");
	expect_answer(0, 1, -EIO);
	expect_answer(0, 2, 0);
}

static void test_a_machine_that_is_lost_leaves_nothing(void **state)
{
	write_to_nothing(1, 1);
	expect_answer(1, 1, -EIO);
	add(2, 1, 8);
	write_to(2, 2, 0, "lost");
	t.is_lost = true;
	near_forget_streams(&t.gateway, MACHINE);
	run_job(0); /* was under way, and its answer goes nowhere */
	assert_int_equal(t.memory[0], 0);
}

static void test_what_waits_is_bounded(void **state)
{
	add(1, 1, 8);
	t.gateway.near_waiting_bytes += 64u << 20;
	write_to(1, 2, 0, "too much");
	t.gateway.near_waiting_bytes -= 64u << 20;
	expect_answer(1, 2, -ENOMEM);
	run_job(0);
	expect_answer(1, 1, 0);
	end_stream(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_requests_behind_a_job_wait_for_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_streams_do_not_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_behind_a_failure_is_executed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failure_of_a_job_ends_those_that_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failure_without_a_stream_ends_no_other_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_machine_that_is_lost_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_waits_is_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
