/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/arith.h - minimum, maximum and saturating arithmetic, for all folders. */
#ifndef PCIE_ARITH_H
#define PCIE_ARITH_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* a + b, or UINT64_MAX (for times: never) on overflow. */
static inline uint64_t add_saturating_u64(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

#endif
