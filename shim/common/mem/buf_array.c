/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of buffers, which the CPU configures and kernels of a DPA use. GPUs are not simulated. */
#include <doca_buf_array.h>
#include <string.h>

#include "shim/common/base/check.h"
#include "shim/common/dpa/dpa.h"
#include "shim/common/process/runtime.h"
#include "mmap_priv.h"
#include "sim/base/move.h"

/* As device code has them (shim/dpa_dev/include/doca_dpa_dev_buf.h). */
struct dpa_buf {
	uint64_t addr, len;
	uint32_t map;
	uint8_t reserved[12];
};

struct dpa_buf_arr {
	uint64_t bufs; /* of the heap */
	uint8_t reserved[56];
};

struct doca_buf_arr {
	struct shim_object object;
	bool started;
	size_t num_elements, element_bytes;
	uint64_t offset_bytes;  /* of the first element in the map's range */
	struct doca_mmap *mmap; /* NULL: no parameters yet */
	uint64_t mmap_serial;   /* differs from the serial of @mmap if the map is gone */
	struct doca_dpa *dpa;   /* NULL = no target */
	uint64_t block;         /* in the DPA's heap while started: the array, then its buffers */
};

/* Return from the public function unless the array is stopped. */
#define NEED_STOPPED(arr)                                                                                \
	do {                                                                                             \
		SHIM_NEED((arr), SHIM_BUF_ARR);                                                          \
		if ((arr)->started)                                                                      \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the array is started; stop it first"); \
	} while (0)

/* More elements than an address space holds, and a number less than the address of any memory map. */
#define MAX_ELEMENTS (SIZE_MAX >> 20)

doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr)
{
	struct doca_buf_arr *created;

	SHIM_NEED_OUT(buf_arr);
	if (num_elem == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "an array needs at least one element");
	if (num_elem > MAX_ELEMENTS)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%zu is no number of elements; a program of release 2.5 or 2.6 passes a memory "
				   "map here: rebuild it with the present parameters",
				   num_elem);
	created = shim_object_new(SHIM_BUF_ARR, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->num_elements = num_elem;
	*buf_arr = created;
	return DOCA_SUCCESS;
}

static void stop(struct doca_buf_arr *arr)
{
	if (!arr->started)
		return;
	arr->started = false;
	if (arr->dpa->fork_generation == shim_fork_generation)
		sim_dpa_process_free(arr->dpa->process, arr->block);
	arr->dpa->base->num_users--;
}

doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr)
{
	SHIM_NEED(buf_arr, SHIM_BUF_ARR);
	stop(buf_arr);
	shim_object_free(buf_arr, SHIM_BUF_ARR);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap, size_t elem_size,
				     uint64_t start_offset)
{
	NEED_STOPPED(buf_arr);
	SHIM_NEED(mmap, SHIM_MMAP);
	if (elem_size == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "an element needs at least one byte");
	if (!mmap->range_set)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "the memory map has no range; call doca_mmap_set_memrange() first");
	buf_arr->mmap = mmap;
	buf_arr->mmap_serial = mmap->serial;
	buf_arr->element_bytes = elem_size;
	buf_arr->offset_bytes = start_offset;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler)
{
	NEED_STOPPED(buf_arr);
	SHIM_NEED(dpa_handler, SHIM_DPA);
	buf_arr->dpa = dpa_handler;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
{
	NEED_STOPPED(buf_arr);
	SHIM_NEED_OUT(gpu_handler);
	return SHIM_NOT_SIMULATED("the GPU");
}

/* Return the distance from the map's start to the end of the last element; SIZE_MAX on overflow. */
static size_t bytes_needed(const struct doca_buf_arr *arr)
{
	size_t needed;

	if (__builtin_mul_overflow(arr->num_elements, arr->element_bytes, &needed) ||
	    __builtin_add_overflow(needed, arr->offset_bytes, &needed))
		return SIZE_MAX;
	return needed;
}

/* Write the array and its buffers to their block. */
static void write_block(const struct doca_buf_arr *arr, uint32_t map)
{
	struct dpa_buf_arr head = { .bufs = arr->block + sizeof(head) };
	struct dpa_buf buf = { .addr = (uintptr_t)arr->mmap->addr + arr->offset_bytes,
			       .len = arr->element_bytes,
			       .map = map };

	sim_move((void *)(uintptr_t)arr->block, &head, sizeof(head));
	for (size_t i = 0; i < arr->num_elements; i++) {
		sim_move((void *)(uintptr_t)(head.bufs + i * sizeof(buf)), &buf, sizeof(buf));
		buf.addr += arr->element_bytes;
	}
}

static doca_error_t start_on_dpa(const char *func, struct doca_buf_arr *arr)
{
	doca_error_t result = shim_dpa_check_running(func, arr->dpa);
	uint32_t map;

	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	if (!shim_mmap_has_dev(arr->mmap, arr->dpa->dev)) {
		sim_err("%s: the DPA's device is not in the memory map", func);
		return DOCA_ERROR_BAD_STATE;
	}
	map = shim_mmap_get_dpa_handle(arr->mmap, arr->dpa->dev);
	if (map == 0 || sim_dpa_process_alloc(arr->dpa->process,
					      sizeof(struct dpa_buf_arr) + arr->num_elements * sizeof(struct dpa_buf),
					      &arr->block) < 0) {
		sim_err("%s: no memory for %zu buffers in the DPA's heap", func, arr->num_elements);
		return DOCA_ERROR_NO_MEMORY;
	}
	write_block(arr, map);
	arr->dpa->base->num_users++;
	arr->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr)
{
	NEED_STOPPED(buf_arr);
	if (!buf_arr->mmap)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "no memory map; call doca_buf_arr_set_params() first");
	if (!buf_arr->dpa || !shim_handle_is(buf_arr->dpa, SHIM_DPA))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "no target; call doca_buf_arr_set_target_dpa() first");
	if (!shim_mmap_is_same(buf_arr->mmap, buf_arr->mmap_serial) || !shim_mmap_is_usable(buf_arr->mmap))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the memory map is not started");
	if (bytes_needed(buf_arr) > buf_arr->mmap->len_bytes)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY,
				   "%zu elements of %zu bytes from offset %zu need %zu bytes; the memory map has %zu",
				   buf_arr->num_elements, buf_arr->element_bytes, (size_t)buf_arr->offset_bytes,
				   bytes_needed(buf_arr), buf_arr->mmap->len_bytes);
	return start_on_dpa(__func__, buf_arr);
}

doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr)
{
	SHIM_NEED(buf_arr, SHIM_BUF_ARR);
	stop(buf_arr);
	return DOCA_SUCCESS;
}

/* Return from the public function unless the array is started. */
#define NEED_STARTED(arr)                                                                     \
	do {                                                                                  \
		SHIM_NEED((arr), SHIM_BUF_ARR);                                               \
		if (!(arr)->started)                                                          \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the array is not started"); \
	} while (0)

doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr, doca_dpa_dev_buf_arr_t *dpa_buf_arr)
{
	SHIM_NEED_OUT(dpa_buf_arr);
	NEED_STARTED(buf_arr);
	*dpa_buf_arr = buf_arr->block;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr)
{
	SHIM_NEED_OUT(gpu_buf_arr);
	NEED_STARTED(buf_arr);
	return SHIM_NOT_SIMULATED("the GPU");
}
