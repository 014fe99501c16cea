/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of a DPA context: first fit in a sorted table. */
#include "heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/move.h"

/* In a program with the address sanitizer, blocks are poisoned: device code is none of its code, and the program may not use them.
 * The device's moves must not be watched then (sim/base/move.h). */
void __asan_poison_memory_region(const volatile void *addr, size_t size) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *addr, size_t size) __attribute__((weak));

static bool is_poisoned(void)
{
	return __asan_poison_memory_region && __asan_unpoison_memory_region && sim_move != memmove;
}

#define ALIGN_BYTES UINT64_C(64)
#define GAP_BYTES   UINT64_C(64)

/* Of a freed block, pages are given back from this size on. */
#define RETURN_BYTES (UINT64_C(1) << 20)

int sim_dpa_heap_init(struct sim_dpa_heap *heap, uint64_t bytes)
{
	void *base;

	memset(heap, 0, sizeof(*heap));
	pthread_mutex_init(&heap->lock, NULL);
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	heap->begin = (uintptr_t)base;
	heap->end = heap->begin + bytes;
	heap->high = heap->begin;
	return 0;
}

void sim_dpa_heap_fini(struct sim_dpa_heap *heap)
{
	if (heap->begin && is_poisoned())
		__asan_unpoison_memory_region((void *)heap->begin, heap->high - heap->begin);
	if (heap->begin)
		munmap((void *)heap->begin, heap->end - heap->begin);
	free(heap->blocks);
	memset(heap, 0, sizeof(*heap));
}

static uintptr_t end_with_gap(const struct sim_dpa_block *block)
{
	return (block->end + GAP_BYTES + ALIGN_BYTES - 1) & ~(uintptr_t)(ALIGN_BYTES - 1);
}

/* The place of the first block that ends behind @addr. */
static size_t find_place(const struct sim_dpa_heap *heap, uintptr_t addr)
{
	size_t low = 0, high = heap->num_blocks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (heap->blocks[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct sim_dpa_heap *heap)
{
	size_t max = heap->max_blocks ? 2 * heap->max_blocks : 16;
	struct sim_dpa_block *blocks;

	if (heap->num_blocks < heap->max_blocks)
		return 0;
	blocks = realloc(heap->blocks, max * sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	heap->blocks = blocks;
	heap->max_blocks = max;
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int alloc_first_fit(struct sim_dpa_heap *heap, uint64_t bytes, uint64_t *ret_addr)
{
	uintptr_t begin = heap->begin;
	size_t at = 0;

	for (; at < heap->num_blocks; at++) {
		if (heap->blocks[at].begin >= begin && heap->blocks[at].begin - begin >= bytes + GAP_BYTES)
			break;
		begin = end_with_gap(&heap->blocks[at]);
	}
	if (begin > heap->end || heap->end - begin < bytes || make_room(heap) < 0)
		return -ENOMEM;
	memmove(&heap->blocks[at + 1], &heap->blocks[at], (heap->num_blocks - at) * sizeof(heap->blocks[0]));
	heap->blocks[at] = (struct sim_dpa_block){ .begin = begin, .end = begin + bytes };
	heap->num_blocks++;
	heap->used_bytes += bytes;
	if (begin + bytes > heap->high)
		heap->high = begin + bytes;
	if (is_poisoned())
		__asan_poison_memory_region((void *)begin, bytes);
	*ret_addr = begin;
	return 0;
}

int sim_dpa_heap_alloc(struct sim_dpa_heap *heap, uint64_t bytes, uint64_t *ret_addr)
{
	int rc;

	if (bytes == 0 || bytes > heap->end - heap->begin)
		return -ENOMEM;
	pthread_mutex_lock(&heap->lock);
	rc = alloc_first_fit(heap, bytes, ret_addr);
	pthread_mutex_unlock(&heap->lock);
	return rc;
}

static void return_pages(const struct sim_dpa_block *block)
{
	const uintptr_t page = 4096;
	uintptr_t begin = (block->begin + page - 1) & ~(page - 1), end = block->end & ~(page - 1);

	if (end > begin && end - begin >= RETURN_BYTES)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

int sim_dpa_heap_free(struct sim_dpa_heap *heap, uint64_t addr)
{
	size_t at;
	int rc = -ENOENT;

	pthread_mutex_lock(&heap->lock);
	at = find_place(heap, addr);
	if (at < heap->num_blocks && heap->blocks[at].begin == addr) {
		return_pages(&heap->blocks[at]);
		heap->used_bytes -= heap->blocks[at].end - heap->blocks[at].begin;
		heap->num_blocks--;
		memmove(&heap->blocks[at], &heap->blocks[at + 1], (heap->num_blocks - at) * sizeof(heap->blocks[0]));
		rc = 0;
	}
	pthread_mutex_unlock(&heap->lock);
	return rc;
}

bool sim_dpa_heap_find(struct sim_dpa_heap *heap, uint64_t addr, uint64_t bytes, struct sim_dpa_range *ret_range)
{
	bool is_found = false;
	size_t at;

	pthread_mutex_lock(&heap->lock);
	at = find_place(heap, addr);
	if (at < heap->num_blocks && heap->blocks[at].begin <= addr && bytes <= heap->blocks[at].end - addr) {
		*ret_range = (struct sim_dpa_range){ .begin = heap->blocks[at].begin,
						     .end = heap->blocks[at].end,
						     .is_writable = true };
		is_found = true;
	}
	pthread_mutex_unlock(&heap->lock);
	return is_found;
}
