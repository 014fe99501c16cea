/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA jobs on work queues, between two contexts of one process. No end needs the other's polling. */
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdma_rig.h"
#include "under_valgrind.h"

struct ends {
	struct end *a, *b;
};

static struct ends the_ends;

static int open_ends(void **state)
{
	ends_open(&the_ends.a, &the_ends.b, ALL_ACCESS);
	*state = &the_ends;
	return 0;
}

static int close_ends(void **state)
{
	const struct ends *ends = *state;

	end_close(ends->a);
	end_close(ends->b);
	return 0;
}

static size_t data_len(struct doca_buf *buf)
{
	size_t len;

	assert_int_equal(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	return len;
}

/* ---- messages ---- */

static void test_send_fills_the_receive(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *src = end_buf(ends->a, 0, 64, 6), *dst = end_buf(ends->b, 0, 64, 0);
	struct end_event got;

	strcpy((char *)ends->a->memory, "hello");
	assert_int_equal(end_receive(ends->b, 1, dst), DOCA_SUCCESS);
	assert_int_equal(end_send(ends->a, 2, src), DOCA_SUCCESS);
	got = end_expect(ends->a, DOCA_RDMA_JOB_SEND, 2);
	assert_int_equal(got.result.length, 0);
	got = end_expect(ends->b, DOCA_RDMA_JOB_RECV, 1);
	assert_int_equal(got.result.opcode, DOCA_RDMA_OPCODE_RECV_SEND);
	assert_int_equal(got.result.length, 6);
	assert_int_equal(got.result.immediate_data, 0);
	assert_string_equal((char *)ends->b->memory, "hello");
	assert_int_equal(data_len(dst), 6);
	rig_return(src);
	rig_return(dst);
}

static void test_immediate_data_comes_bit_for_bit(void **state)
{
	const struct ends *ends = *state;
	struct end_event got;

	assert_int_equal(end_receive(ends->b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_send_imm(ends->a, 2, NULL, 0xABCD), DOCA_SUCCESS);
	end_expect(ends->a, DOCA_RDMA_JOB_SEND_IMM, 2);
	got = end_expect(ends->b, DOCA_RDMA_JOB_RECV, 1);
	assert_int_equal(got.result.opcode, DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
	assert_int_equal(got.result.immediate_data, 0xABCD);
	assert_int_equal(got.result.length, 0);
}

static void test_messages_keep_their_order(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *bufs[2 * END_DEPTH];

	for (uint64_t i = 0; i < END_DEPTH; i++) {
		ends->a->memory[i] = (uint8_t)(i + 1);
		bufs[i] = end_buf(ends->a, i, 1, 1);
		bufs[END_DEPTH + i] = end_buf(ends->b, i, 1, 0);
		assert_int_equal(end_receive(ends->b, i, bufs[END_DEPTH + i]), DOCA_SUCCESS);
	}
	for (uint64_t i = 0; i < END_DEPTH; i++)
		assert_int_equal(end_send(ends->a, i, bufs[i]), DOCA_SUCCESS);
	for (uint64_t i = 0; i < END_DEPTH; i++)
		end_expect(ends->a, DOCA_RDMA_JOB_SEND, i);
	for (uint64_t i = 0; i < END_DEPTH; i++)
		end_expect(ends->b, DOCA_RDMA_JOB_RECV, i);
	assert_memory_equal(ends->b->memory, ends->a->memory, END_DEPTH);
	for (int i = 0; i < 2 * END_DEPTH; i++)
		rig_return(bufs[i]);
}

static void test_a_receive_may_be_submitted_before_the_connect(void **state)
{
	struct end *a = end_new(0), *b = end_new(0);

	end_start(a);
	end_start(b);
	assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_send(a, 2, NULL), DOCA_ERROR_BAD_STATE);
	end_connect(a, b);
	assert_int_equal(end_send(a, 3, NULL), DOCA_SUCCESS); /* which waits for the peer's connect */
	end_connect(b, a);
	end_expect(a, DOCA_RDMA_JOB_SEND, 3);
	end_expect(b, DOCA_RDMA_JOB_RECV, 1);
	end_close(a);
	end_close(b);
}

/* The vendor's rdma_receive_immediate receives into such a buffer. */
static void test_a_receive_without_room_overwrites_its_data(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *src = end_buf(ends->a, 0, 64, 6), *dst = end_buf(ends->b, 0, 64, 64);

	strcpy((char *)ends->a->memory, "hello");
	assert_int_equal(end_receive(ends->b, 1, dst), DOCA_SUCCESS);
	assert_int_equal(end_send(ends->a, 2, src), DOCA_SUCCESS);
	end_expect(ends->b, DOCA_RDMA_JOB_RECV, 1);
	end_expect(ends->a, DOCA_RDMA_JOB_SEND, 2);
	assert_string_equal((char *)ends->b->memory, "hello");
	assert_int_equal(data_len(dst), 6);
	rig_return(src);
	rig_return(dst);
}

/* ---- memory of the peer ---- */

static void test_write_appends_to_the_peers_buffer(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *src = end_buf(ends->a, 0, 7, 7), *dst = end_peer_buf(ends->a, 100, 64, 2);
	struct end_event got;

	memcpy(ends->a->memory, "payload", 7);
	assert_int_equal(end_write(ends->a, 1, dst, src), DOCA_SUCCESS);
	got = end_expect(ends->a, DOCA_RDMA_JOB_WRITE, 1);
	assert_int_equal(got.result.length, 0);
	assert_memory_equal(ends->b->memory + 102, "payload", 7);
	assert_int_equal(data_len(dst), 9);
	rig_return(src);
	rig_return(dst);
}

static void test_write_with_immediate_takes_a_receive(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *src = end_buf(ends->a, 0, 7, 7), *dst = end_peer_buf(ends->a, 100, 64, 0);
	struct end_event got;

	memcpy(ends->a->memory, "payload", 7);
	assert_int_equal(end_receive(ends->b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_write_imm(ends->a, 2, dst, src, 0x1234), DOCA_SUCCESS);
	got = end_expect(ends->b, DOCA_RDMA_JOB_RECV, 1);
	assert_int_equal(got.result.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	assert_int_equal(got.result.immediate_data, 0x1234);
	assert_int_equal(got.result.length, 7);
	assert_memory_equal(ends->b->memory + 100, "payload", 7);
	end_expect(ends->a, DOCA_RDMA_JOB_WRITE_IMM, 2);
	rig_return(src);
	rig_return(dst);
}

static void test_read_appends_the_peers_data(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *dst = end_buf(ends->a, 0, 64, 3), *src = end_peer_buf(ends->a, 500, 64, 5);
	struct end_event got;

	memcpy(ends->b->memory + 500, "peers", 5);
	assert_int_equal(end_read(ends->a, 1, dst, src), DOCA_SUCCESS);
	got = end_expect(ends->a, DOCA_RDMA_JOB_READ, 1);
	assert_int_equal(got.result.length, 5);
	assert_int_equal(got.result.immediate_data, 0);
	assert_memory_equal(ends->a->memory + 3, "peers", 5);
	assert_int_equal(data_len(dst), 8);
	rig_return(src);
	rig_return(dst);
}

static void test_a_list_is_read_and_written(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *first = end_buf(ends->a, 0, 3, 3), *second = end_buf(ends->a, 10, 4, 4),
			*dst = end_peer_buf(ends->a, 0, 64, 0);

	memcpy(ends->a->memory, "abc", 3);
	memcpy(ends->a->memory + 10, "defg", 4);
	assert_int_equal(doca_buf_list_chain(first, second), DOCA_SUCCESS);
	assert_int_equal(end_write(ends->a, 1, dst, first), DOCA_SUCCESS);
	end_expect(ends->a, DOCA_RDMA_JOB_WRITE, 1);
	assert_memory_equal(ends->b->memory, "abcdefg", 7);
	rig_return(first);
	rig_return(dst);
}

static void test_atomic_operations_return_the_former_value(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *dst = end_peer_buf(ends->a, 64, 8, 8), *result = end_buf(ends->a, 0, 8, 0);
	uint64_t *value = (uint64_t *)(void *)(ends->b->memory + 64), *former = (uint64_t *)(void *)ends->a->memory;

	*value = 40;
	assert_int_equal(end_add(ends->a, 1, dst, result, 2), DOCA_SUCCESS);
	assert_int_equal(end_expect(ends->a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, 1).result.length, 8);
	assert_int_equal(*value, 42);
	assert_int_equal(*former, 40);
	assert_int_equal(data_len(result), 8);
	assert_int_equal(end_swap(ends->a, 2, dst, result, 41, 7), DOCA_SUCCESS); /* the result is full: overwritten */
	end_expect(ends->a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, 2);
	assert_int_equal(*value, 42);
	assert_int_equal(*former, 42);
	assert_int_equal(end_swap(ends->a, 3, dst, result, 42, 7), DOCA_SUCCESS);
	end_expect(ends->a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, 3);
	assert_int_equal(*value, 7);
	rig_return(dst);
	rig_return(result);
}

/* ---- failures ---- */

/* The job that fails, and that behind it, have events; later ones are refused. Receives stay. */
static void test_a_failed_job_ends_the_connection(void **state)
{
	struct end *a, *b;
	struct doca_buf *src, *dst;
	struct end_event got;

	ends_open(&a, &b, DOCA_ACCESS_RDMA_READ);
	src = end_buf(a, 0, 8, 8);
	dst = end_peer_buf(a, 0, 8, 0);
	assert_int_equal(end_receive(a, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_write(a, 2, dst, src), DOCA_SUCCESS);
	got = end_retrieve(a);
	assert_int_equal(got.retrieved, DOCA_ERROR_IO_FAILED);
	assert_int_equal(got.event.user_data.u64, 2);
	assert_int_equal(got.result.result, DOCA_ERROR_IO_FAILED);
	assert_int_equal(end_state(a), DOCA_RDMA_STATE_ERROR);
	assert_int_equal(end_send(a, 3, NULL), DOCA_ERROR_BAD_STATE);
	rig_return(src);
	rig_return(dst);
	end_close(a);
	end_close(b);
}

static void test_a_message_longer_than_its_receive_fails_at_both_ends(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *src = end_buf(ends->a, 0, 9, 9), *dst = end_buf(ends->b, 0, 8, 0);
	struct end_event got;

	assert_int_equal(end_receive(ends->b, 1, dst), DOCA_SUCCESS);
	assert_int_equal(end_send(ends->a, 2, src), DOCA_SUCCESS);
	got = end_retrieve(ends->a);
	assert_int_equal(got.result.result, DOCA_ERROR_IO_FAILED);
	got = end_retrieve(ends->b);
	assert_int_equal(got.retrieved, DOCA_ERROR_IO_FAILED);
	assert_int_equal(got.result.result, DOCA_ERROR_IO_FAILED);
	assert_int_equal(got.result.length, 0);
	assert_int_equal(end_state(ends->b), DOCA_RDMA_STATE_ERROR);
	rig_return(src);
	rig_return(dst);
}

/* The event is retrieved nevertheless. */
static void test_a_result_without_memory_is_lost(void **state)
{
	const struct ends *ends = *state;
	void *hole = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *const places[] = { NULL, hole };
	struct doca_event event;
	doca_error_t result;

	if (RUNNING_ON_VALGRIND) /* it reports the access */
		skip();
	assert_true(hole != MAP_FAILED);
	assert_int_equal(munmap(hole, 4096), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(end_receive(ends->b, 1, NULL), DOCA_SUCCESS);
		assert_int_equal(end_send(ends->a, 7, NULL), DOCA_SUCCESS);
		event = (struct doca_event){ .result.ptr = places[i] };
		do
			result = doca_workq_progress_retrieve(ends->a->workq, &event, 0);
		while (result == DOCA_ERROR_AGAIN);
		assert_int_equal(result, DOCA_SUCCESS);
		assert_int_equal(event.user_data.u64, 7);
		assert_ptr_equal(event.result.ptr, places[i]);
		end_expect(ends->b, DOCA_RDMA_JOB_RECV, 1);
	}
}

/* ---- states ---- */

static void test_states_follow_start_connect_and_stop(void **state)
{
	struct end *a = end_new(0), *b = end_new(0);
	enum doca_rdma_state before;
	struct doca_rdma *bare;

	assert_int_equal(doca_rdma_create(&bare), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_get_state(bare, &before), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_destroy(bare), DOCA_SUCCESS);
	for (int i = 0; i < 2; i++) { /* a stopped context is connected anew */
		assert_int_equal(end_state(a), DOCA_RDMA_STATE_RESET);
		assert_int_equal(doca_rdma_connect(a->rdma, "", 1), DOCA_ERROR_BAD_STATE);
		end_start(a);
		end_start(b);
		assert_int_equal(end_state(a), DOCA_RDMA_STATE_INIT);
		end_connect(a, b);
		assert_int_equal(end_state(a), DOCA_RDMA_STATE_CONNECTED);
		end_connect(b, a);
		assert_int_equal(doca_rdma_destroy(a->rdma), DOCA_ERROR_BAD_STATE);
		assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
		assert_int_equal(end_send(a, 2, NULL), DOCA_SUCCESS);
		end_expect(a, DOCA_RDMA_JOB_SEND, 2);
		end_expect(b, DOCA_RDMA_JOB_RECV, 1);
		assert_int_equal(doca_ctx_workq_rm(a->ctx, a->workq), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_stop(a->ctx), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_workq_rm(b->ctx, b->workq), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_stop(b->ctx), DOCA_SUCCESS);
	}
	end_start(a);
	end_start(b);
	end_close(a);
	end_close(b);
}

static void test_a_context_connects_once(void **state)
{
	const struct ends *ends = *state;
	const void *details, *again;
	char altered[64];
	size_t len;

	assert_int_equal(doca_rdma_export(ends->b->rdma, &details, &len), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_export(ends->b->rdma, &again, &len), DOCA_SUCCESS);
	assert_ptr_equal(details, again);
	assert_int_equal(doca_rdma_connect(ends->a->rdma, details, len), DOCA_ERROR_BAD_STATE);
	assert_int_equal(len, sizeof(altered));
	memcpy(altered, details, len);
	altered[20] ^= 1;
	assert_int_equal(doca_rdma_connect(ends->a->rdma, altered, len), DOCA_ERROR_CONNECTION_ABORTED);
}

/* ---- queues ---- */

static void test_a_queue_is_full_at_its_depth(void **state)
{
	const struct ends *ends = *state;

	for (uint64_t i = 0; i < END_DEPTH; i++)
		assert_int_equal(end_receive(ends->a, i, NULL), DOCA_SUCCESS);
	assert_int_equal(end_receive(ends->a, 99, NULL), DOCA_ERROR_NO_MEMORY);
}

static void test_sizes_of_the_context_limit_jobs(void **state)
{
	struct end *a = end_new(0), *b = end_new(0);

	assert_int_equal(doca_rdma_set_send_queue_size(a->rdma, 2), DOCA_SUCCESS);
	assert_int_equal(doca_rdma_set_recv_queue_size(a->rdma, 3), DOCA_SUCCESS); /* that is 4 */
	end_start(a);
	end_start(b);
	end_connect(a, b);
	end_connect(b, a);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(end_receive(a, i, NULL), DOCA_SUCCESS);
	assert_int_equal(end_receive(a, 4, NULL), DOCA_ERROR_NO_MEMORY);
	for (uint64_t i = 5; i < 7; i++)
		assert_int_equal(end_send(a, i, NULL), DOCA_SUCCESS); /* which wait for a receive */
	assert_int_equal(end_send(a, 7, NULL), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_receive(b, 2, NULL), DOCA_SUCCESS);
	end_expect(a, DOCA_RDMA_JOB_SEND, 5);
	assert_int_equal(end_send(a, 8, NULL), DOCA_SUCCESS);
	end_expect(a, DOCA_RDMA_JOB_SEND, 6);
	end_expect(b, DOCA_RDMA_JOB_RECV, 1);
	end_expect(b, DOCA_RDMA_JOB_RECV, 2);
	assert_int_equal(end_receive(b, 3, NULL), DOCA_SUCCESS);
	end_expect(a, DOCA_RDMA_JOB_SEND, 8);
	end_expect(b, DOCA_RDMA_JOB_RECV, 3);
	end_close(a);
	end_close(b);
}

/* Receives that wait go with the queue; a message that one has taken, or a job at the peer, keeps it. A message that comes later waits
 * for a receive of the next queue. */
static void test_a_queue_with_waiting_receives_can_be_removed(void **state)
{
	const struct ends *ends = *state;
	struct end *a = ends->a, *b = ends->b;

	assert_int_equal(end_receive(b, 1, NULL), DOCA_SUCCESS);
	assert_int_equal(end_receive(b, 2, NULL), DOCA_SUCCESS);
	assert_int_equal(end_send(a, 3, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_rm(a->ctx, a->workq), DOCA_ERROR_NOT_PERMITTED);
	end_expect(a, DOCA_RDMA_JOB_SEND, 3);
	assert_int_equal(doca_ctx_workq_rm(b->ctx, b->workq), DOCA_ERROR_NOT_PERMITTED);
	end_expect(b, DOCA_RDMA_JOB_RECV, 1);
	assert_int_equal(doca_ctx_workq_rm(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(end_send(a, 4, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(end_receive(b, 5, NULL), DOCA_SUCCESS);
	end_expect(a, DOCA_RDMA_JOB_SEND, 4);
	end_expect(b, DOCA_RDMA_JOB_RECV, 5);
}

/* Of a message that is larger than the sender's way to the receiver, a part is there. */
static void test_a_receive_that_is_being_filled_keeps_its_queue(void **state)
{
	const struct ends *ends = *state;
	struct doca_buf *src = end_buf(ends->a, 0, END_BYTES, END_BYTES), *dst = end_buf(ends->b, 0, END_BYTES, 0);
	struct doca_event event;

	assert_int_equal(end_receive(ends->b, 1, dst), DOCA_SUCCESS);
	assert_int_equal(end_send(ends->a, 2, src), DOCA_SUCCESS);
	event.result.ptr = NULL;
	assert_int_equal(doca_workq_progress_retrieve(ends->b->workq, &event, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_ctx_workq_rm(ends->b->ctx, ends->b->workq), DOCA_ERROR_NOT_PERMITTED);
	end_expect(ends->a, DOCA_RDMA_JOB_SEND, 2);
	assert_int_equal(end_expect(ends->b, DOCA_RDMA_JOB_RECV, 1).result.length, END_BYTES);
	rig_return(src);
	rig_return(dst);
}

static void test_a_context_has_one_queue(void **state)
{
	const struct ends *ends = *state;

	assert_int_equal(doca_ctx_workq_add(ends->a->ctx, ends->a->workq), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_workq_add(ends->a->ctx, ends->b->workq), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_ctx_stop(ends->a->ctx), DOCA_ERROR_NOT_PERMITTED);
}

/* Also with DMA, whose jobs end at each retrieval, and with a second connection. */
static void test_contexts_share_a_queue(void **state)
{
	const struct ends *ends = *state;
	void *rig_state;
	struct rig *rig;
	struct rig_copy copy;
	struct doca_dma_job_memcpy job;
	struct doca_rdma_job_recv receive;
	struct end_event got;
	int num_copies = 0;

	rig_setup(&rig_state);
	rig = rig_state;
	copy = rig_copy_new(rig);
	job = rig_job(rig, copy.to, copy.from, 1);
	assert_int_equal(doca_ctx_workq_rm(ends->b->ctx, ends->b->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(ends->b->ctx, rig->workq), DOCA_SUCCESS);
	receive = (struct doca_rdma_job_recv){
		.base = { .type = DOCA_RDMA_JOB_RECV, .ctx = ends->b->ctx, .user_data.u64 = 2 }
	};
	assert_int_equal(doca_workq_submit(rig->workq, &receive.base), DOCA_SUCCESS);
	assert_int_equal(end_send(ends->a, 3, NULL), DOCA_SUCCESS);
	end_expect(ends->a, DOCA_RDMA_JOB_SEND, 3); /* so the receive is complete */
	do {
		assert_int_equal(doca_buf_reset_data_len(copy.to), DOCA_SUCCESS);
		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
		got.event.result.ptr = &got.result;
		while (doca_workq_progress_retrieve(rig->workq, &got.event, 0) == DOCA_ERROR_AGAIN)
			;
		num_copies += got.event.type == DOCA_DMA_JOB_MEMCPY;
	} while (got.event.type == DOCA_DMA_JOB_MEMCPY && num_copies < 100);
	assert_int_equal(got.event.type, DOCA_RDMA_JOB_RECV);
	assert_int_equal(got.event.user_data.u64, 2);
	while (doca_workq_progress_retrieve(rig->workq, &got.event, 0) == DOCA_SUCCESS)
		;
	assert_int_equal(doca_ctx_workq_rm(ends->b->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(ends->b->ctx, ends->b->workq), DOCA_SUCCESS);
	rig_copy_free(&copy);
	rig_teardown(&rig_state);
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, timeout_ms) == 1;
}

/* The engine's thread may wake the queue once more for the same message. */
static void clear_until_quiet(const struct end *end, int fd)
{
	int tries = 0;

	do
		assert_int_equal(doca_workq_event_handle_clear(end->workq, fd), DOCA_SUCCESS);
	while (is_readable(fd, 0) && ++tries < 1000);
	assert_true(tries < 1000);
}

static void test_an_event_driven_queue_sleeps_until_a_message(void **state)
{
	const struct ends *ends = *state;
	struct end *b = ends->b;
	struct doca_event event;
	int fd;

	assert_int_equal(doca_ctx_workq_rm(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_set_event_driven_enable(b->workq, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_get_event_handle(b->workq, &fd), DOCA_SUCCESS);
	assert_int_equal(doca_workq_progress_retrieve(b->workq, &event, 0),
			 DOCA_ERROR_AGAIN); /* looks at the connect */
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(end_receive(b, i, NULL), DOCA_SUCCESS);
		assert_int_equal(doca_workq_event_handle_arm(b->workq), DOCA_SUCCESS);
		assert_true(i > 0 || !is_readable(fd, 0));
		assert_int_equal(end_send(ends->a, i, NULL), DOCA_SUCCESS);
		assert_true(is_readable(fd, 10000));
		clear_until_quiet(b, fd);
		end_expect(b, DOCA_RDMA_JOB_RECV, i);
		end_expect(ends->a, DOCA_RDMA_JOB_SEND, i);
	}
	assert_int_equal(doca_ctx_workq_rm(b->ctx, b->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_set_event_driven_enable(b->workq, 0), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(b->ctx, b->workq), DOCA_SUCCESS);
}

/* ---- forks ---- */

/* The parent's connection goes on. */
static void test_a_child_can_take_the_parents_context_down(void **state)
{
	const struct ends *ends = *state;
	int status;
	pid_t child;

	assert_int_equal(end_receive(ends->b, 1, NULL), DOCA_SUCCESS);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		doca_error_t refused = end_send(ends->a, 9, NULL), removed, stopped;

		removed = doca_ctx_workq_rm(ends->b->ctx, ends->b->workq);
		stopped = doca_ctx_stop(ends->b->ctx);
		_exit(refused == DOCA_ERROR_BAD_STATE && removed == DOCA_SUCCESS && stopped == DOCA_SUCCESS ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(end_send(ends->a, 2, NULL), DOCA_SUCCESS);
	end_expect(ends->a, DOCA_RDMA_JOB_SEND, 2);
	end_expect(ends->b, DOCA_RDMA_JOB_RECV, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_ends, close_ends)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_send_fills_the_receive),
		TEST(test_immediate_data_comes_bit_for_bit),
		TEST(test_messages_keep_their_order),
		cmocka_unit_test(test_a_receive_may_be_submitted_before_the_connect),
		TEST(test_a_receive_without_room_overwrites_its_data),
		TEST(test_write_appends_to_the_peers_buffer),
		TEST(test_write_with_immediate_takes_a_receive),
		TEST(test_read_appends_the_peers_data),
		TEST(test_a_list_is_read_and_written),
		TEST(test_atomic_operations_return_the_former_value),
		cmocka_unit_test(test_a_failed_job_ends_the_connection),
		TEST(test_a_message_longer_than_its_receive_fails_at_both_ends),
		TEST(test_a_result_without_memory_is_lost),
		cmocka_unit_test(test_states_follow_start_connect_and_stop),
		TEST(test_a_context_connects_once),
		TEST(test_a_queue_is_full_at_its_depth),
		cmocka_unit_test(test_sizes_of_the_context_limit_jobs),
		TEST(test_a_queue_with_waiting_receives_can_be_removed),
		TEST(test_a_receive_that_is_being_filled_keeps_its_queue),
		TEST(test_a_context_has_one_queue),
		TEST(test_contexts_share_a_queue),
		TEST(test_an_event_driven_queue_sleeps_until_a_message),
		TEST(test_a_child_can_take_the_parents_context_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
