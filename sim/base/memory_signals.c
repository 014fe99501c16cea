/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of SIGSEGV and SIGBUS that pass on what is not ours. */
#include "memory_signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fork.h"
#include "memory_guard.h"

/* Of one signal; more handlers that a program has at different times are not stepped before. */
#define NUM_HANDLERS 16

/* What each handler replaced, by its number: set once, before the handler can run. */
struct chain {
	int number;
	_Atomic uint32_t count;
	struct sigaction replaced[NUM_HANDLERS];
};

static struct chain segv = { .number = SIGSEGV }, bus = { .number = SIGBUS };
static struct chain ill = { .number = SIGILL }, fpe = { .number = SIGFPE };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a handler is installed */
_Thread_local sim_thread_fault *sim_thread_on_fault;
static bool (*_Atomic hook)(int number, const siginfo_t *info, void *context);

/* The signal that this thread passes on, and the handlers that did so. A handler of the program that calls what it
 * replaced comes back here, deeper on the stack. A record that a jump out of a handler left is of the same depth, or deeper. */
static _Thread_local struct {
	const siginfo_t *info;
	const char *frame;
	uint32_t handlers;
} passed_on __attribute__((tls_model("initial-exec")));

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &lock);

/* ---- what is not ours ---- */

/* For a fault, the default action follows when the access is repeated; a signal that was sent is sent again, as it was. */
static void act_by_default(int number, siginfo_t *info)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(number, &action, NULL);
	if (info->si_code <= 0)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info);
}

/* Returns false if this handler passes the signal on for the second time: handlers call each other in a circle. */
static bool begin_passing(unsigned int handler, const siginfo_t *info, const char *frame)
{
	uint32_t bit = UINT32_C(1) << handler;

	if (passed_on.info != info || frame >= passed_on.frame)
		passed_on.handlers = 0;
	else if (passed_on.handlers & bit)
		return false;
	passed_on.info = info;
	passed_on.frame = frame;
	passed_on.handlers |= bit;
	return true;
}

static void call(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
	const struct sigaction defaults = { .sa_handler = SIG_DFL };
	sigset_t blocked = action->sa_mask;

	if (action->sa_flags & (int)SA_RESETHAND)
		sigaction(number, &defaults, NULL);
	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&blocked, number);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL); /* the return from the signal ends that */
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, info, context);
	else
		action->sa_handler(number);
}

static void pass_on(const struct chain *chain, unsigned int handler, siginfo_t *info, void *context)
{
	const struct sigaction *next = &chain->replaced[handler];
	bool has_handler = next->sa_flags & SA_SIGINFO || (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN);

	if (has_handler && begin_passing(handler, info, __builtin_frame_address(0))) {
		call(next, chain->number, info, context);
		passed_on.info = NULL;
	} else if (has_handler || next->sa_handler == SIG_DFL || info->si_code > 0) {
		act_by_default(chain->number, info);
	}
}

/* ---- the handlers ---- */

static const struct chain *chain_of(int number)
{
	switch (number) {
	case SIGSEGV:
		return &segv;
	case SIGBUS:
		return &bus;
	case SIGILL:
		return &ill;
	default:
		return &fpe;
	}
}

static bool is_of_memory(int number)
{
	return number == SIGSEGV || number == SIGBUS;
}

static void handle(unsigned int handler, int number, siginfo_t *info, void *context)
{
	const struct chain *chain = chain_of(number);
	int saved_errno = errno;
	bool (*look)(int, const siginfo_t *, void *) = atomic_load(&hook);
	bool is_mended = false;

	(void)atomic_load(&chain->count); /* behind it stands what the handler replaced */
	if (info->si_code > 0 && is_of_memory(number))
		is_mended = (look && look(number, info, context)) || sim_guard_mend(number, info);
	if (info->si_code > 0 && !is_mended && sim_thread_on_fault)
		is_mended = sim_thread_on_fault(number, info, context);
	errno = saved_errno;
	if (!is_mended)
		pass_on(chain, handler, info, context);
}

