/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/func_text.h - properties of a PCIe function as text, for tables and JSON. */
#ifndef SIM_CLI_VIEW_FUNC_TEXT_H
#define SIM_CLI_VIEW_FUNC_TEXT_H

#include "pcie_model/topology/topology.h"

#define CLI_MAC_SIZE          sizeof("00:00:00:00:00:00")
#define CLI_IP_SIZE           46 /* INET6_ADDRSTRLEN */
#define CLI_RATE_SIZE         32
#define CLI_FUNC_ADDRESS_SIZE (PCIE_ADDR_TEXT_SIZE + sizeof("/sf4294967295"))

const char *cli_func_type(const struct pcie_function *function);       /* "pf", "vf", "sf" */
const char *cli_func_link_layer(const struct pcie_function *function); /* "ethernet", "infiniband" */

/* The address as in topology files: "0000:b1:00.0", of an SF "0000:b1:00.0/sf4". */
void cli_func_address(const struct pcie_function *function, char text[CLI_FUNC_ADDRESS_SIZE]);

void cli_func_mac(const struct pcie_function *function, char text[CLI_MAC_SIZE]);
void cli_func_ipv4(const struct pcie_function *function, char text[CLI_IP_SIZE]); /* "" = none */
void cli_func_ipv6(const struct pcie_function *function, char text[CLI_IP_SIZE]);

/* The same with all digits: fe80:0000:0000:0000:00bf:00ff:fe00:0000. */
void cli_func_long_ipv6(const struct pcie_function *function, char text[CLI_IP_SIZE]);

/* A rate: "200 Gb/s", exact, in the largest unit without a remainder. */
void cli_bps_text(uint64_t bps, char text[CLI_RATE_SIZE]);
void cli_iec_bytes_text(uint64_t bytes, char text[CLI_RATE_SIZE]);

#endif
