/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches the task pools of the process's contexts. */
#include "tasks_in_flight.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim/rdma/rdma_inspect.h"

/* A context that is not idle. */
struct entry {
	struct doca_ctx *ctx;
	pid_t tid; /* of its last change */
	struct entry *next;
};

static struct {
	pthread_mutex_t lock;
	struct entry *first;
} ctxs = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct entry **find(const struct doca_ctx *ctx)
{
	struct entry **link = &ctxs.first;

	while (*link && (*link)->ctx != ctx)
		link = &(*link)->next;
	return link;
}

static void update(struct entry **link, struct doca_ctx *ctx)
{
	struct entry *entry = *link;

	if (ctx->state == DOCA_CTX_STATE_IDLE) {
		if (entry)
			*link = entry->next;
		free(entry);
		return;
	}
	if (!entry)
		*link = entry = calloc(1, sizeof(*entry));
	if (!entry)
		return;
	entry->ctx = ctx;
	entry->tid = gettid();
}

static void ctx_changed(struct doca_ctx *ctx, enum doca_ctx_states from)
{
	(void)from;
	pthread_mutex_lock(&ctxs.lock);
	update(find(ctx), ctx);
	pthread_mutex_unlock(&ctxs.lock);
}

/* The thread that stops a context frees its pools before it tells that the context is idle. */
static bool may_inspect(const struct entry *entry)
{
	return shim_ctx_is_same_process(entry->ctx) &&
	       (entry->ctx->state == DOCA_CTX_STATE_RUNNING || entry->tid == gettid());
}

static bool see_pool(const struct shim_task_pool *pool, bool (*see)(const struct doca_task *task, void *arg), void *arg)
{
	for (uint32_t i = pool->num_never_used; i < pool->count; i++) {
		const struct doca_task *task = (const struct doca_task *)(pool->tasks + i * pool->type->size);

		if (shim_object_is_still(task, SHIM_TASK) && task->in_flight && !see(task, arg))
			return false;
	}
	return true;
}

void check_posted_tasks(bool (*see)(const struct doca_task *task, void *arg), void *arg)
{
	bool goes_on = true;

	pthread_mutex_lock(&ctxs.lock);
	for (const struct entry *entry = ctxs.first; entry && goes_on; entry = entry->next)
		for (const struct shim_task_pool *pool = may_inspect(entry) ? entry->ctx->pools : NULL; pool && goes_on;
		     pool = pool->next)
			goes_on = see_pool(pool, see, arg);
	pthread_mutex_unlock(&ctxs.lock);
}

struct buf_task_call {
	bool (*see)(const struct shim_buf_task *task, void *arg);
	void *arg;
};

static bool see_buf_task(const struct doca_task *task, void *arg)
{
	const struct buf_task_call *call = arg;

	return !check_is_buf_task(task) || call->see(shim_to_buf_task(task), call->arg);
}

void check_tasks_in_flight(bool (*see)(const struct shim_buf_task *task, void *arg), void *arg)
{
	struct buf_task_call call = { .see = see, .arg = arg };

	check_posted_tasks(see_buf_task, &call);
}

static bool list_uses_mmap(const struct doca_buf *buf, const struct doca_mmap *mmap)
{
	for (; shim_object_is(buf, SHIM_BUF); buf = buf->next)
		if (buf->mmap == mmap && buf->mmap_serial == mmap->serial)
			return true;
	return false;
}

bool check_task_uses_mmap(const struct doca_task *task, const struct doca_mmap *mmap)
{
	struct rdma_task_view rdma;

	if (check_is_buf_task(task))
		return list_uses_mmap(shim_to_buf_task(task)->src, mmap) ||
		       list_uses_mmap(shim_to_buf_task(task)->dst, mmap);
	return rdma_inspect_task(task, &rdma) &&
	       (list_uses_mmap(rdma.local, mmap) || list_uses_mmap(rdma.remote, mmap));
}

static bool list_uses_buf(const struct doca_buf *list, const struct doca_buf *buf)
{
	while (shim_object_is(list, SHIM_BUF) && list != buf)
		list = list->next;
	return list == buf;
}

bool check_buf_task_uses_buf(const struct shim_buf_task *task, const struct doca_buf *buf)
{
	return list_uses_buf(task->src, buf) || list_uses_buf(task->dst, buf);
}

const struct check_part check_tasks_in_flight_part = {
	.mode = SIM_CHECK_API,
	.lock = &ctxs.lock,
	.ctx_changed = ctx_changed,
};
