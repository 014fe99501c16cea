/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that one thread at a time calls functions of a memory map. A hit needs two calls that overlap in time: calls
 * that a lock keeps apart never do. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "shim/check/report/hit.h"
#include "shim/check/history/mmap_history.h"

#define MAX_ACTIVE 64 /* calls; more are not watched */

struct active {
	const struct doca_mmap *mmap; /* NULL = none */
	uint32_t function;
	pid_t tid;
	const void *caller;
	bool changes; /* the map; calls that only read it may overlap */
};

static struct {
	pthread_mutex_t lock;
	struct active calls[MAX_ACTIVE];
} active = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With the lock. */
static const struct active *find_other(const struct active *ours)
{
	for (size_t i = 0; i < MAX_ACTIVE; i++) {
		const struct active *other = &active.calls[i];

		if (other->mmap == ours->mmap && other->tid != ours->tid && (other->changes || ours->changes))
			return other;
	}
	return NULL;
}

static void report(const struct shim_call *call, const struct active *other)
{
	const struct check_stack stack = check_stack_of(other->caller);
	struct check_hit *hit =
		check_hit_begin(BFC_MMAP_SHARED_BY_THREADS, call, "%s: another thread is in %s of the same memory map",
				check_call_name(call), shim_function_names[other->function].name);

	check_hit_add_party(hit, other->tid, &stack, "%s of the other thread",
			    shim_function_names[other->function].name);
	check_mmap_add_object(hit, check_arg(call, 0));
	check_hit_end(hit);
}

static void begin_call(struct shim_call *call, bool changes)
{
	const struct active ours = { .mmap = check_arg(call, 0),
				     .function = call->function,
				     .tid = gettid(),
				     .caller = call->caller,
				     .changes = changes };
	const struct active *found;
	struct active other;
	size_t i = 0;

	if (!shim_handle_is(ours.mmap, SHIM_MMAP) || ours.mmap->thread_safe)
		return;
	pthread_mutex_lock(&active.lock);
	found = find_other(&ours);
	if (found)
		other = *found;
	while (i < MAX_ACTIVE && active.calls[i].mmap)
		i++;
	if (i < MAX_ACTIVE)
		active.calls[i] = ours;
	pthread_mutex_unlock(&active.lock);
	if (found)
		report(call, &other);
}

static void enter_change(struct shim_call *call)
{
	begin_call(call, true);
}

static void enter_read(struct shim_call *call)
{
	begin_call(call, false);
}

static void leave(struct shim_call *call)
{
	pid_t tid = gettid();

	pthread_mutex_lock(&active.lock);
	for (size_t i = 0; i < MAX_ACTIVE; i++)
		if (active.calls[i].mmap == check_arg(call, 0) && active.calls[i].tid == tid &&
		    active.calls[i].function == call->function)
			active.calls[i].mmap = NULL;
	pthread_mutex_unlock(&active.lock);
}

/* A call that destroyed a map may not have returned yet when another thread gets a map at its address. */
static void created(struct shim_call *call)
{
	const struct doca_mmap *mmap;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	mmap = *(struct doca_mmap *const *)check_arg(call, call->function == SHIM_FN_doca_mmap_create ? 0 : 4);
	pthread_mutex_lock(&active.lock);
	for (size_t i = 0; i < MAX_ACTIVE; i++)
		if (active.calls[i].mmap == mmap)
			active.calls[i].mmap = NULL;
	pthread_mutex_unlock(&active.lock);
}

/* The calls of the other threads never end in the child. */
static void forked(void)
{
	memset(active.calls, 0, sizeof(active.calls));
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_create, NULL, created },
	{ SHIM_FN_doca_mmap_create_from_export, NULL, created },
	{ SHIM_FN_doca_mmap_add_dev, enter_change, leave },
	{ SHIM_FN_doca_mmap_rm_dev, enter_change, leave },
	{ SHIM_FN_doca_mmap_set_permissions, enter_change, leave },
	{ SHIM_FN_doca_mmap_set_max_num_devices, enter_change, leave },
	{ SHIM_FN_doca_mmap_set_free_cb, enter_change, leave },
	{ SHIM_FN_doca_mmap_set_user_data, enter_change, leave },
	{ SHIM_FN_doca_mmap_set_memrange, enter_change, leave },
	{ SHIM_FN_doca_mmap_set_dmabuf_memrange, enter_change, leave },
	{ SHIM_FN_doca_mmap_start, enter_change, leave },
	{ SHIM_FN_doca_mmap_stop, enter_change, leave },
	{ SHIM_FN_doca_mmap_destroy, enter_change, leave },
	{ SHIM_FN_doca_mmap_export_pci, enter_change, leave },
	{ SHIM_FN_doca_mmap_export_rdma, enter_change, leave },
	{ SHIM_FN_doca_mmap_get_memrange, enter_read, leave },
	{ SHIM_FN_doca_mmap_get_num_bufs, enter_read, leave },
	{ SHIM_FN_doca_mmap_get_exported, enter_read, leave },
	{ SHIM_FN_doca_mmap_get_mkey, enter_read, leave },
};

const struct check_part check_mmap_threads = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.lock = &active.lock,
	.forked = forked,
};
