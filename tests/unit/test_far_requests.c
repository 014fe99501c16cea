/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for memory of other machines: the test is the gateway, which takes them out of the queue and answers. */
#include "cmocka_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/rdma/far_queue.h"
#include "sim/rdma/memory.h"
#include "sim/rdma/queue_pair_priv.h"

#define MEMORY_BYTES (4u << 20)
#define MAX_WORKS    80

struct request {
	struct sim_rdma_work work; /* first */
	struct sim_rdma_far far;
	struct sim_rdma_segment segment;
	enum sim_served_kind kind;
	uint64_t offset;
	int refusal; /* of begin() */
};

struct fixture {
	struct sim_session *session;
	struct sim_qp_group group, gateway;
	struct sim_qp *qp, *doorbells;
	struct sim_segment mirror;
	struct sim_inbox_shared *inbox;
	struct sim_key mirror_key;
	struct sim_remote *queue_memory;
	struct sim_far_queue_shared *queue;
	uint32_t num_taken, num_returned;
	struct sim_target *target;
	struct sim_grant grant;
	struct sim_remote memory; /* of the other machine */
	struct request requests[MAX_WORKS];
	uint32_t num_requests, num_reaped;
	uint8_t local[MEMORY_BYTES];
};

static struct sim_qp *open_qp(struct fixture *f, struct sim_qp_group *group)
{
	const struct sim_qp_cfg cfg = {
		.group = group, .max_works = MAX_WORKS, .ack_timeout_ns = 1000000000, .wake_fd = -1
	};
	struct sim_qp *qp;

	assert_int_equal(sim_qp_create(f->session, &cfg, &qp), 0);
	return qp;
}

/* The gateway's mirror of an inbox on another machine, which is connected. */
static void make_mirror(struct fixture *f)
{
	struct sim_ring_cfg cfg = sim_inbox_ring_cfg();
	struct sim_region region = { .len_bytes = SIM_INBOX_BYTES, .access = SIM_ACCESS_NET | SIM_ACCESS_INBOX };
	struct sim_ring ring;
	int fd;

	assert_int_equal(sim_segment_create(SIM_INBOX_BYTES, &f->mirror, &fd), 0);
	f->inbox = f->mirror.base;
	f->inbox->version = SIM_INBOX_VERSION;
	f->inbox->doorbells = f->gateway.key;
	f->inbox->is_mirror = 1;
	f->inbox->state = SIM_QP_READY;
	sim_ring_init(&ring, &cfg, f->inbox->ring);
	region.addr = region.cpu_addr = (uintptr_t)f->inbox;
	assert_int_equal(sim_session_export(f->session, &region, fd, &f->mirror_key), 0);
	close(fd);
}

static int refuse_begin(void *arg, const struct sim_far_request *request)
{
	(void)arg, (void)request;
	return -EIO;
}

static int describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	struct fixture *f = arg;

	*ret_grant = f->grant;
	return connect ? sim_target_connect(f->target, transport, ret_fd) : 0;
}

static void make_far_memory(struct fixture *f)
{
	const struct sim_initiator_cfg cfg = { .transport = SIM_TRANSPORT_SHM,
					       .target_id = 7,
					       .len_bytes = MEMORY_BYTES,
					       .is_writable = true,
					       .is_far = true,
					       .describe = describe,
					       .arg = f };

	assert_int_equal(sim_target_create(SIM_TARGET_MAX_CONNS, &f->target), 0);
	assert_int_equal(sim_target_expose_far(f->target, MEMORY_BYTES, refuse_begin, f, &f->grant), 0);
	f->memory.region = (struct sim_region){ .addr = 0x10000,
						.len_bytes = MEMORY_BYTES,
						.access = SIM_ACCESS_NET | SIM_ACCESS_FAR | SIM_ACCESS_READ |
							  SIM_ACCESS_WRITE | SIM_ACCESS_ATOMIC };
	assert_int_equal(sim_initiator_create(&cfg, &f->memory.initiator), 0);
}

