/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded accesses to memory that is gone go on, and leave no trace in the address space; all other faults reach the
 * handlers of the program, or the default action. Each case is a process of its own, which reports by its exit status. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "check.h"
#include "sim/base/memory_guard.h"
#include "sim/base/memory_signals.h"
#include "sim/base/self_maps.h"

#define PAGE 4096

static struct sim_mapping mapping;
static struct sim_range_guard guard;
static uint8_t *pages;
static sigjmp_buf caught;

static uint8_t *map(size_t len, int prot)
{
	uint8_t *mapped = mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(mapped != MAP_FAILED);
	return mapped;
}

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

static uint8_t read_byte(const uint8_t *at)
{
	return *(const volatile uint8_t *)at;
}

static void write_byte(uint8_t *at, uint8_t byte)
{
	*(volatile uint8_t *)at = byte;
}

static int prot_of(const uint8_t *page)
{
	struct sim_self_maps maps;
	struct sim_vma vma;
	int prot = -1;

	CHECK(sim_self_maps_open(&maps));
	while (sim_self_maps_next(&maps, &vma))
		if (vma.begin <= (uintptr_t)page && (uintptr_t)page < vma.end)
			prot = vma.prot;
	sim_self_maps_close(&maps);
	return prot;
}

/* ---- guarded accesses ---- */

static void a_lost_mapping_holds_zeros(void)
{
	uint8_t copy[2 * PAGE];

	map_truncated();
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, NULL, 0, &mapping);
	CHECK(read_byte(mapping.addr) == 7);
	CHECK(!atomic_load(&mapping.is_lost));
	memcpy(copy, mapping.addr, sizeof(copy));
	write_byte((uint8_t *)mapping.addr + PAGE + 1, 1);
	CHECK(!sim_range_guard_end(&guard));
	CHECK(atomic_load(&mapping.is_lost));
	CHECK(copy[PAGE] == 0); /* memcpy() may read the end first, so the first page may be lost as well */
}

/* A hole of two pages between two that are there. */
static void a_hole_is_a_hole_again(void)
{
	pages = map(4 * PAGE, PROT_READ | PROT_WRITE);
	CHECK(munmap(pages + PAGE, 2 * PAGE) == 0);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, pages, 4 * PAGE, NULL);
	CHECK(read_byte(pages + 2 * PAGE + 5) == 0);
	write_byte(pages + PAGE, 3);
	CHECK(sim_range_guard_end(&guard));
	CHECK(guard.guard.fault == SIM_MEMORY_UNMAPPED && guard.guard.addr == (uintptr_t)pages + 2 * PAGE + 5);
	sim_guard_settle(&guard.guard);
	CHECK(prot_of(pages + PAGE) == -1 && prot_of(pages + 2 * PAGE) == -1);
	CHECK(prot_of(pages) >= 0 && prot_of(pages + 3 * PAGE) >= 0);
	CHECK(!guard.guard.has_faulted && !guard.guard.is_lost && !guard.guard.loans);
}

static void a_protection_is_back(void)
{
	pages = map(3 * PAGE, PROT_READ | PROT_WRITE);
	memset(pages, 9, 3 * PAGE);
	CHECK(mprotect(pages, PAGE, PROT_READ) == 0 && mprotect(pages + PAGE, PAGE, PROT_NONE) == 0);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, pages, 3 * PAGE, NULL);
	write_byte(pages, 10);
	CHECK(read_byte(pages + PAGE) == 9);
	CHECK(!sim_range_guard_end(&guard));
	CHECK(guard.guard.has_faulted && guard.guard.fault == SIM_MEMORY_PROTECTED);
	sim_guard_settle(&guard.guard);
	CHECK(prot_of(pages) == PROT_READ && prot_of(pages + PAGE) == PROT_NONE);
	CHECK(read_byte(pages) == 10);
}

