/* SPDX-License-Identifier: BSD-3-Clause */
/* The log under load: many backends, many threads, no memory. */
#include <doca_log.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "cmocka_test.h"
#include "log_child.h"
#include "under_valgrind.h"

DOCA_LOG_REGISTER(TEST::LOG::MANY);

static void hundreds_of_backends(void)
{
	struct doca_log_backend *backend;
	int i;

	for (i = 0; i < 500; i++)
		CHECK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend) == DOCA_SUCCESS);
	DOCA_LOG_INFO("x");
}

static void test_record_goes_to_all_of_hundreds_of_backends(void **state)
{
	assert_int_equal(count_of(in_child(hundreds_of_backends)->out, "] x\n"), 500);
}

#define THREADS 3
#define RECORDS 100

static void *say_many(void *arg)
{
	int i;

	for (i = 0; i < RECORDS; i++)
		DOCA_LOG_INFO("thread %d record %d", *(int *)arg, i);
	return NULL;
}

static void *configure_meanwhile(void *arg)
{
	struct doca_log_backend *backend;
	int i, source;

	for (i = 0; i < 10; i++) {
		CHECK(doca_log_backend_create_with_fd(STDERR_FILENO, &backend) == DOCA_SUCCESS);
		CHECK(doca_log_level_set_global_lower_limit(i % 2 ? 50 : 60) == DOCA_SUCCESS);
		CHECK(doca_log_backend_set_level_lower_limit(backend, 10) == DOCA_SUCCESS);
		CHECK(doca_log_register_source("MEANWHILE", &source) == DOCA_SUCCESS);
		CHECK(doca_log(60, source, "f", 1, "g", "meanwhile") == DOCA_SUCCESS);
		CHECK(doca_log_unregister_source(source) == DOCA_SUCCESS);
	}
	return NULL;
}

static unsigned int flushed_whole;

static void flush_and_count(char *buf)
{
	if (strstr(buf, " thread ") && buf[strlen(buf) - 1] == '\n')
		flushed_whole++; /* the handler runs in one thread at a time */
}

static void threads_log_at_once(void)
{
	static char buf[256];
	struct doca_log_backend *backend;
	int numbers[THREADS], i;
	pthread_t threads[THREADS + 1];

	CHECK(doca_log_backend_create_with_buf(buf, sizeof(buf), flush_and_count, &backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_create_with_file(stdout, &backend) == DOCA_SUCCESS);
	for (i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK(!pthread_create(&threads[i], NULL, say_many, &numbers[i]));
	}
	CHECK(!pthread_create(&threads[THREADS], NULL, configure_meanwhile, NULL));
	for (i = 0; i <= THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK(flushed_whole == THREADS * RECORDS);
}

static void test_threads_that_log_at_once_give_whole_lines_in_their_order(void **state)
{
	const char *line = in_child(threads_log_at_once)->out, *text;
	int thread, record, next[THREADS] = { 0 };

	for (; *line; line = strchr(line, '\n') + 1) {
		text = strstr(line, "] thread ");
		if (!text || text > strchr(line, '\n'))
			continue; /* a record of configure_meanwhile() */
		assert_int_equal(sscanf(text, "] thread %d record %d\n", &thread, &record), 2);
		assert_int_equal(record, next[thread]++);
	}
	for (thread = 0; thread < THREADS; thread++)
		assert_int_equal(next[thread], RECORDS);
}

/* --- No memory --- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR 1
#endif
#endif

#ifndef OWN_ALLOCATOR             /* the sanitizers have functions of their own in this place */
static int allocations_left = -1; /* -1: any number */

static bool may_allocate(void)
{
	if (allocations_left > 0)
		allocations_left--;
	return allocations_left != 0;
}

void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);

	if (!real)
		real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	return may_allocate() ? real(n, size) : NULL;
}

char *strdup(const char *text)
{
	static char *(*real)(const char *);

	if (!real)
		real = (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");
	return may_allocate() ? real(text) : NULL;
}

#define WITH_ALLOCATIONS(n, call) (allocations_left = (n) + 1, result = (call), allocations_left = -1, result)

static void no_memory(void)
{
	struct doca_log_backend *b = NULL;
	doca_error_t result;
	char buf[16];
	int id = -7;

	CHECK(WITH_ALLOCATIONS(0, doca_log_backend_create_with_file(stdout, &b)) == DOCA_ERROR_NO_MEMORY);
	CHECK(WITH_ALLOCATIONS(0, doca_log_backend_create_with_fd(1, &b)) == DOCA_ERROR_NO_MEMORY);
	CHECK(WITH_ALLOCATIONS(0, doca_log_backend_create_with_buf(buf, 16, flush_and_count, &b)) ==
	      DOCA_ERROR_NO_MEMORY);
	CHECK(WITH_ALLOCATIONS(0, doca_log_backend_create_with_syslog("a", &b)) == DOCA_ERROR_NO_MEMORY);
	CHECK(WITH_ALLOCATIONS(1, doca_log_backend_create_with_syslog("a", &b)) == DOCA_ERROR_NO_MEMORY);
	CHECK(b == NULL);
	CHECK(WITH_ALLOCATIONS(0, doca_log_backend_create_standard()) == DOCA_ERROR_NO_MEMORY);
	CHECK(WITH_ALLOCATIONS(1, doca_log_backend_create_standard()) == DOCA_ERROR_NO_MEMORY);
	CHECK(WITH_ALLOCATIONS(0, doca_log_register_source("a", &id)) == DOCA_ERROR_NO_MEMORY);
	CHECK(WITH_ALLOCATIONS(1, doca_log_register_source("a", &id)) == DOCA_ERROR_NO_MEMORY);
	CHECK(id == -7);
	DOCA_LOG_INFO("none of them was made");
	CHECK(doca_log_register_source("a", &id) == DOCA_SUCCESS && id > 0);
	CHECK(doca_log_backend_create_standard() == DOCA_SUCCESS);
	DOCA_LOG_INFO("made");
}

static void test_without_memory_nothing_is_made_and_later_it_works(void **state)
{
	const struct child_output *got;

	if (RUNNING_ON_VALGRIND) /* it has functions of its own in this place */
		skip();
	got = in_child(no_memory);
	assert_int_equal(count_of(got->out, "\n"), 1);
	assert_non_null(strstr(got->out, "] made\n"));
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_goes_to_all_of_hundreds_of_backends),
		cmocka_unit_test(test_threads_that_log_at_once_give_whole_lines_in_their_order),
#ifndef OWN_ALLOCATOR
		cmocka_unit_test(test_without_memory_nothing_is_made_and_later_it_works),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
