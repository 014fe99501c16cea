/* SPDX-License-Identifier: BSD-3-Clause */
#include "last_error.h"

#include <stdarg.h>
#include <stdio.h>

#define WHY_SIZE 2048

static _Thread_local char why[WHY_SIZE];

int sim_because(int rc, const char *format, ...)
{
	char line[WHY_SIZE]; /* what is kept may be among the arguments */
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	snprintf(why, sizeof(why), "%s", line);
	return rc;
}

const char *sim_why(void)
{
	return why;
}
