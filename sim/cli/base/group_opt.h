/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/group_opt.h - the option --group of commands that create a session. */
#ifndef SIM_CLI_BASE_GROUP_OPT_H
#define SIM_CLI_BASE_GROUP_OPT_H

#include <argp.h>
#include <sys/types.h>

enum {
	CLI_KEY_GROUP = 0x5e2, /* no short form */
};

#define CLI_GROUP_OPTION                                                                                                \
	{                                                                                                               \
		"group", CLI_KEY_GROUP, "GROUP", 0,                                                                     \
			"Share the session with the members of GROUP (default: with this user's processes and root's)", \
			0                                                                                               \
	}

/* The id of the group of that name or number. Another text is a usage error. */
gid_t cli_group(const char *text, struct argp_state *state);

#endif