/* What the program does with the pages meanwhile stays. */
static void pages_that_the_program_changed_are_its_own(void)
{
	pages = map(4 * PAGE, PROT_READ | PROT_WRITE);
	CHECK(munmap(pages, 2 * PAGE) == 0 && mprotect(pages + 2 * PAGE, 2 * PAGE, PROT_NONE) == 0);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, pages, 4 * PAGE, NULL);
	(void)read_byte(pages);
	(void)read_byte(pages + 2 * PAGE);
	CHECK(mmap(pages, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages);
	CHECK(mprotect(pages + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
	CHECK(sim_range_guard_end(&guard));
	sim_guard_settle(&guard.guard);
	CHECK(prot_of(pages) == (PROT_READ | PROT_WRITE) && prot_of(pages + PAGE) == -1);
	CHECK(prot_of(pages + 2 * PAGE) == (PROT_READ | PROT_WRITE) && prot_of(pages + 3 * PAGE) == PROT_NONE);
}

/* All but the first of 300 pages have no object behind them. They are read from the first on, or from the last. */
static void read_truncated(bool is_backward)
{
	const size_t num_pages = 300;
	int fd = memfd_create("truncated", MFD_CLOEXEC);

	CHECK(ftruncate(fd, (off_t)num_pages * PAGE) == 0);
	pages = mmap(NULL, num_pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(pages != MAP_FAILED);
	pages[0] = 1;
	CHECK(ftruncate(fd, PAGE) == 0);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, pages, num_pages * PAGE, NULL);
	for (size_t i = 0; i < num_pages; i++) {
		size_t page = is_backward ? num_pages - 1 - i : i;

		CHECK(read_byte(pages + page * PAGE) == (page == 0));
	}
	CHECK(mmap(pages + 7 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	      pages + 7 * PAGE);
	CHECK(sim_range_guard_end(&guard) && guard.guard.fault == SIM_MEMORY_TRUNCATED);
	sim_guard_settle(&guard.guard);
	CHECK(ftruncate(fd, (off_t)num_pages * PAGE) == 0);
	for (size_t i = 0; i < num_pages; i++) {
		uint8_t byte = (uint8_t)(i + 3);

		CHECK(pwrite(fd, &byte, 1, (off_t)i * PAGE) == 1);
		CHECK(read_byte(pages + i * PAGE) == (i == 7 ? 0 : byte));
	}
}

static void truncated_pages_are_the_objects_again(void)
{
	read_truncated(false);
}

static void truncated_pages_are_the_objects_again_backward(void)
{
	read_truncated(true);
}

/* Each second of 600 pages is gone: more than there is room for. */
static void many_holes_are_too_many(void)
{
	pages = map((size_t)1200 * PAGE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < 600; i++)
		CHECK(munmap(pages + 2 * i * PAGE, PAGE) == 0);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, pages, (size_t)1200 * PAGE, NULL);
	for (size_t i = 0; i < 600; i++)
		(void)read_byte(pages + 2 * i * PAGE);
}

static void *access_in_thread(void *arg)
{
	uint8_t *page = map(PAGE, PROT_NONE); /* not unmapped: another thread could map something there */
	struct sim_range_guard own;

	for (int i = 0; i < 100; i++) {
		sim_range_guard_begin(&own, page, PAGE, NULL);
		(void)read_byte(page);
		sim_range_guard_end(&own);
		CHECK(own.guard.has_faulted);
		sim_guard_settle(&own.guard);
	}
	return NULL;
}

static void threads_have_guards_of_their_own(void)
{
	pthread_t threads[4];

	sim_memory_signals_install();
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, access_in_thread, NULL) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void a_guard_within_a_guard(void)
{
	struct sim_range_guard inner;

	pages = map(2 * PAGE, PROT_NONE);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, pages, PAGE, NULL);
	sim_range_guard_begin(&inner, pages + PAGE, PAGE, NULL);
	(void)read_byte(pages + PAGE);
	sim_range_guard_end(&inner);
	sim_guard_settle(&inner.guard);
	(void)read_byte(pages);
	sim_range_guard_end(&guard);
	CHECK(guard.guard.has_faulted && !sim_guarded);
}

/* ---- the program's handlers ---- */

static uint8_t *expected;
static int num_handled;

static void on_fault(int number, siginfo_t *info, void *context)
{
	num_handled++;
	siglongjmp(caught, info->si_addr == expected && info->si_code > 0 ? 1 : 2);
}

static void install_own(int number, void (*handler)(int, siginfo_t *, void *), int flags, struct sigaction *ret_old)
{
	const struct sigaction own = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	CHECK(sigaction(number, &own, ret_old) == 0);
}

/* Also while a guard is there that does not know the address. */
static void expect_own_handler(uint8_t *at)
{
	int which = sigsetjmp(caught, 1);

	expected = at;
	if (which == 0)
		(void)read_byte(at);
	CHECK(which == 1);
}

static void a_fault_reaches_the_earlier_handler(void)
{
	map_truncated();
	pages = map(PAGE, PROT_NONE);
	install_own(SIGBUS, on_fault, 0, NULL);
	install_own(SIGSEGV, on_fault, 0, NULL);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, &guard, 1, NULL);
	for (int i = 0; i < 3; i++) { /* the first was left by a jump */
		expect_own_handler((uint8_t *)mapping.addr + PAGE);
		expect_own_handler(pages + 17);
	}
	CHECK(!atomic_load(&mapping.is_lost) && !guard.guard.has_faulted && num_handled == 6);
}

