/* SPDX-License-Identifier: BSD-3-Clause */
/* A seed, or a range of them. */
#include "seeds.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "cli.h"
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

void cli_set_seeds(void *to, char *text, struct argp_state *state)
{
	struct cli_seeds *seeds = to;

	seeds->is_given = true;
	if (cli_seeds_parse(text, &seeds->first, &seeds->last) < 0)
		argp_error(state, "--seeds %s: write a number, or a range such as 1..50", text);
}

void cli_set_shuffle_seed(uint64_t *seed, const char *text, struct argp_state *state)
{
	if (!text && getrandom(seed, sizeof(uint32_t), 0) < 0)
		argp_failure(state, cli_failure_status(), errno, "no random numbers; give --shuffle=SEED");
	if (text && cli_number_parse(text, 10, 0, UINT64_MAX, seed, NULL) < 0)
		argp_error(state, "--shuffle=%s: not a number", text);
}
