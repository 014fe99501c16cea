/* SPDX-License-Identifier: BSD-3-Clause */
/* Items that are delivered later, or behind later ones. */
#include "delay_list.h"

#include "pcie_model/arith.h"
#include "sim/engine/queue.h"

void sim_delay_list_init(struct sim_delay_list *list)
{
	TAILQ_INIT(&list->ready);
	TAILQ_INIT(&list->reordered);
	list->num_reordered = 0;
}

static void make_ready(struct sim_delay_list *list, struct sim_delay_item *item)
{
	TAILQ_REMOVE(&list->reordered, item, link);
	list->num_reordered--;
	TAILQ_INSERT_TAIL(&list->ready, item, link);
}

/* @item overtakes the reordered items before it. */
static void count_overtaken(struct sim_delay_list *list, const struct sim_delay_item *item)
{
	struct sim_delay_item *next;

	for (struct sim_delay_item *i = TAILQ_FIRST(&list->reordered); i && i != item; i = next) {
		next = TAILQ_NEXT(i, link);
		if (--i->reorder_by == 0)
			make_ready(list, i);
	}
}

void sim_delay_list_push(struct sim_delay_list *list, struct sim_delay_item *item, uint64_t now_ns)
{
	if (item->reorder_by > 0) {
		item->reorder_deadline_ns = now_ns + SIM_REORDER_TIMEOUT_NS;
		TAILQ_INSERT_TAIL(&list->reordered, item, link);
		list->num_reordered++;
	} else {
		TAILQ_INSERT_TAIL(&list->ready, item, link);
	}
	count_overtaken(list, item);
}

uint64_t sim_delay_list_release(struct sim_delay_list *list, uint64_t now_ns, bool all)
{
	struct sim_delay_item *next;
	uint64_t next_ns = SIM_JOB_NEVER_DUE;

	for (struct sim_delay_item *i = TAILQ_FIRST(&list->reordered); i; i = next) {
		next = TAILQ_NEXT(i, link);
		if (all || now_ns >= i->reorder_deadline_ns)
			make_ready(list, i);
		else
			next_ns = min_u64(next_ns, i->reorder_deadline_ns);
	}
	return next_ns;
}

struct sim_delay_item *sim_delay_list_pop(struct sim_delay_list *list)
{
	struct sim_delay_item *item = TAILQ_FIRST(&list->ready);

	if (item) {
		TAILQ_REMOVE(&list->ready, item, link);
		return item;
	}
	item = TAILQ_FIRST(&list->reordered);
	if (item) {
		TAILQ_REMOVE(&list->reordered, item, link);
		list->num_reordered--;
	}
	return item;
}
