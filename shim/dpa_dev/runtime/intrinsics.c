/* SPDX-License-Identifier: BSD-3-Clause */
/* What dpaintrin.h calls. */
#include <dpaintrin.h>

#include "runtime.h"

/* A window fence between reads sees memory anew; one between writes brings stores there. */
void __bfsim_dpa_window_fence(unsigned pred, unsigned succ)
{
	if (pred & succ & __DPA_W)
		BFSIM_DPA_PORT(window_writeback, "__dpa_thread_window_writeback")();
	if (pred & succ & __DPA_R)
		BFSIM_DPA_PORT(window_invalidate, "__dpa_thread_window_read_inv")();
}

uint64_t __bfsim_dpa_cycles(void)
{
	return BFSIM_DPA_PORT(cycles, "__dpa_thread_cycles")();
}

uint64_t __bfsim_dpa_instructions(void)
{
	return BFSIM_DPA_PORT(instructions, "__dpa_thread_inst_ret")();
}

uint64_t __bfsim_dpa_time_us(void)
{
	return BFSIM_DPA_PORT(time_us, "__dpa_thread_time")();
}

void __bfsim_dpa_refuse(const char *text)
{
	bfsim_dpa_fatal(text);
}

/* ---- fixed-point numbers: 65536 is 1 ---- */

int32_t __bfsim_dpa_fxp_rcp(int32_t x)
{
	return x == 0 ? INT32_MAX : (int32_t)((INT64_C(1) << 32) / x);
}

/* 2^(2^-i) as 1.30 numbers, for the bits behind the point. */
static const uint32_t roots[16] = {
	1518500250, 1276901417, 1170923762, 1121280436, 1097253708, 1085434106, 1079572097, 1076652921,
	1075196439, 1074468886, 1074105294, 1073923544, 1073832680, 1073787251, 1073764537, 1073753181,
};

int32_t __bfsim_dpa_fxp_pow2(int32_t x)
{
	int32_t whole = x >> 16;
	uint64_t value = UINT64_C(1) << 30;

	if (whole >= 15)
		return INT32_MAX;
	if (whole < -17)
		return 0;
	for (int i = 0; i < 16; i++)
		if (x & (1 << (15 - i)))
			value = value * roots[i] >> 30;
	return (int32_t)(whole >= 14 ? value << (whole - 14) : value >> (14 - whole));
}

int32_t __bfsim_dpa_fxp_log2(int32_t x)
{
	int32_t result;
	uint64_t value;
	int top;

	if (x <= 0)
		return INT32_MIN;
	top = 31 - __builtin_clz((uint32_t)x);
	result = (top - 16) * 65536;
	value = ((uint64_t)(uint32_t)x << 30) >> top; /* from 1 to 2, as a 2.30 number */
	for (int bit = 15; bit >= 0; bit--) {
		value = value * value >> 30;
		if (value >> 31) {
			value >>= 1;
			result += 1 << bit;
		}
	}
	return result;
}