#define HANDLER(n)                                                         \
	static void handle_##n(int number, siginfo_t *info, void *context) \
	{                                                                  \
		handle(n, number, info, context);                          \
	}

/* clang-format off */
HANDLER(0) HANDLER(1) HANDLER(2) HANDLER(3) HANDLER(4) HANDLER(5) HANDLER(6) HANDLER(7)
HANDLER(8) HANDLER(9) HANDLER(10) HANDLER(11) HANDLER(12) HANDLER(13) HANDLER(14) HANDLER(15)
	/* clang-format on */

	static void (*const handlers[NUM_HANDLERS])(int number, siginfo_t *info, void *context) = {
		handle_0, handle_1, handle_2,  handle_3,  handle_4,  handle_5,  handle_6,  handle_7,
		handle_8, handle_9, handle_10, handle_11, handle_12, handle_13, handle_14, handle_15,
	};

/* ---- installation ---- */

static bool is_ours(const struct sigaction *action)
{
	for (size_t i = 0; i < NUM_HANDLERS && action->sa_flags & SA_SIGINFO; i++)
		if (action->sa_sigaction == handlers[i])
			return true;
	return false;
}

static bool is_installed(const struct chain *chain)
{
	struct sigaction installed;

	return sigaction(chain->number, NULL, &installed) == 0 && is_ours(&installed);
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_flags == b->sa_flags && a->sa_handler == b->sa_handler &&
	       memcmp(&a->sa_mask, &b->sa_mask, _NSIG / 8) == 0;
}

/* The handler that replaces @action; NULL = there are too many. */
static void (*get_handler(struct chain *chain, const struct sigaction *action))(int, siginfo_t *, void *)
{
	uint32_t i = 0;

	while (i < chain->count && !is_same(&chain->replaced[i], action))
		i++;
	if (i == NUM_HANDLERS)
		return NULL;
	if (i == chain->count) {
		chain->replaced[i] = *action;
		atomic_fetch_add(&chain->count, 1);
	}
	return handlers[i];
}

/* Ours runs on the stack that the program's would get. It has the signals unblocked, as the hook may jump; signal() makes a mask
 * with the signal in it. */
static struct sigaction make_action(const struct sigaction *replaced,
				    void (*handler)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = *replaced;
	bool has_handler =
		replaced->sa_flags & SA_SIGINFO || (replaced->sa_handler != SIG_DFL && replaced->sa_handler != SIG_IGN);

	action.sa_flags = has_handler ? replaced->sa_flags & (SA_ONSTACK | SA_RESTART) : SA_ONSTACK | SA_RESTART;
	action.sa_flags |= SA_SIGINFO | SA_NODEFER;
	sigdelset(&action.sa_mask, SIGSEGV);
	sigdelset(&action.sa_mask, SIGBUS);
	action.sa_sigaction = handler;
	return action;
}

/* The program may install a handler at the same time: what ours really replaced is seen behind it. */
static void install(struct chain *chain)
{
	struct sigaction installed, replaced;

	sigaction(chain->number, NULL, &installed);
	while (!is_ours(&installed)) {
		void (*handler)(int, siginfo_t *, void *) = get_handler(chain, &installed);
		struct sigaction ours;

		if (!handler)
			return;
		ours = make_action(&installed, handler);
		sigaction(chain->number, &ours, &replaced);
		if (is_same(&replaced, &installed))
			return;
		installed = replaced;
		if (is_ours(&replaced))
			sigaction(chain->number, &replaced, NULL);
	}
}

void sim_memory_signals_install(void)
{
	if (is_installed(&segv) && is_installed(&bus))
		return;
	pthread_mutex_lock(&lock);
	install(&segv);
	install(&bus);
	pthread_mutex_unlock(&lock);
}

void sim_memory_signals_install_traps(void)
{
	pthread_mutex_lock(&lock);
	install(&ill);
	install(&fpe);
	pthread_mutex_unlock(&lock);
}

bool sim_memory_signals_are_first(void)
{
	return is_installed(&segv);
}

void sim_memory_signals_set_hook(bool (*new_hook)(int number, const siginfo_t *info, void *context))
{
	atomic_store(&hook, new_hook);
}
