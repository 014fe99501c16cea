/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps, inventories and copies for tests of memory; allocations that fail. */
#include "api_util.h"

#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>

struct doca_mmap *api_map(struct doca_dev *dev, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, addr, len));
	assert_ok(doca_mmap_set_permissions(map, access));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_start(map));
	return map;
}

struct doca_buf_inventory *api_inventory(size_t num_elements)
{
	struct doca_buf_inventory *inventory;

	assert_ok(doca_buf_inventory_create(num_elements, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	return inventory;
}

void api_assert_place(struct doca_buf *buf, void *head, size_t len, void *data, size_t data_len)
{
	void *addr;
	size_t size;

	assert_ok(doca_buf_get_head(buf, &addr));
	assert_ptr_equal(addr, head);
	assert_ok(doca_buf_get_len(buf, &size));
	assert_int_equal(size, len);
	assert_ok(doca_buf_get_data(buf, &addr));
	assert_ptr_equal(addr, data);
	assert_ok(doca_buf_get_data_len(buf, &size));
	assert_int_equal(size, data_len);
}

static void note_completion(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
			    union doca_data ctx_user_data)
{
	*(bool *)task_user_data.ptr = true;
}

static doca_error_t run_one_task(struct doca_dma *dma, struct doca_pe *pe, struct doca_buf *dst,
				 const struct doca_buf *src)
{
	bool completed = false;
	union doca_data user_data = { .ptr = &completed };
	struct doca_dma_task_memcpy *memcpy_task;
	struct doca_task *task;
	doca_error_t status;

	assert_ok(doca_dma_task_memcpy_alloc_init(dma, src, dst, user_data, &memcpy_task));
	task = doca_dma_task_memcpy_as_task(memcpy_task);
	assert_ok(doca_task_submit(task));
	while (!completed)
		(void)doca_pe_progress(pe);
	status = doca_task_get_status(task);
	doca_task_free(task);
	return status;
}

doca_error_t api_copy(struct doca_dev *dev, struct doca_buf *dst, const struct doca_buf *src)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	struct doca_dma *dma;
	struct doca_pe *pe;
	doca_error_t status;

	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_dma_create(dev, &dma));
	assert_ok(doca_dma_task_memcpy_set_conf(dma, note_completion, note_completion, 1));
	assert_ok(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dma)));
	status = run_one_task(dma, pe, dst, src);
	(void)doca_ctx_stop(doca_dma_as_ctx(dma)); /* a failed task has stopped it */
	while (state != DOCA_CTX_STATE_IDLE) {
		(void)doca_pe_progress(pe);
		assert_ok(doca_ctx_get_state(doca_dma_as_ctx(dma), &state));
	}
	assert_ok(doca_dma_destroy(dma));
	assert_ok(doca_pe_destroy(pe));
	return status;
}
