/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/process_wait.h - what a process is doing now, from /proc.
 *
 * The main thread is looked at, as it is the program's own: threads of bfsim always sleep when there is nothing to do.
 */
#ifndef SIM_CLI_RUN_PROCESS_WAIT_H
#define SIM_CLI_RUN_PROCESS_WAIT_H

#include <stddef.h>
#include <sys/types.h>

#define CLI_PROCESS_WAIT_SIZE 64

/* Write "sleeps in epoll_wait()", "computes or polls", "is stopped by a signal" or the like. Returns 0, or -1 if the process is
 * gone or can't be looked at. */
int cli_process_wait(pid_t pid, char text[CLI_PROCESS_WAIT_SIZE]);

#endif
