/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/results.h - the results of cases: a line each, details of failures, TAP and JUnit. */
#ifndef SIM_CLI_TEST_RESULTS_H
#define SIM_CLI_TEST_RESULTS_H

#include <stdio.h>

#include "case.h"

/* "ok    copy seed 3   0.42 s", or FAIL with the first reason. */
void cli_results_print_line(const struct cli_case *test);

/* All reasons of a failure, the last lines of its output, and how to run it again. */
void cli_results_print_failure(const struct cli_case *test);

/* "ok 3 - copy seed 3"; of a failure its details as comments. */
void cli_results_print_tap(const struct cli_case *test, size_t number);

/* Returns 0, or -1 with a message. */
int cli_results_write_junit(const char *path, const struct cli_case *tests, size_t count);

#endif