/* A handler that the program installs later gets the faults, and guarded accesses go on behind the next installation. */
static void a_fault_reaches_the_later_handler(void)
{
	pages = map(2 * PAGE, PROT_NONE);
	sim_memory_signals_install();
	install_own(SIGSEGV, on_fault, SA_NODEFER, NULL);
	expect_own_handler(pages);
	CHECK(!sim_memory_signals_are_first());
	sim_memory_signals_install();
	CHECK(sim_memory_signals_are_first());
	expect_own_handler(pages + 1);
	sim_range_guard_begin(&guard, pages + PAGE, PAGE, NULL);
	(void)read_byte(pages + PAGE);
	sim_range_guard_end(&guard);
	CHECK(guard.guard.has_faulted && num_handled == 2);
}

static void on_other_fault(int number, siginfo_t *info, void *context)
{
	siglongjmp(caught, 3);
}

/* What sigaction() returned is put back, although the handler of a probe was stepped before meanwhile. */
static void a_restored_handler_is_the_earlier_one(void)
{
	struct sigaction before;

	pages = map(PAGE, PROT_NONE);
	install_own(SIGSEGV, on_fault, 0, NULL);
	sim_memory_signals_install();
	for (int i = 0; i < 100; i++) {
		install_own(SIGSEGV, on_other_fault, 0, &before);
		sim_memory_signals_install();
		CHECK(sigaction(SIGSEGV, &before, NULL) == 0);
		sim_memory_signals_install();
		expect_own_handler(pages);
	}
	CHECK(num_handled == 100);
}

static struct sigaction earlier;

static void pass_back(int number, siginfo_t *info, void *context)
{
	earlier.sa_sigaction(number, info, context);
}

/* on_fault <- ours <- pass_back <- ours */
static void handlers_that_pass_on_form_a_chain(void)
{
	pages = map(PAGE, PROT_NONE);
	install_own(SIGSEGV, on_fault, 0, NULL);
	sim_memory_signals_install();
	install_own(SIGSEGV, pass_back, 0, &earlier);
	sim_memory_signals_install();
	expect_own_handler(pages);
	expect_own_handler(pages);
}

static void handlers_in_a_circle_end_by_the_default(void)
{
	pages = map(PAGE, PROT_NONE);
	sim_memory_signals_install();
	install_own(SIGSEGV, pass_back, 0, NULL);
	sim_memory_signals_install();
	install_own(SIGSEGV, pass_back, 0, &earlier);
	CHECK(sigaction(SIGSEGV, &earlier, NULL) == 0);
	(void)read_byte(pages);
}

static void on_number(int number)
{
	siglongjmp(caught, number == SIGSEGV ? 1 : 2);
}

static void a_handler_without_siginfo(void)
{
	pages = map(PAGE, PROT_NONE);
	CHECK(signal(SIGSEGV, on_number) != SIG_ERR);
	sim_memory_signals_install();
	expect_own_handler(pages);
}

static bool leave(int number, const siginfo_t *info, void *context)
{
	siglongjmp(caught, 1);
}

#ifdef __SANITIZE_THREAD__ /* it blocks all signals while a handler runs */
#define SAVES_MASK 1
#else
#define SAVES_MASK 0
#endif

/* signal() makes a mask with the signal in it, which holds for a handler that passes on to the program's, too. */
static void a_second_fault_that_a_jump_leaves(void)
{
	volatile int num_left = 0;

	pages = map(PAGE, PROT_NONE);
	CHECK(signal(SIGSEGV, on_number) != SIG_ERR);
	sim_memory_signals_install();
	sim_thread_on_fault = leave;
	if (sigsetjmp(caught, SAVES_MASK))
		num_left++;
	if (num_left < 2)
		(void)read_byte(pages);
	CHECK(num_left == 2);
}

static void a_handler_for_one_time(void)
{
	pages = map(PAGE, PROT_NONE);
	install_own(SIGSEGV, on_fault, (int)SA_RESETHAND, NULL);
	sim_memory_signals_install();
	expect_own_handler(pages);
	(void)read_byte(pages);
}

