/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is far from its target: requests go to a function, and are completed later and in any order. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/fabric/served/served_priv.h"

#define BYTES   300000 /* more than the ring holds */
#define PENDING 16

static struct {
	struct sim_target *target;
	struct sim_grant grant;
	struct sim_far_request pending[PENDING];
	int num_pending, num_begun;
	int refusal; /* of begin() */
	uint8_t memory[BYTES];
} far;

static int begin(void *arg, const struct sim_far_request *request)
{
	assert_ptr_equal(arg, &far);
	if (far.refusal)
		return far.refusal;
	assert_true(far.num_pending < PENDING);
	far.num_begun++;
	far.pending[far.num_pending++] = *request;
	return 0;
}

static int describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	*ret_grant = far.grant;
	return connect ? sim_target_connect(far.target, transport, ret_fd) : 0;
}

static struct sim_initiator *make_initiator(void)
{
	const struct sim_initiator_cfg cfg = { .transport = SIM_TRANSPORT_SHM,
					       .target_id = 5,
					       .len_bytes = BYTES,
					       .is_writable = true,
					       .is_far = true,
					       .describe = describe };
	struct sim_initiator *initiator;

	assert_int_equal(sim_initiator_create(&cfg, &initiator), 0);
	assert_int_equal(far.num_begun, 0); /* no proof is read */
	return initiator;
}

/* The other machine does the oldest or the newest request. */
static void complete(int at)
{
	const struct sim_far_request request = far.pending[at];
	uint64_t before;

	far.pending[at] = far.pending[--far.num_pending];
	switch (request.kind) {
	case SIM_SERVED_READ:
		sim_target_complete(far.target, request.token, 0, far.memory + request.offset, request.len_bytes);
		break;
	case SIM_SERVED_WRITE:
		memcpy(far.memory + request.offset, request.bytes, request.len_bytes);
		sim_target_complete(far.target, request.token, 0, NULL, 0);
		break;
	case SIM_SERVED_FAR_OP:
		memcpy(&before, far.memory + request.offset, sizeof(before));
		sim_target_complete(far.target, request.token, 0, &before, sizeof(before));
		break;
	}
	sim_target_complete(far.target, request.token, -EIO, NULL, 0); /* a second time: without effect */
}

/* ---- the importer's thread ---- */

struct call {
	struct sim_initiator *initiator;
	enum sim_served_kind kind;
	uint8_t *local;
	struct sim_far_operands operands;
	uint64_t before;
	uint64_t offset;
	size_t len;
	int rc;
	atomic_bool is_done;
};

static void *run_call(void *arg)
{
	struct call *call = arg;

	if (call->kind == SIM_SERVED_FAR_OP)
		call->rc = sim_initiator_operate(call->initiator, &call->operands, call->offset, NULL, &call->before);
	else
		call->rc = sim_initiator_copy(call->initiator, call->kind == SIM_SERVED_WRITE, call->local,
					      call->offset, call->len, NULL);
	atomic_store(&call->is_done, true);
	return NULL;
}

/* Serve until the call has ended; complete the newest of several requests first. */
static int run(struct call *call, bool newest_first)
{
	pthread_t thread;

	atomic_store(&call->is_done, false);
	assert_int_equal(pthread_create(&thread, NULL, run_call, call), 0);
	while (!atomic_load(&call->is_done)) {
		if (sim_target_serve(far.target) == 0 && far.num_pending > 0)
			complete(newest_first ? far.num_pending - 1 : 0);
	}
	pthread_join(thread, NULL);
	return call->rc;
}

static int setup(void **state)
{
	memset(&far, 0, sizeof(far));
	assert_int_equal(sim_target_create(SIM_TARGET_MAX_CONNS, &far.target), 0);
	assert_int_equal(sim_target_expose_far(far.target, BYTES, begin, &far, &far.grant), 0);
	return 0;
}

static int teardown(void **state)
{
	sim_target_destroy(far.target);
	return 0;
}

static void test_bytes_arrive_whatever_the_order_of_completion(void **state)
{
	static uint8_t written[BYTES], read[BYTES];
	struct sim_initiator *initiator = make_initiator();
	struct call call = { .initiator = initiator, .kind = SIM_SERVED_WRITE, .local = written, .len = BYTES };

	for (size_t i = 0; i < BYTES; i++)
		written[i] = (uint8_t)(i * 31 >> 4);
	assert_int_equal(run(&call, true), 0);
	assert_memory_equal(far.memory, written, BYTES);
	call = (struct call){ .initiator = initiator, .kind = SIM_SERVED_READ, .local = read, .len = BYTES };
	assert_int_equal(run(&call, false), 0);
	assert_memory_equal(read, written, BYTES);
	sim_initiator_destroy(initiator);
}

