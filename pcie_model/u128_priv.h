/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/u128_priv.h - quotients of products that need 128 bits. */
#ifndef PCIE_U128_PRIV_H
#define PCIE_U128_PRIV_H

#include <stdint.h>

__extension__ typedef unsigned __int128 pcie_u128;

/* @value * @num / @den, rounded up; UINT64_MAX on overflow. @den is not 0. */
static inline uint64_t pcie_mul_div_ceil(uint64_t value, uint64_t num, uint64_t den)
{
	uint64_t product;
	pcie_u128 scaled;

	if (!__builtin_mul_overflow(value, num, &product)) /* the common case, much faster */
		return product / den + (product % den > 0);
	scaled = ((pcie_u128)value * num + den - 1) / den;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

#endif
