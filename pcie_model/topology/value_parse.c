/* SPDX-License-Identifier: BSD-3-Clause */
#include "value_parse_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit byte_units[] = {
	{ "", 1 }, { "KiB", 1ull << 10 }, { "MiB", 1ull << 20 }, { "GiB", 1ull << 30 }, { NULL, 0 },
};

static const struct unit rate_units[] = {
	{ "", 1 },
	{ "Mb/s", 1000ull * 1000 },
	{ "Gb/s", 1000ull * 1000 * 1000 },
	{ "Tb/s", 1000ull * 1000 * 1000 * 1000 },
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

/* Read the digits at the start of @text; *ret_end is behind them. */
static int read_digits(const char *text, uint64_t *ret_value, const char **ret_end)
{
	bool is_hex = text[0] == '0' && text[1] == 'x';
	const char *digits = is_hex ? text + 2 : text;
	char *end;

	/* strtoull() also takes space and signs, and skips a second "0x" */
	if (is_hex ? !isxdigit((unsigned char)*digits) : !isdigit((unsigned char)*digits))
		return -EINVAL;
	if (is_hex && digits[1] == 'x')
		return -EINVAL;
	errno = 0;
	*ret_value = strtoull(digits, &end, is_hex ? 16 : 10);
	if (errno)
		return -EINVAL;
	*ret_end = end;
	return 0;
}

int pcie_parse_number(const char *text, uint64_t max, uint64_t *ret_value)
{
	const char *end;
	uint64_t value;

	if (read_digits(text, &value, &end) || *end || value > max)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static int read_with_unit(const char *text, const struct unit *unit, uint64_t *ret_value)
{
	const char *end;
	uint64_t value;

	if (read_digits(text, &value, &end))
		return -EINVAL;
	if (end[0] == ' ' && end[1])
		end++;
	while (unit->name && strcmp(unit->name, end) != 0)
		unit++;
	if (!unit->name || value > UINT64_MAX / unit->factor)
		return -EINVAL;
	*ret_value = value * unit->factor;
	return 0;
}

int pcie_parse_bytes(const char *text, uint64_t *ret_bytes)
{
	return read_with_unit(text, byte_units, ret_bytes);
}

int pcie_parse_rate(const char *text, uint64_t *ret_bps)
{
	return read_with_unit(text, rate_units, ret_bps);
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
