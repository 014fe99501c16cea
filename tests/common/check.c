/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process of a test reports a failed expectation. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void end(int status, const char *file, int line, const char *what, const char *is,
			  const char *expected)
{
	const char *reason = strerror(errno), *side = getenv("BFSIM_SIDE");

	fprintf(stderr, "%s:%d: in process %d (%s): %s: %s", file, line, (int)getpid(), side ? side : "no side", what,
		is);
	if (expected[0])
		fprintf(stderr, ", expected %s", expected);
	fprintf(stderr, " (errno: %s)\n", reason);
	fflush(NULL);
	_exit(status); /* a failed test's allocations are no leak */
}

void check_fail(const char *file, int line, const char *what, const char *is, const char *expected)
{
	end(1, file, line, what, is, expected);
}

void check_fail_bytes(const char *file, int line, const char *is)
{
	end(CHECK_WRONG_BYTES, file, line, "wrong bytes were received", is, "");
}
