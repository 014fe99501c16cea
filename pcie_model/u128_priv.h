/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/u128_priv.h - products that do not fit into 64 bits, on their way to a quotient that does. */
#ifndef PCIE_U128_PRIV_H
#define PCIE_U128_PRIV_H

#include <stdint.h>

__extension__ typedef unsigned __int128 pcie_u128;

/* @value * @num / @den, rounded up; @den is not 0. What does not fit is UINT64_MAX. */
static inline uint64_t pcie_mul_div_ceil(uint64_t value, uint64_t num, uint64_t den)
{
	uint64_t product;
	pcie_u128 scaled;

	if (!__builtin_mul_overflow(value, num, &product)) /* nearly always, and much faster */
		return product / den + (product % den > 0);
	scaled = ((pcie_u128)value * num + den - 1) / den;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

#endif
