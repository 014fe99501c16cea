/* SPDX-License-Identifier: BSD-3-Clause */
/* The name that somebody meant who wrote another. */
#include <string.h>

#include "rule_priv.h"

#define MAX_LEN 32

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* How many letters have to be put in, left out or changed (Levenshtein). */
static unsigned int distance(struct sim_text text, const char *name)
{
	unsigned int row[MAX_LEN + 1], len = (unsigned int)strlen(name);

	for (unsigned int j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; i < text.len; i++) {
		unsigned int corner = row[0]++;

		for (unsigned int j = 0; j < len; j++) {
			unsigned int change = corner + (text.at[i] != name[j]);

			corner = row[j + 1];
			row[j + 1] = min3(row[j + 1] + 1, row[j] + 1, change);
		}
	}
	return row[len];
}

const char *sim_nearest(struct sim_text text, const char *(*name)(size_t i), size_t count)
{
	const char *nearest = NULL;
	unsigned int least = 3; /* further away is something else */

	if (text.len < 2 || text.len > MAX_LEN)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(name(i));
		unsigned int steps = len <= MAX_LEN ? distance(text, name(i)) : least;

		if (steps < least && 2 * steps < len) {
			least = steps;
			nearest = name(i);
		}
	}
	return nearest;
}
