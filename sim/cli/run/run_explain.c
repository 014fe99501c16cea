/* SPDX-License-Identifier: BSD-3-Clause */
/* How a program of a run ended, and what the others did then. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_priv.h"
#include "run_state.h"
#include "sim/cli/base/cli.h"
#include "sim/trace/trace.h"

/* Whether the programs record what they do. */
static bool is_recorded(const struct run *run)
{
	const char *level = getenv("BFSIM_TRACE");

	return run->cfg->trace_level != SIM_TRACE_OFF && !(level && strcmp(level, "off") == 0);
}

void cli_run_explain(const struct run *run, const struct cli_program *failed, bool was_killed)
{
	const struct cli_run_state_cfg cfg = { .dir = run->cfg->session_dir->dir,
					       .programs = run->programs,
					       .num_programs = run->num_programs,
					       .failed = failed,
					       .was_killed = was_killed,
					       .is_recorded = is_recorded(run) };

	fflush(stdout);
	if (run->daemon > 0 && run->num_programs > 0)
		cli_run_state_print(&cfg);
	else if (run->num_programs > 0)
		cli_fail("what the card did is not known: the recordings were lost with the session's daemon");
}

bool cli_run_describe_death(int code, char *text, size_t size)
{
	int signal = code - CLI_SIGNAL;
	const char *name = signal > 0 && signal < SIGRTMIN ? sigabbrev_np(signal) : NULL;
	const char *what = signal == SIGSEGV ? "segmentation fault" :
			   signal == SIGABRT ? "abort" :
			   signal == SIGBUS  ? "bus error" :
					       NULL;

	text[0] = '\0';
	if (name)
		snprintf(text, size, " (%s%s)", what ? "" : "SIG", what ? what : name);
	return name;
}
