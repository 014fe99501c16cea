/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/open_fds.h - how many descriptors this process has open: a test that ends with more has left some. */
#ifndef TESTS_COMMON_OPEN_FDS_H
#define TESTS_COMMON_OPEN_FDS_H

#include <dirent.h>
#include <stdlib.h>

static inline unsigned int count_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	if (!dir)
		abort();
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

#endif
