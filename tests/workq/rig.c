/* SPDX-License-Identifier: BSD-3-Clause */
/* The common fixture of the tests of work queues and memory maps. */
#include "rig.h"

#include <string.h>

static struct rig the_rig;

static void open_device(struct rig *rig)
{
	struct doca_devinfo **list;
	uint32_t count;

	assert_int_equal(doca_devinfo_list_create(&list, &count), DOCA_SUCCESS);
	for (uint32_t i = 0; i < count && !rig->dev; i++)
		if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
			assert_int_equal(doca_dev_open(list[i], &rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_list_destroy(list), DOCA_SUCCESS);
	assert_non_null(rig->dev);
}

int rig_setup(void **state)
{
	struct rig *rig = &the_rig;

	*rig = (struct rig){ 0 };
	open_device(rig);
	assert_int_equal(doca_buf_inventory_create(NULL, 16, DOCA_BUF_EXTENSION_NONE, &rig->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(rig->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_dma_create(&rig->dma), DOCA_SUCCESS);
	rig->ctx = doca_dma_as_ctx(rig->dma);
	assert_int_equal(doca_ctx_dev_add(rig->ctx, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(rig->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_workq_create(RIG_DEPTH, &rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	*state = rig;
	return 0;
}

int rig_teardown(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(rig->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_dev_rm(rig->ctx, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_workq_destroy(rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_dma_destroy(rig->dma), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_destroy(rig->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(rig->dev), DOCA_SUCCESS);
	return 0;
}

struct doca_dev *rig_open(uint32_t index)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	assert_int_equal(doca_devinfo_list_create(&list, &count), DOCA_SUCCESS);
	assert_true(index < count);
	assert_int_equal(doca_dev_open(list[index], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_list_destroy(list), DOCA_SUCCESS);
	return dev;
}

struct doca_mmap *rig_map(struct rig *rig, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, addr, len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, access), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

struct doca_buf *rig_data(struct rig *rig, struct doca_mmap *mmap, void *data, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_by_data(rig->inventory, mmap, data, len, &buf), DOCA_SUCCESS);
	return buf;
}

struct doca_buf *rig_room(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_by_addr(rig->inventory, mmap, addr, len, &buf), DOCA_SUCCESS);
	return buf;
}

void rig_return(struct doca_buf *buf)
{
	assert_int_equal(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
}

struct rig_copy rig_copy_new(struct rig *rig)
{
	struct rig_copy copy = { .src = test_malloc(RIG_COPY_SIZE), .dst = test_calloc(1, RIG_COPY_SIZE) };

	memset(copy.src, 'x', RIG_COPY_SIZE);
	copy.from_map = rig_map(rig, copy.src, RIG_COPY_SIZE, DOCA_ACCESS_LOCAL_READ_ONLY);
	copy.to_map = rig_map(rig, copy.dst, RIG_COPY_SIZE, DOCA_ACCESS_LOCAL_READ_WRITE);
	copy.from = rig_data(rig, copy.from_map, copy.src, 64);
	copy.to = rig_room(rig, copy.to_map, copy.dst, 64);
	return copy;
}

void rig_copy_free(struct rig_copy *copy)
{
	rig_return(copy->from);
	rig_return(copy->to);
	assert_int_equal(doca_mmap_destroy(copy->from_map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(copy->to_map), DOCA_SUCCESS);
	test_free(copy->src);
	test_free(copy->dst);
}

struct doca_dma_job_memcpy rig_job(struct rig *rig, struct doca_buf *dst, const struct doca_buf *src, uint64_t id)
{
	return (struct doca_dma_job_memcpy){
		.base = { .type = DOCA_DMA_JOB_MEMCPY,
			  .flags = DOCA_JOB_FLAGS_NONE,
			  .ctx = rig->ctx,
			  .user_data.u64 = id },
		.dst_buff = dst,
		.src_buff = src,
	};
}

doca_error_t rig_do(struct rig *rig, const struct doca_dma_job_memcpy *job, struct doca_event *ret_event)
{
	doca_error_t result;

	assert_int_equal(doca_workq_submit(rig->workq, &job->base), DOCA_SUCCESS);
	do
		result = doca_workq_progress_retrieve(rig->workq, ret_event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	return result;
}
