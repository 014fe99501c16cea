/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the list of RDMA contexts. */
#include "contexts.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim/check/base/check.h"

static struct {
	pthread_mutex_t lock;
	struct check_rdma_context *_Atomic first;
} contexts = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add(const struct doca_rdma *rdma)
{
	struct check_rdma_context *context = calloc(1, sizeof(*context));

	if (!context)
		return;
	context->rdma = rdma;
	context->tid = gettid();
	context->next = contexts.first;
	contexts.first = context;
}

static void forget(const struct doca_rdma *rdma)
{
	struct check_rdma_context *context = contexts.first, *before = NULL;

	while (context && context->rdma != rdma) {
		before = context;
		context = context->next;
	}
	if (!context)
		return;
	if (before)
		before->next = context->next;
	else
		contexts.first = context->next;
	free(context);
}

static void ctx_changed(struct doca_ctx *ctx, enum doca_ctx_states from)
{
	const struct doca_rdma *rdma = rdma_inspect_context(ctx);

	if (!rdma)
		return;
	pthread_mutex_lock(&contexts.lock);
	if (from == DOCA_CTX_STATE_IDLE)
		add(rdma);
	else if (ctx->state == DOCA_CTX_STATE_IDLE)
		forget(rdma);
	pthread_mutex_unlock(&contexts.lock);
}

void check_rdma_contexts_each(bool (*see)(struct check_rdma_context *context, void *arg), void *arg)
{
	pthread_mutex_lock(&contexts.lock);
	for (struct check_rdma_context *context = contexts.first; context && see(context, arg); context = context->next)
		;
	pthread_mutex_unlock(&contexts.lock);
}

bool check_rdma_has_contexts(void)
{
	return contexts.first != NULL;
}

/* Contexts are the parent's. */
static void forked(void)
{
	while (contexts.first)
		forget(((struct check_rdma_context *)contexts.first)->rdma);
}

const struct check_part check_rdma_contexts = {
	.mode = SIM_CHECK_API,
	.ctx_changed = ctx_changed,
	.lock = &contexts.lock,
	.forked = forked,
};
