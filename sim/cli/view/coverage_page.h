/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/coverage_page.h - the coverage (sim/cli/abi/coverage.h) as a page of HTML. */
#ifndef SIM_CLI_VIEW_COVERAGE_PAGE_H
#define SIM_CLI_VIEW_COVERAGE_PAGE_H

/* Print the page, which searches itself and loads nothing. */
void cli_coverage_print_page(void);

#endif
