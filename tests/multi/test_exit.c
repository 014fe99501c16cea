/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that exit while other threads are in the library, through the public API. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <doca_dev.h>

#include "cmocka_test.h"
#include "session_util.h"

#define NUM_THREADS  2
#define NUM_PROGRAMS 20

static atomic_uint num_looks;

/* Results at the very end of the process do not matter. */
static void *look_for_devices(void *unused)
{
	for (;;) {
		struct doca_devinfo **list;
		struct doca_dev *dev;
		uint32_t count;

		if (doca_devinfo_create_list(&list, &count) != DOCA_SUCCESS)
			continue;
		for (uint32_t i = 0; i < count; i++)
			if (doca_dev_open(list[i], &dev) == DOCA_SUCCESS)
				doca_dev_close(dev);
		doca_devinfo_destroy_list(list);
		atomic_fetch_add(&num_looks, 1);
	}
	return unused;
}

static void end_among_threads(int ctl, const void *is_private)
{
	pthread_t thread;

	if (is_private)
		unsetenv("BFSIM_SESSION");
	setenv("BFSIM_SIDE", "host", 1);
	for (int i = 0; i < NUM_THREADS; i++)
		CHECK(pthread_create(&thread, NULL, look_for_devices, NULL) == 0);
	while (atomic_load(&num_looks) < 100)
		usleep(100);
	exit(0);
}

static void expect_good_ends(const char *is_private)
{
	for (int i = 0; i < NUM_PROGRAMS; i++) {
		struct proc program;

		proc_start(&program, end_among_threads, is_private);
		assert_int_equal(proc_wait(&program), 0);
	}
}

static void test_program_ends_well_while_threads_look_for_devices(void **state)
{
	expect_good_ends(NULL);
}

static void test_program_on_a_private_card_ends_well_while_threads_look_for_devices(void **state)
{
	expect_good_ends("a private card");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_program_ends_well_while_threads_look_for_devices, session_setup,
						session_stop_teardown),
		cmocka_unit_test_setup_teardown(test_program_on_a_private_card_ends_well_while_threads_look_for_devices,
						session_setup, session_stop_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
