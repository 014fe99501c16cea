#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What "bfsim run --check" says at the end of runs of which it has checked nothing.
#
#   test_check_summary.sh BFSIM WORKQ_PROGRAM       (TAP)      WORKQ_PROGRAM RULE near-miss runs well

. "$(dirname "$0")/../multi/tap.sh"
. "$(dirname "$0")/../multi/sessions.sh"

program=$(realpath "$2")
use_bfsim "$1"

test_a_program_that_the_mode_does_not_check_is_named() {
	status 125 bfsim run --check --dpu "$program source-modified near-miss"
	says "not checked: $(basename "$program") is a program of the work-queue generation, .*mode api.*--check=races" err
	lacks 'no rule was broken' err
}

test_a_mode_that_checks_it_says_so() {
	status 0 bfsim run --check=races --dpu "$program source-modified near-miss"
	says 'no rule was broken \(mode races\)' err
	lacks 'not checked' err
}

test_a_run_without_a_program_of_doca_checked_nothing() {
	status 125 bfsim run --check --dpu true
	says 'nothing was checked: no program' err
	status 3 bfsim run --check --dpu 'exit 3'
	says 'nothing was checked: no program' err
	lacks 'no rule was broken' err
}

run_tests "$0" "$work"
