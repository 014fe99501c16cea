/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program unmaps, frees, truncates or protects while a memcpy task in flight uses it: the task fails, or
 * moves the bytes as a card's pinned pages do. Faults of the program itself are the program's. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "dma_util.h"
#include "lost_memory.h"

/* ---- tasks ---- */

#define FAILED "running -> stopping\ntask 0 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n"

/* Stage the task, take the memory, and let the task run. */
static void run_without(struct rig *rig, struct doca_task *task, struct lost_block *block, bool fails)
{
	MUST(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	lost_take(block);
	doca_ctx_flush_tasks(rig->ctx);
	if (fails) {
		rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
		assert_trace(rig, FAILED);
		rig_start(rig);
	} else {
		rig_drain(rig);
		assert_trace(rig, "task 0 done\n");
	}
}

static void return_bufs(struct rig *rig)
{
	while (rig->num_bufs > 0)
		MUST(doca_buf_dec_refcount(rig->bufs[--rig->num_bufs], NULL));
}

static void end(struct rig *rig, struct doca_mmap *map, struct lost_block *block)
{
	lost_end(block);
	return_bufs(rig);
	MUST(doca_mmap_destroy(map));
}

static void copy_from(struct rig *rig, enum lost_way way, size_t offset, size_t len)
{
	struct lost_block block = lost_new(way);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block.bytes, LOST_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = rig_buf(rig, map, block.bytes + offset, len, 0, len);
	struct doca_buf *dst = rig_dst(rig, 0, len);

	run_without(rig, rig_task(rig, 0, src, dst), &block, lost_fails(way, false));
	for (size_t i = 0; i < len && (way == LOST_PROTECTED || way == LOST_READ_ONLY); i++)
		assert_int_equal(rig->arena[i], lost_byte(offset + i));
	assert_int_equal(rig_data_len(dst), lost_fails(way, false) ? 0 : len);
	end(rig, map, &block);
}

static void copy_to(struct rig *rig, enum lost_way way, size_t offset, size_t len)
{
	struct lost_block block = lost_new(way);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block.bytes, LOST_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *dst = rig_buf(rig, map, block.bytes + offset, len, 0, 0);

	run_without(rig, rig_task(rig, 0, rig_src(rig, 0, len), dst), &block, lost_fails(way, true));
	if (way == LOST_PROTECTED || way == LOST_READ_ONLY) {
		lost_unprotect(&block);
		assert_memory_equal(block.bytes + offset, rig->arena, len);
		lost_take(&block);
	}
	end(rig, map, &block);
}

/* In the test, as cmocka installs handlers before it. The engine has its thread, whose stack would else come to lie where
 * the memory was. */
static struct rig *open_rig(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 0);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n");
	return_bufs(rig);
	return rig;
}

static const struct {
	size_t offset, len;
} places[] = { { 0, 64 }, { 5000, 60000 }, { LOST_BYTES - 3, 3 } };

static void test_sources_that_are_gone(void **state)
{
	struct rig *rig = open_rig();

	for (int way = 0; way < LOST_NUM_WAYS; way++)
		for (size_t i = 0; i < ARRAY_LEN(places) && lost_is_possible(way); i++)
			copy_from(rig, way, places[i].offset, places[i].len);
	rig_close(rig);
}

static void test_destinations_that_are_gone(void **state)
{
	struct rig *rig = open_rig();

	for (int way = 0; way < LOST_NUM_WAYS; way++)
		for (size_t i = 0; i < ARRAY_LEN(places) && lost_is_possible(way); i++)
			copy_to(rig, way, places[i].offset, places[i].len);
	rig_close(rig);
}

/* Of two buffers of each list, the second is gone. */
static void copy_lists(struct rig *rig, bool is_source)
{
	struct lost_block block = lost_new(LOST_UNMAPPED);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block.bytes, LOST_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = rig_src(rig, 0, 100), *dst = rig_dst(rig, 1000, 100);

	MUST(doca_buf_chain_list(src,
				 is_source ? rig_buf(rig, map, block.bytes, 100, 0, 100) : rig_src(rig, 200, 100)));
	MUST(doca_buf_chain_list(dst, is_source ? rig_dst(rig, 2000, 100) : rig_buf(rig, map, block.bytes, 100, 0, 0)));
	rig->num_bufs = 0;
	run_without(rig, rig_task(rig, 0, src, dst), &block, true);
	assert_true(rig_was_copied(rig, 1000, 0, 100));
	lost_end(&block);
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_mmap_destroy(map));
}

static void test_lists_with_a_buffer_that_is_gone(void **state)
{
	struct rig *rig = open_rig();

	copy_lists(rig, true);
	copy_lists(rig, false);
	rig_close(rig);
}

/* The engine's thread runs the task. */
static void test_a_program_that_does_not_poll(void **state)
{
	struct rig *rig = open_rig();
	struct lost_block block = lost_new(LOST_UNMAPPED);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block.bytes, LOST_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	doca_notification_handle_t handle;

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	MUST(doca_pe_request_notification(rig->pe));
	lost_take(&block);
	MUST(doca_task_submit(rig_task(rig, 0, rig_buf(rig, map, block.bytes, 64, 0, 64), rig_dst(rig, 0, 64))));
	assert_true(rig_wait_readable(handle));
	MUST(doca_pe_clear_notification(rig->pe, handle));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, FAILED);
	end(rig, map, &block);
	rig_close(rig);
}

