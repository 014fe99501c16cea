/* SPDX-License-Identifier: BSD-3-Clause */
/* A context's life, on the example of DMA: idle, running, stopping, and what each allows. */
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "dma_util.h"
#include "log_child.h"

#include <doca_log.h>

/* ---- start and stop ---- */

static void test_new_context_is_idle(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
	assert_int_equal(rig_in_flight(rig), 0);
	assert_trace(rig, "");
}

static void test_start_goes_to_running_at_once(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_ctx_start(rig->ctx));
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_RUNNING);
	assert_trace(rig, "idle -> running\n");
}

static void test_stop_with_no_task_out_goes_to_idle_at_once(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_ctx_stop(rig->ctx));
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\nstopping -> idle\n");
	assert_int_equal(doca_pe_progress(rig->pe), 0);
}

static void test_stop_of_idle_context_changes_nothing(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_ctx_stop(rig->ctx));
	assert_trace(rig, "");
}

static void test_start_is_refused_unless_idle(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	assert_doca(doca_ctx_start(rig->ctx), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_ctx_stop DOCA_ERROR_IN_PROGRESS */
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_doca(doca_ctx_start(rig->ctx), DOCA_ERROR_BAD_STATE);
	assert_trace(rig, "running -> stopping\n");
	doca_task_free(task);
}

/* ---- stop with tasks out ---- */

/* The tasks are staged, so that none of them has run when the stop comes. */
static void test_stop_completes_tasks_in_flight_with_errors(void **state)
{
	struct rig *rig = *state;

	for (uint64_t i = 0; i < 3; i++)
		MUST(doca_task_submit_ex(rig_small_task(rig, i), DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(rig_in_flight(rig), 3);
	assert_trace(rig, "running -> stopping\n");
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "task 0 failed: DOCA_ERROR_IO_FAILED\n"
			  "task 1 failed: DOCA_ERROR_IO_FAILED\n"
			  "task 2 failed: DOCA_ERROR_IO_FAILED\n"
			  "stopping -> idle\n");
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
}

/* One progress call a step: three completions, then the way to idle, then nothing. */
static void test_way_to_idle_is_a_step_of_progress(void **state)
{
	struct rig *rig = *state;

	for (uint64_t i = 0; i < 3; i++)
		MUST(doca_task_submit_ex(rig_small_task(rig, i), DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 3; i++)
		assert_int_equal(doca_pe_progress(rig->pe), 1);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(doca_pe_progress(rig->pe), 1);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_pe_progress(rig->pe), 0);
}

/* Tasks that ran before the stop have succeeded, and are reported so. */
static void test_stop_keeps_the_success_of_tasks_that_ran(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 1);
	assert_true(rig_wait_in_memory(rig, 1));
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 1 done\nstopping -> idle\n");
}

static void test_stop_waits_for_allocated_tasks_to_be_freed(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(rig_in_flight(rig), 0);
	doca_task_free(task);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(doca_pe_progress(rig->pe), 1);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\nstopping -> idle\n");
}

static void test_second_stop_ends_it_once_the_tasks_are_freed(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	assert_ok(doca_ctx_stop(rig->ctx));
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
}

static void test_stopping_context_gives_and_takes_no_tasks(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *other;
	struct doca_task *task = rig_small_task(rig, 0);

	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_doca(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_task_try_submit(task), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &other),
		    DOCA_ERROR_BAD_STATE);
	assert_int_equal(rig_in_flight(rig), 0);
	doca_task_free(task);
}

/* ---- again ---- */

static void test_context_starts_again_after_stop(void **state)
{
	struct rig *rig = *state;

	for (uint64_t round = 0; round < 3; round++) {
		rig_submit_small(rig, round);
		rig_drain(rig);
		assert_true(rig_small_is_done(rig, round));
		assert_ok(doca_ctx_stop(rig->ctx));
		assert_ok(doca_ctx_start(rig->ctx));
	}
	assert_trace(rig, "task 0 done\nrunning -> stopping\nstopping -> idle\nidle -> running\n"
			  "task 1 done\nrunning -> stopping\nstopping -> idle\nidle -> running\n"
			  "task 2 done\nrunning -> stopping\nstopping -> idle\nidle -> running\n");
}

