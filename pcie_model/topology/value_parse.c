/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing single values of a description. */
#include "value_parse_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/quantity.h"

static const struct pcie_unit byte_units[] = {
	{ "", 1 }, { "KiB", 1ull << 10 }, { "MiB", 1ull << 20 }, { "GiB", 1ull << 30 }, { NULL, 0 },
};

static const struct pcie_unit rate_units[] = {
	{ "", 1 },
	{ "Mb/s", 1000ull * 1000 },
	{ "Gb/s", 1000ull * 1000 * 1000 },
	{ "Tb/s", 1000ull * 1000 * 1000 * 1000 },
	{ NULL, 0 },
};

static const struct pcie_unit time_units[] = {
	{ "ns", 1000 },
	{ "us", 1000ull * 1000 },
	{ "ms", 1000ull * 1000 * 1000 },
	{ "s", 1000ull * 1000 * 1000 * 1000 },
	{ NULL, 0 },
};

int pcie_parse_bool(const char *text, bool *ret_value)
{
	if (strcmp(text, "true") == 0)
		*ret_value = true;
	else if (strcmp(text, "false") == 0)
		*ret_value = false;
	else
		return -EINVAL;
	return 0;
}

int pcie_parse_number(const char *text, uint64_t max, uint64_t *ret_value)
{
	static const struct pcie_quantity_syntax syntax = { .hex = true };

	return pcie_quantity_parse(text, strlen(text), &syntax, max, ret_value);
}

int pcie_parse_bytes(const char *text, uint64_t *ret_bytes)
{
	static const struct pcie_quantity_syntax syntax = { .units = byte_units, .hex = true, .space = true };

	return pcie_quantity_parse(text, strlen(text), &syntax, UINT64_MAX, ret_bytes);
}

int pcie_parse_rate(const char *text, uint64_t *ret_bps)
{
	static const struct pcie_quantity_syntax syntax = { .units = rate_units, .hex = true, .space = true };

	return pcie_quantity_parse(text, strlen(text), &syntax, UINT64_MAX, ret_bps);
}

int pcie_parse_time(const char *text, uint64_t *ret_ps)
{
	static const struct pcie_quantity_syntax syntax = { .units = time_units, .space = true };

	return pcie_quantity_parse(text, strlen(text), &syntax, 3600 * time_units[3].factor, ret_ps);
}

int pcie_parse_share(const char *text, uint32_t *ret_ppb)
{
	uint64_t ppb = 0;
	uint32_t unit = 10000000; /* of a percent */
	size_t whole = strspn(text, "0123456789"), decimals;

	if (whole < 1 || whole > 2)
		return -EINVAL;
	for (size_t i = 0; i < whole; i++)
		ppb = ppb * 10 + (uint64_t)(text[i] - '0') * unit;
	text += whole;
	decimals = *text == '.' ? strspn(text + 1, "0123456789") : 0;
	if (*text == '.' && (decimals < 1 || decimals > 7))
		return -EINVAL;
	text += decimals > 0;
	for (size_t i = 0; i < decimals; i++) {
		unit /= 10;
		ppb += (uint64_t)(*text++ - '0') * unit;
	}
	if (strcmp(text, "%") != 0)
		return -EINVAL;
	*ret_ppb = (uint32_t)ppb;
	return 0;
}

static int hex_byte(const char *text, uint8_t *ret_byte)
{
	const char digits[3] = { text[0], text[0] ? text[1] : '\0', '\0' };

	if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
		return -EINVAL;
	*ret_byte = (uint8_t)strtoul(digits, NULL, 16);
	return 0;
}

int pcie_parse_mac(const char *text, uint8_t ret_mac[6])
{
	static const uint8_t zero[6];
	uint8_t mac[6];

	for (size_t i = 0; i < 6; i++, text += 3) {
		if (hex_byte(text, &mac[i]) || text[2] != (i < 5 ? ':' : '\0'))
			return -EINVAL;
	}
	if ((mac[0] & 1) || memcmp(mac, zero, sizeof(zero)) == 0)
		return -EINVAL;
	memcpy(ret_mac, mac, sizeof(mac));
	return 0;
}

bool pcie_is_valid_name(const char *text)
{
	for (; *text; text++) {
		if (!isgraph((unsigned char)*text) || (unsigned char)*text > 0x7e || *text == '/')
			return false;
	}
	return true;
}
