/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig of tests of MsgQs. */
#include "dpa_msgq_util.h"

#include <doca_pe.h>
#include <string.h>

/* Written by dpacc. */
extern struct doca_dpa_app *dpa_msgq_app;

/* ---- callbacks ---- */

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx_data)
{
	((struct msgq_rig *)ctx_data.ptr)->num_sent++;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void on_send_error(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx_data)
{
	((struct msgq_rig *)ctx_data.ptr)->num_send_errors++;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

void msgq_on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data data, union doca_data ctx_data)
{
	struct msgq_rig *rig = ctx_data.ptr;

	rig->last_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	rig->lens[rig->num_received++ % 16] = rig->last_len;
	rig->last_producer = doca_comch_consumer_task_post_recv_get_producer_id(task);
	memcpy(rig->last, doca_comch_consumer_task_post_recv_get_imm_data(task), rig->last_len);
	if (rig->reposts)
		assert_ok(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	else
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

void msgq_on_receive_error(struct doca_comch_consumer_task_post_recv *task, union doca_data data,
			   union doca_data ctx_data)
{
	((struct msgq_rig *)ctx_data.ptr)->num_receive_errors++;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

/* ---- the rig ---- */

static void connect(struct msgq_rig *rig, struct doca_ctx *ctx)
{
	assert_ok(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = rig }));
	assert_ok(doca_pe_connect_ctx(rig->pe, ctx));
	assert_ok(doca_ctx_start(ctx));
}

static void open_to_dpa(struct msgq_rig *rig)
{
	struct doca_ctx *ctx;

	assert_ok(doca_comch_msgq_create(api_dev(), &rig->to_dpa));
	assert_ok(doca_comch_msgq_set_max_num_consumers(rig->to_dpa, 1));
	assert_ok(doca_comch_msgq_set_max_num_producers(rig->to_dpa, 1));
	assert_ok(doca_comch_msgq_set_dpa_consumer(rig->to_dpa, rig->dpa));
	assert_ok(doca_comch_msgq_start(rig->to_dpa));
	assert_ok(doca_comch_msgq_consumer_create(rig->to_dpa, &rig->dpa_consumer));
	assert_ok(doca_comch_consumer_set_imm_data_len(rig->dpa_consumer, MSGQ_IMM_BYTES));
	assert_ok(doca_comch_consumer_set_completion(rig->dpa_consumer, rig->taken, 0));
	assert_ok(doca_comch_consumer_set_dev_max_num_recv(rig->dpa_consumer, MSGQ_DEPTH));
	ctx = doca_comch_consumer_as_ctx(rig->dpa_consumer);
	assert_ok(doca_ctx_set_datapath_on_dpa(ctx, rig->dpa));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_comch_consumer_get_dpa_handle(rig->dpa_consumer, &rig->handles.consumer));
	assert_ok(doca_comch_msgq_producer_create(rig->to_dpa, &rig->cpu_producer));
	assert_ok(doca_comch_producer_task_send_set_conf(rig->cpu_producer, on_sent, on_send_error, 2 * MSGQ_DEPTH));
	connect(rig, doca_comch_producer_as_ctx(rig->cpu_producer));
}

struct doca_comch_producer *msgq_new_dpa_producer(struct msgq_rig *rig, struct doca_dpa_completion *sent)
{
	struct doca_comch_producer *producer;

	assert_ok(doca_comch_msgq_producer_create(rig->from_dpa, &producer));
	assert_ok(doca_comch_producer_set_dev_max_num_send(producer, MSGQ_DEPTH));
	assert_ok(doca_comch_producer_dpa_completion_attach(producer, sent));
	assert_ok(doca_ctx_set_datapath_on_dpa(doca_comch_producer_as_ctx(producer), rig->dpa));
	return producer;
}

static void open_from_dpa(struct msgq_rig *rig)
{
	struct doca_ctx *ctx;

	assert_ok(doca_comch_msgq_create(api_dev(), &rig->from_dpa));
	assert_ok(doca_comch_msgq_set_dpa_producer(rig->from_dpa, rig->dpa));
	assert_ok(doca_comch_msgq_start(rig->from_dpa));
	assert_ok(doca_comch_msgq_consumer_create(rig->from_dpa, &rig->cpu_consumer));
	assert_ok(doca_comch_consumer_set_imm_data_len(rig->cpu_consumer, MSGQ_IMM_BYTES));
	assert_ok(doca_comch_consumer_task_post_recv_set_conf(rig->cpu_consumer, msgq_on_received,
							      msgq_on_receive_error, 2 * MSGQ_DEPTH));
	connect(rig, doca_comch_consumer_as_ctx(rig->cpu_consumer));
	assert_ok(doca_comch_consumer_get_id(rig->cpu_consumer, &rig->handles.consumer_id));
	rig->dpa_producer = msgq_new_dpa_producer(rig, rig->sent);
	ctx = doca_comch_producer_as_ctx(rig->dpa_producer);
	assert_ok(doca_ctx_set_user_data(ctx, (union doca_data){ .u64 = 0x123456 }));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_comch_producer_get_dpa_handle(rig->dpa_producer, &rig->handles.producer));
}

