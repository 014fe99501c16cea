/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers around a fork, sorted by rank. */
#include "fork.h"

static struct sim_fork_handler *first;

static void call_before(const struct sim_fork_handler *handler)
{
	if (!handler)
		return;
	call_before(handler->next);
	if (handler->before)
		handler->before();
}

static void before(void)
{
	call_before(first);
}

static void in_parent(void)
{
	for (const struct sim_fork_handler *handler = first; handler; handler = handler->next)
		if (handler->parent)
			handler->parent();
}

static void in_child(void)
{
	for (const struct sim_fork_handler *handler = first; handler; handler = handler->next) {
		if (handler->lock)
			pthread_mutex_init(handler->lock, NULL);
		if (handler->child)
			handler->child();
	}
}

void sim_fork_add(struct sim_fork_handler *handler)
{
	struct sim_fork_handler **place = &first;

	if (!first)
		pthread_atfork(before, in_parent, in_child);
	while (*place && (*place)->rank <= handler->rank)
		place = &(*place)->next;
	handler->next = *place;
	*place = handler;
}
