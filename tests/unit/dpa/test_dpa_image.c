/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that dpacc compiled, loaded and run on a guarded thread: values, and each way to end. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmocka_test.h"
#include "sim/dpa/image/guarded_run.h"
#include "tests/common/under_valgrind.h"

struct pair {
	uint64_t a;
	uint32_t b;
};

extern const void *test_app;
void add(void), count(void), hello(void), store_to(void), load_from(void), copy_to(void), loop(void), stand(void),
	overflow(void), jump_to(void), divide(void), notify(void), finish(void);

/* A heap of one block of 32 bytes. */
static _Alignas(64) unsigned char heap[32];
static char logged[128];

struct ended {
	enum sim_dpa_end how;
	uint64_t value;
	struct sim_dpa_crash crash;
};

static struct sim_dpa_image *image;

/* ---- the simulator's part ---- */

static void take_log(unsigned int level, const char *text)
{
	snprintf(logged, sizeof(logged), "%u %s", level, text);
}

__attribute__((noreturn)) static void end_by_finish(void)
{
	sim_dpa_leave(SIM_DPA_FINISHED);
}

static bool find_in_heap(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write,
			 struct sim_dpa_range *ret_range)
{
	uintptr_t begin = (uintptr_t)heap, end = begin + sizeof(heap);

	(void)thread;
	(void)is_write;
	if (addr < begin || addr + len > end)
		return false;
	*ret_range = (struct sim_dpa_range){ begin, end, true };
	return true;
}

static const struct sim_dpa_port port = { .log = take_log, .thread_finish = end_by_finish };
static const struct sim_dpa_thread_ops ops = { .find_range = find_in_heap };

/* ---- a run on a thread of its own, with a short stack ---- */

struct job {
	const void *stub;
	const char *args;
	struct ended *ended;
	struct sim_dpa_guarded_thread guarded;
	pthread_barrier_t *is_ready; /* NULL = none */
	void *stack;                 /* NULL = a new one */
	uint32_t more_runs;          /* before the one that counts */
	uintptr_t fast_bytes;        /* of the range with the short way, at the end */
};

#define STACK_BYTES (128 * 1024)

static void *run_job(void *arg)
{
	struct job *job = arg;
	const struct sim_dpa_kernel *kernel = sim_dpa_image_find_kernel(image, job->stub);

	if (!kernel || sim_dpa_guarded_init(&job->guarded, &ops) != 0 || sim_dpa_thread_begin(&job->guarded) != 0)
		abort();
	if (job->is_ready)
		pthread_barrier_wait(job->is_ready);
	for (uint32_t i = 0; i < job->more_runs; i++)
		sim_dpa_run(&job->guarded, image, kernel, job->args, &job->ended->value, &job->ended->crash);
	job->ended->how = sim_dpa_run(&job->guarded, image, kernel, job->args, &job->ended->value, &job->ended->crash);
	job->fast_bytes = job->guarded.thread.fast_bytes[false];
	sim_dpa_thread_end();
	sim_dpa_guarded_fini(&job->guarded);
	return NULL;
}

static pthread_t start(struct job *job)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (job->stack)
		pthread_attr_setstack(&attr, job->stack, STACK_BYTES);
	assert_int_equal(pthread_create(&thread, &attr, run_job, job), 0);
	pthread_attr_destroy(&attr);
	return thread;
}

static struct ended run_on(void *stack, const void *stub, va_list *list)
{
	struct ended ended = { 0 };
	char args[256] = { 0 };
	struct job job = { .stub = stub, .args = args, .ended = &ended, .stack = stack };
	const struct sim_dpa_kernel *kernel = sim_dpa_image_find_kernel(image, stub);

	assert_non_null(kernel);
	kernel->pack(args, list);
	pthread_join(start(&job), NULL);
	return ended;
}

static struct ended run(const void *stub, ...)
{
	struct ended ended;
	va_list list;

	va_start(list, stub);
	ended = run_on(NULL, stub, &list);
	va_end(list);
	return ended;
}

/* On a stack at the upper end of memory that the test has, with more of it right below. */
static struct ended run_above(void *memory, size_t bytes, const void *stub, ...)
{
	struct ended ended;
	va_list list;

	va_start(list, stub);
	ended = run_on((char *)memory + bytes - STACK_BYTES, stub, &list);
	va_end(list);
	return ended;
}

