/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads bytes that may not be there. */
#include "probe.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/memory_guard.h"
#include "sim/base/memory_signals.h"
#include "sim/base/monotonic.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_DISABLE_ERROR_REPORTING
#define VALGRIND_ENABLE_ERROR_REPORTING
#endif

#define PAGE_BYTES ((size_t)4096) /* pages are at least as large */
#define MAX_PAGES  32             /* of larger ranges, the kernel knows sooner */

/* Where this thread goes on after a fault; NULL = it does not probe now. */
static __thread sigjmp_buf *escape __attribute__((tls_model("initial-exec")));

static bool has_hook;
static bool (*fault_handler)(const void *addr, void *context);
static _Atomic uint64_t hook_seen_ns; /* the handler was there; 0 = it was not */

void check_probe_on_fault(bool (*handler)(const void *addr, void *context))
{
	fault_handler = handler;
}

/* A signal that was sent, by kill() or raise(), is the program's. */
static bool on_fault(int number, const siginfo_t *info, void *context)
{
	if (info->si_code <= 0)
		return false;
	if (escape)
		siglongjmp(*escape, number);
	return number == SIGSEGV && fault_handler && fault_handler(info->si_addr, context);
}

void check_probe_start(bool may_read)
{
	has_hook = may_read;
	if (!has_hook)
		return;
	sim_memory_signals_set_hook(on_fault);
	sim_memory_signals_install();
}

/* Asked once in each tick of the coarse clock, some milliseconds. If the program has changed it meanwhile, a fault is
 * the program's, as without the checker. */
static bool is_handler_there(void)
{
	struct timespec tick;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &tick);
	now = (uint64_t)tick.tv_sec * SIM_NS_PER_S + (uint64_t)tick.tv_nsec;
	if (now == atomic_load_explicit(&hook_seen_ns, memory_order_relaxed))
		return true;
	if (!has_hook || !sim_memory_signals_are_first())
		return false;
	atomic_store_explicit(&hook_seen_ns, now, memory_order_relaxed);
	return true;
}

bool check_probe_sees_faults(void)
{
	return is_handler_there();
}

/* Returns the signal of a read that faults; 0 = none does. */
static int read_pages(const volatile uint8_t *addr, size_t len_bytes)
{
	sigjmp_buf here;
	int number = sigsetjmp(here, 0);

	if (number) {
		escape = NULL;
		return number;
	}
	escape = &here;
	atomic_signal_fence(memory_order_seq_cst);
	for (size_t at = 0; at < len_bytes; at += PAGE_BYTES)
		(void)addr[at];
	(void)addr[len_bytes - 1];
	atomic_signal_fence(memory_order_seq_cst);
	escape = NULL;
	return 0;
}

/* The call changes nothing: the kernel reads the mappings. */
static bool ask_kernel(const uint8_t *addr, size_t bytes)
{
	size_t before_bytes = (uintptr_t)addr % (size_t)sysconf(_SC_PAGESIZE);
	bool is_unmapped;

	VALGRIND_DISABLE_ERROR_REPORTING; /* the pages have bytes that are not the program's */
	is_unmapped =
		msync((void *)(uintptr_t)(addr - before_bytes), bytes + before_bytes, MS_ASYNC) < 0 && errno == ENOMEM;
	VALGRIND_ENABLE_ERROR_REPORTING;
	return is_unmapped;
}

/* Memory that may not be read is mapped. Memory of a truncated object is, but it has no bytes. */
bool check_is_unmapped(const uint8_t *addr, size_t len_bytes)
{
	int number = len_bytes <= MAX_PAGES * PAGE_BYTES && is_handler_there() ? read_pages(addr, len_bytes) : SIGSEGV;

	return number == SIGSEGV ? ask_kernel(addr, len_bytes) : number != 0;
}

bool check_read_bytes(void *to, const void *from, size_t len_bytes)
{
	struct sim_range_guard guard;
	bool is_lost;

	sim_range_guard_begin(&guard, from, len_bytes, NULL);
	memcpy(to, from, len_bytes);
	is_lost = sim_range_guard_end(&guard);
	if (guard.guard.has_faulted)
		sim_guard_settle(&guard.guard);
	return !is_lost;
}
