/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/cause.h - why a run ended as it did: what bfsim run said, of all that is in the output.
 *
 * The lines of programs begin with a side's name, those of bfsim run with "bfsim: ".
 */
#ifndef SIM_CLI_TEST_CAUSE_H
#define SIM_CLI_TEST_CAUSE_H

#include "case.h"

/* The cause in one line: a rule of the checker with its place, a fault that never hit, a program and its signal, a timeout with
 * what was in flight. The caller frees it; NULL = bfsim run said nothing. */
char *cli_case_cause(const struct cli_case *test);

/* Call @see with each line of bfsim run, without "bfsim: ". */
void cli_case_each_message(const struct cli_case *test, void (*see)(void *arg, const char *text), void *arg);

#endif
