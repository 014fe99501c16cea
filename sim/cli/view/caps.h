/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/caps.h - the capabilities of functions, in the shape of the vendor's doca_caps.
 *
 *   PCI: 0000:03:00.0
 *       dma
 *           task_memcpy                                   supported
 *           max_buf_size                                  2097152
 *
 *   PCI: 0000:03:00.0
 *           representor-PCI: 0000:b1:00.0
 *               pci_func_type                                 PF
 *               host_index                                    1
 */
#ifndef SIM_CLI_VIEW_CAPS_H
#define SIM_CLI_VIEW_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "pcie_model/topology/topology.h"

/* One capability. @text: the value as text, for attributes; else it is a number, or (with @is_flag) a yes or no. */
typedef void cli_caps_visit(void *arg, const char *lib, const char *name, const char *text, uint64_t number,
			    bool is_flag);

/* Visit the capabilities of @function by library, in the order of output; @lib: of that library alone, NULL = of all. */
void cli_caps_each(const struct pcie_function *function, const char *lib, cli_caps_visit *visit, void *arg);

/* Visit what identifies the function: its names and network addresses. The library is "" then. */
void cli_caps_each_attribute(const struct pcie_topology *topology, const struct pcie_function *function,
			     cli_caps_visit *visit, void *arg);

/* The same of the representor at @place in the list of its holder. */
void cli_caps_each_rep_attribute(const struct pcie_topology *topology, const struct pcie_function *holder, size_t place,
				 cli_caps_visit *visit, void *arg);

/* The i-th library; NULL behind the last one. */
const char *cli_caps_lib_at(size_t i);

#endif
