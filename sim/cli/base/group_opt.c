/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --group. */
#include "group_opt.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdlib.h>

gid_t cli_group(const char *text, struct argp_state *state)
{
	const struct group *group = getgrnam(text);
	unsigned long long number;
	char *end;

	if (group)
		return group->gr_gid;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || number >= UINT32_MAX)
		argp_error(state, "--group %s: there is no such group; getent group lists them", text);
	return (gid_t)number;
}
