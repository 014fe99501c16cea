/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engines of the process, the contexts that are connected to them, and how to wake their threads. */
#include <pthread.h>

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

void shim_pe_connect(struct doca_pe *pe, struct doca_ctx *ctx)
{
	ctx->pe = pe;
	ctx->next_in_pe = pe->ctxs;
	pe->ctxs = ctx;
}

void shim_pe_disconnect(struct doca_ctx *ctx)
{
	struct doca_ctx **link;

	if (!ctx->pe)
		return;
	link = &ctx->pe->ctxs;
	while (*link != ctx)
		link = &(*link)->next_in_pe;
	*link = ctx->next_in_pe;
	ctx->pe->cursor = NULL;
	ctx->pe = NULL;
}

void shim_pe_notify(void *arg)
{
	struct doca_ctx *ctx = arg;

	if (doca_likely(!ctx->is_silent))
		shim_pe_wake(ctx->pe);
}

void shim_pe_notify_external(void *arg)
{
	const struct doca_ctx *ctx = arg;

	shim_pe_vclock_notify(ctx->pe);
	shim_pe_notify(arg);
}

void shim_pe_notify_self(struct doca_ctx *ctx)
{
	if (ctx->pe->armed)
		shim_pe_notify(ctx);
}

static void notify_all(void)
{
	pthread_mutex_lock(&engines.lock);
	for (const struct doca_pe *pe = engines.first; pe; pe = pe->next) {
		shim_pe_vclock_notify(pe);
		shim_pe_wake(pe);
	}
	pthread_mutex_unlock(&engines.lock);
}

/* A graph has no device: only its engine shows that it is in use. */
static bool any_has_context(void)
{
	bool found = false;

	pthread_mutex_lock(&engines.lock);
	for (const struct doca_pe *pe = engines.first; pe; pe = pe->next)
		found = found || pe->ctxs;
	pthread_mutex_unlock(&engines.lock);
	return found;
}

/* In a forked child the engines' descriptors are shared with the parent: do not write to them. */
static void reset_after_fork(void)
{
	pthread_mutex_init(&engines.lock, NULL);
	engines.first = NULL;
}

static struct shim_runtime_user runtime_user = {
	.forked = reset_after_fork,
	.in_use = any_has_context,
	.functions_changed = notify_all,
};

static void __attribute__((constructor)) add_runtime_user(void)
{
	shim_runtime_add_user(&runtime_user);
}
