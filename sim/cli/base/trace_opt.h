/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/trace_opt.h - the option --trace-level of commands that create a session. */
#ifndef SIM_CLI_BASE_TRACE_OPT_H
#define SIM_CLI_BASE_TRACE_OPT_H

#include <argp.h>
#include <stdint.h>

enum {
	CLI_KEY_TRACE_LEVEL = 0x5e1, /* no short form */
};

#define CLI_TRACE_LEVEL_OPTION(group)                                                                                    \
	{                                                                                                                \
		"trace-level", CLI_KEY_TRACE_LEVEL, "LEVEL", 0,                                                          \
			"What processes record: off, sampled (default) or full; $BFSIM_TRACE of a process overrides it", \
			(group)                                                                                          \
	}

/* The level (sim/trace/trace.h) of that name. Another name is a usage error. */
uint32_t cli_trace_level(const char *text, struct argp_state *state);

#endif