/* A child that unmaps its copy takes nothing from its parent. */
static void test_a_childs_copy_is_its_own(void **state)
{
	struct rig *rig = open_rig();
	struct lost_block block = lost_new(LOST_UNMAPPED);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block.bytes, LOST_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = rig_buf(rig, map, block.bytes, 64, 0, 64);
	pid_t child;

	MUST(doca_task_submit_ex(rig_task(rig, 0, src, rig_dst(rig, 0, 64)), DOCA_TASK_SUBMIT_FLAG_NONE));
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		lost_take(&block);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	doca_ctx_flush_tasks(rig->ctx);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n");
	assert_int_equal(rig->arena[63], lost_byte(63));
	lost_take(&block);
	end(rig, map, &block);
	rig_close(rig);
}

/* ---- faults of the program ---- */

static sigjmp_buf caught;
static uint8_t *expected;

static void on_fault(int number, siginfo_t *info, void *context)
{
	siglongjmp(caught, info->si_addr == expected && info->si_code > 0 ? 1 : 2);
}

static void install(void (*handler)(int, siginfo_t *, void *))
{
	const struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
}

static void touch(uint8_t *at)
{
	*(volatile uint8_t *)at = 1;
}

static void expect_own_handler(uint8_t *at)
{
	int which = sigsetjmp(caught, 1);

	expected = at;
	if (which == 0)
		touch(at);
	CHECK(which == 1);
}

/* A task whose memory is gone fails between two faults of the program. */
static void fail_a_task(struct rig *rig)
{
	struct lost_block block = lost_new(LOST_UNMAPPED);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block.bytes, LOST_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = rig_buf(rig, map, block.bytes, 64, 0, 64);

	expect_own_handler((uint8_t *)8);
	run_without(rig, rig_task(rig, 0, src, rig_dst(rig, 0, 64)), &block, true);
	expect_own_handler(block.bytes + 5); /* of the task's memory, too */
	end(rig, map, &block);
}

static void handle_before_doca(void)
{
	struct rig *rig;

	install(on_fault);
	rig = open_rig();
	fail_a_task(rig);
	fail_a_task(rig);
	rig_close(rig);
}

static void handle_before_the_start(void)
{
	struct rig *rig = rig_open(NULL);

	install(on_fault);
	rig_start(rig);
	fail_a_task(rig);
	rig_close(rig);
}

/* While tasks run, the engine's thread steps before a new handler within some ticks. */
static void handle_while_tasks_run(void)
{
	struct rig *rig = open_rig();
	struct rig_deadline deadline = rig_deadline();
	struct sigaction installed;

	install(on_fault);
	do {
		rig_submit_small(rig, 1);
		rig_drain(rig);
		return_bufs(rig);
		rig->trace->text[0] = '\0';
		CHECK(!rig_is_over(deadline) && sigaction(SIGSEGV, NULL, &installed) == 0);
	} while (installed.sa_sigaction == on_fault);
	fail_a_task(rig);
	rig_close(rig);
}

static void die_in_the_program(void)
{
	struct rig *rig = open_rig();

	touch((uint8_t *)8);
	rig_close(rig);
}

static void die_in_callback(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	touch((uint8_t *)8);
}

static void die_in_a_callback(void)
{
	struct rig *rig = open_rig();

	rig->on_task = die_in_callback;
	rig_submit_small(rig, 1);
	rig_drain(rig);
}

/* Even at memory of the task, which is over. */
static struct lost_block callbacks_block;

static void die_at_memory(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	lost_take(&callbacks_block);
	touch(callbacks_block.bytes);
}

static void die_at_the_tasks_memory(void)
{
	struct rig *rig = open_rig();
	struct doca_mmap *map;

	callbacks_block = lost_new(LOST_UNMAPPED);
	map = rig_make_mmap(rig->dev, callbacks_block.bytes, LOST_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	rig->on_task = die_at_memory;
	MUST(doca_task_submit(
		rig_task(rig, 0, rig_buf(rig, map, callbacks_block.bytes, 64, 0, 64), rig_dst(rig, 0, 64))));
	rig_drain(rig);
}

static void *touch_in_thread(void *at)
{
	touch(at);
	return NULL;
}

static void die_in_a_thread(void)
{
	pthread_t thread;

	open_rig();
	CHECK(pthread_create(&thread, NULL, touch_in_thread, (void *)8) == 0);
	pthread_join(thread, NULL);
}

/* The exit status that a shell shows, of a process without cmocka's handlers. */
static int shell_status_of(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_handlers_of_the_program_get_its_faults(void **state)
{
	assert_int_equal(shell_status_of(handle_before_doca), 0);
	assert_int_equal(shell_status_of(handle_before_the_start), 0);
	assert_int_equal(shell_status_of(handle_while_tasks_run), 0);
}

static void test_faults_of_the_program_are_its_end(void **state)
{
	assert_int_equal(shell_status_of(die_in_the_program), 139);
	assert_int_equal(shell_status_of(die_in_a_callback), 139);
	assert_int_equal(shell_status_of(die_at_the_tasks_memory), 139);
	assert_int_equal(shell_status_of(die_in_a_thread), 139);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handlers_of_the_program_get_its_faults), /* before a session is begun here */
		cmocka_unit_test(test_faults_of_the_program_are_its_end),
		cmocka_unit_test(test_sources_that_are_gone),
		cmocka_unit_test(test_destinations_that_are_gone),
		cmocka_unit_test(test_lists_with_a_buffer_that_is_gone),
		cmocka_unit_test(test_a_program_that_does_not_poll),
		cmocka_unit_test(test_a_childs_copy_is_its_own),
	};

	return cmocka_run_group_tests(tests, lost_group_setup, NULL);
}