static int setup(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(sim_session_attach(&cfg, &f->session), 0);
	sim_qp_group_init(&f->group);
	sim_qp_group_init(&f->gateway);
	f->doorbells = open_qp(f, &f->gateway);
	f->qp = open_qp(f, &f->group);
	make_mirror(f);
	make_far_memory(f);
	assert_int_equal(sim_qp_connect(f->qp, &f->mirror_key), 0);
	assert_int_equal(f->inbox->has_importer, SIM_INBOX_HAS_IMPORTER);
	assert_memory_equal(&f->inbox->importer, sim_qp_key(f->qp), sizeof(struct sim_key));
	assert_int_equal(sim_session_import(f->session, &f->qp->inbox->far_queue, 0, &f->queue_memory, NULL), 0);
	f->queue = (struct sim_far_queue_shared *)(void *)f->queue_memory->base;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sim_session_release(f->session, f->queue_memory);
	sim_qp_destroy(f->qp);
	sim_session_unexport(f->session, f->mirror_key.id);
	sim_segment_unmap(&f->mirror);
	sim_qp_destroy(f->doorbells);
	sim_qp_group_close(&f->group);
	sim_qp_group_close(&f->gateway);
	sim_initiator_destroy(f->memory.initiator);
	sim_target_destroy(f->target);
	sim_session_detach(f->session);
	free(f);
	return 0;
}

/* ---- the program ---- */

static struct fixture *current; /* for begin() */

static int begin(struct sim_rdma_work *work)
{
	struct request *request = (struct request *)work;
	const struct sim_rdma_atomic add = { .operand = 5 };
	uint64_t addr = current->memory.region.addr + request->offset;
	int rc = request->refusal;

	if (rc == 0 && request->kind == SIM_SERVED_FAR_OP)
		rc = sim_rdma_far_atomic(&request->far, &current->memory, addr, &add);
	else if (rc == 0)
		rc = sim_rdma_far_copy(&request->far, request->kind, &current->memory, addr, work->bytes);
	if (rc == 0)
		work->far = &request->far;
	return rc;
}

static int must_not_execute(struct sim_rdma_work *work)
{
	(void)work;
	return -ENOSYS;
}

static struct request *post_on(struct fixture *f, struct sim_qp *qp, enum sim_served_kind kind, uint64_t offset,
			       uint64_t len)
{
	struct request *request = &f->requests[f->num_requests++];

	current = f;
	request->kind = kind;
	request->offset = offset;
	request->segment = (struct sim_rdma_segment){ .addr = (uintptr_t)f->local + offset, .bytes = len };
	request->work = (struct sim_rdma_work){ .execute = must_not_execute,
						.begin = begin,
						.segments = &request->segment,
						.num_segments = 1,
						.bytes = len };
	assert_int_equal(sim_qp_post(qp, &request->work), 0);
	sim_qp_progress_requests(qp);
	return request;
}

static struct request *post(struct fixture *f, enum sim_served_kind kind, uint64_t offset, uint64_t len)
{
	return post_on(f, f->qp, kind, offset, len);
}

static struct request *post_message(struct fixture *f)
{
	struct request *request = &f->requests[f->num_requests++];

	request->work = (struct sim_rdma_work){ .has_message = true };
	assert_int_equal(sim_qp_post(f->qp, &request->work), 0);
	sim_qp_progress_requests(f->qp);
	return request;
}

/* The next one of the requests is completed, and no other one. */
static void expect_end(struct fixture *f, int status)
{
	struct sim_rdma_work *work = sim_qp_group_reap(&f->group);

	assert_ptr_equal(work, &f->requests[f->num_reaped++].work);
	assert_int_equal(work->status, status);
}

static void expect_no_end(struct fixture *f)
{
	assert_null(sim_qp_group_reap(&f->group));
}

/* ---- the gateway ---- */

static bool has_posted(const struct fixture *f)
{
	return f->queue->num_posted != f->num_taken;
}

static uint32_t take(struct fixture *f)
{
	assert_true(has_posted(f));
	return f->queue->posts[f->num_taken++ % SIM_FAR_SLOTS];
}

static void give(struct fixture *f, uint32_t slot, int status)
{
	if (slot < SIM_FAR_SLOTS)
		f->queue->slots[slot].status = status;
	f->queue->returns[f->num_returned++ % SIM_FAR_SLOTS] = slot;
	atomic_store(&f->queue->num_returned, f->num_returned);
}

static void answer(struct fixture *f, uint32_t slot, int status)
{
	give(f, slot, status);
	sim_qp_group_progress(&f->group);
}

/* ---- tests ---- */

