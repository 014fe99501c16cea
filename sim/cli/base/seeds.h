/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/seeds.h - a seed, or a range of them. */
#ifndef SIM_CLI_BASE_SEEDS_H
#define SIM_CLI_BASE_SEEDS_H

#include "args.h"

struct cli_seeds {
	bool is_given;
	uint64_t first, last;
};

/* "7" or "1..50", with at most a million seeds. Returns 0 or -1. */
int cli_seeds_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last);

/* The row of --seeds. */
#define CLI_SEEDS_OPTION(type, member, help) CLI_CALL(0, "seeds", "SEEDS", type, member, cli_set_seeds, help)
cli_option_set cli_set_seeds;

/* Set the seed of --shuffle, a uint64_t; without a text a random one. */
void cli_set_shuffle_seed(uint64_t *seed, const char *text, struct argp_state *state);

#endif
