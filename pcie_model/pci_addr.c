/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing and formatting PCI addresses. */
#include "pci_addr.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define BDF_LEN      7 /* "BB:DD.F" */
#define DOMAIN_LEN   5 /* "DDDD:", optional */
#define MAX_DEVICE   31
#define MAX_FUNCTION 7

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Read exactly @digits hexadecimal digits followed by @end. Returns a negative number on a mismatch. */
static long read_field(const char *text, size_t digits, char end)
{
	long value = 0;

	for (size_t i = 0; i < digits; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return text[digits] == end ? value : -1;
}

int pcie_addr_parse(const char *text, struct pcie_addr *ret_addr)
{
	long domain = 0, bus, device, function;
	size_t len;

	if (!text)
		return -EINVAL;
	len = strnlen(text, PCIE_ADDR_TEXT_SIZE);
	if (len == DOMAIN_LEN + BDF_LEN) {
		domain = read_field(text, 4, ':');
		text += DOMAIN_LEN;
	} else if (len != BDF_LEN) {
		return -EINVAL;
	}
	bus = read_field(text, 2, ':');
	device = read_field(text + 3, 2, '.');
	function = read_field(text + 6, 1, '\0');
	if (domain < 0 || bus < 0 || device < 0 || device > MAX_DEVICE || function < 0 || function > MAX_FUNCTION)
		return -EINVAL;

	ret_addr->domain = (uint16_t)domain;
	ret_addr->bus = (uint8_t)bus;
	ret_addr->device = (uint8_t)device;
	ret_addr->function = (uint8_t)function;
	return 0;
}

void pcie_addr_format(const struct pcie_addr *addr, char text[PCIE_ADDR_TEXT_SIZE])
{
	/* The masks are no-ops on an address in range; they bound the text for the compiler. */
	snprintf(text, PCIE_ADDR_TEXT_SIZE, "%04x:%02x:%02x.%x", addr->domain, addr->bus, addr->device & MAX_DEVICE,
		 addr->function & MAX_FUNCTION);
}

bool pcie_addr_equal(const struct pcie_addr *a, const struct pcie_addr *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->device == b->device && a->function == b->function;
}