static void test_an_operation_gives_the_value_before(void **state)
{
	struct sim_initiator *initiator = make_initiator();
	struct call call = { .initiator = initiator,
			     .kind = SIM_SERVED_FAR_OP,
			     .operands = { .op = SIM_FAR_ADD, .operand = 3 },
			     .offset = 8 };

	memcpy(far.memory + 8, &(uint64_t){ 77 }, 8);
	assert_int_equal(run(&call, false), 0);
	assert_int_equal(call.before, 77);
	sim_initiator_destroy(initiator);
}

static void test_a_request_that_is_not_begun_fails(void **state)
{
	uint8_t byte = 0;
	struct sim_initiator *initiator = make_initiator();
	struct call call = { .initiator = initiator, .kind = SIM_SERVED_READ, .local = &byte, .len = 1 };

	far.refusal = -EIO;
	assert_int_equal(run(&call, false), -EIO);
	far.refusal = 0;
	assert_int_equal(run(&call, false), 0);
	sim_initiator_destroy(initiator);
}

/* The importer has gone, or another one uses the number of its descriptor. */
static void test_a_late_answer_is_for_nobody(void **state)
{
	uint8_t byte = 0;
	struct sim_initiator *initiator = make_initiator();
	struct call call = { .initiator = initiator, .kind = SIM_SERVED_READ, .local = &byte, .len = 1 };
	struct sim_far_request request;

	assert_int_equal(run(&call, false), 0);
	request = far.pending[0]; /* complete() leaves it there */
	sim_initiator_destroy(initiator);
	while (sim_target_serve(far.target) > 0 || !sim_target_may_sleep(far.target))
		;
	sim_target_complete(far.target, request.token, 0, "x", 1);
	far.num_begun = 0;
	initiator = make_initiator();
	assert_int_equal(
		run(&(struct call){ .initiator = initiator, .kind = SIM_SERVED_READ, .local = &byte, .len = 1 }, false),
		0);
	sim_initiator_destroy(initiator);
}

/* By an importer that writes into the ring what it likes. */
static void test_a_request_that_makes_no_sense_is_not_begun(void **state)
{
	static const struct served_request requests[] = {
		{ .kind = SIM_SERVED_FAR_OP + 1, .len_bytes = 8 },
		{ .kind = SIM_SERVED_FAR_OP, .len_bytes = sizeof(struct sim_far_operands) - 1 },
		{ .kind = SIM_SERVED_FAR_OP, .len_bytes = sizeof(struct sim_far_operands) + 1 },
		{ .kind = SIM_SERVED_READ, .offset = BYTES, .len_bytes = 1 },
	};
	static const int statuses[] = { -EPROTO, -EPROTO, -EPROTO, -EFAULT };
	struct served_initiator_ring importer;
	struct served_wait wait = { .events = POLLIN, .len_bytes = 1 };
	struct served_ring *ring;

	assert_int_equal(sim_target_connect(far.target, SIM_TRANSPORT_SHM, &wait.sock), 0);
	assert_int_equal(served_initiator_ring_open(wait.sock, &importer, &wait), 0);
	ring = importer.segment.base;
	for (unsigned int i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		ring->slots[i].request = requests[i];
		ring->slots[i].request.grant = far.grant;
		atomic_store(&ring->posted, i + 1);
		assert_int_equal(sim_target_serve(far.target), 1);
		assert_int_equal(atomic_load(&ring->done), i + 1);
		assert_int_equal(ring->slots[i].status, statuses[i]);
	}
	assert_int_equal(far.num_begun, 0);
	served_initiator_ring_close(&importer);
	close(wait.sock);
}

static void test_a_target_has_as_many_connections_as_it_was_made_for(void **state)
{
	struct sim_target *target;
	int fds[3];

	assert_int_equal(sim_target_create(2, &target), 0);
	assert_int_equal(sim_target_connect(target, SIM_TRANSPORT_SHM, &fds[0]), 0);
	assert_int_equal(sim_target_connect(target, SIM_TRANSPORT_SHM, &fds[1]), 0);
	assert_int_equal(sim_target_connect(target, SIM_TRANSPORT_SHM, &fds[2]), -EUSERS);
	close(fds[0]);
	close(fds[1]);
	sim_target_destroy(target);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bytes_arrive_whatever_the_order_of_completion),
		TEST(test_an_operation_gives_the_value_before),
		TEST(test_a_request_that_is_not_begun_fails),
		TEST(test_a_late_answer_is_for_nobody),
		TEST(test_a_request_that_makes_no_sense_is_not_begun),
		cmocka_unit_test(test_a_target_has_as_many_connections_as_it_was_made_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