/* The handler runs with the signal blocked, so that a fault in it is the end. */
static void fault_again(int number, siginfo_t *info, void *context)
{
	if (num_handled++ > 0)
		_exit(1);
	(void)read_byte(pages);
}

static void a_fault_in_the_handler_is_the_end(void)
{
	pages = map(PAGE, PROT_NONE);
	install_own(SIGSEGV, fault_again, 0, NULL);
	sim_memory_signals_install();
	(void)read_byte(pages);
}

static char stack[65536];

static void on_stack(int number, siginfo_t *info, void *context)
{
	const char *here = __builtin_frame_address(0);

	siglongjmp(caught, here > stack && here < stack + sizeof(stack) ? 1 : 2);
}

static void a_handler_on_its_own_stack(void)
{
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };

	pages = map(PAGE, PROT_NONE);
	CHECK(sigaltstack(&own, NULL) == 0);
	install_own(SIGSEGV, on_stack, SA_ONSTACK, NULL);
	sim_memory_signals_install();
	expect_own_handler(pages);
	install_own(SIGSEGV, on_fault, 0, NULL);
	sim_memory_signals_install();
	expect_own_handler(pages);
}

/* ---- default actions ---- */

static void another_access_ends_by_the_default(void)
{
	pages = map(PAGE, PROT_NONE);
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, pages, 1, NULL);
	(void)read_byte(pages + 1);
}

static void a_truncated_object_ends_by_the_default(void)
{
	map_truncated();
	sim_memory_signals_install();
	(void)read_byte((uint8_t *)mapping.addr + PAGE);
}

static void a_sent_signal_ends_by_the_default(void)
{
	map_truncated();
	sim_memory_signals_install();
	sim_range_guard_begin(&guard, mapping.addr, mapping.len_bytes, &mapping);
	raise(SIGBUS);
}

static void an_ignored_signal_stays_ignored(void)
{
	signal(SIGBUS, SIG_IGN);
	signal(SIGSEGV, SIG_IGN);
	sim_memory_signals_install();
	raise(SIGBUS);
	raise(SIGSEGV);
}

static void a_fault_can_not_be_ignored(void)
{
	pages = map(PAGE, PROT_NONE);
	signal(SIGSEGV, SIG_IGN);
	sim_memory_signals_install();
	(void)read_byte(pages);
}

static int status_of(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGBUS, SIG_DFL); /* cmocka has a handler */
		signal(SIGSEGV, SIG_DFL);
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
		assert_int_equal(status_of(body) & 0x7f, expected); \
		if ((expected) == 0)                                \
			assert_int_equal(status_of(body), 0);       \
	}

#define CASES(X)                                             \
	X(a_lost_mapping_holds_zeros, 0)                     \
	X(a_hole_is_a_hole_again, 0)                         \
	X(a_protection_is_back, 0)                           \
	X(pages_that_the_program_changed_are_its_own, 0)     \
	X(truncated_pages_are_the_objects_again, 0)          \
	X(truncated_pages_are_the_objects_again_backward, 0) \
	X(many_holes_are_too_many, SIGSEGV)                  \
	X(threads_have_guards_of_their_own, 0)               \
	X(a_guard_within_a_guard, 0)                         \
	X(a_fault_reaches_the_earlier_handler, 0)            \
	X(a_fault_reaches_the_later_handler, 0)              \
	X(a_restored_handler_is_the_earlier_one, 0)          \
	X(handlers_that_pass_on_form_a_chain, 0)             \
	X(handlers_in_a_circle_end_by_the_default, SIGSEGV)  \
	X(a_handler_without_siginfo, 0)                      \
	X(a_second_fault_that_a_jump_leaves, 0)              \
	X(a_handler_for_one_time, SIGSEGV)                   \
	X(a_fault_in_the_handler_is_the_end, SIGSEGV)        \
	X(a_handler_on_its_own_stack, 0)                     \
	X(another_access_ends_by_the_default, SIGSEGV)       \
	X(a_truncated_object_ends_by_the_default, SIGBUS)    \
	X(a_sent_signal_ends_by_the_default, SIGBUS)         \
	X(an_ignored_signal_stays_ignored, 0)                \
	X(a_fault_can_not_be_ignored, SIGSEGV)

CASES(CASE)

int main(void)
{
#define TEST(body, expected) cmocka_unit_test(test_##body),
	const struct CMUnitTest tests[] = { CASES(TEST) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
