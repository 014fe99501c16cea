/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/process.h - the other processes of a benchmark.
 *
 * Each is a child process with a socket to its parent; it ends when the socket is
 * closed and is killed when the parent ends. A side's process is a fork of this program; a
 * reference is another program of the build directory without code of bfsim.
 */
#ifndef TESTS_BENCH_PROCESS_H
#define TESTS_BENCH_PROCESS_H

#include <sched.h>
#include <stddef.h>
#include <sys/types.h>

struct bench_process {
	pid_t pid;
	int fd; /* to it */
};

/* Fork; the child calls @run(arg, fd), which ends when @fd does, and exits with
 * 0 if that returns 0. Returns 0 or -1. */
int bench_process_fork(int (*run)(void *arg, int fd), void *arg, struct bench_process *ret_process);

/* Start @program, beside ours, with @args (NULL at the end) behind its name and its
 * descriptor's number as the first of its arguments. Returns 0 or -1. */
int bench_process_exec(const char *program, const char *const *args, struct bench_process *ret_process);

/* Processes that are started between the two calls run on one CPU. The first returns 0 or -1. */
int bench_one_cpu_begin(cpu_set_t *ret_before);
void bench_one_cpu_end(const cpu_set_t *before);

/* Close the socket, wait for its end. Returns 0, or -1 when it ended badly. */
int bench_process_end(struct bench_process *process);

/* Send or receive all @len bytes; 0 or -1. */
int bench_send(int fd, const void *data, size_t len);
int bench_receive(int fd, void *data, size_t len);

/* Wait until the other end closes. */
void bench_wait_for_end(int fd);

#endif
