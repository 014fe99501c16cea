/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that a figure copies, and the check of its contents. */
#include "memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

static void *map(int fd, size_t len, int flags)
{
	void *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, flags | MAP_POPULATE, fd, 0);

	if (addr == MAP_FAILED) {
		bench_fail("no %zu bytes of memory: %s", len, strerror(errno));
		return NULL;
	}
	return addr;
}

void *bench_memory_new(size_t len)
{
	return map(-1, len, MAP_PRIVATE | MAP_ANONYMOUS);
}

void *bench_memory_map(int fd, size_t len)
{
	return map(fd, len, MAP_SHARED);
}

/* A word of the pattern: different in every place. */
static uint64_t word(uint64_t seed, size_t i)
{
	return (seed << 32 | 0x5bd1e995u) * (i + 1);
}

void bench_memory_fill(void *addr, size_t len, uint64_t seed)
{
	uint64_t *words = addr;

	for (size_t i = 0; i < len / sizeof(*words); i++)
		words[i] = word(seed, i);
}

int bench_memory_check(const void *addr, size_t len, uint64_t seed)
{
	const uint64_t *words = addr;

	for (size_t i = 0; i < len / sizeof(*words); i++)
		if (words[i] != word(seed, i))
			return bench_fail("the copy is wrong at byte %zu", i * sizeof(*words));
	return 0;
}

uint32_t bench_walk(struct bench_walk *walk, uint32_t count)
{
	uint32_t first = walk->next;

	walk->next = (uint32_t)(((uint64_t)first + count) % walk->num_blocks);
	return first;
}
