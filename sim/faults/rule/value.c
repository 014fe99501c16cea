/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of rules: numbers, sizes, addresses, times and fractions. */
#include "value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pcie_model/quantity.h"
#include "rule.h"
#include "sim/base/printable.h"

#define BILLION UINT64_C(1000000000)

/* Smaller units first, as the writers need them. */
static const struct pcie_unit byte_units[] = {
	{ "", 1 }, { "k", 1u << 10 }, { "M", 1u << 20 }, { "G", 1u << 30 }, { "K", 1u << 10 }, { NULL, 0 },
};

static const struct pcie_unit time_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000 * 1000 }, { "s", BILLION }, { NULL, 0 },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool sim_value_is_name(struct sim_text text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!sim_is_printable(text.at[i]) || text.at[i] == '"')
			return false;
	return true;
}

int sim_value_number(struct sim_text text, uint64_t max, uint64_t *ret_value)
{
	static const struct pcie_quantity_syntax syntax = { 0 };

	return pcie_quantity_parse(text.at, text.len, &syntax, max, ret_value);
}

int sim_value_bytes(struct sim_text text, uint64_t *ret_bytes)
{
	static const struct pcie_quantity_syntax syntax = { .units = byte_units };

	return pcie_quantity_parse(text.at, text.len, &syntax, UINT64_MAX, ret_bytes);
}

int sim_value_addr(struct sim_text text, uint64_t *ret_addr)
{
	static const struct pcie_quantity_syntax syntax = { .hex = true };

	return pcie_quantity_parse(text.at, text.len, &syntax, UINT64_MAX, ret_addr);
}

/* Write @value in the largest of the first four units that divides it. */
static size_t write_with_unit(uint64_t value, const struct pcie_unit units[4], char ret_text[SIM_VALUE_SIZE])
{
	size_t i = 3;

	while (i > 0 && (!value || value % units[i].factor != 0))
		i--;
	return (size_t)snprintf(ret_text, SIM_VALUE_SIZE, "%" PRIu64 "%s", value / units[i].factor, units[i].name);
}

size_t sim_value_write_bytes(uint64_t bytes, char ret_text[SIM_VALUE_SIZE])
{
	return write_with_unit(bytes, byte_units, ret_text);
}

size_t sim_value_write_time(uint64_t ns, char ret_text[SIM_VALUE_SIZE])
{
	return write_with_unit(ns, time_units, ret_text);
}

/* ---- decimals: digits with a point, and a power of ten ---- */

struct decimal {
	uint64_t digits; /* at most 18 digits; further ones are dropped */
	int power;
	bool is_truncated; /* a digit other than 0 was dropped */
	size_t len;        /* of the text that was read */
};

static void append_digit(struct decimal *decimal, char c, bool behind_point)
{
	if (decimal->digits < BILLION * BILLION / 10) {
		decimal->digits = decimal->digits * 10 + (uint64_t)(c - '0');
		decimal->power -= behind_point;
	} else {
		decimal->is_truncated |= c != '0';
		decimal->power += !behind_point;
	}
}

/* Read the digits that @text begins with; one point may be among them. Returns the number of digits. */
static size_t read_digits(struct sim_text text, struct decimal *decimal)
{
	bool behind_point = false;
	size_t count = 0, i;

	for (i = 0; i < text.len; i++) {
		if (text.at[i] == '.' && !behind_point && count) {
			behind_point = true;
			continue;
		}
		if (!is_digit(text.at[i]))
			break;
		append_digit(decimal, text.at[i], behind_point);
		count++;
	}
	decimal->len = i;
	return i && text.at[i - 1] != '.' ? count : 0;
}

/* Read the exponent behind the digits ("e-6"), if there is one. */
static int read_exponent(struct sim_text text, struct decimal *decimal)
{
	struct sim_text rest = { text.at + decimal->len, text.len - decimal->len };
	bool negative = rest.len > 1 && rest.at[1] == '-';
	struct sim_text digits = { rest.at + 1 + negative, 0 };
	uint64_t power;

	if (!rest.len || rest.at[0] != 'e')
		return 0;
	while (1 + negative + digits.len < rest.len && is_digit(digits.at[digits.len]))
		digits.len++;
	if (sim_value_number(digits, 100, &power))
		return -EINVAL;
	decimal->power += negative ? -(int)power : (int)power;
	decimal->len += 1 + negative + digits.len;
	return 0;
}

