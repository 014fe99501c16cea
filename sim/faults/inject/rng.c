/* SPDX-License-Identifier: BSD-3-Clause */
/* Random draws and their distributions, in integers. */
#include "rng_priv.h"

#define ONE        (INT64_C(1) << 32) /* fixed point with 32 fractional bits */
#define LN2        INT64_C(2977044472)
#define ONE_BY_LN2 INT64_C(6196328019)

typedef unsigned __int128 u128;
typedef __int128 i128;

/* The finaliser of SplitMix64: each input bit flips half of the output bits. */
static uint64_t mix64(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#define GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15)

uint64_t sim_rng_key(uint64_t seed, uint32_t rule, uint64_t match)
{
	uint64_t key = mix64(seed + GOLDEN_GAMMA);

	key = mix64((key ^ rule) + GOLDEN_GAMMA);
	return mix64((key ^ match) + GOLDEN_GAMMA);
}

uint64_t sim_rng_u64(uint64_t key, uint32_t stream)
{
	return mix64(key + (stream + 1) * GOLDEN_GAMMA);
}

uint64_t sim_rng_below(uint64_t key, uint32_t stream, uint64_t below)
{
	return (uint64_t)((u128)sim_rng_u64(key, stream) * below >> 64);
}

/* ---- fixed-point arithmetic ---- */

/* log2(@x) for @x > 0. The integer part is the position of the highest bit; squaring
 * doubles the logarithm and gives one more bit of the fraction. */
static int64_t log2_of(u128 x)
{
	uint64_t high = (uint64_t)(x >> 64);
	int highest_bit = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
	uint64_t part = (uint64_t)(highest_bit > 63 ? x >> (highest_bit - 63) :
						      x << (63 - highest_bit)); /* from 1 to 2, at bit 63 */
	int64_t log2 = highest_bit;

	for (int i = 0; i < 32; i++) {
		u128 square = (u128)part * part;
		int carry = (int)(square >> 127);

		part = (uint64_t)(square >> (63 + carry));
		log2 = log2 * 2 + carry;
	}
	return log2;
}

/* 2^(1/2), 2^(1/4), ..., with 62 fractional bits. */
static const uint64_t roots[] = {
	0x5a827999fcef3242, 0x4c1bf828c6dc54b8, 0x45cae0f1f545eb73, 0x42d561b3e6243d8a, 0x4166c34c5615d0ec,
	0x40b268f9de0183ba, 0x4058f6a7ecccd5b6, 0x402c6be96af2fb58, 0x4016321b687027a8, 0x400b18178ba33b14,
	0x40058bce410147e8, 0x4002c5d7bff71daf, 0x400162e807ee7e5b, 0x4000b1730df6a524, 0x400058b9497b8152,
	0x40002c5c955dd701, 0x4000162e46d6f26c, 0x40000b1722757b1b, 0x4000058b90fd3e0c, 0x400002c5c86f3f26,
	0x40000162e433c79b, 0x400000b17218edd0, 0x40000058b90c3968, 0x4000002c5c860d54, 0x400000162e4302d2,
	0x4000000b17218073, 0x400000058b90bffc, 0x40000002c5c85fef, 0x4000000162e42ff3, 0x40000000b17217f9,
	0x4000000058b90bfc, 0x400000002c5c85fe,
};

/* @x * 2^@power, at most SIM_RULE_MAX_NS. */
static uint64_t scale_by_power(uint64_t x, int64_t power)
{
	int64_t whole = power >> 32; /* rounds down */
	uint32_t part = (uint32_t)power;
	uint64_t factor = UINT64_C(1) << 62;
	u128 product;

	for (int i = 0; i < 32; i++)
		if (part & (UINT32_C(1) << (31 - i)))
			factor = (uint64_t)((u128)factor * roots[i] >> 62);
	if (whole > 60)
		return x ? SIM_RULE_MAX_NS : 0;
	if (whole < -64)
		return 0;
	product = ((u128)x * factor) >> 62;
	if (whole < 0)
		product = ((u128)x * factor) >> (62 - whole);
	else if (product > (u128)SIM_RULE_MAX_NS >> whole)
		return SIM_RULE_MAX_NS;
	else
		product <<= whole;
	return product > SIM_RULE_MAX_NS ? SIM_RULE_MAX_NS : (uint64_t)product;
}

static uint64_t isqrt(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

/* The square root of a fixed-point number. */
static int64_t fixed_sqrt(uint64_t x)
{
	int shift = x ? __builtin_clzll(x) & ~1 : 0;

	return (int64_t)((isqrt(x << shift) << 16) >> (shift / 2));
}

/* ---- distributions ---- */

/* Draw from the standard normal distribution, by the polar method. */
static int64_t draw_standard_normal(uint64_t key, uint32_t stream)
{
	for (;; stream++) {
		uint64_t draw = sim_rng_u64(key, stream);
		int64_t u = (int32_t)(draw >> 32), v = (int32_t)draw;
		uint64_t square = (uint64_t)(u * u) + (uint64_t)(v * v); /* 62 fractional bits */
		int64_t minus_log2, minus_ln, radius;

		if (square == 0 || square >= UINT64_C(1) << 62)
			continue;
		minus_log2 = 62 * ONE - log2_of(square);
		minus_ln = (int64_t)((i128)minus_log2 * LN2 >> 32);
		radius = fixed_sqrt(2 * (uint64_t)minus_ln);
		return (int64_t)((i128)radius * u / (int64_t)isqrt(square));
	}
}

static uint64_t normal_delay(uint64_t mean, uint64_t deviation, int64_t z)
{
	i128 delay = (i128)mean + ((i128)deviation * z >> 32);

	return delay < 0 ? 0 : delay > (i128)SIM_RULE_MAX_NS ? SIM_RULE_MAX_NS : (uint64_t)delay;
}

/* mean * 2^(s z - v / 2), where v = log2(1 + deviation^2 / mean^2) and s^2 = v / ln 2. */
static uint64_t lognormal_delay(uint64_t mean, uint64_t deviation, int64_t z)
{
	int64_t v, s;

	if (deviation < mean >> 10) /* v would have too few bits; the distributions are equal here */
		return normal_delay(mean, deviation, z);
	v = log2_of((u128)mean * mean + (u128)deviation * deviation) - log2_of((u128)mean * mean);
	s = fixed_sqrt((uint64_t)((i128)v * ONE_BY_LN2 >> 32));
	return scale_by_power(mean, (int64_t)((i128)s * z >> 32) - v / 2);
}

/* minimum * u^(-1 / alpha), u from 0 (excluded) to 1. */
static uint64_t pareto_delay(uint64_t minimum, uint64_t alpha, uint64_t draw)
{
	int64_t minus_log2 = 64 * ONE - log2_of((u128)draw + 1);

	return scale_by_power(minimum, (int64_t)((i128)minus_log2 * SIM_PPB / alpha));
}

uint64_t sim_rng_delay(const struct sim_rule *rule, uint64_t key)
{
	switch (rule->delay_kind) {
	case SIM_DELAY_FIXED:
		return rule->delay_a;
	case SIM_DELAY_UNIFORM:
		return rule->delay_a + sim_rng_below(key, SIM_RNG_DELAY, rule->delay_b - rule->delay_a + 1);
	case SIM_DELAY_NORMAL:
		return normal_delay(rule->delay_a, rule->delay_b, draw_standard_normal(key, SIM_RNG_DELAY));
	case SIM_DELAY_LOGNORMAL:
		return lognormal_delay(rule->delay_a, rule->delay_b, draw_standard_normal(key, SIM_RNG_DELAY));
	case SIM_DELAY_PARETO:
		return pareto_delay(rule->delay_a, rule->delay_b, sim_rng_u64(key, SIM_RNG_DELAY));
	default:
		return 0;
	}
}
