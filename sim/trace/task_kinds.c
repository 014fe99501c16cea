/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-up of the names of kinds of tasks. */
#include "task_kinds.h"

#include <stddef.h>
#include <string.h>

bool sim_task_kind_exists(const char *name)
{
	static const char *const kinds[] = {
#define X(kind) kind,
		SIM_TASK_KINDS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i], name) == 0)
			return true;
	return false;
}

const char *sim_task_kind_names(void)
{
#define X(kind) ", " kind
	static const char names[] = SIM_TASK_KINDS(X);
#undef X

	return names + strlen(", ");
}
