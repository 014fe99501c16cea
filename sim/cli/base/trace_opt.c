/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --trace-level. */
#include "trace_opt.h"

#include "sim/trace/trace.h"

uint32_t cli_trace_level(const char *text, struct argp_state *state)
{
	enum sim_trace_level level = SIM_TRACE_UNSET;

	if (sim_trace_level_parse(text, &level) < 0)
		argp_error(state, "--trace-level %s: give off, sampled or full", text);
	return level;
}
