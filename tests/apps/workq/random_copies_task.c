/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies as tasks of a progress engine. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "random_copies.h"

#define MUST(call)                                                                         \
	do {                                                                               \
		doca_error_t result_ = (call);                                             \
		if (result_ != DOCA_SUCCESS) {                                             \
			fprintf(stderr, "%s: %s\n", #call, doca_error_get_descr(result_)); \
			exit(EXIT_FAILURE);                                                \
		}                                                                          \
	} while (0)

struct copies {
	char *memory;
	size_t writable;
	struct doca_dev *dev;
	struct doca_mmap *read_write, *read_only;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_buf *from[COPIES_DEPTH], *to[COPIES_DEPTH];
	struct end ends[COPIES_DEPTH]; /* the copies that were not awaited yet */
	unsigned int num_ends;
};

static struct doca_dev *open_copying_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

static struct doca_mmap *map_of(struct doca_dev *dev, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_set_memrange(mmap, addr, len));
	MUST(doca_mmap_set_permissions(mmap, access));
	MUST(doca_mmap_add_dev(mmap, dev));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

static void drop(struct doca_buf *list)
{
	if (list)
		MUST(doca_buf_dec_refcount(list, NULL));
}

static size_t data_of(struct doca_buf *buf)
{
	size_t sum = 0, len;

	while (buf) {
		MUST(doca_buf_get_data_len(buf, &len));
		sum += len;
		MUST(doca_buf_get_next_in_list(buf, &buf));
	}
	return sum;
}

static void on_end(struct doca_dma_task_memcpy *task, union doca_data user_data, union doca_data ctx_data)
{
	unsigned int id = (unsigned int)user_data.u64;
	struct copies *copies = ctx_data.ptr;
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

	copies->ends[copies->num_ends++] =
		(struct end){ .id = id, .code = doca_error_get_name(status), .filled = data_of(copies->to[id]) };
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	drop(copies->from[id]);
	drop(copies->to[id]);
}

struct copies *copies_start(char *memory, size_t len, size_t writable)
{
	struct copies *copies = calloc(1, sizeof(*copies));

	if (!copies)
		exit(EXIT_FAILURE);
	*copies = (struct copies){ .memory = memory, .writable = writable, .dev = open_copying_device() };
	copies->read_write = map_of(copies->dev, memory, writable, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	copies->read_only = map_of(copies->dev, memory, len, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	MUST(doca_buf_inventory_create(COPIES_DEPTH * 2 * COPIES_MAX_PIECES, &copies->inventory));
	MUST(doca_buf_inventory_start(copies->inventory));
	MUST(doca_pe_create(&copies->pe));
	MUST(doca_dma_create(copies->dev, &copies->dma));
	copies->ctx = doca_dma_as_ctx(copies->dma);
	MUST(doca_dma_task_memcpy_set_conf(copies->dma, on_end, on_end, COPIES_DEPTH));
	MUST(doca_ctx_set_user_data(copies->ctx, (union doca_data){ .ptr = copies }));
	MUST(doca_pe_connect_ctx(copies->pe, copies->ctx));
	MUST(doca_ctx_start(copies->ctx));
	return copies;
}

static void await_idle(struct copies *copies)
{
	enum doca_ctx_states state;

	do {
		(void)doca_pe_progress(copies->pe);
		MUST(doca_ctx_get_state(copies->ctx, &state));
	} while (state != DOCA_CTX_STATE_IDLE);
}

void copies_stop(struct copies *copies)
{
	(void)doca_ctx_stop(copies->ctx);
	await_idle(copies);
	MUST(doca_dma_destroy(copies->dma));
	MUST(doca_pe_destroy(copies->pe));
	MUST(doca_buf_inventory_destroy(copies->inventory));
	MUST(doca_mmap_destroy(copies->read_write));
	MUST(doca_mmap_destroy(copies->read_only));
	MUST(doca_dev_close(copies->dev));
	free(copies);
}

/* The destination is in the writable map, if it lies there. */
static doca_error_t make_list(struct copies *copies, const struct piece *pieces, unsigned int count, bool is_room,
			      struct doca_buf **ret_list)
{
	struct doca_buf *list = NULL, *buf;
	doca_error_t result = DOCA_SUCCESS;

	for (unsigned int i = 0; i < count && result == DOCA_SUCCESS; i++) {
		void *addr = copies->memory + pieces[i].at;
		bool writable = is_room && pieces[i].at + pieces[i].len <= copies->writable;

		result = doca_buf_inventory_buf_get_by_args(copies->inventory,
							    writable ? copies->read_write : copies->read_only, addr,
							    pieces[i].len, addr, is_room ? 0 : pieces[i].len, &buf);
		if (result == DOCA_SUCCESS && list)
			MUST(doca_buf_chain_list(list, buf));
		else if (result == DOCA_SUCCESS)
			list = buf;
	}
	if (result == DOCA_SUCCESS)
		*ret_list = list;
	else
		drop(list);
	return result;
}

/* A failed copy has stopped the context; a job of a work queue has no such effect. */
static void revive(struct copies *copies)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(copies->ctx, &state));
	if (state == DOCA_CTX_STATE_RUNNING)
		return;
	await_idle(copies);
	MUST(doca_ctx_start(copies->ctx));
}

static doca_error_t submit(struct copies *copies, const struct doca_buf *from, struct doca_buf *to, unsigned int id)
{
	struct doca_dma_task_memcpy *task;
	doca_error_t result;

	revive(copies);
	MUST(doca_dma_task_memcpy_alloc_init(copies->dma, from, to, (union doca_data){ .u64 = id }, &task));
	result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_dma_task_memcpy_as_task(task));
	return result;
}

const char *copies_submit(struct copies *copies, const struct copy *copy, unsigned int id)
{
	struct doca_buf *from = NULL, *to = NULL;
	doca_error_t result = make_list(copies, copy->from, copy->num_from, false, &from);

	if (result == DOCA_SUCCESS)
		result = make_list(copies, copy->to, copy->num_to, true, &to);
	copies->from[id] = from;
	copies->to[id] = to;
	if (result == DOCA_SUCCESS)
		result = submit(copies, from, to, id);
	if (result != DOCA_SUCCESS) {
		drop(from);
		drop(to);
	}
	return doca_error_get_name(result);
}

struct end copies_await(struct copies *copies)
{
	while (copies->num_ends == 0)
		(void)doca_pe_progress(copies->pe);
	return copies->ends[--copies->num_ends];
}
