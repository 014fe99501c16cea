/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about tasks that a program has: what it may ask of them, and when it may free them. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "shim/check/history/ctx_history.h"
#include "pe_rules.h"
#include "shim/check/accel/task_rules.h"
#include "shim/check/report/hit.h"
#include "shim/common/pe/task_priv.h"
#include "shim/check/base/thread.h"

/* Tasks that failed, while the program has not asked for their status. Beyond this number they are not followed. */
#define MAX_UNREAD 32

struct unread {
	const struct doca_task *task;
	doca_error_t status;
	const void *reported_in; /* the caller of doca_pe_progress() */
};

_Atomic uint32_t check_num_unread;

static struct {
	pthread_mutex_t lock;
	struct unread tasks[MAX_UNREAD];
} unread = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add_unread(const struct doca_task *task, doca_error_t status)
{
	const struct shim_call *call = check_watched_call();
	struct check_stack stack = check_stack_of(call ? call->caller : NULL);

	if (!call)
		check_stack_take_unwatched(&stack);
	pthread_mutex_lock(&unread.lock);
	if (check_num_unread < MAX_UNREAD)
		unread.tasks[check_num_unread++] = (struct unread){
			.task = task, .status = status, .reported_in = stack.num_frames ? stack.frames[0] : NULL
		};
	pthread_mutex_unlock(&unread.lock);
}

/* Returns whether the task was in the list; takes it out. */
static bool take_unread(const struct doca_task *task, struct unread *ret_unread)
{
	uint32_t i = 0;
	bool found;

	if (doca_likely(atomic_load_explicit(&check_num_unread, memory_order_relaxed) == 0))
		return false;
	pthread_mutex_lock(&unread.lock);
	while (i < check_num_unread && unread.tasks[i].task != task)
		i++;
	found = i < check_num_unread;
	if (found) {
		*ret_unread = unread.tasks[i];
		unread.tasks[i] = unread.tasks[--check_num_unread];
	}
	pthread_mutex_unlock(&unread.lock);
	return found;
}

/* A stop completes tasks with an error, too: programs need not ask for the status of each. */
static void task_failed(struct doca_task *task, doca_error_t status)
{
	if (!check_task_was_flushed(task) && !task->hook)
		add_unread(task, status);
}

static void report_unread(const struct shim_call *call, const struct doca_task *task, const struct unread *failed)
{
	struct check_stack stack = check_stack_of(failed->reported_in);
	bool ignores_tag = check_tag_is_ignored(task);
	struct check_hit *hit = check_hit_begin(
		ignores_tag ? BFC_TAG_NOT_CHECKED : BFC_STATUS_NOT_READ, call,
		"%s: %s task %p failed with %s, but the program did not ask for its status%s", check_call_name(call),
		task->pool->type->name, (const void *)task, doca_error_get_name(failed->status),
		ignores_tag ? ", and completion and error callback are one function" : "");

	if (failed->reported_in)
		check_hit_add_party(hit, 0, &stack, "the failure was reported here");
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void enter_get_status(struct shim_call *call)
{
	struct unread failed;

	take_unread(check_arg(call, 0), &failed);
}

void check_unread_status(const struct shim_call *call, const struct doca_task *task)
{
	struct unread failed;

	if (take_unread(task, &failed))
		report_unread(call, task, &failed);
}

static void report_freed(const struct shim_call *call, const struct doca_task *task)
{
	struct check_hit *hit =
		check_hit_begin(BFC_FREE_IN_FLIGHT, call, "doca_task_free: %s task %p is still in flight",
				task->pool->type->name, (const void *)task);

	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void enter_free(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);

	if (shim_object_is(task, SHIM_TASK) && task->in_flight && !task->freed)
		report_freed(call, task);
}

/* A function that returns what a task received. */
static void enter_get_result(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);
	struct check_hit *hit;

	if (!shim_object_is(task, SHIM_TASK) || (!task->in_flight && task->status == DOCA_SUCCESS))
		return;
	hit = check_hit_begin(BFC_RESULT_NOT_READY, call, "%s: %s task %p %s%s", check_call_name(call),
			      task->pool->type->name, (const void *)task,
			      task->in_flight ? "is still in flight" : "failed with ",
			      task->in_flight ? "" : doca_error_get_name(task->status));
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void forked(void)
{
	check_num_unread = 0;
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_get_status, enter_get_status, NULL },
	{ SHIM_FN_doca_task_free, enter_free, NULL },
	{ SHIM_FN_doca_comch_consumer_task_post_recv_get_imm_data, enter_get_result, NULL },
	{ SHIM_FN_doca_comch_consumer_task_post_recv_get_imm_data_len, enter_get_result, NULL },
	{ SHIM_FN_doca_comch_consumer_task_post_recv_get_producer_id, enter_get_result, NULL },
	{ SHIM_FN_doca_cc_consumer_task_post_recv_get_producer_id, enter_get_result, NULL },
	{ SHIM_FN_doca_rdma_task_receive_get_result_opcode, enter_get_result, NULL },
	{ SHIM_FN_doca_rdma_task_receive_get_result_len, enter_get_result, NULL },
	{ SHIM_FN_doca_rdma_task_receive_get_result_immediate_data, enter_get_result, NULL },
	{ SHIM_FN_doca_rdma_task_receive_get_result_rdma_connection, enter_get_result, NULL },
	{ SHIM_FN_doca_rdma_task_read_get_result_len, enter_get_result, NULL },
	{ SHIM_FN_doca_rdma_task_remote_net_sync_event_get_get_result_len, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_compress_deflate_get_crc_cs, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_compress_deflate_get_adler_cs, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_decompress_deflate_get_crc_cs, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_decompress_deflate_get_adler_cs, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_decompress_lz4_stream_get_crc_cs, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_decompress_lz4_stream_get_xxh_cs, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_decompress_lz4_block_get_crc_cs, enter_get_result, NULL },
	{ SHIM_FN_doca_compress_task_decompress_lz4_block_get_xxh_cs, enter_get_result, NULL },
};

const struct check_part check_task_use = {
	CHECK_WATCHES(watches), .mode = SIM_CHECK_API, .task_failed = task_failed,
	.lock = &unread.lock,   .forked = forked,
};
