/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/quantity.h - read a number and its unit from text: "64", "0x40", "2 MiB", "4k".
 *
 * Each grammar has its own table of units. The parser reads the whole text or
 * nothing. It accepts no sign, no octal and no surrounding space, and is
 * independent of the locale.
 */
#ifndef PCIE_QUANTITY_H
#define PCIE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcie_unit {
	const char *name; /* "" = the number stands alone; NULL ends a table */
	uint64_t factor;
};

struct pcie_quantity_syntax {
	const struct pcie_unit *units; /* NULL = a number alone */
	bool hex;                      /* "0x40" is a number, too */
	bool space;                    /* one space may separate number and unit */
};

/* Read the @len bytes at @text. Returns 0, or -EINVAL (not such a text, or the
 * value is over @max) with *ret_value as it was. */
int pcie_quantity_parse(const char *text, size_t len, const struct pcie_quantity_syntax *syntax, uint64_t max,
			uint64_t *ret_value);

#endif
