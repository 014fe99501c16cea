/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to a truncated object: guarded ones go on with zeros and mark the mapping as lost; others reach the handler of
 * the application or the default action. Each case is a process of its own, which reports by its exit status. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"
#include "sim/fabric/bus_guard.h"

#define PAGE 4096

static struct sim_mapping mapping;
static sigjmp_buf caught;

/* Two pages, of which the second no longer has an object behind it. */
static void map_truncated(void)
{
	int fd = memfd_create("truncated", MFD_CLOEXEC);

	CHECK(ftruncate(fd, 2 * PAGE) == 0);
	mapping.len_bytes = 2 * PAGE;
	mapping.addr = mmap(NULL, mapping.len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(mapping.addr != MAP_FAILED);
	memset(mapping.addr, 7, mapping.len_bytes);
	CHECK(ftruncate(fd, PAGE) == 0);
}

static uint8_t read_byte(size_t offset)
{
	return ((volatile uint8_t *)mapping.addr)[offset];
}

static void guarded_access_goes_on(void)
{
	uint8_t copy[2 * PAGE];

	map_truncated();
	sim_bus_guard_install();
	sim_bus_guard_begin(NULL, &mapping);
	CHECK(read_byte(0) == 7);
	CHECK(!atomic_load(&mapping.is_lost));
	memcpy(copy, mapping.addr, sizeof(copy));
	((volatile uint8_t *)mapping.addr)[PAGE + 1] = 1;
	sim_bus_guard_end();
	CHECK(atomic_load(&mapping.is_lost));
	CHECK(copy[PAGE] == 0); /* memcpy() may read the end first, so the first page may be lost as well */
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	siglongjmp(caught, info->si_addr == (uint8_t *)mapping.addr + PAGE ? 1 : 2);
}

static void install_own(void)
{
	const struct sigaction own = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	CHECK(sigaction(SIGBUS, &own, NULL) == 0);
}

static void expect_own_handler(void)
{
	int which = sigsetjmp(caught, 1);

	if (which == 0)
		(void)read_byte(PAGE);
	CHECK(which == 1);
}

static void other_access_reaches_the_earlier_handler(void)
{
	map_truncated();
	install_own();
	sim_bus_guard_install();
	expect_own_handler();
	expect_own_handler(); /* after the first was left by a jump */
	CHECK(!atomic_load(&mapping.is_lost));
}

static struct sigaction earlier;

static void pass_back(int number, siginfo_t *info, void *context)
{
	earlier.sa_sigaction(number, info, context);
}

static void handlers_in_a_circle_end_by_the_default(void)
{
	const struct sigaction own = { .sa_sigaction = pass_back, .sa_flags = SA_SIGINFO };

	map_truncated();
	sim_bus_guard_install();
	CHECK(sigaction(SIGBUS, &own, &earlier) == 0);
	sim_bus_guard_install();
	(void)read_byte(PAGE);
}

static void other_access_ends_by_the_default(void)
{
	map_truncated();
	sim_bus_guard_install();
	(void)read_byte(PAGE);
}

static void sent_signal_ends_by_the_default(void)
{
	map_truncated();
	sim_bus_guard_install();
	sim_bus_guard_begin(&mapping, &mapping);
	raise(SIGBUS);
}

static void ignored_signal_stays_ignored(void)
{
	signal(SIGBUS, SIG_IGN);
	sim_bus_guard_install();
	raise(SIGBUS);
}

static int status_of(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGBUS, SIG_DFL); /* cmocka has a handler */
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

#define CASE(body, expected)                                        \
	static void test_##body(void **state)                       \
	{                                                           \
		(void)state;                                        \
		assert_int_equal(status_of(body) & 0x7f, expected); \
		if ((expected) == 0)                                \
			assert_int_equal(status_of(body), 0);       \
	}

CASE(guarded_access_goes_on, 0)
CASE(other_access_reaches_the_earlier_handler, 0)
CASE(handlers_in_a_circle_end_by_the_default, SIGBUS)
CASE(other_access_ends_by_the_default, SIGBUS)
CASE(sent_signal_ends_by_the_default, SIGBUS)
CASE(ignored_signal_stays_ignored, 0)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guarded_access_goes_on),
		cmocka_unit_test(test_other_access_reaches_the_earlier_handler),
		cmocka_unit_test(test_handlers_in_a_circle_end_by_the_default),
		cmocka_unit_test(test_other_access_ends_by_the_default),
		cmocka_unit_test(test_sent_signal_ends_by_the_default),
		cmocka_unit_test(test_ignored_signal_stays_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