static int read_decimal(struct sim_text text, struct decimal *ret_decimal)
{
	struct decimal decimal = { .power = 0 };

	/* A line is at most SIM_RULE_LINE_SIZE long, so the power can't overflow. */
	if (text.len > SIM_RULE_LINE_SIZE || !read_digits(text, &decimal) || read_exponent(text, &decimal))
		return -EINVAL;
	*ret_decimal = decimal;
	return 0;
}

/* Compute @decimal times 10^@shift, up to @max. *ret_is_exact = no digit was dropped. */
static int scale_decimal(const struct decimal *decimal, int shift, uint64_t max, uint64_t *ret_value,
			 bool *ret_is_exact)
{
	int power = decimal->power + shift;
	uint64_t value = decimal->digits;
	bool is_exact = !decimal->is_truncated;

	for (; power > 0 && value; power--)
		if (__builtin_mul_overflow(value, 10, &value))
			return -EINVAL;
	for (; power < 0 && value; power++) {
		is_exact &= value % 10 == 0;
		value /= 10;
	}
	if (value > max)
		return -EINVAL;
	*ret_value = value;
	*ret_is_exact = is_exact;
	return 0;
}

/* Returns the power of ten that turns @unit into nanoseconds, or -1. */
static int unit_shift(struct sim_text unit)
{
	for (int i = 0; time_units[i].name; i++)
		if (strlen(time_units[i].name) == unit.len && memcmp(time_units[i].name, unit.at, unit.len) == 0)
			return 3 * i;
	return -1;
}

int sim_value_time(struct sim_text text, uint64_t *ret_ns)
{
	struct decimal decimal;
	bool is_exact;
	uint64_t ns;
	int shift;

	if (read_decimal(text, &decimal))
		return -EINVAL;
	shift = unit_shift((struct sim_text){ text.at + decimal.len, text.len - decimal.len });
	if (shift < 0 && decimal.len == text.len && !decimal.digits)
		shift = 0; /* 0 needs no unit */
	if (shift < 0 || scale_decimal(&decimal, shift, SIM_RULE_MAX_NS, &ns, &is_exact) || !is_exact)
		return -EINVAL;
	*ret_ns = ns;
	return 0;
}

static int read_scaled(struct sim_text text, int shift, uint64_t max, uint64_t *ret_value)
{
	struct decimal decimal;
	bool is_exact;

	if (read_decimal(text, &decimal) || decimal.len != text.len)
		return -EINVAL;
	return scale_decimal(&decimal, shift, max, ret_value, &is_exact);
}

int sim_value_ppb(struct sim_text text, uint64_t max, uint64_t *ret_ppb)
{
	return read_scaled(text, 9, max * BILLION, ret_ppb);
}

size_t sim_value_write_ppb(uint64_t ppb, char ret_text[SIM_VALUE_SIZE])
{
	int len = snprintf(ret_text, SIM_VALUE_SIZE, "%" PRIu64 ".%09" PRIu64, ppb / BILLION, ppb % BILLION);

	while (ret_text[len - 1] == '0')
		len--;
	len -= ret_text[len - 1] == '.';
	ret_text[len] = '\0';
	return (size_t)len;
}

int sim_value_percent(struct sim_text text, uint64_t *ret_ppb)
{
	if (!text.len || text.at[text.len - 1] != '%')
		return -EINVAL;
	text.len--;
	return read_scaled(text, 7, BILLION, ret_ppb);
}

int sim_value_fraction(struct sim_text text, uint64_t *ret_ppb)
{
	if (text.len && text.at[text.len - 1] == '%')
		return sim_value_percent(text, ret_ppb);
	return sim_value_ppb(text, 1, ret_ppb);
}
