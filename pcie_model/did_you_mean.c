/* SPDX-License-Identifier: BSD-3-Clause */
/* The closest known name, by edit distance. */
#include "did_you_mean.h"

#include <string.h>

#include "arith.h"

#define MAX_LEN     32
#define MIN_CUT_LEN 3 /* of a word that begins another one */

/* The edit distance of @text and @name: insertions, deletions, substitutions and swaps of
 * neighbours. steps[i][j] is the distance of their first i and j characters. */
static unsigned int edit_distance(const char *text, size_t text_len, const char *name)
{
	unsigned int steps[MAX_LEN + 1][MAX_LEN + 1];
	size_t len = strlen(name);

	for (unsigned int i = 0; i <= text_len; i++) {
		for (unsigned int j = 0; j <= len; j++) {
			if (!i || !j) {
				steps[i][j] = i + j;
				continue;
			}
			steps[i][j] = min_u32(min_u32(steps[i - 1][j], steps[i][j - 1]) + 1,
					      steps[i - 1][j - 1] + (text[i - 1] != name[j - 1]));
			if (i > 1 && j > 1 && text[i - 1] == name[j - 2] && text[i - 2] == name[j - 1])
				steps[i][j] = min_u32(steps[i][j], steps[i - 2][j - 2] + 1);
		}
	}
	return steps[text_len][len];
}

/* Words that were cut short, or written in full: "dma-max-buf" of "dma-max-buf-bytes", "generation" of "gen". Returns the only
 * name that is so, or NULL. */
static const char *find_cut(const char *text, size_t len, pcie_name_at *name_at, const void *arg, size_t count)
{
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *name = name_at(arg, i);
		size_t name_len = strlen(name), shorter = min_u64(len, name_len);

		if (shorter < MIN_CUT_LEN || memcmp(name, text, shorter) != 0)
			continue;
		if (found)
			return NULL;
		found = name;
	}
	return found;
}

const char *pcie_did_you_mean(const char *text, size_t len, pcie_name_at *name_at, const void *arg, size_t count)
{
	const char *best = NULL;
	unsigned int best_distance = 3; /* a larger distance is no typing error */

	if (len < 2 || len > MAX_LEN)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *name = name_at(arg, i);
		size_t name_len = strlen(name);
		unsigned int steps = name_len <= MAX_LEN ? edit_distance(text, len, name) : best_distance;

		if (steps < best_distance && 2 * steps < name_len) {
			best_distance = steps;
			best = name;
		}
	}
	return best ? best : find_cut(text, len, name_at, arg, count);
}
