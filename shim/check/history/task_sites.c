/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers where tasks were allocated and freed, in a table of fixed size. */
#include "task_sites.h"

#include <stdatomic.h>

#include <doca_common_defines.h>

#include "shim/check/base/check.h"
#include "shim/common/pe/task_priv.h"

#define NUM_PLACES 4096 /* a task is at least 64 bytes long */

static struct {
	const void *_Atomic task, *_Atomic caller;
	const void *_Atomic freed_at; /* NULL = it is not */
} __attribute__((aligned(32))) places[NUM_PLACES];

static size_t place_of(const void *task)
{
	return (uintptr_t)task / 64 % NUM_PLACES;
}

const void *check_task_site(const struct doca_task *task)
{
	size_t i = place_of(task);

	return places[i].task == task ? places[i].caller : NULL;
}

/* Memory of tasks is used for slabs alone, also when their context is gone (shim/common/base/slab.h). */
const void *check_task_freed_at(const struct doca_task *task)
{
	size_t i = place_of(task);
	const void *freed_at = places[i].task == task ? places[i].freed_at : NULL;

	return freed_at && (!shim_object_is_still(task, SHIM_TASK) || task->freed) ? freed_at : NULL;
}

/* A library's task begins with the doca_task. */
static inline void remember(const struct shim_call *call, int arg)
{
	const void *task;

	if (doca_unlikely(check_result(call) != DOCA_SUCCESS))
		return;
	task = *(const void *const *)check_arg(call, arg);
	atomic_store_explicit(&places[place_of(task)].task, task, memory_order_relaxed);
	atomic_store_explicit(&places[place_of(task)].caller, call->caller, memory_order_relaxed);
	atomic_store_explicit(&places[place_of(task)].freed_at, NULL, memory_order_relaxed);
}

static void enter_free(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);
	size_t i = place_of(task);

	if (doca_likely(shim_object_is(task, SHIM_TASK) && places[i].task == task && !task->freed))
		atomic_store_explicit(&places[i].freed_at, call->caller, memory_order_relaxed);
}

#define ALLOCATED(name, arg)                            \
	static void name##_left(struct shim_call *call) \
	{                                               \
		remember(call, arg);                    \
	}
SHIM_ALLOC_TASK(ALLOCATED)
#undef ALLOCATED

static const struct check_watch watches[] = { { SHIM_FN_doca_task_free, enter_free, NULL },
#define ALLOCATED(name, arg) { SHIM_FN_##name, NULL, name##_left },
					      SHIM_ALLOC_TASK(ALLOCATED)
#undef ALLOCATED
};

const struct check_part check_task_sites = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
