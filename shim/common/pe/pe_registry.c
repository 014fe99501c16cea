/* SPDX-License-Identifier: BSD-3-Clause */
/* All progress engines of the process: something may have become of any one's contexts. */
#include <pthread.h>
#include <sys/eventfd.h>

#include "pe_priv.h"

static struct {
	pthread_mutex_t lock;
	struct doca_pe *first;
} engines = { .lock = PTHREAD_MUTEX_INITIALIZER };

void shim_pe_register(struct doca_pe *pe)
{
	pthread_mutex_lock(&engines.lock);
	pe->next = engines.first;
	engines.first = pe;
	pthread_mutex_unlock(&engines.lock);
}

void shim_pe_unregister(struct doca_pe *pe)
{
	struct doca_pe **link = &engines.first;

	pthread_mutex_lock(&engines.lock);
	while (*link && *link != pe)
		link = &(*link)->next;
	if (*link)
		*link = pe->next;
	pthread_mutex_unlock(&engines.lock);
}

void shim_pe_wake_all(void)
{
	pthread_mutex_lock(&engines.lock);
	for (const struct doca_pe *pe = engines.first; pe; pe = pe->next)
		eventfd_write(pe->event_fd, 1);
	pthread_mutex_unlock(&engines.lock);
}

bool shim_pe_any_in_use(void)
{
	bool used = false;

	pthread_mutex_lock(&engines.lock);
	for (const struct doca_pe *pe = engines.first; pe; pe = pe->next)
		used = used || pe->ctxs;
	pthread_mutex_unlock(&engines.lock);
	return used;
}

/* Their descriptors are the parent's, too. */
void shim_pe_forked(void)
{
	pthread_mutex_init(&engines.lock, NULL);
	engines.first = NULL;
}
