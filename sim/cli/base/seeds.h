/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/seeds.h - a seed, or a range of them. */
#ifndef SIM_CLI_BASE_SEEDS_H
#define SIM_CLI_BASE_SEEDS_H

#include <stdint.h>

/* "7" or "1..50", with at most a million seeds. Returns 0 or -1. */
int cli_seeds_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last);

#endif
