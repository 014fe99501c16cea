/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out: the n-th allocation fails, for every n, and what was made
 * until then is freed. This program's calloc() and realloc() stand before the C
 * library's for all libraries that it loads. Valgrind puts its own there, so that
 * the tests are skipped under it. */
#include "test_argp_util.h"
#include "under_valgrind.h"

#include <dlfcn.h>

static int allocations_left = -1; /* allocations that succeed before one fails; -1: all */
static bool failed;

static bool must_fail(void)
{
	if (allocations_left < 0 || allocations_left-- > 0)
		return false;
	failed = true;
	return true;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *old, size_t size);
#define real_calloc  __interceptor_calloc
#define real_realloc __interceptor_realloc
#else
static void *real_calloc(size_t count, size_t size)
{
	static void *(*real)(size_t, size_t);

	if (!real)
		real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	return real(count, size);
}

static void *real_realloc(void *old, size_t size)
{
	static void *(*real)(void *, size_t);

	if (!real)
		real = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	return real(old, size);
}
#endif

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return must_fail() ? NULL : real_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	return must_fail() ? NULL : real_realloc(old, size);
}

/* Let the n-th allocation of @step fail, from the first to one beyond the last. */
static void fail_each_allocation(doca_error_t (*step)(void))
{
	doca_error_t result;
	int n = 0;

	do {
		allocations_left = n++;
		failed = false;
		result = step();
		allocations_left = -1;
		assert_int_equal(result, failed ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS);
		doca_argp_destroy();
	} while (failed);
	assert_true(n > 1);
}

static doca_error_t step_init(void)
{
	return doca_argp_init("prog", NULL);
}

/* provokes: doca_argp_init DOCA_ERROR_NO_MEMORY */
static void test_init_without_memory(void **state)
{
	fail_each_allocation(step_init);
}

/* Run @make_one in a parser of its own; memory runs out in @make_one only. */
static doca_error_t in_parser(doca_error_t (*make_one)(void))
{
	int kept = allocations_left;
	doca_error_t result;

	allocations_left = -1;
	assert_int_equal(argp_setup(NULL), 0);
	add_usual_params();
	allocations_left = kept;
	result = make_one();
	allocations_left = -1;
	return result;
}

static doca_error_t create_param(void)
{
	struct doca_argp_param *param;

	return doca_argp_param_create(&param);
}

static doca_error_t step_param(void)
{
	return in_parser(create_param);
}

/* provokes: doca_argp_param_create DOCA_ERROR_NO_MEMORY */
static void test_parameter_without_memory(void **state)
{
	fail_each_allocation(step_param);
}

static doca_error_t create_cmd(void)
{
	struct doca_argp_cmd *cmd;

	return doca_argp_cmd_create(&cmd);
}

static doca_error_t step_cmd(void)
{
	return in_parser(create_cmd);
}

/* provokes: doca_argp_cmd_create DOCA_ERROR_NO_MEMORY */
static void test_command_without_memory(void **state)
{
	fail_each_allocation(step_cmd);
}

static doca_error_t no_dpdk(int argc, char **argv)
{
	return DOCA_SUCCESS;
}

static doca_error_t start_in_full(void)
{
	doca_argp_set_dpdk_program(no_dpdk);
	return start("-a", "03:00.0", "--", "-n", "Ada", "--fast", "-ns", "3");
}

static doca_error_t step_start(void)
{
	doca_error_t result = in_parser(start_in_full);

	if (result != DOCA_SUCCESS)
		assert_told("memory");
	return result;
}

/* provokes: doca_argp_start DOCA_ERROR_NO_MEMORY */
static void test_start_without_memory(void **state)
{
	fail_each_allocation(step_start);
}

static char path[] = "/tmp/test_argp_oom.XXXXXX";

static doca_error_t start_with_file(void)
{
	return start("-j", path);
}

static doca_error_t step_file(void)
{
	return in_parser(start_with_file);
}

/* json-c reports an invalid input when it has no memory, so that only allocations of the parser itself are certain
 * to give NO_MEMORY. */
static void test_start_with_a_file_without_memory(void **state)
{
	static const char content[] = "{\"doca_program_flags\": {\"name\": \"Ada\", \"num-size\": 3}}";
	doca_error_t result;
	int n = 0, fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
	do {
		allocations_left = n++;
		failed = false;
		result = step_file();
		assert_true(failed == (result != DOCA_SUCCESS));
		doca_argp_destroy();
	} while (failed);
	unlink(path);
	assert_true(n > 5);
}

static doca_error_t register_with_description_lost(void)
{
	struct doca_argp_param *param;
	int kept = allocations_left;
	doca_error_t result;

	allocations_left = -1;
	param = make_param("x", "extra", DOCA_ARGP_TYPE_STRING, on_name);
	doca_argp_param_set_description(param, "Another");
	allocations_left = kept;
	doca_argp_param_set_description(param, "A third, for which there may be no memory");
	allocations_left = -1;
	result = doca_argp_register_param(param);
	return result;
}

static void test_setter_without_memory_leaves_what_was_set(void **state)
{
	allocations_left = 0;
	failed = false;
	assert_int_equal(in_parser(register_with_description_lost), DOCA_SUCCESS);
	assert_true(failed);
	doca_argp_destroy();
}

static int skip_under_valgrind(void **state)
{
	if (RUNNING_ON_VALGRIND)
		exit(77); /* "skipped", to meson */
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_init_without_memory, argp_teardown),
		cmocka_unit_test_teardown(test_parameter_without_memory, argp_teardown),
		cmocka_unit_test_teardown(test_command_without_memory, argp_teardown),
		cmocka_unit_test_teardown(test_start_without_memory, argp_teardown),
		cmocka_unit_test_teardown(test_start_with_a_file_without_memory, argp_teardown),
		cmocka_unit_test_teardown(test_setter_without_memory_leaves_what_was_set, argp_teardown),
	};

	return cmocka_run_group_tests(tests, skip_under_valgrind, NULL);
}