static void open_completions(struct msgq_rig *rig)
{
	assert_ok(doca_comch_consumer_completion_create(&rig->taken));
	assert_ok(doca_comch_consumer_completion_set_max_num_recv(rig->taken, MSGQ_DEPTH));
	assert_ok(doca_comch_consumer_completion_set_imm_data_len(rig->taken, MSGQ_IMM_BYTES));
	assert_ok(doca_comch_consumer_completion_set_dpa_thread(rig->taken, rig->thread));
	assert_ok(doca_comch_consumer_completion_start(rig->taken));
	assert_ok(doca_comch_consumer_completion_get_dpa_handle(rig->taken, &rig->handles.consumer_completion));
	assert_ok(doca_dpa_completion_create(rig->dpa, 2 * MSGQ_DEPTH, &rig->sent));
	assert_ok(doca_dpa_completion_start(rig->sent));
	assert_ok(doca_dpa_completion_get_dpa_handle(rig->sent, &rig->handles.producer_completion));
}

int msgq_setup(void **state)
{
	struct msgq_rig *rig = test_calloc(1, sizeof(*rig));

	assert_ok(doca_dpa_create(api_dev(), &rig->dpa));
	assert_ok(doca_dpa_set_app(rig->dpa, dpa_msgq_app));
	assert_ok(doca_dpa_start(rig->dpa));
	assert_ok(doca_pe_create(&rig->pe));
	assert_ok(doca_dpa_mem_alloc(rig->dpa, sizeof(rig->handles), &rig->args));
	assert_ok(doca_dpa_thread_create(rig->dpa, &rig->thread));
	assert_ok(doca_dpa_thread_set_func_arg(rig->thread, echo, rig->args));
	assert_ok(doca_dpa_thread_start(rig->thread));
	open_completions(rig);
	open_to_dpa(rig);
	open_from_dpa(rig);
	*state = rig;
	return 0;
}

void msgq_stop(struct msgq_rig *rig, struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_stop(ctx);
	enum doca_ctx_states ctx_state = DOCA_CTX_STATE_STOPPING;

	if (result == DOCA_ERROR_IN_PROGRESS)
		while (ctx_state != DOCA_CTX_STATE_IDLE) {
			doca_pe_progress(rig->pe);
			assert_ok(doca_ctx_get_state(ctx, &ctx_state));
		}
	else
		assert_ok(result);
}

int msgq_teardown(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_stop(rig, doca_comch_producer_as_ctx(rig->cpu_producer));
	msgq_stop(rig, doca_comch_producer_as_ctx(rig->dpa_producer));
	msgq_stop(rig, doca_comch_consumer_as_ctx(rig->cpu_consumer));
	msgq_stop(rig, doca_comch_consumer_as_ctx(rig->dpa_consumer));
	assert_ok(doca_comch_producer_destroy(rig->cpu_producer));
	assert_ok(doca_comch_producer_destroy(rig->dpa_producer));
	assert_ok(doca_comch_consumer_destroy(rig->cpu_consumer));
	assert_ok(doca_comch_consumer_destroy(rig->dpa_consumer));
	assert_ok(doca_comch_msgq_stop(rig->to_dpa));
	assert_ok(doca_comch_msgq_stop(rig->from_dpa));
	assert_ok(doca_comch_msgq_destroy(rig->to_dpa));
	assert_ok(doca_comch_msgq_destroy(rig->from_dpa));
	assert_ok(doca_comch_consumer_completion_destroy(rig->taken));
	assert_ok(doca_dpa_completion_destroy(rig->sent));
	assert_ok(doca_dpa_thread_destroy(rig->thread));
	assert_ok(doca_pe_destroy(rig->pe));
	assert_ok(doca_dpa_destroy(rig->dpa));
	test_free(rig);
	return 0;
}

/* ---- messages ---- */

doca_error_t msgq_try_send(struct msgq_rig *rig, const void *bytes, uint32_t len)
{
	struct doca_comch_producer_task_send *task;
	doca_error_t result;
	uint32_t id;

	assert_ok(doca_comch_consumer_get_id(rig->dpa_consumer, &id));
	assert_ok(doca_comch_producer_task_send_alloc_init(rig->cpu_producer, NULL, (uint8_t *)(uintptr_t)bytes, len,
							   id, &task));
	result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_producer_task_send_as_task(task));
	return result;
}

void msgq_send_byte(struct msgq_rig *rig, uint8_t byte)
{
	assert_ok(msgq_try_send(rig, &byte, 1));
}

void msgq_post(struct msgq_rig *rig, unsigned int num)
{
	struct doca_comch_consumer_task_post_recv *task;

	while (num--) {
		assert_ok(doca_comch_consumer_task_post_recv_alloc_init(rig->cpu_consumer, NULL, &task));
		assert_ok(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
}

void msgq_progress_until(struct msgq_rig *rig, const unsigned int *count, unsigned int value)
{
	while (*count < value)
		doca_pe_progress(rig->pe);
}

struct echo_args msgq_read_args(struct msgq_rig *rig)
{
	struct echo_args args;

	assert_ok(doca_dpa_d2h_memcpy(rig->dpa, &args, rig->args, sizeof(args)));
	return args;
}

void msgq_run_echo(struct msgq_rig *rig)
{
	assert_ok(doca_dpa_h2d_memcpy(rig->dpa, rig->args, &rig->handles, sizeof(rig->handles)));
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, MSGQ_DEPTH);
	assert_ok(doca_dpa_thread_run(rig->thread));
}
