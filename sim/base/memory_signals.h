/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/memory_signals.h - the handlers of SIGSEGV and SIGBUS, which stand before the program's.
 *
 *   fault --> [hook of the checker] --> [guard of the thread (memory_guard.h)] --> what the program had installed
 *
 * What is not ours reaches the program's handler with its siginfo and its context, under its flags and its mask; or it has
 * the default action, at the same instruction. A program may install handlers at any time: sim_memory_signals_install()
 * then steps before the new one. It is called where contexts start and memory is imported, in each tick of the engine's
 * thread, and every few copies for a peer by the helper thread. In between, faults are the program's.
 *
 * Each installation has a handler function of its own, which passes on to what it replaced. So a program may restore what
 * it got from sigaction(), and its handler may call that.
 */
#ifndef SIM_MEMORY_SIGNALS_H
#define SIM_MEMORY_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Stand before the program's handlers. Any thread. */
void sim_memory_signals_install(void);

/* Whether a SIGSEGV comes to us first. */
bool sim_memory_signals_are_first(void);

/* For the checker, before threads start: call @hook for each fault, first. It returns whether the access may be repeated,
 * and may leave by siglongjmp(). */
void sim_memory_signals_set_hook(bool (*hook)(int number, const siginfo_t *info, void *context));

/* What this thread does with a fault that no guard mends: returns false, for what the program had installed; or leaves by
 * siglongjmp(). NULL = nothing. For threads that run device code (sim/dpa/image). */
typedef bool sim_thread_fault(int number, const siginfo_t *info, void *context);
extern _Thread_local sim_thread_fault *sim_thread_on_fault __attribute__((tls_model("initial-exec")));

/* Stand before the program's handlers of SIGILL and SIGFPE, too. Any thread. */
void sim_memory_signals_install_traps(void);

#endif