static void assert_fatal(const struct ended *ended, const char *reason, const char *function)
{
	const char *slash = strrchr(ended->crash.place.file, '/');

	assert_int_equal(ended->how, SIM_DPA_FATAL);
	assert_non_null(strstr(ended->crash.reason, reason));
	assert_string_equal(ended->crash.place.function, function);
	assert_string_equal(slash ? slash + 1 : ended->crash.place.file, "kernels.c");
	assert_int_not_equal(ended->crash.place.line, 0);
}

static int load(void **state)
{
	return sim_dpa_image_load(test_app, &port, &image);
}

static int unload(void **state)
{
	sim_dpa_image_unload(image);
	image = NULL;
	return 0;
}

/* ---- tests ---- */

/* 1 + 2 + 200 + 10 + 20 + 3 (1.5 twice) + 65 */
static void test_arguments_of_each_kind_arrive(void **state)
{
	struct ended ended = run(add, (uint64_t)1, 2u, 200, (struct pair){ 10, 20 }, 1.5f, 'A');

	assert_int_equal(ended.how, SIM_DPA_RETURNED);
	assert_int_equal(ended.value, 301);
}

static void test_two_images_have_their_own_globals(void **state)
{
	struct sim_dpa_image *first = image, *second;

	assert_int_equal(run(count).value, 1);
	assert_int_equal(run(count).value, 2);
	assert_int_equal(sim_dpa_image_load(test_app, &port, &second), 0);
	image = second;
	assert_int_equal(run(count).value, 1);
	image = first;
	assert_int_equal(run(count).value, 3);
	sim_dpa_image_unload(second);
}

static void test_a_log_line_is_formatted_on_the_device(void **state)
{
	assert_int_equal(run(hello, (uint64_t)0).how, SIM_DPA_RETURNED);
	assert_string_equal(logged, "50 hello -1     2 ab  |00ff -7 z%");
}

static void test_the_heap_is_reached(void **state)
{
	uint64_t value = UINT64_C(0x1122334455667788);

	memcpy(heap + 8, &value, sizeof(value));
	assert_int_equal(run(load_from, (uint64_t)(uintptr_t)(heap + 8)).value, value);
	assert_int_equal(run(store_to, (uint64_t)(uintptr_t)(heap + 28)).how, SIM_DPA_RETURNED);
	assert_int_equal(heap[28], 7);
}

/* A kernel's first range has the short way, also behind other kernels of the same execution unit. */
static void test_the_first_range_of_a_run_has_the_short_way(void **state)
{
	const uint64_t addr = (uintptr_t)heap;

	for (uint32_t i = 0; i < 4; i++) {
		struct ended ended = { 0 };
		struct job job = { .stub = load_from, .args = (const char *)&addr, .ended = &ended, .more_runs = i };

		pthread_join(start(&job), NULL);
		assert_int_equal(ended.how, SIM_DPA_RETURNED);
		assert_int_equal(job.fast_bytes, sizeof(heap) - SIM_DPA_FAST_ACCESS + 1);
	}
}

static void test_a_host_pointer_is_refused_and_nothing_written(void **state)
{
	uint32_t mine = 1;
	struct ended ended = run(store_to, (uint64_t)(uintptr_t)&mine);

	assert_fatal(&ended, "store of 4 bytes", "store_to");
	assert_int_equal(mine, 1);
	ended = run(load_from, (uint64_t)(uintptr_t)&mine);
	assert_fatal(&ended, "load of 8 bytes", "load_from");
}

static void test_a_store_across_the_end_of_a_block_is_refused(void **state)
{
	struct ended ended = run(store_to, (uint64_t)(uintptr_t)(heap + 30));

	assert_fatal(&ended, "store of 4 bytes", "store_to");
	ended = run(copy_to, (uint64_t)(uintptr_t)heap); /* 40 bytes into 32 */
	assert_fatal(&ended, "store of 40 bytes", "copy_to");
	ended = run(load_from, UINT64_MAX - 3); /* the end is in front of the begin */
	assert_fatal(&ended, "load of 8 bytes", "load_from");
}

