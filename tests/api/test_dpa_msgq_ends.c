/* SPDX-License-Identifier: BSD-3-Clause */
/* What MsgQs, their ends on the DPA and completion contexts need before they start, and what they refuse. */
#include "dpa_msgq_util.h"

#define LARGEST_POWER (UINT32_C(1) << 31)

static struct doca_dev *dev;

/* ---- MsgQs ---- */

static struct doca_comch_msgq *made;
static struct doca_comch_producer *made_producer;

static doca_error_t start_made(void)
{
	return doca_comch_msgq_start(made);
}

static doca_error_t make_producer(void)
{
	return doca_comch_msgq_producer_create(made, &made_producer);
}

static void test_start_and_ends_without_memory_fail(void **state)
{
	api_need_allocator(); /* before anything is made, as a test that is skipped undoes nothing */
	assert_ok(doca_comch_msgq_create(dev, &made));
	assert_ok(doca_comch_msgq_set_dpa_producer(made, *state));
	api_fail_each_allocation(start_made, NULL);
	api_fail_each_allocation(make_producer, NULL);
	assert_ok(doca_comch_producer_destroy(made_producer));
	assert_ok(doca_comch_msgq_stop(made));
	assert_ok(doca_comch_msgq_destroy(made));
}

static void test_dpa_is_one_of_the_msgqs_card(void **state)
{
	struct doca_dev *other = api_open("04:00.0");
	struct doca_comch_msgq *msgq;

	assert_ok(doca_comch_msgq_create(other, &msgq));
	assert_ok(doca_comch_msgq_set_dpa_consumer(msgq, *state));
	assert_doca(doca_comch_msgq_start(msgq), DOCA_ERROR_DRIVER);
	assert_ok(doca_comch_msgq_destroy(msgq));
	assert_ok(doca_dev_close(other));
}

/* ---- completion contexts ---- */

static struct doca_dpa_thread *new_thread(struct doca_dpa *dpa, doca_dpa_func_t *kernel)
{
	struct doca_dpa_thread *thread;

	assert_ok(doca_dpa_thread_create(dpa, &thread));
	assert_ok(doca_dpa_thread_set_func_arg(thread, kernel, 0));
	return thread;
}

/* It is not started. */
static struct doca_comch_consumer_completion *new_taken(struct doca_dpa_thread *thread, uint32_t num_receives)
{
	struct doca_comch_consumer_completion *taken;

	assert_ok(doca_comch_consumer_completion_create(&taken));
	assert_ok(doca_comch_consumer_completion_set_dpa_thread(taken, thread));
	assert_ok(doca_comch_consumer_completion_set_max_num_recv(taken, num_receives));
	assert_ok(doca_comch_consumer_completion_set_imm_data_len(taken, MSGQ_IMM_BYTES));
	return taken;
}

static void test_completion_context_needs_receives(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_comch_consumer_completion *taken;

	assert_ok(doca_comch_consumer_completion_create(&taken));
	assert_ok(doca_comch_consumer_completion_set_dpa_thread(taken, rig->thread));
	assert_doca(doca_comch_consumer_completion_start(taken), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_completion_destroy(taken));
}

static void test_completion_context_needs_a_started_thread(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_dpa_thread *thread = new_thread(rig->dpa, echo);
	struct doca_comch_consumer_completion *taken = new_taken(thread, 1);

	assert_doca(doca_comch_consumer_completion_start(taken), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_comch_consumer_completion_start(taken));
	assert_ok(doca_comch_consumer_completion_destroy(taken));
	assert_ok(doca_dpa_thread_destroy(thread));
}

/* The limit is one of all its consumers together. */
static void test_completion_context_has_up_to_a_million_receives(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_comch_consumer_completion *taken = new_taken(rig->thread, UINT32_C(1) << 20);

	assert_ok(doca_comch_consumer_completion_start(taken));
	assert_ok(doca_comch_consumer_completion_stop(taken));
	assert_ok(doca_comch_consumer_completion_set_max_num_consumers(taken, 2));
	assert_doca(doca_comch_consumer_completion_start(taken), DOCA_ERROR_DRIVER);
	assert_ok(doca_comch_consumer_completion_destroy(taken));
}

