/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engines of the process, the contexts that are connected to them, and how to wake their threads. */
#include "pe_priv.h"

#include <pthread.h>
#include <string.h>

#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "sim/base/fork.h"

static struct {
	pthread_mutex_t lock;
	struct doca_pe *first;
} engines = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add_engine(struct doca_pe *pe)
{
	pthread_mutex_lock(&engines.lock);
	pe->next = engines.first;
	engines.first = pe;
	pthread_mutex_unlock(&engines.lock);
}

static void remove_engine(struct doca_pe *pe)
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

void shim_pe_vclock_leave(struct doca_pe *pe)
{
	if (shim_pe_vclock_handle(pe))
		sim_vclock_source_destroy(pe->vclock_handle);
	pe->vclock_handle = NULL;
}

static void vclock_fini(struct doca_pe *pe)
{
	shim_pe_vclock_leave(pe);
	if (pe->vclock_engine && pe->engine_sched == shim_vclock && pe->vclock_fork_generation == shim_fork_generation)
		sim_vclock_sched_remove_engine(pe->engine_sched, pe->vclock_engine);
}

doca_error_t doca_pe_create(struct doca_pe **pe)
{
	struct doca_pe *created;
	int rc;

	SHIM_NEED_OUT(pe);
	created = shim_object_new(SHIM_PE, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	rc = shim_pe_wake_open(&created->wake);
	if (rc < 0) {
		shim_object_free(created, SHIM_PE);
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no descriptor for its events: %s", strerror(-rc));
	}
	add_engine(created);
	*pe = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	SHIM_NEED(pe, SHIM_PE);
	if (pe->ctxs)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "contexts are still connected (first: %s); destroy them before",
				   pe->ctxs->ops->name);
	remove_engine(pe);
	shim_pe_wake_close(&pe->wake);
	vclock_fini(pe);
	shim_object_free(pe, SHIM_PE);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	SHIM_NEED(pe, SHIM_PE);
	if (!shim_ctx_is(ctx))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "ctx is %s", ctx ? "no live context" : "NULL");
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle");
	if (ctx->pe)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the context is connected already, for life");
	shim_pe_connect(pe, ctx);
	return DOCA_SUCCESS;
}

void shim_pe_wake(const struct doca_pe *pe)
{
	shim_pe_wake_signal(&pe->wake);
}

int shim_pe_peer_wake_fd(const struct doca_ctx *ctx)
{
	return shim_pe_wake_get_peer_fd(&ctx->pe->wake);
}

static void vclock_notify(const struct doca_pe *pe)
{
	uint32_t engine = pe->vclock_engine;

	if (engine)
		shim_message_sent(engine, 0);
}

void shim_pe_vclock_notify_ctx(const struct doca_ctx *ctx)
{
	vclock_notify(ctx->pe);
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

	vclock_notify(ctx->pe);
	shim_pe_notify(arg);
}

void shim_ctx_set_alarm(struct doca_ctx *ctx, uint64_t due_ns)
{
	if (shim_alarm_set(&ctx->alarm, due_ns))
		shim_pe_notify_self(ctx);
}

static void notify_all(void)
{
	pthread_mutex_lock(&engines.lock);
	for (const struct doca_pe *pe = engines.first; pe; pe = pe->next) {
		vclock_notify(pe);
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
	engines.first = NULL;
}

SIM_AT_FORK(SIM_FORK_USERS, .lock = &engines.lock, .child = reset_after_fork);

static struct shim_runtime_user runtime_user = {
	.in_use = any_has_context,
	.functions_changed = notify_all,
};

static void __attribute__((constructor)) add_runtime_user(void)
{
	shim_runtime_add_user(&runtime_user);
}