static void test_requests_are_under_way_at_once_and_end_in_order(void **state)
{
	struct fixture *f = *state;
	const struct sim_far_slot *slot;
	uint32_t slots[3];

	memcpy(f->local, "written", 7);
	post(f, SIM_SERVED_WRITE, 0, 7);
	post(f, SIM_SERVED_READ, 64, 4);
	post(f, SIM_SERVED_FAR_OP, 128, 8);
	for (int i = 0; i < 3; i++)
		slots[i] = take(f);
	expect_no_end(f);
	slot = &f->queue->slots[slots[0]];
	assert_memory_equal(&slot->grant, &f->grant, sizeof(f->grant));
	assert_memory_equal(f->queue->data[slots[0]], "written", 7);
	assert_int_equal(slot->is_first, 1);
	slot = &f->queue->slots[slots[1]];
	assert_int_equal(slot->kind, SIM_SERVED_READ);
	assert_int_equal(slot->offset, 64);
	assert_int_equal(slot->len_bytes, 4);
	assert_int_equal(slot->is_first, 0);
	assert_int_equal(slot->stream, f->queue->slots[slots[0]].stream);
	memcpy(f->queue->data[slots[1]], "read", 4);
	memcpy(f->queue->data[slots[2]], "\1\2\3\4\5\6\7\10", 8);
	answer(f, slots[2], 0);
	answer(f, slots[1], 0);
	expect_no_end(f);
	answer(f, slots[0], 0);
	for (int i = 0; i < 3; i++)
		expect_end(f, 0);
	assert_memory_equal(f->local + 64, "read", 4);
	assert_memory_equal(f->local + 128, "\1\2\3\4\5\6\7\10", 8);
	post(f, SIM_SERVED_WRITE, 0, 1);
	assert_int_equal(f->queue->slots[take(f)].is_first, 1);
}

static void test_a_failure_ends_those_behind_it(void **state)
{
	struct fixture *f = *state;
	uint32_t slots[3];

	for (int i = 0; i < 4; i++)
		post(f, SIM_SERVED_WRITE, 0, 8);
	for (int i = 0; i < 3; i++)
		slots[i] = take(f);
	answer(f, slots[1], -EACCES);
	answer(f, slots[2], 0);
	expect_no_end(f);
	answer(f, slots[0], 0);
	expect_end(f, 0);
	expect_end(f, -EACCES);
	expect_end(f, -ECANCELED);
	expect_end(f, -ECANCELED);
	assert_int_equal(sim_qp_get_state(f->qp), SIM_QP_ERROR);
}

static void test_a_refusal_here_comes_behind_the_answers_before_it(void **state)
{
	struct fixture *f = *state;
	struct request *refused = &f->requests[1];

	post(f, SIM_SERVED_WRITE, 0, 8);
	refused->refusal = -EXDEV;
	post(f, SIM_SERVED_WRITE, 0, 8);
	sim_qp_group_progress(&f->group);
	expect_no_end(f);
	assert_int_equal(sim_qp_get_state(f->qp), SIM_QP_READY);
	answer(f, take(f), 0);
	expect_end(f, 0);
	expect_end(f, -EXDEV);
}

static void test_bounds_and_rights_are_checked_here(void **state)
{
	struct fixture *f = *state;

	current = f;
	f->requests[0].far.kind = SIM_SERVED_READ;
	assert_int_equal(
		sim_rdma_far_copy(&f->requests[0].far, SIM_SERVED_READ, &f->memory, 0x10000 + MEMORY_BYTES - 1, 2),
		-EFAULT);
	assert_int_equal(sim_rdma_far_copy(&f->requests[0].far, SIM_SERVED_READ, &f->memory, 0xFFFF, 1), -EFAULT);
	f->memory.region.access &= ~(uint32_t)(SIM_ACCESS_WRITE | SIM_ACCESS_ATOMIC);
	assert_int_equal(sim_rdma_far_copy(&f->requests[0].far, SIM_SERVED_WRITE, &f->memory, 0x10000, 1), -EACCES);
	assert_int_equal(sim_rdma_far_atomic(&f->requests[0].far, &f->memory, 0x10000, &(struct sim_rdma_atomic){ 0 }),
			 -EACCES);
	assert_int_equal(sim_rdma_far_atomic(&f->requests[0].far, &f->memory, 0x10001, &(struct sim_rdma_atomic){ 0 }),
			 -EINVAL);
	atomic_store(&f->memory.revoked, true);
	assert_int_equal(sim_rdma_far_copy(&f->requests[0].far, SIM_SERVED_READ, &f->memory, 0x10000, 1), -EIO);
	assert_int_equal(sim_rdma_far_event(&f->requests[0].far, &f->memory, SIM_FAR_GET_EVENT, 0), -EIO);
}

