/* SPDX-License-Identifier: BSD-3-Clause */
/* An interval treap: a search tree by the ranges' begins, and a heap by random priorities, which keep it flat. */
#include "ledger.h"

#include <stddef.h>

static uint32_t next_random(struct sim_ledger *ledger)
{
	uint32_t x = ledger->random ? ledger->random : 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return ledger->random = x;
}

static uint64_t max_end_of(const struct sim_ledger_range *range)
{
	return range ? range->max_end : 0;
}

static void update(struct sim_ledger_range *range)
{
	uint64_t left = max_end_of(range->left), right = max_end_of(range->right);

	range->max_end = range->end;
	if (left > range->max_end)
		range->max_end = left;
	if (right > range->max_end)
		range->max_end = right;
}

/* A total order: several ranges may have one begin. */
static bool is_before(const struct sim_ledger_range *a, const struct sim_ledger_range *b)
{
	return a->begin != b->begin ? a->begin < b->begin : (uintptr_t)a < (uintptr_t)b;
}

static struct sim_ledger_range *rotate_right(struct sim_ledger_range *top)
{
	struct sim_ledger_range *left = top->left;

	top->left = left->right;
	left->right = top;
	update(top);
	update(left);
	return left;
}

static struct sim_ledger_range *rotate_left(struct sim_ledger_range *top)
{
	struct sim_ledger_range *right = top->right;

	top->right = right->left;
	right->left = top;
	update(top);
	update(right);
	return right;
}

static struct sim_ledger_range *add(struct sim_ledger_range *top, struct sim_ledger_range *range)
{
	if (!top)
		return range;
	if (is_before(range, top)) {
		top->left = add(top->left, range);
		if (top->left->priority > top->priority)
			return rotate_right(top);
	} else {
		top->right = add(top->right, range);
		if (top->right->priority > top->priority)
			return rotate_left(top);
	}
	update(top);
	return top;
}

void sim_ledger_add(struct sim_ledger *ledger, struct sim_ledger_range *range)
{
	range->left = range->right = NULL;
	range->priority = next_random(ledger);
	update(range);
	ledger->root = add(ledger->root, range);
}

/* Join two trees; all of @left is before all of @right. */
static struct sim_ledger_range *join(struct sim_ledger_range *left, struct sim_ledger_range *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->priority > right->priority) {
		left->right = join(left->right, right);
		update(left);
		return left;
	}
	right->left = join(left, right->left);
	update(right);
	return right;
}

static struct sim_ledger_range *take_out(struct sim_ledger_range *top, const struct sim_ledger_range *range)
{
	if (top == range)
		return join(top->left, top->right);
	if (is_before(range, top))
		top->left = take_out(top->left, range);
	else
		top->right = take_out(top->right, range);
	update(top);
	return top;
}

void sim_ledger_remove(struct sim_ledger *ledger, struct sim_ledger_range *range)
{
	ledger->root = take_out(ledger->root, range);
}

static struct sim_ledger_range *find(struct sim_ledger_range *top, uint64_t begin, uint64_t end, bool is_write,
				     const void *owner)
{
	struct sim_ledger_range *found;

	if (!top || top->max_end <= begin)
		return NULL;
	found = find(top->left, begin, end, is_write, owner);
	if (found)
		return found;
	if (top->begin >= end)
		return NULL;
	if (top->end > begin && (is_write || top->is_write) && top->owner != owner)
		return top;
	return find(top->right, begin, end, is_write, owner);
}

struct sim_ledger_range *sim_ledger_find_conflict(const struct sim_ledger *ledger, uint64_t begin, uint64_t end,
						  bool is_write, const void *owner)
{
	return find(ledger->root, begin, end, is_write, owner);
}
