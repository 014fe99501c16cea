/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a job that the program takes away before its engine works on it: the job fails, or moves the bytes as a card's
 * pinned pages do; the queue goes on. */
#include <string.h>

#include "lost_memory.h"
#include "rig.h"

#define BYTES 10000

static char other[BYTES];

/* The memory is the source, or the destination. */
static doca_error_t run(struct rig *rig, enum lost_way way, bool is_source)
{
	struct lost_block block = lost_new(way);
	struct doca_mmap *lost_map = rig_map(rig, block.bytes, LOST_BYTES, DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_mmap *other_map = rig_map(rig, other, sizeof(other), DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_buf *from =
		is_source ? rig_data(rig, lost_map, block.bytes + 100, BYTES) : rig_data(rig, other_map, other, BYTES);
	struct doca_buf *to =
		is_source ? rig_room(rig, other_map, other, BYTES) : rig_room(rig, lost_map, block.bytes + 100, BYTES);
	struct doca_dma_job_memcpy job = rig_job(rig, to, from, 1);
	struct doca_event event;

	lost_take(&block);
	(void)rig_do(rig, &job, &event);
	lost_end(&block);
	rig_return(from);
	rig_return(to);
	assert_int_equal(doca_mmap_destroy(lost_map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(other_map), DOCA_SUCCESS);
	return (doca_error_t)event.result.u64;
}

static void test_jobs_without_memory_fail(void **state)
{
	void *rig;

	rig_setup(&rig); /* behind cmocka's handlers */
	for (int way = 0; way < LOST_NUM_WAYS; way++) {
		if (way == LOST_FREED) /* anything may come to lie there */
			continue;
		assert_int_equal(run(rig, way, true), lost_fails(way, false) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
		if (way == LOST_PROTECTED)
			assert_int_equal((uint8_t)other[BYTES - 1], lost_byte(100 + BYTES - 1));
		assert_int_equal(run(rig, way, false), lost_fails(way, true) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
	}
	rig_teardown(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_jobs_without_memory_fail) };

	return cmocka_run_group_tests(tests, lost_group_setup, NULL);
}