static void test_completion_context_is_configured_while_it_is_stopped(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_comch_consumer_completion *taken = new_taken(rig->thread, 1);
	doca_dpa_dev_comch_consumer_completion_t handle;

	assert_ok(doca_comch_consumer_completion_start(taken));
	assert_ok(doca_comch_consumer_completion_get_dpa_handle(taken, &handle));
	assert_doca(doca_comch_consumer_completion_set_dpa_thread(taken, rig->thread), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_consumer_completion_set_max_num_recv(taken, 2), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_comch_consumer_completion_set_max_num_consumers(taken, 2), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_completion_stop(taken));
	assert_doca(doca_comch_consumer_completion_get_dpa_handle(taken, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_completion_set_dpa_thread(taken, rig->thread));
	assert_ok(doca_comch_consumer_completion_set_max_num_recv(taken, 2));
	assert_ok(doca_comch_consumer_completion_set_max_num_consumers(taken, 2));
	assert_ok(doca_comch_consumer_completion_start(taken));
	assert_ok(doca_comch_consumer_completion_get_dpa_handle(taken, &handle));
	assert_ok(doca_comch_consumer_completion_destroy(taken));
}

/* ---- ends ---- */

static struct doca_comch_msgq *new_msgq_to(struct doca_dpa *dpa)
{
	struct doca_comch_msgq *msgq;

	assert_ok(doca_comch_msgq_create(dev, &msgq));
	assert_ok(doca_comch_msgq_set_dpa_consumer(msgq, dpa));
	assert_ok(doca_comch_msgq_start(msgq));
	return msgq;
}

/* It lacks its number of receives. */
static struct doca_comch_consumer *new_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa,
						struct doca_comch_consumer_completion *taken)
{
	struct doca_comch_consumer *consumer;

	assert_ok(doca_comch_msgq_consumer_create(msgq, &consumer));
	assert_ok(doca_comch_consumer_set_imm_data_len(consumer, MSGQ_IMM_BYTES));
	assert_ok(doca_comch_consumer_set_completion(consumer, taken, 0));
	assert_ok(doca_ctx_set_datapath_on_dpa(doca_comch_consumer_as_ctx(consumer), dpa));
	return consumer;
}

static void expect_start(struct doca_ctx *ctx, doca_error_t result)
{
	assert_doca(doca_ctx_start(ctx), result);
	if (result == DOCA_SUCCESS)
		assert_ok(doca_ctx_stop(ctx));
}

static void test_consumer_starts_when_it_is_complete(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_comch_consumer_completion *taken = new_taken(rig->thread, MSGQ_DEPTH);
	struct doca_comch_msgq *msgq = new_msgq_to(rig->dpa);
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;

	assert_ok(doca_comch_msgq_consumer_create(msgq, &consumer));
	ctx = doca_comch_consumer_as_ctx(consumer);
	expect_start(ctx, DOCA_ERROR_NOT_CONNECTED); /* no progress engine: its data path is not on the DPA */
	assert_ok(doca_ctx_set_datapath_on_dpa(ctx, rig->dpa));
	assert_ok(doca_comch_consumer_set_imm_data_len(consumer, MSGQ_IMM_BYTES));
	assert_ok(doca_comch_consumer_set_dev_max_num_recv(consumer, MSGQ_DEPTH));
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_set_completion(consumer, taken, 1));
	expect_start(ctx, DOCA_ERROR_BAD_STATE); /* it is not started */
	assert_ok(doca_comch_consumer_completion_start(taken));
	expect_start(ctx, DOCA_SUCCESS);
	assert_ok(doca_comch_consumer_set_imm_data_len(consumer, MSGQ_IMM_BYTES + 1));
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_destroy(consumer));
	consumer = new_consumer(msgq, rig->dpa, taken);
	expect_start(doca_comch_consumer_as_ctx(consumer), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_destroy(consumer));
	assert_ok(doca_comch_consumer_completion_destroy(taken));
	assert_ok(doca_comch_msgq_stop(msgq));
	assert_ok(doca_comch_msgq_destroy(msgq));
}

static void test_completion_context_has_as_many_consumers_as_configured(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_comch_msgq *msgq = new_msgq_to(rig->dpa);
	struct doca_comch_consumer *consumer = new_consumer(msgq, rig->dpa, rig->taken);

	assert_ok(doca_comch_consumer_set_dev_max_num_recv(consumer, MSGQ_DEPTH));
	expect_start(doca_comch_consumer_as_ctx(consumer), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_destroy(consumer));
	assert_ok(doca_comch_msgq_stop(msgq));
	assert_ok(doca_comch_msgq_destroy(msgq));
}

static void test_producer_starts_when_it_is_complete(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_comch_producer *producer;
	struct doca_dpa_completion *sent;
	struct doca_ctx *ctx;

	assert_ok(doca_dpa_completion_create(rig->dpa, MSGQ_DEPTH, &sent));
	assert_ok(doca_comch_msgq_producer_create(rig->from_dpa, &producer));
	ctx = doca_comch_producer_as_ctx(producer);
	expect_start(ctx, DOCA_ERROR_NOT_CONNECTED); /* no progress engine: its data path is not on the DPA */
	assert_ok(doca_ctx_set_datapath_on_dpa(ctx, rig->dpa));
	assert_ok(doca_comch_producer_set_dev_max_num_send(producer, 3));
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_producer_dpa_completion_attach(producer, sent));
	expect_start(ctx, DOCA_ERROR_BAD_STATE); /* it is not started */
	assert_ok(doca_dpa_completion_start(sent));
	expect_start(ctx, DOCA_SUCCESS);
	assert_ok(doca_comch_producer_destroy(producer));
	assert_ok(doca_comch_msgq_producer_create(rig->from_dpa, &producer));
	ctx = doca_comch_producer_as_ctx(producer);
	assert_ok(doca_ctx_set_datapath_on_dpa(ctx, rig->dpa));
	assert_ok(doca_comch_producer_dpa_completion_attach(producer, sent));
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_producer_destroy(producer));
	assert_ok(doca_dpa_completion_destroy(sent));
}

