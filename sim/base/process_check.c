/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the text about the checker of this process. */
#include "process_check.h"

#include <stdio.h>

static char process_check[SIM_PROCESS_CHECK_SIZE];

void sim_set_process_check(const char *text)
{
	snprintf(process_check, sizeof(process_check), "%s", text);
}

const char *sim_process_check(void)
{
	return process_check;
}
