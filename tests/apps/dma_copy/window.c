/* SPDX-License-Identifier: BSD-3-Clause */
/* The exported or imported ring of slots that the file passes through. */
#include "window.h"

#include <sys/mman.h>

#include <doca_mmap.h>

#include "failure.h"

static size_t bytes_of(const struct window_shape *shape)
{
	return (size_t)shape->slot_bytes * shape->num_slots;
}

static doca_error_t start_map(const struct window *window, struct doca_dev *dev, uint32_t access)
{
	doca_error_t result = doca_mmap_set_memrange(window->mmap, window->memory, bytes_of(&window->shape));

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(window->mmap, access);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(window->mmap, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(window->mmap);
	return result;
}

doca_error_t window_init(struct window *window, struct doca_dev *dev, const struct window_shape *shape, uint32_t access)
{
	size_t bytes = bytes_of(shape);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	doca_error_t result;

	*window = (struct window){ .shape = *shape };
	if (memory == MAP_FAILED)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for a window of %zu bytes", bytes);
	window->memory = memory;
	result = doca_mmap_create(&window->mmap);
	if (result == DOCA_SUCCESS)
		result = start_map(window, dev, access);
	return check(result, "map the window");
}

void window_fini(struct window *window)
{
	if (window->mmap)
		check(doca_mmap_destroy(window->mmap), "unmap the window");
	if (window->memory)
		munmap(window->memory, bytes_of(&window->shape));
	*window = (struct window){ 0 };
}

doca_error_t window_shape_check(const struct window_shape *shape)
{
	if (shape->slot_bytes > 0 && shape->num_slots > 0 && shape->num_slots <= WINDOW_MAX_SLOTS &&
	    shape->slot_bytes <= WINDOW_MAX_BYTES / shape->num_slots)
		return DOCA_SUCCESS;
	return failure_report(DOCA_ERROR_INVALID_VALUE,
			      "The other side has a window of %u slots of %u bytes: no good here", shape->num_slots,
			      shape->slot_bytes);
}

size_t window_offset(const struct window_shape *shape, uint64_t index)
{
	return (size_t)(index % shape->num_slots) * shape->slot_bytes;
}

uint64_t window_num_pieces(const struct window_shape *shape, uint64_t file_bytes)
{
	return file_bytes / shape->slot_bytes + (file_bytes % shape->slot_bytes != 0);
}

uint32_t window_piece_len(const struct window_shape *shape, uint64_t file_bytes, uint64_t index)
{
	uint64_t left = file_bytes - index * shape->slot_bytes;

	return left < shape->slot_bytes ? (uint32_t)left : shape->slot_bytes;
}