/* All of an end is of one DPA context, its MsgQ's. */
static void test_consumer_takes_nothing_of_another_dpa_context(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_dpa *other = dpa_open();
	struct doca_dpa_thread *thread = new_thread(other, run_thread);
	struct doca_comch_consumer_completion *of_other = new_taken(thread, MSGQ_DEPTH);
	struct doca_comch_msgq *msgq = new_msgq_to(rig->dpa);
	struct doca_comch_consumer *consumer = new_consumer(msgq, rig->dpa, of_other);
	struct doca_ctx *ctx = doca_comch_consumer_as_ctx(consumer);

	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_comch_consumer_completion_start(of_other));
	assert_ok(doca_comch_consumer_set_dev_max_num_recv(consumer, MSGQ_DEPTH));
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_set_datapath_on_dpa(ctx, other));
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_destroy(consumer));
	assert_ok(doca_comch_msgq_stop(msgq));
	assert_ok(doca_comch_msgq_destroy(msgq));
	assert_ok(doca_comch_consumer_completion_destroy(of_other));
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_ok(doca_dpa_destroy(other));
}

static void test_producer_takes_nothing_of_another_dpa_context(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_dpa *other = dpa_open();
	struct doca_dpa_completion *of_other;
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;

	assert_ok(doca_dpa_completion_create(other, MSGQ_DEPTH, &of_other));
	assert_ok(doca_dpa_completion_start(of_other));
	producer = msgq_new_dpa_producer(rig, of_other);
	ctx = doca_comch_producer_as_ctx(producer);
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_set_datapath_on_dpa(ctx, other));
	expect_start(ctx, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_producer_destroy(producer));
	assert_ok(doca_dpa_completion_destroy(of_other));
	assert_ok(doca_dpa_destroy(other));
}

static void test_numbers_of_receives_and_sends_have_limits(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_ctx *consumer = doca_comch_consumer_as_ctx(rig->dpa_consumer);
	struct doca_ctx *producer = doca_comch_producer_as_ctx(rig->dpa_producer);

	msgq_stop(rig, consumer);
	msgq_stop(rig, producer);
	assert_invalid(doca_comch_consumer_set_dev_max_num_recv(rig->dpa_consumer, 0));
	assert_invalid(doca_comch_producer_set_dev_max_num_send(rig->dpa_producer, 0));
	assert_invalid(doca_comch_consumer_set_dev_max_num_recv(rig->dpa_consumer, LARGEST_POWER + 1));
	assert_invalid(doca_comch_producer_set_dev_max_num_send(rig->dpa_producer, LARGEST_POWER + 1));
	assert_ok(doca_comch_consumer_set_dev_max_num_recv(rig->dpa_consumer, LARGEST_POWER));
	assert_ok(doca_comch_producer_set_dev_max_num_send(rig->dpa_producer, LARGEST_POWER));
	assert_ok(doca_comch_consumer_set_dev_max_num_recv(rig->dpa_consumer, MSGQ_DEPTH));
	assert_ok(doca_comch_producer_set_dev_max_num_send(rig->dpa_producer, MSGQ_DEPTH));
	assert_ok(doca_ctx_start(consumer));
	assert_ok(doca_ctx_start(producer));
}

#define WITH_DPA(test) cmocka_unit_test_setup_teardown(test, dpa_setup, dpa_teardown)
#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, msgq_setup, msgq_teardown)

static const struct CMUnitTest tests[] = {
	WITH_DPA(test_start_and_ends_without_memory_fail), /* first: objects come from pools */
	WITH_RIG(test_completion_context_needs_receives),
	WITH_RIG(test_completion_context_needs_a_started_thread),
	WITH_RIG(test_completion_context_has_up_to_a_million_receives),
	WITH_RIG(test_completion_context_is_configured_while_it_is_stopped),
	WITH_RIG(test_consumer_starts_when_it_is_complete),
	WITH_RIG(test_completion_context_has_as_many_consumers_as_configured),
	WITH_RIG(test_producer_starts_when_it_is_complete),
	WITH_RIG(test_consumer_takes_nothing_of_another_dpa_context),
	WITH_RIG(test_producer_takes_nothing_of_another_dpa_context),
	WITH_RIG(test_numbers_of_receives_and_sends_have_limits),
};

static const struct CMUnitTest with_two_cards[] = { WITH_DPA(test_dpa_is_one_of_the_msgqs_card) };

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(tests) },
		       { .name = "two cards",
			 .topology = "cards:\n"
				     "- profile: bluefield-3\n"
				     "  functions: [{side: host, type: pf, pci: \"03:00.0\"}]\n"
				     "- profile: bluefield-3\n"
				     "  functions: [{side: host, type: pf, pci: \"04:00.0\"}]\n",
			 .side = "host",
			 .dev = &dev,
			 API_WITH(with_two_cards) });
}
