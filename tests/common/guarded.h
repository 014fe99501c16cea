/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/guarded.h - memory of a test at whose end the mapping ends, so that an access behind it is a crash. */
#ifndef TESTS_COMMON_GUARDED_H
#define TESTS_COMMON_GUARDED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmocka_test.h"

static inline size_t guarded_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

/* Zeroed. */
static inline void *guarded_new(size_t bytes)
{
	size_t len = guarded_pages(bytes);
	uint8_t *pages = mmap(NULL, len + guarded_pages(1), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages, len, PROT_READ | PROT_WRITE), 0);
	return pages + len - bytes;
}

static inline void guarded_free(void *memory, size_t bytes)
{
	assert_int_equal(
		munmap((uint8_t *)memory + bytes - guarded_pages(bytes), guarded_pages(bytes) + guarded_pages(1)), 0);
}

#endif
