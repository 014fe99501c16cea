/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the use of devices: what they can do, their limits, their lists and their end. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <doca_dev.h>

#include "shim/check/base/check.h"
#include "shim/check/report/hit.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/process/runtime.h"

/* ---- capabilities ---- */

static _Atomic bool dma_queried;

static void leave_query_dma(struct shim_call *call)
{
	(void)call;
	dma_queried = true;
}

static void leave_start(struct shim_call *call)
{
	const struct doca_ctx *ctx = check_arg(call, 0);
	const struct pcie_function *function;
	struct check_hit *hit;

	if (doca_likely(check_result(call) == DOCA_SUCCESS) || dma_queried || !shim_handle_is(ctx, SHIM_DMA))
		return;
	function = shim_dev_function(ctx->dev);
	if (function->caps.dma_memcpy)
		return;
	hit = check_hit_begin(BFC_DEVICE_WITHOUT_DMA, call,
			      "doca_ctx_start: %s of side %s has no DMA engine, and the program did not ask",
			      function->ibdev, function->side);
	check_hit_add_object(hit, "device", ctx->dev, function->ibdev);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

/* ---- limits ---- */

enum limit { MAX_MSG_SIZE, MAX_RECV_QUEUE, MAX_SEND_TASKS, MAX_DMA_TASKS, NUM_LIMITS };

static const char *const limit_queries[NUM_LIMITS] = {
	[MAX_MSG_SIZE] = "doca_comch_cap_get_max_msg_size",
	[MAX_RECV_QUEUE] = "doca_comch_cap_get_max_recv_queue_size",
	[MAX_SEND_TASKS] = "doca_comch_cap_get_max_send_tasks",
	[MAX_DMA_TASKS] = "doca_dma_cap_get_max_num_tasks",
};

static _Atomic bool limits_queried[NUM_LIMITS];

static uint64_t value_of(const struct pcie_caps *caps, enum limit limit)
{
	switch (limit) {
	case MAX_MSG_SIZE:
		return caps->comch_max_msg_bytes;
	case MAX_RECV_QUEUE:
		return caps->comch_max_recv_queue;
	case MAX_SEND_TASKS:
		return caps->comch_max_send_tasks;
	case MAX_DMA_TASKS:
	case NUM_LIMITS:
		break;
	}
	return caps->dma_max_tasks;
}

/* A value of up to half of the limit leaves room for cards with less. */
static void check_limit(const struct shim_call *call, enum limit limit, uint64_t value)
{
	const struct doca_ctx *ctx = check_arg(call, 0);
	const struct pcie_function *function;
	struct check_hit *hit;
	uint64_t max;

	if (check_result(call) != DOCA_SUCCESS || limits_queried[limit] ||
	    !(shim_handle_is(ctx, SHIM_DMA) || shim_handle_is(ctx, SHIM_COMCH_SERVER) ||
	      shim_handle_is(ctx, SHIM_COMCH_CLIENT)))
		return;
	function = shim_dev_function(ctx->dev);
	max = value_of(&function->caps, limit);
	if (value <= max / 2)
		return;
	hit = check_hit_begin(BFC_LIMIT_NOT_QUERIED, call,
			      "%s: %llu; the limit of %s is %llu, which the program did not ask for (%s)",
			      check_call_name(call), (unsigned long long)value, function->ibdev,
			      (unsigned long long)max, limit_queries[limit]);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

#define LIMIT(name, limit, arg)                                      \
	static void leave_query_##name(struct shim_call *call)       \
	{                                                            \
		(void)call;                                          \
		limits_queried[limit] = true;                        \
	}                                                            \
	static void leave_set_##name(struct shim_call *call)         \
	{                                                            \
		check_limit(call, limit, (uint32_t)call->args[arg]); \
	}

LIMIT(msg_size, MAX_MSG_SIZE, 1)
LIMIT(recv_queue, MAX_RECV_QUEUE, 1)
LIMIT(send_tasks, MAX_SEND_TASKS, 3)
LIMIT(dma_tasks, MAX_DMA_TASKS, 3)

/* ---- lists ---- */

#define MAX_ENTRIES 64

struct entry {
	const void *handle;
	char name[PCIE_IBDEV_SIZE];
};

/* Here, all lists of devices share their entries, which stay; those of representors are freed with their list. */
static struct {
	pthread_mutex_t lock;
	uint32_t num_dev_lists;
	struct check_stack dev_list_stack, rep_list_stack; /* of the last destruction */
	uint32_t num_owned, num_stale;
	struct entry owned[MAX_ENTRIES]; /* entries of devices (doca_dev_as_devinfo()) */
	struct entry stale[MAX_ENTRIES]; /* the last entries of lists of representors that were destroyed */
} lists = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct entry *find(const struct entry entries[MAX_ENTRIES], const void *handle)
{
	for (int i = 0; i < MAX_ENTRIES; i++)
		if (handle && entries[i].handle == handle)
			return &entries[i];
	return NULL;
}

static void leave_create_list(struct shim_call *call)
{
	pthread_mutex_lock(&lists.lock);
	lists.num_dev_lists += check_result(call) == DOCA_SUCCESS;
	pthread_mutex_unlock(&lists.lock);
}

static void leave_destroy_list(struct shim_call *call)
{
	if (check_result(call) != DOCA_SUCCESS)
		return;
	pthread_mutex_lock(&lists.lock);
	lists.num_dev_lists -= lists.num_dev_lists > 0;
	check_stack_take(call->caller, &lists.dev_list_stack);
	pthread_mutex_unlock(&lists.lock);
}

static void leave_as_devinfo(struct shim_call *call)
{
	const void *handle = (const void *)(uintptr_t)call->result;

	pthread_mutex_lock(&lists.lock);
	if (!find(lists.owned, handle))
		lists.owned[lists.num_owned++ % MAX_ENTRIES].handle = handle;
	pthread_mutex_unlock(&lists.lock);
}

/* The list is read before it is gone; one whose destruction fails is harmless, as its entries can be opened. */
static void enter_destroy_rep_list(struct shim_call *call)
{
	struct doca_devinfo_rep **list = check_arg(call, 0);

	if (!list || !list[0] || !shim_handle_is(list[0], SHIM_DEVINFO_REP))
		return;
	pthread_mutex_lock(&lists.lock);
	check_stack_take(call->caller, &lists.rep_list_stack);
	for (; *list; list++) {
		struct entry *entry = &lists.stale[lists.num_stale++ % MAX_ENTRIES];

		entry->handle = *list;
		memcpy(entry->name, (*list)->function->ibdev, sizeof(entry->name));
	}
	pthread_mutex_unlock(&lists.lock);
}

static void report_stale(const struct shim_call *call, const char *name, const struct check_stack *destroyed)
{
	struct check_hit *hit = check_hit_begin(BFC_DEVICE_INFO_STALE, call, "%s: the list that had %s was destroyed",
						check_call_name(call), name);

	check_hit_add_party(hit, 0, destroyed, "the list was destroyed");
	check_hit_end(hit);
}

static void leave_open(struct shim_call *call)
{
	const struct doca_devinfo *devinfo = check_arg(call, 0);
	struct check_stack destroyed;
	bool is_stale;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	pthread_mutex_lock(&lists.lock);
	is_stale = lists.num_dev_lists == 0 && lists.dev_list_stack.num_frames > 0 && !find(lists.owned, devinfo);
	destroyed = lists.dev_list_stack;
	pthread_mutex_unlock(&lists.lock);
	if (is_stale)
		report_stale(call, devinfo->function->ibdev, &destroyed);
}

/* A later list may have the address: then the open succeeds. */
static void leave_open_rep(struct shim_call *call)
{
	const struct entry *entry;
	struct check_stack destroyed;
	struct entry found;

	if (doca_likely(check_result(call) != DOCA_ERROR_INVALID_VALUE))
		return;
	pthread_mutex_lock(&lists.lock);
	entry = find(lists.stale, check_arg(call, 0));
	found = entry ? *entry : (struct entry){ .handle = NULL };
	destroyed = lists.rep_list_stack;
	pthread_mutex_unlock(&lists.lock);
	if (found.handle)
		report_stale(call, found.name, &destroyed);
}

/* ---- close ---- */

static void leave_close(struct shim_call *call)
{
	const struct doca_dev *dev = check_arg(call, 0);
	struct check_hit *hit;

	if (doca_likely(check_result(call) != DOCA_ERROR_IN_USE))
		return;
	hit = check_hit_begin(BFC_DEVICE_CLOSED_IN_USE, call,
			      "doca_dev_close: %u memory maps, contexts or representors still use %s", dev->users,
			      shim_dev_function(dev)->ibdev);
	check_hit_add_object(hit, "device", dev, shim_dev_function(dev)->ibdev);
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_dma_cap_task_memcpy_is_supported, NULL, leave_query_dma },
	{ SHIM_FN_doca_ctx_start, NULL, leave_start },
	{ SHIM_FN_doca_comch_cap_get_max_msg_size, NULL, leave_query_msg_size },
	{ SHIM_FN_doca_comch_server_set_max_msg_size, NULL, leave_set_msg_size },
	{ SHIM_FN_doca_comch_client_set_max_msg_size, NULL, leave_set_msg_size },
	{ SHIM_FN_doca_comch_cap_get_max_recv_queue_size, NULL, leave_query_recv_queue },
	{ SHIM_FN_doca_comch_server_set_recv_queue_size, NULL, leave_set_recv_queue },
	{ SHIM_FN_doca_comch_client_set_recv_queue_size, NULL, leave_set_recv_queue },
	{ SHIM_FN_doca_comch_cap_get_max_send_tasks, NULL, leave_query_send_tasks },
	{ SHIM_FN_doca_comch_server_task_send_set_conf, NULL, leave_set_send_tasks },
	{ SHIM_FN_doca_comch_client_task_send_set_conf, NULL, leave_set_send_tasks },
	{ SHIM_FN_doca_dma_cap_get_max_num_tasks, NULL, leave_query_dma_tasks },
	{ SHIM_FN_doca_dma_task_memcpy_set_conf, NULL, leave_set_dma_tasks },
	{ SHIM_FN_doca_devinfo_create_list, NULL, leave_create_list },
	{ SHIM_FN_doca_devinfo_destroy_list, NULL, leave_destroy_list },
	{ SHIM_FN_doca_dev_as_devinfo, NULL, leave_as_devinfo },
	{ SHIM_FN_doca_devinfo_rep_destroy_list, enter_destroy_rep_list, NULL },
	{ SHIM_FN_doca_dev_open, NULL, leave_open },
	{ SHIM_FN_doca_dev_rep_open, NULL, leave_open_rep },
	{ SHIM_FN_doca_dev_close, NULL, leave_close },
};

const struct check_part check_dev_use = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.lock = &lists.lock,
};
