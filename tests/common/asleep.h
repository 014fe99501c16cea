/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/asleep.h - a test that wakes a thread waits until the kernel has put it to sleep. */
#ifndef TESTS_COMMON_ASLEEP_H
#define TESTS_COMMON_ASLEEP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether the thread of this process with that id (gettid()) sleeps in a system call. */
static inline bool is_asleep(int tid)
{
	char path[64], text[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	state = strrchr(text, ')');
	return state && state[1] && state[2] == 'S';
}

#endif