static void assert_ends_at_an_order(const void *stub, const char *name)
{
	struct ended ended = { 0 };
	pthread_barrier_t is_ready;
	struct job job = { .stub = stub, .args = "", .ended = &ended, .is_ready = &is_ready };
	pthread_t thread;

	pthread_barrier_init(&is_ready, NULL, 2);
	thread = start(&job);
	pthread_barrier_wait(&is_ready);
	while (__atomic_load_n(&job.guarded.thread.blocks, __ATOMIC_RELAXED) < 1000) /* a loop's blocks count */
		sched_yield();
	sim_dpa_thread_stop(&job.guarded);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&is_ready);
	assert_int_equal(ended.how, SIM_DPA_STOPPED);
	assert_string_equal(ended.crash.place.function, name);
}

static void test_an_endless_loop_ends_at_an_order(void **state)
{
	assert_ends_at_an_order(loop, "loop");
}

static void test_an_endless_loop_without_a_statement_ends_at_an_order(void **state)
{
	assert_ends_at_an_order(stand, "stand");
}

static void test_a_recursion_without_end_is_a_stack_overflow(void **state)
{
	struct ended ended = run(overflow);

	assert_fatal(&ended, "stack overflow", "recurse");
}

/* The kernel uses little of its stack. */
static void test_memory_right_below_the_stack_is_not_the_stack(void **state)
{
	const size_t bytes = STACK_BYTES + 65536;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ended ended;

#ifdef __SANITIZE_THREAD__ /* its thread-local memory has no room on so short a stack */
	skip();
#endif
	assert_ptr_not_equal(memory, MAP_FAILED);
	ended = run_above(memory, bytes, load_from, (uint64_t)(uintptr_t)(memory + 65536 - 64));
	assert_fatal(&ended, "which is no memory of the device", "load_from");
	munmap(memory, bytes);
}

static void test_a_wild_jump_names_the_caller(void **state)
{
	struct ended ended;

	if (RUNNING_ON_VALGRIND)
		skip(); /* valgrind reports the jump itself */
	ended = run(jump_to, (uint64_t)16);
	assert_fatal(&ended, "jump to 0x10", "jump_to");
}

static void test_a_function_that_the_simulator_lacks_is_named(void **state)
{
	struct ended ended = run(notify, (uint64_t)1);

	assert_fatal(&ended, "doca_dpa_dev_thread_notify", "notify");
}

static void test_a_port_function_ends_the_kernel(void **state)
{
	assert_int_equal(run(finish).how, SIM_DPA_FINISHED);
	assert_int_equal(run(divide, 1u).value, 0);
}

static void test_what_is_no_application_is_refused(void **state)
{
	static const struct sim_dpa_app other = { .magic = 1 };
	struct sim_dpa_image *none = NULL;

	assert_int_equal(sim_dpa_image_load(&other, &port, &none), -EINVAL);
	assert_null(none);
	assert_null(sim_dpa_image_find_kernel(image, heap));
	assert_string_equal(sim_dpa_image_name(image), "test_app");
	assert_true(sim_dpa_image_has_feature(image, "Generating_Empty_CQE"));
	assert_false(sim_dpa_image_has_feature(image, "Generating"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_arguments_of_each_kind_arrive, load, unload),
		cmocka_unit_test_setup_teardown(test_two_images_have_their_own_globals, load, unload),
		cmocka_unit_test_setup_teardown(test_a_log_line_is_formatted_on_the_device, load, unload),
		cmocka_unit_test_setup_teardown(test_the_heap_is_reached, load, unload),
		cmocka_unit_test_setup_teardown(test_the_first_range_of_a_run_has_the_short_way, load, unload),
		cmocka_unit_test_setup_teardown(test_a_host_pointer_is_refused_and_nothing_written, load, unload),
		cmocka_unit_test_setup_teardown(test_a_store_across_the_end_of_a_block_is_refused, load, unload),
		cmocka_unit_test_setup_teardown(test_an_endless_loop_ends_at_an_order, load, unload),
		cmocka_unit_test_setup_teardown(test_an_endless_loop_without_a_statement_ends_at_an_order, load,
						unload),
		cmocka_unit_test_setup_teardown(test_a_recursion_without_end_is_a_stack_overflow, load, unload),
		cmocka_unit_test_setup_teardown(test_memory_right_below_the_stack_is_not_the_stack, load, unload),
		cmocka_unit_test_setup_teardown(test_a_wild_jump_names_the_caller, load, unload),
		cmocka_unit_test_setup_teardown(test_a_function_that_the_simulator_lacks_is_named, load, unload),
		cmocka_unit_test_setup_teardown(test_a_port_function_ends_the_kernel, load, unload),
		cmocka_unit_test_setup_teardown(test_what_is_no_application_is_refused, load, unload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
