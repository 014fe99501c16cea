/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads bytes that may not be there. */
#include "touch.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/monotonic.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_DISABLE_ERROR_REPORTING
#define VALGRIND_ENABLE_ERROR_REPORTING
#endif

#define PAGE_BYTES ((size_t)4096) /* pages are at least as large */
#define MAX_PAGES  32             /* of larger ranges, the kernel knows sooner */

/* Where this thread goes on after a fault; NULL = it does not touch now. */
static __thread sigjmp_buf *escape __attribute__((tls_model("initial-exec")));

static struct sigaction before;
static bool has_handler;
static bool (*fault_handler)(const void *addr, void *context);
static _Atomic uint64_t looked_ns; /* the handler was there; 0 = it was not */

void check_touch_on_fault(bool (*handler)(const void *addr, void *context))
{
	fault_handler = handler;
}

/* With the handler that there was before, the instruction runs again; a signal that was sent, by kill() or raise(), is sent again. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	bool is_fault = info->si_code > 0;

	if (is_fault && escape)
		siglongjmp(*escape, 1);
	if (is_fault && fault_handler && fault_handler(info->si_addr, context))
		return;
	sigaction(signal, &before, NULL);
	if (!is_fault)
		raise(signal);
}

void check_touch_start(bool may_read)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

	has_handler = may_read && sigaction(SIGSEGV, &action, &before) == 0;
}

/* Looked for once in each tick of the coarse clock, some milliseconds. If the program has changed it meanwhile, a fault is
 * the program's, as without the checker. */
static bool is_handler_there(void)
{
	struct sigaction action;
	struct timespec tick;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &tick);
	now = (uint64_t)tick.tv_sec * SIM_NS_PER_S + (uint64_t)tick.tv_nsec;
	if (now == atomic_load_explicit(&looked_ns, memory_order_relaxed))
		return true;
	if (!has_handler || sigaction(SIGSEGV, NULL, &action) < 0 || action.sa_sigaction != on_fault)
		return false;
	atomic_store_explicit(&looked_ns, now, memory_order_relaxed);
	return true;
}

bool check_touch_sees_faults(void)
{
	return is_handler_there();
}

static bool can_read(const volatile uint8_t *addr, size_t len_bytes)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		escape = NULL;
		return false;
	}
	escape = &here;
	atomic_signal_fence(memory_order_seq_cst);
	for (size_t at = 0; at < len_bytes; at += PAGE_BYTES)
		(void)addr[at];
	(void)addr[len_bytes - 1];
	atomic_signal_fence(memory_order_seq_cst);
	escape = NULL;
	return true;
}

/* The call changes nothing: the kernel looks at the mappings. */
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

/* Memory that may not be read is mapped. */
bool check_is_unmapped(const uint8_t *addr, size_t len_bytes)
{
	if (len_bytes <= MAX_PAGES * PAGE_BYTES && is_handler_there() && can_read(addr, len_bytes))
		return false;
	return ask_kernel(addr, len_bytes);
}
