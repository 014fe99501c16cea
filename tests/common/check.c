/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process of a test reports a failed expectation. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void check_fail(const char *file, int line, const char *what, const char *is, const char *expected)
{
	const char *reason = strerror(errno), *side = getenv("BFSIM_SIDE");

	fprintf(stderr, "%s:%d: in process %d (%s): %s: %s", file, line, (int)getpid(), side ? side : "no side", what,
		is);
	if (expected[0])
		fprintf(stderr, ", expected %s", expected);
	fprintf(stderr, " (errno: %s)\n", reason);
	fflush(NULL);
	_exit(1); /* a failed test's allocations are no leak */
}
