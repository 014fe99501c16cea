/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/first_fd.h - descriptors by number: leaks show in the lowest one that is free; and a program without
 * standard input gets number 0 from the next call, which is as good as any.
 */
#ifndef TESTS_COMMON_FIRST_FD_H
#define TESTS_COMMON_FIRST_FD_H

#include <fcntl.h>
#include <unistd.h>

static inline int lowest_free_fd(void)
{
	int fd = fcntl(1, F_DUPFD, 0);

	close(fd);
	return fd;
}

/* Close standard input. Returns a copy for restore_input(), which closes whatever has its number then. No assertion between
 * the two. */
static inline int close_input(void)
{
	int copy = fcntl(0, F_DUPFD_CLOEXEC, 3);

	close(0);
	return copy;
}

static inline void restore_input(int copy)
{
	if (copy < 0) {
		close(0);
		return;
	}
	dup2(copy, 0);
	close(copy);
}

#endif
