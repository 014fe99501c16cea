/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about contexts, tasks and progress engines. */
#include <bfsim.h>
#include <unistd.h>

#include "cases.h"

static void submit_not_running(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS); /* the task is not freed */
	CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	rig_close(rig);
}

static void submit_while_running(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 1);
	rig_drain(rig);
	rig_close(rig);
}

/* ---- failed tasks ---- */

/* Submit a task that the card fails. */
static void submit_failing(struct rig *rig)
{
	uint32_t id;

	CHECK(bfsim_fault_add("dma.memcpy nth=1 fail=IO_FAILED", &id) == 0);
	rig_submit_small(rig, 7);
}

static void submit_after_failure(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *spare = rig_small_task(rig, 1);

	submit_failing(rig);
	rig_progress_to(rig, DOCA_CTX_STATE_STOPPING);
	for (int i = 0; i < 3; i++)
		CHECK(doca_task_submit(spare) == DOCA_ERROR_BAD_STATE);
	doca_task_free(spare);
	rig_close(rig);
}

static void restart_after_failure(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	submit_failing(rig);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_start(rig);
	rig_submit_small(rig, 1);
	rig_drain(rig);
	rig_close(rig);
}

static void free_without_look(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void status_not_read(void)
{
	struct rig *rig = rig_open(NULL);

	MUST(doca_dma_task_memcpy_set_conf(rig->dma, free_without_look, free_without_look, 4));
	rig_start(rig);
	submit_failing(rig);
	rig_progress_to(rig, DOCA_CTX_STATE_STOPPING);
	rig_close(rig);
}

/* The stop completes the task with an error, of which nobody asks the status. */
static void stop_in_flight(void)
{
	struct rig *rig = rig_open(NULL);

	MUST(doca_dma_task_memcpy_set_conf(rig->dma, free_without_look, free_without_look, 4));
	rig_start(rig);
	MUST(doca_task_submit_ex(rig_small_task(rig, 1), DOCA_TASK_SUBMIT_FLAG_NONE));
	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	rig_close(rig);
}

/* ---- retries ---- */

static void retry_cannot_succeed(void)
{
	struct rig *rig = rig_open(NULL);

	for (int i = 0; i < 200; i++)
		CHECK(doca_dma_task_memcpy_set_conf(rig->dma, free_without_look, free_without_look, 0) ==
		      DOCA_ERROR_INVALID_VALUE);
	rig_close(rig);
}

/* The same call fails as often, each time with another argument. */
static void try_many_arguments(void)
{
	struct rig *rig = rig_open(NULL);

	for (uint32_t i = 0; i < 200; i++)
		CHECK(doca_dma_task_memcpy_set_conf(rig->dma, free_without_look, free_without_look, UINT32_MAX - i) ==
		      DOCA_ERROR_INVALID_VALUE);
	rig_close(rig);
}

/* ---- destruction ---- */

static void destroy_while_stopping(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	rig_submit_small(rig, 2);
	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	CHECK(doca_dma_destroy(rig->dma) == DOCA_ERROR_IN_USE);
	doca_task_free(task);
	rig_close(rig);
}

static void destroy_when_idle(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	rig_submit_small(rig, 2);
	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig); /* destroys it */
}

static void destroy_running(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	CHECK(doca_dma_destroy(rig->dma) == DOCA_ERROR_IN_USE);
	rig_close(rig);
}

static void destroy_stopped(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_ctx_stop(rig->ctx));
	rig_close(rig);
}

static void destroy_engine_in_use(void)
{
	struct rig *rig = rig_open(NULL);

	CHECK(doca_pe_destroy(rig->pe) == DOCA_ERROR_IN_USE);
	rig_close(rig);
}

static void destroy_engine_last(void)
{
	struct rig *rig = rig_open(NULL);

	rig_close(rig);
}

/* ---- order ---- */

static void configure_after_start(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	CHECK(doca_dma_task_memcpy_set_conf(rig->dma, free_without_look, free_without_look, 4) == DOCA_ERROR_BAD_STATE);
	rig_close(rig);
}

static void configure_between_starts(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	MUST(doca_ctx_stop(rig->ctx));
	MUST(doca_dma_task_memcpy_set_conf(rig->dma, free_without_look, free_without_look, 4));
	MUST(doca_ctx_start(rig->ctx));
	rig_close(rig);
}

/* A context like the rig's, without an engine. */
static struct doca_dma *make_second_dma(struct rig *rig)
{
	struct doca_dma *dma;

	MUST(doca_dma_create(rig->dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, free_without_look, free_without_look, 4));
	return dma;
}

static void start_without_engine(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dma *dma = make_second_dma(rig);

	CHECK(doca_ctx_start(doca_dma_as_ctx(dma)) == DOCA_ERROR_NOT_CONNECTED);
	MUST(doca_dma_destroy(dma));
	rig_close(rig);
}

static void start_with_engine(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dma *dma = make_second_dma(rig);

	MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma)));
	MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
	rig_close(rig);
}

static void ignored_error(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dma_task_memcpy *task;
	struct doca_dma *dma;

	MUST(doca_dma_create(rig->dev, &dma));
	MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma)));
	(void)doca_ctx_start(doca_dma_as_ctx(dma)); /* fails: no type of task is configured */
	CHECK(doca_dma_task_memcpy_alloc_init(dma, rig_src(rig, 0, 64), rig_dst(rig, 64, 64),
					      (union doca_data){ .u64 = 0 }, &task) == DOCA_ERROR_BAD_STATE);
	MUST(doca_dma_destroy(dma));
	rig_close(rig);
}

static void repaired_error(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dma *dma;

	MUST(doca_dma_create(rig->dev, &dma));
	MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma)));
	CHECK(doca_ctx_start(doca_dma_as_ctx(dma)) == DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dma_task_memcpy_set_conf(dma, free_without_look, free_without_look, 4));
	MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
	rig_close(rig);
}

