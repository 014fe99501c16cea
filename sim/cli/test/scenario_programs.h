/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/scenario_programs.h - whether the programs of a scenario exist. */
#ifndef SIM_CLI_TEST_SCENARIO_PROGRAMS_H
#define SIM_CLI_TEST_SCENARIO_PROGRAMS_H

#include "scenario.h"

/* Check the program that the command begins with, as the shell finds it when the run begins. Commands that begin with anything
 * but a plain word, and those for which something before them may make the program, are not judged. Returns 0, or -1 with a
 * message. */
int cli_scenario_check_program(const struct cli_scenario *scenario, const struct cli_scenario_side *side);

#endif
