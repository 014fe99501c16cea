/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/shared_state.c: the shared state of a session, and that of a process without one. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "emulated.h"
#include "proc.h"
#include "sim/state/shared_state.h"
#include "under_valgrind.h"

static bool is_mapped(void *address)
{
	unsigned char in_core;

	return mincore(address, 1, &in_core) == 0;
}

static void test_state_of_a_session_is_unmapped_when_released(void **state)
{
	struct sim_segment made, mapped;
	void *base;
	int fd;

	assert_int_equal(sim_shared_state_create(SIM_CLOCK_VIRTUAL, &made, &fd), 0);
	assert_int_equal(sim_shared_state_map(fd, &mapped), 0);
	close(fd);
	atomic_store(&sim_shared_state_of(&made)->clock.now_ns, 7);
	assert_int_equal(sim_shared_state_now_ns(sim_shared_state_of(&mapped)), 7);
	base = made.base;
	sim_shared_state_release(&made);
	assert_false(is_mapped(base));
	sim_shared_state_release(&mapped);
}

/* The first call is in a child that gets no more memory. */
static void test_private_state_without_memory_fails(void **state)
{
	const struct rlimit none = { 0, 0 };
	struct sim_segment segment;
	int status;
	pid_t pid;

	if (PROC_IS_SLOW || RUNNING_ON_VALGRIND || is_emulated()) /* they need memory, too, or have no limit */
		skip();
	pid = fork();
	if (pid == 0)
		_exit(setrlimit(RLIMIT_AS, &none) == 0 && sim_shared_state_private(&segment) == -ENOMEM ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_private_state_outlives_those_that_release_it(void **state)
{
	struct sim_segment first, second;
	void *base;

	assert_int_equal(sim_shared_state_private(&first), 0);
	base = first.base;
	atomic_store(&sim_shared_state_of(&first)->functions.status_words[3], 5);
	sim_shared_state_release(&first);
	assert_null(first.base);
	sim_shared_state_release(&first); /* does nothing */
	assert_true(is_mapped(base));
	assert_int_equal(sim_shared_state_private(&second), 0);
	assert_ptr_equal(second.base, base);
	assert_int_equal(atomic_load(&sim_shared_state_of(&second)->functions.status_words[3]), 5);
	sim_shared_state_release(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_of_a_session_is_unmapped_when_released),
		cmocka_unit_test(test_private_state_without_memory_fails),
		cmocka_unit_test(test_private_state_outlives_those_that_release_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
