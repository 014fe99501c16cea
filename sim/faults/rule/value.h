/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/value.h - numbers, sizes, times and fractions in the notation of rules.
 *
 * A text is a part of the rule's line. Each reader reads the whole text or
 * nothing: it returns 0, or -EINVAL and leaves the result as it was. No locale, no
 * octal, no sign, no surrounding space. Writers return the length of the text,
 * without the terminating zero.
 */
#ifndef SIM_FAULTS_VALUE_H
#define SIM_FAULTS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_VALUE_SIZE 32 /* buffer of a writer */

struct sim_text {
	const char *at;
	size_t len;
};

/* Whether a rule can have @text as a name in quotes: it has no quote and no control character of ASCII. */
bool sim_value_is_name(struct sim_text text);

/* "42", up to @max. */
int sim_value_number(struct sim_text text, uint64_t max, uint64_t *ret_value);

/* "4096", "4k", "1M", "2G": powers of 1024. */
int sim_value_bytes(struct sim_text text, uint64_t *ret_bytes);
size_t sim_value_write_bytes(uint64_t bytes, char ret_text[SIM_VALUE_SIZE]);

/* "0x7f00", "32512". */
int sim_value_addr(struct sim_text text, uint64_t *ret_addr);

/* "20us", "1.5ms", "0.25s", "7ns": whole nanoseconds, up to SIM_RULE_MAX_NS; "0" needs no unit. */
int sim_value_time(struct sim_text text, uint64_t *ret_ns);
size_t sim_value_write_time(uint64_t ns, char ret_text[SIM_VALUE_SIZE]);

/* "0.01", "1e-6", "1.5", "10": a decimal up to @max, in billionths; finer digits are dropped. */
int sim_value_ppb(struct sim_text text, uint64_t max, uint64_t *ret_ppb);
size_t sim_value_write_ppb(uint64_t ppb, char ret_text[SIM_VALUE_SIZE]);

/* A fraction: a decimal up to 1, or a percentage ("12.5%"), in billionths. */
int sim_value_fraction(struct sim_text text, uint64_t *ret_ppb);
int sim_value_percent(struct sim_text text, uint64_t *ret_ppb);

#endif
