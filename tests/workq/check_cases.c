/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of the work-queue generation that break a rule of the checker, and programs that nearly do: the counterpart of
 * tests/check/check_cases.c, for the rules that hold for jobs. check_cases RULE provoke|near-miss. */
#include "rdma_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NUM_BYTES 64

static struct rig *open_rig(void)
{
	void *state;

	rig_setup(&state);
	return state;
}

static void submit(struct rig *rig, struct rig_copy *copy, uint64_t id)
{
	struct doca_dma_job_memcpy job = rig_job(rig, copy->to, copy->from, id);

	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
}

static void retrieve(struct rig *rig)
{
	struct doca_event event;
	doca_error_t result;

	do
		result = doca_workq_progress_retrieve(rig->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	assert_int_equal(result, DOCA_SUCCESS);
}

static void finish(struct rig *rig, struct rig_copy *copy)
{
	void *state = rig;

	rig_copy_free(copy);
	rig_teardown(&state);
}

static void source_modified(void)
{
	struct rig *rig = open_rig();
	struct rig_copy copy = rig_copy_new(rig);

	submit(rig, &copy, 1);
	copy.src[17]++;
	retrieve(rig);
	finish(rig, &copy);
}

static void source_modified_in_time(void)
{
	struct rig *rig = open_rig();
	struct rig_copy copy = rig_copy_new(rig);

	submit(rig, &copy, 1);
	copy.src[NUM_BYTES]++;
	retrieve(rig);
	copy.src[17]++;
	finish(rig, &copy);
}

static void destination_touched(void)
{
	struct rig *rig = open_rig();
	struct rig_copy copy = rig_copy_new(rig);

	submit(rig, &copy, 1);
	copy.dst[17]++;
	retrieve(rig);
	finish(rig, &copy);
}

static void destination_touched_in_time(void)
{
	struct rig *rig = open_rig();
	struct rig_copy copy = rig_copy_new(rig);

	submit(rig, &copy, 1);
	copy.dst[NUM_BYTES]++;
	retrieve(rig);
	assert_memory_equal(copy.src, copy.dst, NUM_BYTES);
	copy.dst[17]++;
	finish(rig, &copy);
}

/* The second job's destination is the first one's. */
static void overlap(bool is_early)
{
	struct rig *rig = open_rig();
	struct rig_copy copy = rig_copy_new(rig), other = copy;

	other.to = rig_room(rig, copy.to_map, copy.dst + NUM_BYTES / 2, NUM_BYTES);
	submit(rig, &copy, 1);
	if (!is_early)
		retrieve(rig);
	submit(rig, &other, 2);
	if (is_early)
		retrieve(rig);
	retrieve(rig);
	rig_return(other.to);
	finish(rig, &copy);
}

static void jobs_overlap(void)
{
	overlap(true);
}

static void jobs_one_by_one(void)
{
	overlap(false);
}

/* The page is the job's source, or lies beside it. */
static void unmap_page(bool is_source)
{
	struct rig *rig = open_rig();
	struct rig_copy copy = rig_copy_new(rig), other = copy;
	char *pages = mmap(NULL, 2 * RIG_COPY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct doca_event event;

	assert_true(pages != MAP_FAILED);
	other.from_map = rig_map(rig, pages, RIG_COPY_SIZE, DOCA_ACCESS_LOCAL_READ_ONLY);
	other.from = rig_data(rig, other.from_map, pages, NUM_BYTES);
	submit(rig, &other, 1);
	assert_int_equal(munmap(is_source ? pages : pages + RIG_COPY_SIZE, RIG_COPY_SIZE), 0);
	while (doca_workq_progress_retrieve(rig->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) == DOCA_ERROR_AGAIN)
		;
	rig_return(other.from);
	assert_int_equal(doca_mmap_destroy(other.from_map), DOCA_SUCCESS);
	finish(rig, &copy);
}

static void source_unmapped(void)
{
	unmap_page(true);
}

static void other_page_unmapped(void)
{
	unmap_page(false);
}

/* ---- RDMA ---- */

static void write_at(struct end *end, size_t offset, size_t data_len)
{
	struct doca_buf *src = end_buf(end, 0, 64, 64), *dst = end_peer_buf(end, offset, 64, data_len);

	assert_int_equal(end_write(end, 1, dst, src), DOCA_SUCCESS);
	end_retrieve(end);
	rig_return(src);
	rig_return(dst);
}

/* The peer's memory is written, or read, which it alone permits. */
static void access_peer(bool writes)
{
	struct end *a, *b;

	ends_open(&a, &b, DOCA_ACCESS_RDMA_READ);
	if (writes) {
		write_at(a, 0, 0);
	} else {
		struct doca_buf *src = end_peer_buf(a, 0, 64, 64), *dst = end_buf(a, 0, 64, 0);

		assert_int_equal(end_read(a, 1, dst, src), DOCA_SUCCESS);
		end_expect(a, DOCA_RDMA_JOB_READ, 1);
		rig_return(src);
		rig_return(dst);
	}
	end_close(a);
	end_close(b);
}

static void peers_memory_written(void)
{
	access_peer(true);
}

static void peers_memory_read(void)
{
	access_peer(false);
}

/* The receive comes after the sender has given up, or after the send. */
static void send_to_none(bool is_late)
{
	struct end *a, *b;

	ends_open(&a, &b, ALL_ACCESS);
	assert_int_equal(end_send(a, 1, NULL), DOCA_SUCCESS);
	if (is_late)
		assert_int_equal(end_retrieve(a).result.result, DOCA_ERROR_IO_FAILED);
	assert_int_equal(end_receive(b, 2, NULL), DOCA_SUCCESS);
	if (!is_late) {
		end_expect(a, DOCA_RDMA_JOB_SEND, 1);
		end_expect(b, DOCA_RDMA_JOB_RECV, 2);
	}
	end_close(a);
	end_close(b);
}

static void receive_too_late(void)
{
	send_to_none(true);
}

static void receive_in_time(void)
{
	send_to_none(false);
}

static const struct {
	const char *rule;
	void (*provoke)(void), (*near_miss)(void);
} cases[] = {
	{ "source-modified", source_modified, source_modified_in_time },
	{ "destination-touched", destination_touched, destination_touched_in_time },
	{ "tasks-overlap", jobs_overlap, jobs_one_by_one },
	{ "memory-released-in-flight@strict", source_unmapped, other_page_unmapped },
	{ "rdma-not-permitted@strict", peers_memory_written, peers_memory_read },
	{ "rdma-no-receive@strict", receive_too_late, receive_in_time },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc < 3)
			puts(cases[i].rule);
		else if (strcmp(argv[1], cases[i].rule) == 0)
			(strcmp(argv[2], "provoke") == 0 ? cases[i].provoke : cases[i].near_miss)();
	return 0;
}