/* 2 MiB are 32 parts, of which a queue pair has 16 under way. */
static void test_a_long_write_goes_in_parts(void **state)
{
	struct fixture *f = *state;
	uint32_t count = 0;

	for (size_t i = 0; i < MEMORY_BYTES; i++)
		f->local[i] = (uint8_t)(i * 2654435761u >> 13);
	post(f, SIM_SERVED_WRITE, 3, 2u << 20);
	while (count < 32) {
		uint32_t slots[SIM_FAR_SLOTS], num_slots = 0;

		while (has_posted(f))
			slots[num_slots++] = take(f);
		assert_in_range(num_slots, 1, SIM_FAR_SLOTS / 4);
		for (uint32_t i = 0; i < num_slots; i++, count++) {
			assert_int_equal(f->queue->slots[slots[i]].offset, 3 + count * (uint64_t)SIM_FAR_SLOT_BYTES);
			assert_memory_equal(f->queue->data[slots[i]], f->local + 3 + count * (size_t)SIM_FAR_SLOT_BYTES,
					    SIM_FAR_SLOT_BYTES);
			expect_no_end(f);
			answer(f, slots[i], 0);
		}
	}
	assert_false(has_posted(f));
	expect_end(f, 0);
}

static void test_a_message_waits_for_requests_and_they_for_it(void **state)
{
	struct fixture *f = *state;
	struct sim_ring_cfg cfg = sim_inbox_ring_cfg();
	struct sim_ring ring;
	const void *record;
	uint32_t kind, slot;
	size_t len;

	sim_ring_init(&ring, &cfg, f->inbox->ring);
	post(f, SIM_SERVED_WRITE, 0, 8);
	post_message(f);
	post(f, SIM_SERVED_WRITE, 0, 8);
	slot = take(f);
	assert_int_equal(sim_ring_begin_read(&ring, &kind, &record, &len), -EAGAIN);
	answer(f, slot, 0);
	expect_end(f, 0);
	assert_int_equal(sim_ring_begin_read(&ring, &kind, &record, &len), 0);
	assert_int_equal(kind, SIM_INBOX_SEND);
	sim_ring_end_read(&ring, len);
	assert_false(has_posted(f));
	atomic_store(&f->inbox->executed, 1);
	sim_qp_progress(f->qp, 0);
	expect_end(f, 0);
	answer(f, take(f), 0);
	expect_end(f, 0);
}

/* Nothing is heard of the message: both gateways, the network or the other machine may be busy. Times are those of the progress. */
static void test_a_message_to_another_machine_waits_longer_for_a_sign(void **state)
{
	struct fixture *f = *state;
	const uint64_t step_ns = f->qp->cfg.ack_timeout_ns / 4;
	uint64_t begin_ns = sim_session_now_ns(f->session) + 1, now_ns = begin_ns;

	post_message(f);
	for (; now_ns < begin_ns + SIM_QP_FAR_ACK_NS; now_ns += step_ns) {
		sim_qp_progress(f->qp, now_ns);
		expect_no_end(f);
	}
	sim_qp_progress(f->qp, now_ns);
	sim_qp_progress(f->qp, now_ns + step_ns);
	expect_end(f, -EHOSTDOWN);
}

static void test_others_get_slots_too(void **state)
{
	struct fixture *f = *state;
	struct sim_qp *qps[5];
	uint32_t slots[SIM_FAR_SLOTS];

	f->inbox->needs_no_peer = 1;
	for (int i = 0; i < 5; i++) {
		qps[i] = open_qp(f, &f->group);
		f->inbox->has_importer = SIM_INBOX_NO_IMPORTER;
		assert_int_equal(sim_qp_connect(qps[i], &f->mirror_key), 0);
	}
	for (int i = 0; i < 4; i++)
		post_on(f, qps[i], SIM_SERVED_WRITE, 0, 2u << 20);
	for (int i = 0; i < SIM_FAR_SLOTS; i++)
		slots[i] = take(f);
	post_on(f, qps[4], SIM_SERVED_WRITE, 0, 8);
	assert_false(has_posted(f)); /* all slots are used */
	assert_false(sim_qp_group_arm(&f->group));
	answer(f, slots[0], 0);
	slots[0] = take(f);
	assert_int_equal(f->queue->slots[slots[0]].len_bytes, 8); /* and then those that have used slots before */
	assert_false(has_posted(f));
	answer(f, slots[0], 0);
	f->num_reaped = 4;
	expect_end(f, 0);
	assert_int_equal(f->queue->slots[take(f)].len_bytes, SIM_FAR_SLOT_BYTES);
	for (int i = 0; i < 5; i++)
		sim_qp_destroy(qps[i]);
}

