/* SPDX-License-Identifier: BSD-3-Clause */
/* The last message of a thread. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/base/last_error.h"

static _Thread_local bool has_no_memory;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return has_no_memory ? NULL : __real_malloc(bytes);
}

static void *fail_elsewhere(void *has_none)
{
	*(bool *)has_none = sim_last_error()[0] == '\0';
	sim_set_error(-EIO, "of another thread");
	return NULL;
}

static void test_message_is_of_its_thread(void **state)
{
	bool has_none = false;
	pthread_t thread;

	assert_int_equal(sim_set_error(-ENOENT, "there is no rule %d", 3), -ENOENT);
	assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &has_none), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(has_none);
	assert_string_equal(sim_last_error(), "there is no rule 3");
}

static void test_message_can_quote_the_one_before(void **state)
{
	sim_set_error(-EINVAL, "no number");
	sim_set_error(-EINVAL, "plan.yaml:4: %s", sim_last_error());
	assert_string_equal(sim_last_error(), "plan.yaml:4: no number");
}

static void *fail_without_memory(void *is_said)
{
	has_no_memory = true;
	sim_set_error(-ENOMEM, "no room for 3 rules");
	*(bool *)is_said = strcmp(sim_last_error(), "out of memory") == 0;
	has_no_memory = false;
	sim_set_error(-ENOMEM, "no room for 4 rules");
	*(bool *)is_said &= strcmp(sim_last_error(), "no room for 4 rules") == 0;
	return NULL;
}

static void test_message_without_memory_says_so(void **state)
{
	bool is_said = false;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fail_without_memory, &is_said), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(is_said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_is_of_its_thread),
		cmocka_unit_test(test_message_can_quote_the_one_before),
		cmocka_unit_test(test_message_without_memory_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
