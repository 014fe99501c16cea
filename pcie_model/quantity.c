/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of numbers with units. */
#include "quantity.h"

#include <errno.h>
#include <string.h>

/* The value of a digit; 16 = not a digit. */
static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

/* Read the digits at *at, at least one, and move *at behind them. */
static int read_digits(const char **at, const char *end, unsigned int base, uint64_t *ret_value)
{
	const char *begin = *at;
	uint64_t value = 0;

	for (; *at < end && digit_value(**at) < base; (*at)++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit_value(**at), &value))
			return -EINVAL;
	*ret_value = value;
	return *at > begin ? 0 : -EINVAL;
}

static const struct pcie_unit *find_unit(const struct pcie_unit *units, const char *name, size_t len)
{
	static const struct pcie_unit no_units[] = { { "", 1 }, { NULL, 0 } };

	for (units = units ? units : no_units; units->name; units++)
		if (strlen(units->name) == len && memcmp(units->name, name, len) == 0)
			return units;
	return NULL;
}

int pcie_quantity_parse(const char *text, size_t len, const struct pcie_quantity_syntax *syntax, uint64_t max,
			uint64_t *ret_value)
{
	bool is_hex = syntax->hex && len > 2 && text[0] == '0' && text[1] == 'x';
	const char *at = is_hex ? text + 2 : text, *end = text + len;
	const struct pcie_unit *unit;
	uint64_t value;

	if (read_digits(&at, end, is_hex ? 16 : 10, &value))
		return -EINVAL;
	if (syntax->space && end - at > 1 && *at == ' ')
		at++;
	unit = find_unit(syntax->units, at, (size_t)(end - at));
	if (!unit || __builtin_mul_overflow(value, unit->factor, &value) || value > max)
		return -EINVAL;
	*ret_value = value;
	return 0;
}
