/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpa_dev_log(): a line is formatted here, with checked memory, and printed by the simulator. */
#include <doca_dpa_dev.h>

#include "shim/dpa_dev/runtime/runtime.h"

struct line {
	char text[512];
	size_t len;
};

struct spec {
	bool is_left, has_zeros, has_plus, has_blank, is_alternate;
	unsigned width;
	int precision;       /* -1 = none */
	unsigned long_count; /* of l; z, t and j count as one */
	unsigned short_count;
};

static void put(struct line *line, char c)
{
	if (line->len + 1 < sizeof(line->text))
		line->text[line->len++] = c;
}

static void put_field(struct line *line, const struct spec *spec, const char *text, size_t len, char fill)
{
	size_t pad = len < spec->width ? spec->width - len : 0;

	for (size_t i = 0; !spec->is_left && i < pad; i++)
		put(line, fill);
	for (size_t i = 0; i < len; i++)
		put(line, text[i]);
	for (size_t i = 0; spec->is_left && i < pad; i++)
		put(line, ' ');
}

static void put_number(struct line *line, struct spec *spec, uint64_t value, unsigned base, bool is_negative,
		       const char *digits, const char *prefix)
{
	char text[72], *at = text + sizeof(text);
	int num_digits = 0;
	size_t prefix_len = 0;

	while (value || num_digits == 0) {
		*--at = digits[value % base];
		value /= base;
		num_digits++;
	}
	while (num_digits < spec->precision && num_digits < 60) {
		*--at = '0';
		num_digits++;
	}
	while (prefix[prefix_len])
		prefix_len++;
	if (spec->has_zeros && !spec->is_left && spec->precision < 0) {
		unsigned signs = (unsigned)prefix_len + (is_negative || spec->has_plus || spec->has_blank);

		while ((unsigned)num_digits + signs < spec->width && num_digits < 60) {
			*--at = '0';
			num_digits++;
		}
	}
	while (prefix_len)
		*--at = prefix[--prefix_len];
	if (is_negative)
		*--at = '-';
	else if (spec->has_plus)
		*--at = '+';
	else if (spec->has_blank)
		*--at = ' ';
	put_field(line, spec, at, (size_t)(text + sizeof(text) - at), ' ');
}

static uint64_t narrow(const struct spec *spec, uint64_t value, bool is_signed)
{
	unsigned bits = spec->long_count ? 64 : spec->short_count == 2 ? 8 : spec->short_count ? 16 : 32;

	if (bits == 64)
		return value;
	value <<= 64 - bits;
	return is_signed ? (uint64_t)((int64_t)value >> (64 - bits)) : value >> (64 - bits);
}

/* A string of the kernel: each byte is checked. */
static void put_string(struct line *line, const struct spec *spec, const char *text, uintptr_t pc)
{
	size_t len = 0;

	if (!text)
		text = "(null)";
	for (; spec->precision < 0 || len < (size_t)spec->precision; len++) {
		bfsim_dpa_check_at((uintptr_t)(text + len), 1, false, pc);
		if (!text[len])
			break;
	}
	put_field(line, spec, text, len, ' ');
}

static const char *read_number(const char *at, unsigned *ret_value)
{
	for (*ret_value = 0; *at >= '0' && *at <= '9'; at++)
		*ret_value = *ret_value < 100000 ? *ret_value * 10 + (unsigned)(*at - '0') : *ret_value;
	return at;
}

static const char *read_flags(const char *at, struct spec *spec)
{
	for (;; at++) {
		if (*at == '-')
			spec->is_left = true;
		else if (*at == '0')
			spec->has_zeros = true;
		else if (*at == '+')
			spec->has_plus = true;
		else if (*at == ' ')
			spec->has_blank = true;
		else if (*at == '#')
			spec->is_alternate = true;
		else
			return at;
	}
}

static const char *read_length(const char *at, struct spec *spec)
{
	for (;; at++) {
		if (*at == 'l' || *at == 'z' || *at == 't' || *at == 'j')
			spec->long_count++;
		else if (*at == 'h')
			spec->short_count++;
		else
			return at;
	}
}

/* Flags, width, precision and length. Returns what follows: the letter. */
static const char *read_spec(const char *at, struct spec *spec, va_list *args)
{
	at = read_flags(at, spec);
	if (*at == '*') {
		int width = va_arg(*args, int);

		spec->is_left = spec->is_left || width < 0;
		spec->width = width < 0 ? 0u - (unsigned)width : (unsigned)width;
		at++;
	} else {
		at = read_number(at, &spec->width);
	}
	if (*at == '.' && at[1] == '*') {
		spec->precision = va_arg(*args, int);
		at += 2;
	} else if (*at == '.') {
		unsigned precision;

		at = read_number(at + 1, &precision);
		spec->precision = (int)precision;
	}
	return read_length(at, spec);
}

/* One conversion; @at is behind the '%'. Returns what follows. */
static const char *convert(struct line *line, const char *at, va_list *args, uintptr_t pc)
{
	static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
	struct spec spec = { .precision = -1 };
	uint64_t value;
	char c;

	at = read_spec(at, &spec, args);
	switch (*at) {
	case 'd':
	case 'i':
		value = narrow(&spec, spec.long_count ? va_arg(*args, uint64_t) : va_arg(*args, unsigned), true);
		put_number(line, &spec, (int64_t)value < 0 ? 0 - value : value, 10, (int64_t)value < 0, lower, "");
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		value = narrow(&spec, spec.long_count ? va_arg(*args, uint64_t) : va_arg(*args, unsigned), false);
		spec.has_plus = spec.has_blank = false;
		put_number(line, &spec, value,
			   *at == 'u' ? 10 :
			   *at == 'o' ? 8 :
					16,
			   false, *at == 'X' ? upper : lower,
			   !spec.is_alternate || !value || *at == 'u' ? "" :
			   *at == 'x'                                 ? "0x" :
			   *at == 'X'                                 ? "0X" :
									"0");
		break;
	case 'p':
		put_number(line, &spec, (uintptr_t)va_arg(*args, void *), 16, false, lower, "0x");
		break;
	case 'c':
		c = (char)va_arg(*args, int);
		put_field(line, &spec, &c, 1, ' ');
		break;
	case 's':
		put_string(line, &spec, va_arg(*args, const char *), pc);
		break;
	case '%':
		put(line, '%');
		break;
	default:
		bfsim_dpa_port_from(pc)->fatal(
			"doca_dpa_dev_log: a conversion that the DPA lacks: it knows d i u x X o c s p");
	}
	return at + 1;
}

void doca_dpa_dev_log(doca_dpa_dev_log_level_t log_level, const char *format, ...)
{
	uintptr_t pc = (uintptr_t)__builtin_return_address(0);
	struct line line;
	va_list args;

	line.len = 0;
	va_start(args, format);
	for (const char *at = format;;) {
		bfsim_dpa_check_at((uintptr_t)at, 1, false, pc);
		if (!*at)
			break;
		if (*at == '%') {
			at = convert(&line, at + 1, &args, pc);
			continue;
		}
		put(&line, *at++);
	}
	va_end(args);
	while (line.len && line.text[line.len - 1] == '\n')
		line.len--;
	line.text[line.len] = 0;
	BFSIM_DPA_PORT(log, "doca_dpa_dev_log")(log_level, line.text);
}
