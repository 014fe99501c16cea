/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/pcie_curve.h - a link's bandwidth by payload size, as bfsim pcie shows it.
 *
 * All print to standard output unless they name a file, and return 0, or -1 with the reason on standard error.
 */
#ifndef SIM_CLI_VIEW_PCIE_CURVE_H
#define SIM_CLI_VIEW_PCIE_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "pcie_model/link.h"

/* "126.0308": Gb/s with four digits, rounded to the nearest. */
#define CLI_GBPS_SIZE 24
void cli_gbps_format(uint64_t bps, char text[CLI_GBPS_SIZE]);

int cli_pcie_print_table(const struct pcie_link *link, const uint64_t *sizes, size_t num);
int cli_pcie_print_csv(const struct pcie_link *link, const uint64_t *sizes, size_t num);
int cli_pcie_print_json(const struct pcie_link *link, const uint64_t *sizes, size_t num);

/* Draw the curve into @file, an SVG: from the smallest size to the largest, with a
 * mark at each. gnuplot does the drawing: a program that is there, or is not. */
int cli_pcie_draw(const struct pcie_link *link, const uint64_t *sizes, size_t num, const char *file);

#endif
