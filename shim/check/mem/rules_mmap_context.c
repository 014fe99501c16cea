/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a memory map is destroyed after the contexts whose tasks used it. */
#include "shim/check/history/ctx_history.h"
#include "shim/check/history/mmap_history.h"
#include "shim/check/history/tasks_in_flight.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/rdma/rdma_inspect.h"

#define NUM_PLACES 1024

/* The context that used a map last; maps that share a place lose theirs. */
static struct {
	const struct doca_mmap *_Atomic mmap;
	const struct doca_ctx *_Atomic ctx; /* alive; NULL = none */
} places[NUM_PLACES];

static size_t place_of(const struct doca_mmap *mmap)
{
	return (uintptr_t)mmap / 64 % NUM_PLACES;
}

/* Most tasks find their own place as they left it. */
static inline void note_use(const struct doca_mmap *mmap, const struct doca_ctx *ctx)
{
	size_t i = place_of(mmap);

	if (doca_likely(atomic_load_explicit(&places[i].mmap, memory_order_relaxed) == mmap &&
			atomic_load_explicit(&places[i].ctx, memory_order_relaxed) == ctx))
		return;
	atomic_store_explicit(&places[i].mmap, mmap, memory_order_relaxed);
	atomic_store_explicit(&places[i].ctx, ctx, memory_order_relaxed);
}

static void task_posted(struct doca_task *task)
{
	const struct shim_buf_task *buf_task = shim_to_buf_task(task);
	struct rdma_task_view rdma;

	if (!check_is_buf_task(task)) {
		if (rdma_inspect_task(task, &rdma) && rdma.local)
			note_use(rdma.local->mmap, task->ctx);
		return;
	}
	if (doca_likely(buf_task->src != NULL))
		note_use(buf_task->src->mmap, task->ctx);
	note_use(buf_task->dst->mmap, task->ctx);
}

static void forget_mmap(const struct doca_mmap *mmap)
{
	if (places[place_of(mmap)].mmap == mmap)
		places[place_of(mmap)].ctx = NULL;
}

static void leave_create(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS)
		forget_mmap(*(struct doca_mmap *const *)check_arg(call, 0));
}

static void leave_destroy_ctx(struct shim_call *call)
{
	const struct doca_ctx *ctx = check_arg(call, 0);

	for (size_t i = 0; i < NUM_PLACES && check_result(call) == DOCA_SUCCESS; i++)
		if (places[i].ctx == ctx)
			places[i].ctx = NULL;
}

/* An import may end with the peer, while its context serves others. A map with buffers is not destroyed. */
static void enter_destroy(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);
	const struct doca_ctx *ctx;
	struct check_hit *hit;

	if (!shim_handle_is(mmap, SHIM_MMAP) || shim_mmap_is_imported(mmap) || shim_mmap_num_bufs(mmap) > 0 ||
	    places[place_of(mmap)].mmap != mmap)
		return;
	ctx = places[place_of(mmap)].ctx;
	if (!ctx || !shim_ctx_is(ctx) || !shim_ctx_is_same_process(ctx))
		return;
	hit = check_hit_begin(BFC_MMAP_DESTROYED_BEFORE_CONTEXT, call,
			      "doca_mmap_destroy: tasks of the %s context used the memory map, and the context is %s",
			      ctx->ops->name, check_ctx_state_name(ctx->state));
	check_mmap_add_object(hit, mmap);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static const struct check_watch watches[] = { { SHIM_FN_doca_mmap_create, NULL, leave_create },
					      { SHIM_FN_doca_mmap_destroy, enter_destroy, NULL },
#define DESTROYED(name) { SHIM_FN_##name, NULL, leave_destroy_ctx },
					      SHIM_DESTROY_CTX(DESTROYED)
#undef DESTROYED
};

const struct check_part check_mmap_context = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_posted = task_posted,
};
