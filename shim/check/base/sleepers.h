/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/sleepers.h - which of the program's threads sleep on a descriptor, by what the kernel says of them. */
#ifndef SHIM_CHECK_SLEEPERS_H
#define SHIM_CHECK_SLEEPERS_H

#include <stdbool.h>

/* Returns whether a thread of this process is in a poll, select or read of @fd, or in a wait of an epoll that has it. False if
 * the kernel does not tell. For rare questions: it reads some files for each thread. */
bool check_is_slept_on(int fd);

#endif
