/* SPDX-License-Identifier: BSD-3-Clause */
/* Slabs: memory that is reused for slabs alone. */
#include "slab.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shim/common/base/alloc.h"
#include "sim/base/fork.h"

#define MIN_CLASS   12 /* 4 KiB */
#define NUM_CLASSES 48

/* Refers to a freed slab. It is allocated together with the slab, so that freeing can't fail. */
struct node {
	void *slab;
	struct node *next;
};

static struct {
	pthread_mutex_t lock;
	struct node *retired[NUM_CLASSES]; /* freed slabs of 2^index bytes */
	struct node *unused_nodes;         /* one for each slab in use */
} slabs = { .lock = PTHREAD_MUTEX_INITIALIZER };

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &slabs.lock);

static unsigned int size_class(size_t bytes)
{
	unsigned int class = MIN_CLASS;

	while (class < NUM_CLASSES && (size_t)1 << class < bytes)
		class ++;
	return class;
}

static void push_node(struct node **list, struct node *node)
{
	node->next = *list;
	*list = node;
}

static struct node *pop_node(struct node **list)
{
	struct node *node = *list;

	if (node)
		*list = node->next;
	return node;
}

/* Returns a freed slab of the class, or NULL. */
static void *pop_retired_slab(unsigned int class)
{
	struct node *node;
	void *slab = NULL;

	pthread_mutex_lock(&slabs.lock);
	node = pop_node(&slabs.retired[class]);
	if (node) {
		slab = node->slab;
		push_node(&slabs.unused_nodes, node);
	}
	pthread_mutex_unlock(&slabs.lock);
	return slab;
}

void *shim_slab_new(size_t bytes)
{
	unsigned int class = size_class(bytes);
	struct node *node;
	void *slab;

	if (class == NUM_CLASSES || shim_alloc_fails(bytes))
		return NULL;
	slab = pop_retired_slab(class);
	if (slab)
		return slab;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	slab = mmap(NULL, (size_t)1 << class, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slab == MAP_FAILED) {
		free(node);
		return NULL;
	}
	pthread_mutex_lock(&slabs.lock);
	push_node(&slabs.unused_nodes, node);
	pthread_mutex_unlock(&slabs.lock);
	return slab;
}

void shim_slab_free(void *slab, size_t bytes, bool is_written)
{
	unsigned int class = size_class(bytes);
	struct node *node;

	if (!slab)
		return;
	/* The kernel frees the pages, and the next read finds zeros. It refuses for pages that are locked in memory. */
	if (is_written && madvise(slab, (size_t)1 << class, MADV_DONTNEED) < 0)
		memset(slab, 0, (size_t)1 << class);
	pthread_mutex_lock(&slabs.lock);
	node = pop_node(&slabs.unused_nodes);
	node->slab = slab;
	push_node(&slabs.retired[class], node);
	pthread_mutex_unlock(&slabs.lock);
}
