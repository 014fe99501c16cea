/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/proc.h - processes of a test: forked, connected to the test by a socket, killed at its end.
 *
 *   test:   proc_start(&proc, body, arg) --fork--> body(ctl, arg) in the process
 *           proc_send(proc.ctl, ...)       <---->  proc_recv(ctl, ...)
 *
 * All waits have a deadline. An error in the test fails the test. An error in a
 * process is printed on standard error and ends the process with status 1; the
 * next proc_recv() or proc_end() in the test then fails the test. A process dies
 * with the test program, and proc_kill_all() in a teardown kills the processes of
 * a failed test.
 *
 * The test program has no threads, so that the forked processes may have some.
 */
#ifndef TESTS_MULTI_PROC_H
#define TESTS_MULTI_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "check.h"

/* Whether a sanitizer makes programs slow. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PROC_IS_SLOW true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PROC_IS_SLOW true
#endif
#ifndef PROC_IS_SLOW
#define PROC_IS_SLOW false
#endif

#define PROC_DEADLINE_MS (PROC_IS_SLOW ? 240000 : 60000) /* a hang, not slowness: a busy machine may take a minute */

struct proc {
	pid_t pid;
	int ctl; /* SOCK_SEQPACKET: one send is one receive */
};

typedef void proc_body(int ctl, const void *arg);

/* Start one. Its memory is a copy of the test's at this moment. When @body returns, it exits with 0. */
void proc_start(struct proc *proc, proc_body *body, const void *arg);

/* Continue as the started process, in a program that it executed. */
void proc_become(void);

/* Send and receive one packet of exactly @len bytes. */
void proc_send(int ctl, const void *data, size_t len);
void proc_recv(int ctl, void *data, size_t len);

/* Returns true if a packet or the end of the stream arrives within @ms. */
bool proc_readable_within(int ctl, int ms);

/* Send a signal; on return, SIGKILL and SIGSTOP have taken effect. */
void proc_signal(struct proc *proc, int signal);

/* Print where each thread of the process, and of its children, waits: in the kernel, and by eu-stack or gdb in its program. */
void proc_print_waits(pid_t pid);

/* Wait for its end; a process that does not end is printed as above. Returns its status as of waitpid(). */
int proc_wait(struct proc *proc);

/* Close the process's socket, at which it must end, and expect that it exits with 0. */
void proc_end(struct proc *proc);

/* Register a process that one of ours forked, so that the next function kills it, too. */
void proc_adopt(pid_t pid);

/* Kill all processes that still run; for teardowns. */
void proc_kill_all(void);

/* Milliseconds of a steady clock. */
int64_t proc_now_ms(void);

/* Count the open descriptors of a process, or wait until there are @count: a process may close one after its reply. */
int proc_num_fds(pid_t pid);
void proc_await_fds(pid_t pid, int count);

/* A new directory in which to keep sessions, and its end with all in it. */
char *proc_make_dir(void);
void proc_remove_dir(char *dir);
int proc_num_files(const char *dir);

#endif
