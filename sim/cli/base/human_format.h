/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/human_format.h - numbers as people read them. */
#ifndef SIM_CLI_BASE_HUMAN_FORMAT_H
#define SIM_CLI_BASE_HUMAN_FORMAT_H

#include <stdint.h>

#define CLI_HUMAN_SIZE 48

/* "640 ns", "12.3 \u00b5s", "4.56 MB", "1.20 GB/s", "1.5 k": three digits and a unit. */
void cli_human_time(uint64_t ns, char text[CLI_HUMAN_SIZE]);
void cli_human_bytes(uint64_t bytes, char text[CLI_HUMAN_SIZE]);
void cli_human_bit_rate(uint64_t bits_per_s, char text[CLI_HUMAN_SIZE]);
void cli_human_byte_rate(uint64_t bytes_per_s, char text[CLI_HUMAN_SIZE]);
void cli_human_count(uint64_t count, char text[CLI_HUMAN_SIZE]);
void cli_human_percent(uint64_t thousandths, char text[CLI_HUMAN_SIZE]); /* "12.3 %" */

/* @amount in @ns, as a rate per second. */
uint64_t cli_per_second(uint64_t amount, uint64_t ns);

#endif
