/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/delays.h - delays of a file, for "delay=trace(FILE)".
 *
 * The file has one delay a line, with its unit ("20us"); a number alone is in
 * ns. Empty lines and what follows a # are passed over. Whoever reads a rule's
 * text loads the file, since its name means something to him; the block has no
 * pointers and can be sent as it is.
 */
#ifndef SIM_FAULTS_DELAYS_H
#define SIM_FAULTS_DELAYS_H

#include "rule.h"

#define SIM_DELAYS_MAX 65536 /* in one file, and in all of a plan */

struct sim_delays {
	char file[SIM_DELAYS_FILE_SIZE]; /* as the rule names it */
	uint32_t count;                  /* from 1 */
	uint32_t reserved;
	uint64_t delay_ns[];
};

/* Load @file; a relative name is taken in @dir (NULL: the process's).
 * *ret_delays is the caller's (free()). Returns 0, -EINVAL (no delays, too many
 * or not delays: @error says which line), -ENOMEM or another -errno with @error set. */
int sim_delays_load(const char *file, const char *dir, struct sim_delays **ret_delays, char error[SIM_RULE_ERROR_SIZE]);

/* The same from the file's text. */
int sim_delays_parse(const char *file, const char *text, size_t len, struct sim_delays **ret_delays,
		     char error[SIM_RULE_ERROR_SIZE]);

/* Bytes of a block with @count delays. */
size_t sim_delays_size(uint32_t count);

/* Whether @len bytes from an untrusted place are such a block: 0 or -EINVAL. */
int sim_delays_check(const struct sim_delays *delays, size_t len);

/* Compile a line and load the delays that it asks for (*ret_delays is the
 * caller's, NULL when it asks for none). Returns 0, -EINVAL, -ENOMEM or another
 * -errno; *ret_error is set. */
int sim_rule_load(const char *text, const char *dir, struct sim_rule *ret_rule, struct sim_delays **ret_delays,
		  struct sim_rule_error *ret_error);

#endif
