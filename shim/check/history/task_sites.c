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

/* A library's task begins with the doca_task. The task is the last parameter. */
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

static void leave_2(struct shim_call *call)
{
	remember(call, 2);
}

static void leave_3(struct shim_call *call)
{
	remember(call, 3);
}

static void leave_4(struct shim_call *call)
{
	remember(call, 4);
}

static void leave_5(struct shim_call *call)
{
	remember(call, 5);
}

static void leave_6(struct shim_call *call)
{
	remember(call, 6);
}

static void leave_9(struct shim_call *call)
{
	remember(call, 9);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_free, enter_free, NULL },
	{ SHIM_FN_doca_dma_task_memcpy_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_sha_task_hash_alloc_init, NULL, leave_5 },
	{ SHIM_FN_doca_sha_task_partial_hash_alloc_init, NULL, leave_5 },
	{ SHIM_FN_doca_compress_task_compress_deflate_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_compress_task_decompress_deflate_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_compress_task_decompress_lz4_block_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_compress_task_decompress_lz4_stream_alloc_init, NULL, leave_6 },
	{ SHIM_FN_doca_aes_gcm_task_encrypt_alloc_init, NULL, leave_9 },
	{ SHIM_FN_doca_aes_gcm_task_decrypt_alloc_init, NULL, leave_9 },
	{ SHIM_FN_doca_ec_task_galois_mul_allocate_init, NULL, leave_5 },
	{ SHIM_FN_doca_ec_task_create_allocate_init, NULL, leave_5 },
	{ SHIM_FN_doca_ec_task_update_allocate_init, NULL, leave_5 },
	{ SHIM_FN_doca_ec_task_recover_allocate_init, NULL, leave_5 },
	{ SHIM_FN_doca_comch_client_task_send_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_comch_server_task_send_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_comch_consumer_task_post_recv_alloc_init, NULL, leave_2 },
	{ SHIM_FN_doca_comch_producer_task_send_alloc_init, NULL, leave_5 },
	{ SHIM_FN_doca_sync_event_task_get_alloc_init, NULL, leave_3 },
	{ SHIM_FN_doca_sync_event_task_notify_set_alloc_init, NULL, leave_3 },
	{ SHIM_FN_doca_sync_event_task_notify_add_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_sync_event_task_wait_eq_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_sync_event_task_wait_gt_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_sync_event_task_wait_neq_alloc_init, NULL, leave_4 },
	{ SHIM_FN_doca_mmap_advise_task_invalidate_cache_alloc_init, NULL, leave_3 },
};

const struct check_part check_task_sites = {
	.watches = watches,
	.num_watches = sizeof(watches) / sizeof(watches[0]),
	.mode = SIM_CHECK_API,
};
