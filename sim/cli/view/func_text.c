/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of a PCIe function as text. */
#include "func_text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

const char *cli_func_type(const struct pcie_function *function)
{
	static const char *const names[] = { [PCIE_FUNC_PF] = "pf", [PCIE_FUNC_VF] = "vf", [PCIE_FUNC_SF] = "sf" };

	return names[function->type];
}

const char *cli_func_link_layer(const struct pcie_function *function)
{
	return function->link_layer == PCIE_LINK_INFINIBAND ? "infiniband" : "ethernet";
}

void cli_func_address(const struct pcie_function *function, char text[CLI_FUNC_ADDRESS_SIZE])
{
	char addr[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, addr);
	if (function->type == PCIE_FUNC_SF)
		snprintf(text, CLI_FUNC_ADDRESS_SIZE, "%s/sf%" PRIu32, addr, function->sf_index);
	else
		snprintf(text, CLI_FUNC_ADDRESS_SIZE, "%s", addr);
}

void cli_func_mac(const struct pcie_function *function, char text[CLI_MAC_SIZE])
{
	const uint8_t *mac = function->mac;

	snprintf(text, CLI_MAC_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

void cli_func_ipv4(const struct pcie_function *function, char text[CLI_IP_SIZE])
{
	text[0] = '\0';
	if (function->has_ipv4)
		inet_ntop(AF_INET, function->ipv4, text, CLI_IP_SIZE);
}

void cli_func_ipv6(const struct pcie_function *function, char text[CLI_IP_SIZE])
{
	inet_ntop(AF_INET6, function->ipv6, text, CLI_IP_SIZE);
}

void cli_func_long_ipv6(const struct pcie_function *function, char text[CLI_IP_SIZE])
{
	const uint8_t *ipv6 = function->ipv6;

	for (size_t i = 0; i < 8; i++)
		snprintf(text + 5 * i, CLI_IP_SIZE - 5 * i, "%02x%02x%s", ipv6[2 * i], ipv6[2 * i + 1],
			 i < 7 ? ":" : "");
}

/* Format @value in the largest unit without a remainder. Each unit is @step times the unit before. */
static void format_exact_unit(uint64_t value, uint64_t step, const char *const *units, size_t num_units,
			      char text[CLI_RATE_SIZE])
{
	size_t unit = 0;

	while (unit + 1 < num_units && value && value % step == 0) {
		value /= step;
		unit++;
	}
	snprintf(text, CLI_RATE_SIZE, "%" PRIu64 " %s", value, units[unit]);
}

void cli_bps_text(uint64_t bps, char text[CLI_RATE_SIZE])
{
	static const char *const units[] = { "b/s", "kb/s", "Mb/s", "Gb/s" };

	format_exact_unit(bps, 1000, units, 4, text);
}

void cli_iec_bytes_text(uint64_t bytes, char text[CLI_RATE_SIZE])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };

	format_exact_unit(bytes, 1024, units, 4, text);
}
