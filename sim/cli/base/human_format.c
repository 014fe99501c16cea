/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as people read them: three digits and a unit. */
#include "human_format.h"

#include <inttypes.h>
#include <stdio.h>

/* Round to the nearest @step. A value that would overflow stays. */
static uint64_t round_to_step(uint64_t value, uint64_t step)
{
	return value > UINT64_MAX - step / 2 ? value : (value + step / 2) / step * step;
}

/* Format three digits of @value, which is in units[0]; each unit is 1000 of the unit before. */
static void format_scaled(uint64_t value, const char *const units[], size_t count, char text[CLI_HUMAN_SIZE])
{
	uint64_t unit = 1, parts;
	size_t i = 0;

	while (i + 1 < count && value / unit >= 1000) {
		unit *= 1000;
		i++;
	}
	if (unit > 1)
		value = round_to_step(value, value / unit >= 100 ? unit : value / unit >= 10 ? unit / 10 : unit / 100);
	if (i + 1 < count && value / unit >= 1000) { /* 999.6 */
		unit *= 1000;
		i++;
	}
	parts = unit == 1 ? 0 : value % unit * 100 / unit; /* hundredths */
	if (unit == 1 || value / unit >= 100)
		snprintf(text, CLI_HUMAN_SIZE, "%" PRIu64 "%s", value / unit, units[i]);
	else if (value / unit >= 10)
		snprintf(text, CLI_HUMAN_SIZE, "%" PRIu64 ".%" PRIu64 "%s", value / unit, parts / 10, units[i]);
	else
		snprintf(text, CLI_HUMAN_SIZE, "%" PRIu64 ".%02" PRIu64 "%s", value / unit, parts, units[i]);
}

#define FORMAT_SCALED(value, units, text) format_scaled((value), (units), sizeof(units) / sizeof((units)[0]), (text))

void cli_human_time(uint64_t ns, char text[CLI_HUMAN_SIZE])
{
	static const char *const units[] = { " ns", " \u00b5s", " ms", " s" };

	FORMAT_SCALED(ns, units, text);
}

void cli_human_bytes(uint64_t bytes, char text[CLI_HUMAN_SIZE])
{
	static const char *const units[] = { " B", " kB", " MB", " GB", " TB" };

	FORMAT_SCALED(bytes, units, text);
}

void cli_human_byte_rate(uint64_t bytes_per_s, char text[CLI_HUMAN_SIZE])
{
	static const char *const units[] = { " B/s", " kB/s", " MB/s", " GB/s", " TB/s" };

	FORMAT_SCALED(bytes_per_s, units, text);
}

void cli_human_bit_rate(uint64_t bits_per_s, char text[CLI_HUMAN_SIZE])
{
	static const char *const units[] = { " b/s", " kb/s", " Mb/s", " Gb/s", " Tb/s" };

	FORMAT_SCALED(bits_per_s, units, text);
}

void cli_human_count(uint64_t count, char text[CLI_HUMAN_SIZE])
{
	static const char *const units[] = { "", " k", " M", " G" };

	FORMAT_SCALED(count, units, text);
}

void cli_human_percent(uint64_t thousandths, char text[CLI_HUMAN_SIZE])
{
	snprintf(text, CLI_HUMAN_SIZE, "%" PRIu64 ".%" PRIu64 " %%", thousandths / 10, thousandths % 10);
}

uint64_t cli_per_second(uint64_t amount, uint64_t ns)
{
	unsigned __int128 rate = ns ? (unsigned __int128)amount * 1000000000 / ns : 0;

	return rate < UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}
