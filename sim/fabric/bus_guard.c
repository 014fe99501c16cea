/* SPDX-License-Identifier: BSD-3-Clause */
/* The SIGBUS handler of guarded copies. */
#include "bus_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

_Thread_local struct sim_mapping *sim_guarded_mappings[2];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while the handler is installed */
static struct sigaction previous;

/* Another thread of the parent may have held the lock. */
static void reset_in_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

static void __attribute__((constructor)) handle_forks(void)
{
	pthread_atfork(NULL, NULL, reset_in_child);
}

/* The signal that this thread passes on. A handler of the application that was installed between two of our
 * installations passes it back. */
static _Thread_local struct {
	const siginfo_t *info;
	const char *frame;
} passed_on;

static bool contains(const struct sim_mapping *mapping, const void *addr)
{
	return mapping && (uintptr_t)addr - (uintptr_t)mapping->addr < mapping->len_bytes;
}

/* Replaces the whole mapping: pages of hugetlbfs can't be replaced one by one. */
static bool replace(struct sim_mapping *mapping)
{
	if (mmap(mapping->addr, mapping->len_bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		return false;
	atomic_store(&mapping->is_lost, true);
	return true;
}

/* For a fault, the default action follows when the access is repeated; a signal that was sent is sent again. */
static void act_by_default(bool is_fault)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(SIGBUS, &action, NULL);
	if (!is_fault)
		raise(SIGBUS);
}

/* Called deeper on the stack for the same signal. A handler that was left by longjmp() leaves a record at the same depth. */
static bool is_passed_back(const siginfo_t *info, const char *frame)
{
	return passed_on.info == info && frame < passed_on.frame;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	const char *frame = __builtin_frame_address(0);
	bool is_fault = info->si_code > 0;

	if (is_passed_back(info, frame)) {
		act_by_default(is_fault);
		return;
	}
	passed_on.info = info;
	passed_on.frame = frame;
	if (previous.sa_flags & SA_SIGINFO)
		previous.sa_sigaction(number, info, context);
	else if (previous.sa_handler == SIG_DFL || (previous.sa_handler == SIG_IGN && is_fault))
		act_by_default(is_fault);
	else if (previous.sa_handler != SIG_IGN)
		previous.sa_handler(number);
	passed_on.info = NULL;
}

static void handle_sigbus(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	bool is_replaced = false;

	for (int i = 0; i < 2 && !is_replaced && info->si_code > 0; i++)
		if (contains(sim_guarded_mappings[i], info->si_addr))
			is_replaced = replace(sim_guarded_mappings[i]);
	errno = saved_errno;
	if (!is_replaced)
		pass_on(number, info, context);
}

static bool is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == handle_sigbus;
}

void sim_bus_guard_install(void)
{
	struct sigaction action = { .sa_sigaction = handle_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	struct sigaction installed;

	sigemptyset(&action.sa_mask);
	pthread_mutex_lock(&lock);
	sigaction(SIGBUS, NULL, &installed);
	if (!is_ours(&installed)) {
		previous = installed; /* before the handler can run */
		sigaction(SIGBUS, &action, NULL);
	}
	pthread_mutex_unlock(&lock);
}
