/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole numbers of command lines. */
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_number_parse(const char *text, int base, uint64_t min, uint64_t max, uint64_t *ret_number, const char **ret_end)
{
	uint64_t number;
	char *end;

	if (!isdigit((unsigned char)text[0])) /* strtoull() accepts blanks and signs */
		return -1;
	errno = 0;
	number = strtoull(text, &end, base);
	if (errno || number < min || number > max || (!ret_end && *end))
		return -1;
	*ret_number = number;
	if (ret_end)
		*ret_end = end;
	return 0;
}

int cli_size_parse(const char *text, uint64_t max, uint64_t *ret_size)
{
	static const char units[] = "KMGT";
	const char *end, *unit;
	uint64_t number;
	int shift = 0;

	if (cli_number_parse(text, 10, 1, max, &number, &end) < 0)
		return -1;
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1])
			return -1;
		shift = 10 * (int)(unit - units + 1);
	}
	if (number > max >> shift)
		return -1;
	*ret_size = number << shift;
	return 0;
}