static void test_context_that_a_stop_cut_short_works_after_restart(void **state)
{
	struct rig *rig = *state;

	MUST(doca_task_submit_ex(rig_small_task(rig, 0), DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_start(rig);
	rig_submit_small(rig, 1);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n");
	assert_true(rig_small_is_done(rig, 1));
}

/* ---- stop, destroy and start inside callbacks ---- */

static void free_and_stop(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	rig_note(rig, "stop: %s\n", doca_error_get_name(doca_ctx_stop(rig->ctx)));
}

static void stop_and_free(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig_note(rig, "stop: %s\n", doca_error_get_name(doca_ctx_stop(rig->ctx)));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void test_stop_inside_last_tasks_callback_goes_to_idle(void **state)
{
	struct rig *rig = *state;

	rig->on_task = free_and_stop;
	rig_submit_small(rig, 0);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\nrunning -> stopping\nstopping -> idle\nstop: DOCA_SUCCESS\n");
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
}

static void test_stop_inside_callback_waits_for_the_callbacks_task(void **state)
{
	struct rig *rig = *state;

	rig->on_task = stop_and_free;
	rig_submit_small(rig, 0);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "task 0 done\nrunning -> stopping\nstop: DOCA_ERROR_IN_PROGRESS\nstopping -> idle\n");
}

static void stop_with_first_callback(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig->on_task = NULL;
	stop_and_free(rig, task);
}

/* The second task waits for a flush. The stop flushes it, but its copy fails. */
static void test_stop_inside_callback_flushes_the_tasks_behind(void **state)
{
	struct rig *rig = *state;

	rig->on_task = stop_with_first_callback;
	rig_submit_small(rig, 0);
	MUST(doca_task_submit_ex(rig_small_task(rig, 1), DOCA_TASK_SUBMIT_FLAG_NONE));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "task 0 done\nrunning -> stopping\nstop: DOCA_ERROR_IN_PROGRESS\n"
			  "task 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_true(rig_is_untouched(rig, rig_small_to(rig, 1), 64));
}

static void destroy_when_idle(struct rig *rig, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	rig_note(rig, "destroy: %s\n", doca_error_get_name(doca_dma_destroy(rig->dma)));
	rig->dma = NULL;
}

static void test_context_may_be_destroyed_in_its_last_callback(void **state)
{
	struct rig *rig = *state;

	rig->on_state = destroy_when_idle;
	assert_ok(doca_ctx_stop(rig->ctx));
	assert_trace(rig, "running -> stopping\nstopping -> idle\ndestroy: DOCA_SUCCESS\n");
	assert_int_equal(doca_pe_progress(rig->pe), 0);
}

/* Task callback -> stop -> idle callback -> destroy, all inside one progress call. */
static void test_context_may_be_destroyed_from_inside_progress(void **state)
{
	struct rig *rig = *state;

	rig->on_task = free_and_stop;
	rig->on_state = destroy_when_idle;
	rig_submit_small(rig, 0);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\nrunning -> stopping\nstopping -> idle\ndestroy: DOCA_SUCCESS\n"
			  "stop: DOCA_SUCCESS\n");
	assert_int_equal(doca_pe_progress(rig->pe), 0);
}

static void start_when_idle(struct rig *rig, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	rig->on_state = NULL;
	MUST(doca_ctx_start(rig->ctx));
}

static void test_context_may_be_started_again_in_its_last_callback(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	rig->on_state = start_when_idle;
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	assert_int_equal(doca_pe_progress(rig->pe), 1);
	assert_trace(rig, "running -> stopping\nstopping -> idle\nidle -> running\n");
	rig_submit_small(rig, 1);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n");
}

static void stop_when_running(struct rig *rig, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_RUNNING)
		MUST(doca_ctx_stop(rig->ctx));
}

static void test_context_may_be_stopped_in_its_first_callback(void **state)
{
	struct rig *rig = *state;

	rig->on_state = stop_when_running;
	assert_ok(doca_ctx_start(rig->ctx));
	assert_trace(rig, "idle -> running\nrunning -> stopping\nstopping -> idle\n");
}

static void stop_once_more(struct rig *rig, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_STOPPING)
		rig_note(rig, "stop: %s\n", doca_error_get_name(doca_ctx_stop(rig->ctx)));
}

static void test_stop_inside_the_stopping_callback_ends_it(void **state)
{
	struct rig *rig = *state;

	rig->on_state = stop_once_more;
	assert_ok(doca_ctx_stop(rig->ctx));
	assert_trace(rig, "running -> stopping\nstopping -> idle\nstop: DOCA_SUCCESS\n");
}

/* ---- destroy ---- */

