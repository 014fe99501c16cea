/* SPDX-License-Identifier: BSD-3-Clause */
#include "slab.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shim/common/process/alloc.h"

#define MIN_CLASS 12 /* 4 KiB */
#define NUM_CLASSES 48

/* A note of a freed slab, kept for the next one of its class. It is made together
 * with the slab, so that freeing can't fail. */
struct note {
	void *slab;
	struct note *next;
};

static struct {
	pthread_mutex_t lock;
	struct note *retired[NUM_CLASSES]; /* by class: slabs have sizes of 2^class bytes */
	struct note *blank;                /* one for each slab in use */
} slabs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned int class_of(size_t bytes)
{
	unsigned int class = MIN_CLASS;

	while (class < NUM_CLASSES && (size_t)1 << class < bytes)
		class++;
	return class;
}

static void push(struct note **list, struct note *note)
{
	note->next = *list;
	*list = note;
}

static struct note *pop(struct note **list)
{
	struct note *note = *list;

	if (note)
		*list = note->next;
	return note;
}

/* A retired slab; its note is blank then. */
static void *take_retired(unsigned int class)
{
	struct note *note;
	void *slab = NULL;

	pthread_mutex_lock(&slabs.lock);
	note = pop(&slabs.retired[class]);
	if (note) {
		slab = note->slab;
		push(&slabs.blank, note);
	}
	pthread_mutex_unlock(&slabs.lock);
	return slab;
}

void *shim_slab_new(size_t bytes)
{
	unsigned int class = class_of(bytes);
	struct note *note;
	void *slab;

	if (class == NUM_CLASSES || shim_alloc_fails(bytes))
		return NULL;
	slab = take_retired(class);
	if (slab)
		return slab;
	note = calloc(1, sizeof(*note));
	if (!note)
		return NULL;
	slab = mmap(NULL, (size_t)1 << class, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slab == MAP_FAILED) {
		free(note);
		return NULL;
	}
	pthread_mutex_lock(&slabs.lock);
	push(&slabs.blank, note);
	pthread_mutex_unlock(&slabs.lock);
	return slab;
}

void shim_slab_free(void *slab, size_t bytes)
{
	unsigned int class = class_of(bytes);
	struct note *note;

	if (!slab)
		return;
	/* Its pages go, and its next reader finds zeros; pages that are locked in memory stay. */
	if (madvise(slab, (size_t)1 << class, MADV_DONTNEED) < 0)
		memset(slab, 0, (size_t)1 << class);
	pthread_mutex_lock(&slabs.lock);
	note = pop(&slabs.blank);
	note->slab = slab;
	push(&slabs.retired[class], note);
	pthread_mutex_unlock(&slabs.lock);
}

void shim_slabs_forked(void)
{
	pthread_mutex_init(&slabs.lock, NULL);
}
