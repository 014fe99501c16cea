/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/proc.h - real processes for a test: forked, spoken to over a socket, never left behind.
 *
 *   test:   proc_start(&proc, body, arg) --fork--> body(talk, arg) in the process
 *           proc_say(proc.talk, ...)       <---->  proc_hear(talk, ...)
 *
 * All waiting has a deadline. What goes wrong in the test fails it; what goes
 * wrong in a process is said on standard error and ends it with status 1, which
 * its next proc_hear() or proc_end() in the test turns into a failure. A process
 * dies with the test program, and proc_kill_all() in a teardown ends what a
 * failed test has left.
 *
 * The test program itself stays without threads, so that the processes may have some.
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
	int talk; /* SOCK_SEQPACKET: what is said at once is heard at once */
};

typedef void proc_body(int talk, const void *arg);

/* Start one. Its memory is a copy of the test's at this moment. When @body returns, it exits with 0. */
void proc_start(struct proc *proc, proc_body *body, const void *arg);

/* In a program that one of them executed: it is that process from now on. */
void proc_become(void);

/* Say and hear one packet of exactly @len bytes. */
void proc_say(int talk, const void *data, size_t len);
void proc_hear(int talk, void *data, size_t len);

/* Whether a packet (or the other's end) can be heard within @ms. */
bool proc_hears_within(int talk, int ms);

/* Send a signal; SIGKILL and SIGSTOP have done their work when this returns. */
void proc_signal(struct proc *proc, int signal);

/* Wait for its end. Returns its status as of waitpid(). */
int proc_wait(struct proc *proc);

/* Close its socket, on which it shall end, and expect that it ends well. */
void proc_end(struct proc *proc);

/* Have a process that one of ours forked killed as well by what follows. */
void proc_adopt(pid_t pid);

/* For teardowns: kill all that still live. */
void proc_kill_all(void);

/* Milliseconds of a steady clock. */
int64_t proc_now_ms(void);

/* How many descriptors a process has open. Who answers may close one a moment later: that is to be waited for. */
int proc_num_fds(pid_t pid);
void proc_await_fds(pid_t pid, int count);

/* A new directory in which to keep sessions, and its end with all in it. */
char *proc_make_dir(void);
void proc_remove_dir(char *dir);
int proc_num_files(const char *dir);

#endif