static void test_destroy_is_refused_unless_idle(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	/* provokes: doca_dma_destroy DOCA_ERROR_IN_USE */
	assert_doca(doca_dma_destroy(rig->dma), DOCA_ERROR_IN_USE);
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_doca(doca_dma_destroy(rig->dma), DOCA_ERROR_IN_USE);
	doca_task_free(task);
	assert_ok(doca_ctx_stop(rig->ctx));
}

static void test_context_keeps_its_device_open(void **state)
{
	struct doca_dev *dev = rig_open_dev(1);
	struct doca_dma *dma;

	MUST(doca_dma_create(dev, &dma));
	assert_doca(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	MUST(doca_dma_destroy(dma));
	assert_ok(doca_dev_close(dev));
}

/* What a child says of its parent's context, on standard error. */
static struct rig *parents;

static void use_parents_context(void)
{
	struct doca_log_backend *backend;
	struct doca_dma_task_memcpy *task;

	MUST(doca_log_backend_create_with_file_sdk(stderr, &backend));
	assert_doca(doca_dma_task_memcpy_alloc_init(parents->dma, NULL, NULL, (union doca_data){ 0 }, &task),
		    DOCA_ERROR_BAD_STATE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(doca_pe_progress(parents->pe), 0);
}

static void test_child_is_told_of_its_parents_context(void **state)
{
	const struct child_output *output;

	parents = *state;
	output = in_child(use_parents_context);
	assert_int_equal(count_of(output->err, "the context is of the process before fork()"), 1);
	assert_int_equal(
		count_of(output->err, "doca_pe_progress: the engine's dma context is of the process before fork()"), 1);
	assert_int_equal(count_of(output->err, "start it first"), 0);
}

/* Engine threads are not inherited by fork(): a child has none of them. */
static void test_context_of_the_parent_does_nothing_in_a_forked_child(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *task;
	uint32_t max;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(!(doca_dma_cap_get_max_num_tasks(rig->dma, &max) == DOCA_SUCCESS &&
			doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &task) ==
				DOCA_ERROR_BAD_STATE &&
			doca_pe_progress(rig->pe) == 0 && doca_pe_request_notification(rig->pe) == DOCA_SUCCESS &&
			doca_ctx_stop(rig->ctx) == DOCA_SUCCESS && doca_ctx_start(rig->ctx) == DOCA_ERROR_BAD_STATE &&
			doca_dma_destroy(rig->dma) == DOCA_SUCCESS));
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_context_of_the_parent_does_nothing_in_a_forked_child),
		RIG_RUNNING(test_child_is_told_of_its_parents_context),
		RIG_IDLE(test_new_context_is_idle),
		RIG_IDLE(test_start_goes_to_running_at_once),
		RIG_RUNNING(test_stop_with_no_task_out_goes_to_idle_at_once),
		RIG_IDLE(test_stop_of_idle_context_changes_nothing),
		RIG_RUNNING(test_start_is_refused_unless_idle),
		RIG_RUNNING(test_stop_completes_tasks_in_flight_with_errors),
		RIG_RUNNING(test_way_to_idle_is_a_step_of_progress),
		RIG_RUNNING(test_stop_keeps_the_success_of_tasks_that_ran),
		RIG_RUNNING(test_stop_waits_for_allocated_tasks_to_be_freed),
		RIG_RUNNING(test_second_stop_ends_it_once_the_tasks_are_freed),
		RIG_RUNNING(test_stopping_context_gives_and_takes_no_tasks),
		RIG_RUNNING(test_context_starts_again_after_stop),
		RIG_RUNNING(test_context_that_a_stop_cut_short_works_after_restart),
		RIG_RUNNING(test_stop_inside_last_tasks_callback_goes_to_idle),
		RIG_RUNNING(test_stop_inside_callback_waits_for_the_callbacks_task),
		RIG_RUNNING(test_stop_inside_callback_flushes_the_tasks_behind),
		RIG_RUNNING(test_context_may_be_destroyed_in_its_last_callback),
		RIG_RUNNING(test_context_may_be_destroyed_from_inside_progress),
		RIG_RUNNING(test_context_may_be_started_again_in_its_last_callback),
		RIG_IDLE(test_context_may_be_stopped_in_its_first_callback),
		RIG_RUNNING(test_stop_inside_the_stopping_callback_ends_it),
		RIG_RUNNING(test_destroy_is_refused_unless_idle),
		RIG_IDLE(test_context_keeps_its_device_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
