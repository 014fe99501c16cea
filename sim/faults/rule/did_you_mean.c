/* SPDX-License-Identifier: BSD-3-Clause */
/* The name that somebody meant who wrote another. */
#include <string.h>

#include "rule_priv.h"

#define MAX_LEN 32

static unsigned int min_uint(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* How many letters have to be put in, left out, changed or swapped with the next
 * one, for the first i of one text and the first j of the other. */
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
			steps[i][j] = min_uint(min_uint(steps[i - 1][j], steps[i][j - 1]) + 1,
					       steps[i - 1][j - 1] + (text.at[i - 1] != name[j - 1]));
			if (i > 1 && j > 1 && text.at[i - 1] == name[j - 2] && text.at[i - 2] == name[j - 1])
				steps[i][j] = min_uint(steps[i][j], steps[i - 2][j - 2] + 1);
		}
	}
	return steps[text.len][len];
}

const char *sim_did_you_mean(struct sim_text text, const char *(*name)(size_t i), size_t count)
{
	const char *best = NULL;
	unsigned int best_distance = 3; /* further away is something else */

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
