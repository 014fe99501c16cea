/* SPDX-License-Identifier: BSD-3-Clause */
/* The closest known name, by edit distance. */
#include <string.h>

#include "pcie_model/arith.h"
#include "rule_priv.h"

#define MAX_LEN 32

/* The edit distance of @text and @name: insertions, deletions, substitutions and swaps of
 * neighbours. steps[i][j] is the distance of their first i and j characters. */
static unsigned int edit_distance(struct sim_text text, const char *name)
{
	unsigned int steps[MAX_LEN + 1][MAX_LEN + 1];
	size_t len = strlen(name);

	for (unsigned int i = 0; i <= text.len; i++) {
		for (unsigned int j = 0; j <= len; j++) {
			if (!i || !j) {
				steps[i][j] = i + j;
				continue;
			}
			steps[i][j] = min_u32(min_u32(steps[i - 1][j], steps[i][j - 1]) + 1,
					      steps[i - 1][j - 1] + (text.at[i - 1] != name[j - 1]));
			if (i > 1 && j > 1 && text.at[i - 1] == name[j - 2] && text.at[i - 2] == name[j - 1])
				steps[i][j] = min_u32(steps[i][j], steps[i - 2][j - 2] + 1);
		}
	}
	return steps[text.len][len];
}

const char *sim_did_you_mean(struct sim_text text, const char *(*name)(size_t i), size_t count)
{
	const char *best = NULL;
	unsigned int best_distance = 3; /* a larger distance is no typing error */

	if (text.len < 2 || text.len > MAX_LEN)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(name(i));
		unsigned int steps = len <= MAX_LEN ? edit_distance(text, name(i)) : best_distance;

		if (steps < best_distance && 2 * steps < len) {
			best_distance = steps;
			best = name(i);
		}
	}
	return best;
}
