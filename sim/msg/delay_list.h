/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/delay_list.h - received items whose delivery waits for a time, or for later items.
 *
 *   push --> [reordered] --overtaken by enough later items, or timed out--> [ready, in order] --due--> popped
 *        \-----------------------------------------------------------------> [ready]
 *
 * The first ready item holds up all ready items behind it, so that items keep
 * their order. A reordered item waits until as many items as it says were pushed
 * behind it, but at most SIM_REORDER_TIMEOUT_NS: its sender may wait for an
 * answer before it sends more. The list belongs to one thread and allocates
 * nothing; the owner embeds an item in its own object. Times are session time.
 */
#ifndef SIM_MSG_DELAY_LIST_H
#define SIM_MSG_DELAY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define SIM_REORDER_TIMEOUT_NS UINT64_C(100000000) /* our choice */

struct sim_delay_item {
	TAILQ_ENTRY(sim_delay_item) link;
	uint64_t due_ns; /* not popped before; 0 = due at once */
	uint64_t reorder_deadline_ns;
	uint32_t reorder_by; /* later items that overtake it; 0 = it keeps its place */
};

TAILQ_HEAD(sim_delay_items, sim_delay_item);

struct sim_delay_list {
	struct sim_delay_items ready, reordered;
	uint32_t num_reordered;
};

void sim_delay_list_init(struct sim_delay_list *list);

/* Add an item whose due_ns and reorder_by are set. */
void sim_delay_list_push(struct sim_delay_list *list, struct sim_delay_item *item, uint64_t now_ns);

/* Make reordered items ready whose deadline has passed; @all: each of them. Returns the next deadline, or
 * SIM_JOB_NEVER_DUE. */
uint64_t sim_delay_list_release(struct sim_delay_list *list, uint64_t now_ns, bool all);

/* Remove the first ready item; without one, the first reordered item. NULL = the list is empty. */
struct sim_delay_item *sim_delay_list_pop(struct sim_delay_list *list);

static inline struct sim_delay_item *sim_delay_list_first_ready(const struct sim_delay_list *list)
{
	return TAILQ_FIRST(&list->ready);
}

static inline bool sim_delay_list_is_empty(const struct sim_delay_list *list)
{
	return TAILQ_EMPTY(&list->ready) && TAILQ_EMPTY(&list->reordered);
}

#endif
