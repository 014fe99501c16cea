/* SPDX-License-Identifier: BSD-3-Clause */
/* A seed, or a range of them. */
#include "seeds.h"

#include <string.h>

#include "number.h"

#define MAX_SEEDS 1000000

int cli_seeds_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
	const char *end;

	if (cli_number_parse(text, 10, 0, UINT64_MAX, ret_first, &end) < 0)
		return -1;
	*ret_last = *ret_first;
	if (!*end)
		return 0;
	if (strncmp(end, "..", 2) != 0 || cli_number_parse(end + 2, 10, *ret_first, UINT64_MAX, ret_last, NULL) < 0)
		return -1;
	return *ret_last - *ret_first < MAX_SEEDS ? 0 : -1;
}