static void test_slots_of_a_queue_pair_that_ended_come_back(void **state)
{
	struct fixture *f = *state;
	uint32_t slots[SIM_FAR_SLOTS / 4];
	struct sim_qp *other = open_qp(f, &f->group);

	post(f, SIM_SERVED_READ, 0, 1u << 20);
	for (int i = 0; i < SIM_FAR_SLOTS / 4; i++)
		slots[i] = take(f);
	sim_qp_leave(f->qp, -ECANCELED); /* a stop of the context */
	expect_end(f, -ECANCELED);
	f->inbox->needs_no_peer = 1;
	f->inbox->has_importer = SIM_INBOX_NO_IMPORTER;
	assert_int_equal(sim_qp_connect(other, &f->mirror_key), 0);
	for (int i = 0; i < SIM_FAR_SLOTS - SIM_FAR_SLOTS / 4; i++)
		post_on(f, other, SIM_SERVED_WRITE, 0, 1);
	sim_qp_destroy(other);
	memset(f->local, 7, 16);
	for (int i = 0; i < SIM_FAR_SLOTS / 4; i++)
		answer(f, slots[i], 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(f->local[i], 7); /* nobody waits for what was read */
	while (has_posted(f))
		answer(f, take(f), 0);
	expect_no_end(f);
}

static void test_a_requester_that_sleeps_is_told(void **state)
{
	struct fixture *f = *state;
	uint32_t slot;

	f->queue->gateway_asleep = 1;
	post(f, SIM_SERVED_WRITE, 0, 8);
	assert_int_equal(f->queue->gateway_asleep, 0);
	slot = take(f);
	assert_false(sim_qp_group_arm(&f->group));
	assert_int_equal(f->queue->requester_asleep, 1);
	give(f, slot, 0);
	assert_true(sim_qp_group_arm(&f->group));
	sim_qp_group_progress(&f->group);
	expect_end(f, 0);
}

/* The gateway's process has ended: its memory is revoked, and stays mapped here. */
static void test_a_gateway_that_ends_fails_what_is_under_way(void **state)
{
	struct fixture *f = *state;
	uint32_t slot;

	post(f, SIM_SERVED_WRITE, 0, 8);
	post(f, SIM_SERVED_WRITE, 0, 8);
	slot = take(f);
	give(f, slot, 0);
	sim_remote_revoke(f->qp->peer);
	sim_qp_group_progress(&f->group);
	expect_end(f, 0); /* it had been answered */
	expect_end(f, -EPIPE);
}

static void test_nonsense_of_a_gateway_is_ignored(void **state)
{
	struct fixture *f = *state;
	uint32_t slot;

	post(f, SIM_SERVED_READ, 0, 8);
	slot = take(f);
	answer(f, SIM_FAR_SLOTS, 0);
	answer(f, UINT32_MAX, 0);
	answer(f, (slot + 1) % SIM_FAR_SLOTS, 0); /* nobody has posted it */
	memset(f->queue->returns, 0xFF, sizeof(f->queue->returns));
	f->num_returned += 1000 * SIM_FAR_SLOTS; /* more than there are */
	atomic_store(&f->queue->num_returned, f->num_returned);
	for (int i = 0; i < 1000; i++)
		sim_qp_group_progress(&f->group);
	expect_no_end(f);
	answer(f, slot, 1); /* not a status */
	expect_end(f, -EPROTO);
	answer(f, slot, 0); /* for a second time */
	expect_no_end(f);
}

static void test_an_introduction_waits_for_another_one(void **state)
{
	struct fixture *f = *state;
	struct sim_qp *other = open_qp(f, &f->group);

	f->inbox->needs_no_peer = 1;
	assert_int_equal(sim_qp_connect(other, &f->mirror_key), 0); /* the first one's was not read yet */
	assert_memory_equal(&f->inbox->importer, sim_qp_key(f->qp), sizeof(struct sim_key));
	post_on(f, other, SIM_SERVED_WRITE, 0, 8);
	assert_true(sim_qp_deadline_ns(other) < sim_session_now_ns(f->session) + 100 * UINT64_C(1000000));
	f->inbox->has_importer = SIM_INBOX_NO_IMPORTER;
	sim_qp_group_on_alarm(&f->group);
	assert_int_equal(f->inbox->has_importer, SIM_INBOX_HAS_IMPORTER);
	assert_memory_equal(&f->inbox->importer, sim_qp_key(other), sizeof(struct sim_key));
	sim_qp_destroy(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_requests_are_under_way_at_once_and_end_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failure_ends_those_behind_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_refusal_here_comes_behind_the_answers_before_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_bounds_and_rights_are_checked_here, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_long_write_goes_in_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_message_waits_for_requests_and_they_for_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_message_to_another_machine_waits_longer_for_a_sign, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_others_get_slots_too, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slots_of_a_queue_pair_that_ended_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_requester_that_sleeps_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_gateway_that_ends_fails_what_is_under_way, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nonsense_of_a_gateway_is_ignored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_introduction_waits_for_another_one, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
