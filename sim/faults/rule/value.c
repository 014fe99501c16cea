/* SPDX-License-Identifier: BSD-3-Clause */
#include "value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rule.h"

#define BILLION UINT64_C(1000000000)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int sim_value_number(struct sim_text text, uint64_t max, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (!text.len)
		return -EINVAL;
	for (size_t i = 0; i < text.len; i++) {
		if (!is_digit(text.at[i]) || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text.at[i] - '0'), &value))
			return -EINVAL;
	}
	if (value > max)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static unsigned int size_shift(char suffix)
{
	switch (suffix) {
	case 'k':
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return 0;
	}
}

int sim_value_bytes(struct sim_text text, uint64_t *ret_bytes)
{
	unsigned int shift = text.len ? size_shift(text.at[text.len - 1]) : 0;
	uint64_t value;

	text.len -= shift != 0;
	if (sim_value_number(text, UINT64_MAX >> shift, &value))
		return -EINVAL;
	*ret_bytes = value << shift;
	return 0;
}

size_t sim_value_write_bytes(uint64_t bytes, char ret_text[SIM_VALUE_SIZE])
{
	static const char suffixes[][2] = { "", "k", "M", "G" };
	size_t i = 0;

	while (bytes && bytes % 1024 == 0 && i < 3) {
		bytes /= 1024;
		i++;
	}
	return (size_t)snprintf(ret_text, SIM_VALUE_SIZE, "%" PRIu64 "%s", bytes, suffixes[i]);
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int sim_value_addr(struct sim_text text, uint64_t *ret_addr)
{
	uint64_t addr = 0;

	if (text.len < 2 || memcmp(text.at, "0x", 2) != 0)
		return sim_value_number(text, UINT64_MAX, ret_addr);
	if (text.len == 2 || text.len > 2 + 16)
		return -EINVAL;
	for (size_t i = 2; i < text.len; i++) {
		int digit = hex_digit(text.at[i]);

		if (digit < 0)
			return -EINVAL;
		addr = addr << 4 | (uint64_t)digit;
	}
	*ret_addr = addr;
	return 0;
}

/* Decimals: digits with a point, and a power of ten ------------------------------- */

struct decimal {
	uint64_t digits; /* at most 18 of them; what follows is dropped */
	int power;
	bool is_truncated; /* a digit other than 0 was dropped */
	size_t len;        /* of its text */
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

/* Digits at @text's place, with one point among them at most. Returns how many digits. */
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

/* The "e-6" behind the digits, if there is one. */
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

/* @decimal times 10^@shift, up to @max; *ret_is_exact if nothing was dropped. */
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

static int unit_shift(struct sim_text unit)
{
	if (unit.len == 1 && unit.at[0] == 's')
		return 9;
	if (unit.len != 2 || unit.at[1] != 's')
		return -1;
	switch (unit.at[0]) {
	case 'm':
		return 6;
	case 'u':
		return 3;
	case 'n':
		return 0;
	default:
		return -1;
	}
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
		shift = 0;
	if (shift < 0 || scale_decimal(&decimal, shift, SIM_RULE_MAX_NS, &ns, &is_exact) || !is_exact)
		return -EINVAL;
	*ret_ns = ns;
	return 0;
}

size_t sim_value_write_time(uint64_t ns, char ret_text[SIM_VALUE_SIZE])
{
	static const char units[][3] = { "ns", "us", "ms", "s" };
	size_t i = 0;

	while (ns && ns % 1000 == 0 && i < 3) {
		ns /= 1000;
		i++;
	}
	return (size_t)snprintf(ret_text, SIM_VALUE_SIZE, "%" PRIu64 "%s", ns, units[i]);
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
