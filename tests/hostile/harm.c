/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes anything into memory that this process shares. */
#include "harm.h"

#include <stdio.h>
#include <string.h>

#include "proc.h"

unsigned int harm_list_areas(struct harm_area areas[HARM_AREAS], const struct harm_area *ignore,
			     unsigned int num_ignored)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int count = 0;
	char line[512];

	CHECK(maps);
	while (count < HARM_AREAS && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		bool is_known = false;

		if (!strstr(line, " rw-s ") || !strstr(line, "/memfd:bfsim ") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		for (unsigned int i = 0; i < num_ignored; i++)
			is_known |= (uintptr_t)ignore[i].words == from;
		if (!is_known)
			areas[count++] = (struct harm_area){ .words = (uint64_t *)from, .num_words = (to - from) / 8 };
	}
	fclose(maps);
	return count;
}

enum harm { HARM_RANDOM, HARM_SMALL, HARM_ZERO, HARM_ONES, HARM_STEP, NUM_HARMS };

static void write_word(struct bout *bout, volatile uint64_t *word, enum harm harm)
{
	switch (harm) {
	case HARM_RANDOM:
		*word = bout->random + bout_random(bout, UINT64_MAX);
		break;
	case HARM_SMALL:
		*word = bout_random(bout, 64);
		break;
	case HARM_ZERO:
		*word = 0;
		break;
	case HARM_ONES:
		*word = UINT64_MAX;
		break;
	default:
		*word += bout_random(bout, 3) - 1;
	}
}

/* The words at the beginning are counters and marks; a message or a slot follows at any place. */
static void scribble(struct bout *bout, const struct harm_area *area, enum harm harm)
{
	size_t num_words = bout_random(bout, 2) && area->num_words > 128 ? 128 : area->num_words;

	if (bout_random(bout, 4) == 0)
		for (size_t i = 0; i < num_words; i++)
			write_word(bout, &area->words[i], harm);
	else
		for (int i = 0; i < 16; i++)
			write_word(bout, &area->words[bout_random(bout, num_words)], harm);
}

void harm_for(struct bout *bout, const struct harm_area *areas, unsigned int num_areas, unsigned int ms)
{
	int64_t end = proc_now_ms() + ms;
	bool one_kind = bout->round % 4 > 0, one_area = bout->round % 4 > 1;
	enum harm kind = bout->round % 4 == 1 ? HARM_ONES : (enum harm)bout_random(bout, NUM_HARMS);
	const struct harm_area *area = &areas[bout_random(bout, num_areas)];

	while (proc_now_ms() < end) {
		if (!one_area)
			area = &areas[bout_random(bout, num_areas)];
		if (!one_kind)
			kind = (enum harm)bout_random(bout, NUM_HARMS);
		scribble(bout, area, kind);
		__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	}
}
