/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/pci_addr.h - a PCI function's address: domain, bus, device, function.
 *
 * Text forms: "DDDD:BB:DD.F" (12 characters) and "BB:DD.F" (7 characters, domain
 * 0000), hexadecimal, either case; the format is lower case with domain.
 */
#ifndef PCIE_PCI_ADDR_H
#define PCIE_PCI_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#define PCIE_ADDR_TEXT_SIZE 13 /* "DDDD:BB:DD.F" and its terminating zero */

struct pcie_addr {
	uint16_t domain;
	uint8_t bus;
	uint8_t device;   /* 0..31 */
	uint8_t function; /* 0..7 */
};

/* Read @text. Returns 0, or -EINVAL for NULL and anything but exactly one of
 * the two forms in range; *ret_addr is then left as it was. */
int pcie_addr_parse(const char *text, struct pcie_addr *ret_addr);

/* Write @addr with its domain into @text. */
void pcie_addr_format(const struct pcie_addr *addr, char text[PCIE_ADDR_TEXT_SIZE]);

bool pcie_addr_equal(const struct pcie_addr *a, const struct pcie_addr *b);

#endif