/* The start failed once, and later succeeded: it is not the reason why the stopped context refuses. */
static void use_after_repaired_error(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_dma_task_memcpy *task;
	struct doca_dma *dma;

	MUST(doca_dma_create(rig->dev, &dma));
	MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma)));
	CHECK(doca_ctx_start(doca_dma_as_ctx(dma)) == DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dma_task_memcpy_set_conf(dma, free_without_look, free_without_look, 4));
	MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	CHECK(doca_dma_task_memcpy_alloc_init(dma, rig_src(rig, 0, 64), rig_dst(rig, 64, 64),
					      (union doca_data){ .u64 = 0 }, &task) == DOCA_ERROR_BAD_STATE);
	MUST(doca_dma_destroy(dma));
	rig_close(rig);
}

/* ---- faults of the function ---- */

/* The report says that no task stopped the context. */
static void submit_after_reset(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *spare = rig_small_task(rig, 1);

	CHECK(bfsim_fault_add("function device=03:00.0 reset", NULL) == 0);
	rig_progress_to(rig, DOCA_CTX_STATE_STOPPING);
	CHECK(doca_task_submit(spare) == DOCA_ERROR_BAD_STATE);
	doca_task_free(spare);
	rig_close(rig);
}

/* ---- ownership ---- */

static void submit_in_flight(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	MUST(doca_task_submit(task));
	CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	rig_drain(rig);
	rig_close(rig);
}

static void submit_in_flight_when_busy(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	be_busy(rig);
	MUST(doca_task_submit(task));
	CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	rig_drain(rig);
	rig_close(rig);
}

static void submit_again(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig->on_task = NULL;
	rig->arg = doca_dma_task_memcpy_as_task(task);
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	MUST(doca_task_submit(rig->arg));
}

static void submit_in_callback(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig->on_task = submit_again;
	rig_submit_small(rig, 1);
	rig_drain(rig);
	CHECK(rig->arg);
	rig_close(rig);
}

static void free_in_flight(void)
{
	struct rig *rig = rig_open(NULL);
	struct doca_task *task;

	rig->on_task = NULL;
	rig_start(rig);
	task = rig_small_task(rig, 1);
	MUST(doca_task_submit(task));
	doca_task_free(task);
	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	_exit(0); /* the rig's callback would free it again */
}

/* ---- reports of completions ---- */

#define MARKED (DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS)

static void submit_marked(struct rig *rig, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		MUST(doca_task_submit_ex(rig_small_task(rig, i), MARKED));
}

/* The hooks pause between the ticks of the watchdog, which a busy machine delays: poll until they have seen enough. */
static void wait_for_marked(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct rig_deadline end = rig_deadline();
	uint64_t hits = 0;

	submit_marked(rig, 3);
	while (hits == 0 && !rig_is_over(end)) {
		CHECK(doca_pe_progress(rig->pe) == 0);
		CHECK(bfsim_check_hits("reports-never-delivered", &hits) == 0);
	}
	rig_close(rig);
}

static void sleep_for_marked(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	submit_marked(rig, 1);
	MUST(doca_pe_request_notification(rig->pe));
	rig_close(rig);
}

/* The last task has no mark. It takes longer than a program that waits for marked tasks is given. */
static void wait_for_unmarked(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	uint32_t id;

	CHECK(bfsim_fault_add("dma.memcpy nth=4 delay=100ms", &id) == 0);
	submit_marked(rig, 3);
	rig_submit_small(rig, 4);
	MUST(doca_pe_request_notification(rig->pe));
	rig_drain(rig);
	rig_close(rig);
}

/* ---- the event mode ---- */

static void switch_mode(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
}

static void switch_mode_in_callback(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig->on_task = switch_mode;
	rig_submit_small(rig, 1);
	rig_drain(rig);
	rig_close(rig);
}

/* The reference forbids it to callbacks of tasks; this one is of the context. */
static void switch_mode_when_idle(struct rig *rig, enum doca_ctx_states state)
{
	if (state == DOCA_CTX_STATE_IDLE)
		MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
}

static void switch_mode_between(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 2);

	rig_submit_small(rig, 1);
	rig_drain(rig);
	MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	rig->on_state = switch_mode_when_idle;
	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

const struct check_case task_cases[] = {
	{ "event-mode-in-callback", switch_mode_in_callback, switch_mode_between },
	{ "reports-never-delivered", wait_for_marked, wait_for_unmarked },
	{ "reports-never-delivered@sleep", sleep_for_marked, wait_for_unmarked },
	{ "submit-not-running", submit_not_running, submit_while_running },
	{ "submit-after-failure", submit_after_failure, restart_after_failure },
	{ "retry-cannot-succeed", retry_cannot_succeed, try_many_arguments },
	{ "destroy-while-stopping", destroy_while_stopping, destroy_when_idle },
	{ "configure-after-start", configure_after_start, configure_between_starts },
	{ "start-without-engine", start_without_engine, start_with_engine },
	{ "destroy-engine-in-use", destroy_engine_in_use, destroy_engine_last },
	{ "destroy-running", destroy_running, destroy_stopped },
	{ "status-not-read", status_not_read, stop_in_flight },
	{ "submit-in-flight", submit_in_flight, submit_in_callback },
	{ "submit-in-flight@busy", submit_in_flight_when_busy, submit_in_callback },
	{ "free-in-flight", free_in_flight, submit_in_callback },
	{ "ignored-error", ignored_error, repaired_error },
	{ "ignored-error@repaired", ignored_error, use_after_repaired_error },
	{ "submit-not-running@reset", submit_after_reset, submit_while_running },
	{ 0 },
};
