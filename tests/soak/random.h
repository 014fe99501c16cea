/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/random.h - numbers that follow from a seed, and bytes that follow from an id. */
#ifndef TESTS_SOAK_RANDOM_H
#define TESTS_SOAK_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t random_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

struct random {
	uint64_t state;
};

/* A stream of its own for each purpose and number. */
static inline struct random random_of(uint64_t seed, uint64_t purpose, uint64_t number)
{
	return (struct random){ random_mix(random_mix(random_mix(seed) ^ purpose) ^ number) };
}

/* From @least to @most. */
static inline uint64_t random_in(struct random *random, uint64_t least, uint64_t most)
{
	random->state++;
	return least + random_mix(random->state) % (most - least + 1);
}

static inline bool random_bool(struct random *random)
{
	return random_in(random, 0, 1);
}

static inline void pattern_fill(uint8_t *bytes, size_t len, uint64_t id)
{
	for (size_t at = 0; at < len; at += 8) {
		uint64_t word = random_mix(id * UINT64_C(1000003) + at);

		memcpy(bytes + at, &word, len - at < 8 ? len - at : 8);
	}
}

/* How many bytes from the first on are those of @id. */
static inline size_t pattern_prefix(const uint8_t *bytes, size_t len, uint64_t id)
{
	for (size_t at = 0; at < len; at += 8) {
		uint64_t word = random_mix(id * UINT64_C(1000003) + at);
		const uint8_t *want = (const uint8_t *)&word;

		for (size_t i = 0; i < 8 && at + i < len; i++)
			if (bytes[at + i] != want[i])
				return at + i;
	}
	return len;
}

static inline bool pattern_is(const uint8_t *bytes, size_t len, uint64_t id)
{
	return pattern_prefix(bytes, len, id) == len;
}

#endif
