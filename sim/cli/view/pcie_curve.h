/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/pcie_curve.h - the output of bfsim pcie: bandwidth of a link by payload size.
 *
 * Functions return 0, or -1 with a message.
 */
#ifndef SIM_CLI_VIEW_PCIE_CURVE_H
#define SIM_CLI_VIEW_PCIE_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "pcie_model/link.h"

/* "126.0308": Gb/s with four decimals, rounded to nearest. */
#define CLI_GBPS_SIZE 24
void cli_gbps_format(uint64_t bps, char text[CLI_GBPS_SIZE]);

/* Print to standard output. */
int cli_pcie_print_table(const struct pcie_link *link, const uint64_t *sizes, size_t num);
int cli_pcie_print_csv(const struct pcie_link *link, const uint64_t *sizes, size_t num);
int cli_pcie_print_json(const struct pcie_link *link, const uint64_t *sizes, size_t num);

/* Draw the curve from the smallest to the largest size into the SVG @file, with a mark at each size. Needs gnuplot. */
int cli_pcie_draw(const struct pcie_link *link, const uint64_t *sizes, size_t num, const char *file);

#endif
