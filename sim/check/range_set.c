/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of cells, whose size depends on the range's. */
#include "range_set.h"

#include <stddef.h>

/* Two neighbours of 64 bytes and one of 64 KiB are of different classes; the smallest is 64 bytes. */
#define MIN_CLASS 6
#define MAX_CLASS 63

static unsigned int class_of(uint64_t bytes)
{
	unsigned int class = bytes > 1 ? 64 - (unsigned int)__builtin_clzll(bytes - 1) : 0;

	return class < MIN_CLASS ? MIN_CLASS : class > MAX_CLASS ? MAX_CLASS : class;
}

static uint32_t bucket_of(unsigned int class, uint64_t cell)
{
	return (uint32_t)((cell * 64 + class) * 0x9e3779b97f4a7c15ull >> 40) & (SIM_RANGE_SET_BUCKETS - 1);
}

static uint32_t bucket_of_range(const struct sim_owned_range *range, unsigned int class)
{
	return bucket_of(class, range->begin >> class);
}

static struct sim_range_set_half *half_of(struct sim_range_set *set, const struct sim_owned_range *range)
{
	return range->is_write ? &set->writes : &set->reads;
}

void sim_range_set_add(struct sim_range_set *set, struct sim_owned_range *range)
{
	struct sim_range_set_half *half = half_of(set, range);
	unsigned int class = class_of(range->end - range->begin);

	LIST_INSERT_HEAD(&half->buckets[bucket_of_range(range, class)], range, in_bucket);
	LIST_INSERT_HEAD(&half->classes[class], range, in_class);
	half->num_ranges[class]++;
	half->used_classes |= 1ull << class;
}

void sim_range_set_remove(struct sim_range_set *set, struct sim_owned_range *range)
{
	struct sim_range_set_half *half = half_of(set, range);
	unsigned int class = class_of(range->end - range->begin);

	LIST_REMOVE(range, in_bucket);
	LIST_REMOVE(range, in_class);
	if (--half->num_ranges[class] == 0)
		half->used_classes &= ~(1ull << class);
}

struct query {
	uint64_t begin, end;
	const void *owner;
};

static bool conflicts(const struct sim_owned_range *range, const struct query *query)
{
	return range->begin < query->end && query->begin < range->end && range->owner != query->owner;
}

static struct sim_owned_range *search_class(const struct sim_range_set_half *half, unsigned int class,
					    const struct query *query)
{
	struct sim_owned_range *range;

	LIST_FOREACH(range, &half->classes[class], in_class)
		if (conflicts(range, query))
			return range;
	return NULL;
}

/* From the cell before: its ranges may reach into the query's first one. */
static struct sim_owned_range *search_cells(const struct sim_range_set_half *half, unsigned int class,
					    const struct query *query)
{
	uint64_t first = query->begin >> class, last = (query->end - 1) >> class;
	struct sim_owned_range *range;

	if (last - first >= half->num_ranges[class])
		return search_class(half, class, query);
	for (uint64_t cell = first ? first - 1 : 0; cell <= last; cell++)
		LIST_FOREACH(range, &half->buckets[bucket_of(class, cell)], in_bucket)
			if (conflicts(range, query))
				return range;
	return NULL;
}

static struct sim_owned_range *search(const struct sim_range_set_half *half, const struct query *query)
{
	for (uint64_t classes = half->used_classes; classes; classes &= classes - 1) {
		struct sim_owned_range *found = search_cells(half, (unsigned int)__builtin_ctzll(classes), query);

		if (found)
			return found;
	}
	return NULL;
}

struct sim_owned_range *sim_range_set_find_conflict(const struct sim_range_set *set, uint64_t begin, uint64_t end,
						    bool is_write, const void *owner)
{
	const struct query query = { begin, end, owner };
	struct sim_owned_range *found = search(&set->writes, &query);

	return found || !is_write ? found : search(&set->reads, &query);
}
