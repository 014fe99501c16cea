/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/case_priv.h - judging a case. */
#ifndef SIM_CLI_TEST_CASE_PRIV_H
#define SIM_CLI_TEST_CASE_PRIV_H

#include "case.h"

#define CLI_CASE_VERDICT ".bfsim-verdict" /* file in the directory */

/* Say why the case failed. */
void cli_case_add_reason(struct cli_case *test, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Compare status, output and files with what the scenario expects. */
void cli_case_judge(struct cli_case *test);

#endif
