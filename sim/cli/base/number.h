/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/number.h - whole numbers of command lines. */
#ifndef SIM_CLI_BASE_NUMBER_H
#define SIM_CLI_BASE_NUMBER_H

#include <stdint.h>

/* Parse the digits at the start of @text, in @base as strtoull() takes it, as a number from @min to @max. Returns 0 or
 * -1. *ret_end is the text behind the number; with NULL as @ret_end, a text behind the number is an error. */
int cli_number_parse(const char *text, int base, uint64_t min, uint64_t max, uint64_t *ret_number,
		     const char **ret_end);

/* Parse a size of at least 1 byte, with K, M, G or T for powers of 1024. Returns 0 or -1. */
int cli_size_parse(const char *text, uint64_t max, uint64_t *ret_size);

#endif
