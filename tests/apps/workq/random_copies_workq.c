/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies as jobs on a work queue. */
#include <stdbool.h>

#include <doca_buf.h>

#include "common.h"
#include "random_copies.h"

struct copies {
	char *memory;
	size_t writable;
	struct doca_dev *dev;
	struct doca_mmap *read_write, *read_only;
	struct doca_buf_inventory *inventory;
	struct engine engine;
	struct doca_buf *from[COPIES_DEPTH], *to[COPIES_DEPTH];
};

static struct doca_mmap *map_of(struct doca_dev *dev, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(NULL, &mmap));
	MUST(doca_mmap_set_memrange(mmap, addr, len));
	MUST(doca_mmap_set_permissions(mmap, access));
	MUST(doca_mmap_dev_add(mmap, dev));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

struct copies *copies_start(char *memory, size_t len, size_t writable)
{
	struct copies *copies = calloc(1, sizeof(*copies));

	if (!copies)
		exit(EXIT_FAILURE);
	*copies = (struct copies){ .memory = memory, .writable = writable, .dev = open_copying_device() };
	copies->read_write = map_of(copies->dev, memory, writable, DOCA_ACCESS_LOCAL_READ_WRITE);
	copies->read_only = map_of(copies->dev, memory, len, DOCA_ACCESS_LOCAL_READ_ONLY);
	MUST(doca_buf_inventory_create(NULL, COPIES_DEPTH * 2 * COPIES_MAX_PIECES, DOCA_BUF_EXTENSION_NONE,
				       &copies->inventory));
	MUST(doca_buf_inventory_start(copies->inventory));
	copies->engine = engine_start(copies->dev);
	return copies;
}

void copies_stop(struct copies *copies)
{
	engine_stop(&copies->engine);
	MUST(doca_buf_inventory_destroy(copies->inventory));
	MUST(doca_mmap_destroy(copies->read_write));
	MUST(doca_mmap_destroy(copies->read_only));
	MUST(doca_dev_close(copies->dev));
	free(copies);
}

static void drop(struct doca_buf *list)
{
	if (list)
		MUST(doca_buf_refcount_rm(list, NULL));
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

		result = doca_buf_inventory_buf_by_args(copies->inventory,
							writable ? copies->read_write : copies->read_only, addr,
							pieces[i].len, addr, is_room ? 0 : pieces[i].len, &buf);
		if (result == DOCA_SUCCESS && list)
			MUST(doca_buf_list_chain(list, buf));
		else if (result == DOCA_SUCCESS)
			list = buf;
	}
	if (result == DOCA_SUCCESS)
		*ret_list = list;
	else
		drop(list);
	return result;
}

const char *copies_submit(struct copies *copies, const struct copy *copy, unsigned int id)
{
	struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = copies->engine.ctx, .user_data.u64 = id },
	};
	struct doca_buf *from = NULL, *to = NULL;
	doca_error_t result = make_list(copies, copy->from, copy->num_from, false, &from);

	if (result == DOCA_SUCCESS)
		result = make_list(copies, copy->to, copy->num_to, true, &to);
	job.src_buff = copies->from[id] = from;
	job.dst_buff = copies->to[id] = to;
	if (result == DOCA_SUCCESS)
		result = doca_workq_submit(copies->engine.workq, &job.base);
	if (result != DOCA_SUCCESS) {
		drop(from);
		drop(to);
	}
	return doca_get_error_name(result);
}

static size_t data_of(struct doca_buf *buf)
{
	size_t sum = 0, len;

	while (buf) {
		MUST(doca_buf_get_data_len(buf, &len));
		sum += len;
		MUST(doca_buf_list_next(buf, &buf));
	}
	return sum;
}

struct end copies_await(struct copies *copies)
{
	struct doca_event event;
	struct end end;

	while (doca_workq_progress_retrieve(copies->engine.workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) ==
	       DOCA_ERROR_AGAIN)
		;
	end.id = (unsigned int)event.user_data.u64;
	end.code = doca_get_error_name((doca_error_t)event.result.u64);
	end.filled = data_of(copies->to[end.id]);
	drop(copies->from[end.id]);
	drop(copies->to[end.id]);
	return end;
}
