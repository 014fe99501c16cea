/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/delays.h - delays of a file, for "delay=trace(FILE)".
 *
 * The file has one delay a line, with its unit ("20us"); a number alone is in
 * ns. Empty lines are skipped, as is text behind a #. The process that reads the
 * rule's text loads the file, because the name is relative to that process. The
 * block has no pointers and can be sent as it is.
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

/* Load @file; a relative name refers to @dir (NULL = the working directory). The
 * caller frees *ret_delays with free(). Returns 0, -EINVAL (no delays, too many, or
 * a line that is none), -ENOMEM or another -errno with @error set. */
int sim_delays_load(const char *file, const char *dir, struct sim_delays **ret_delays, char error[SIM_RULE_ERROR_SIZE]);

/* Read the delays from the text of @file. */
int sim_delays_parse(const char *file, const char *text, size_t len, struct sim_delays **ret_delays,
		     char error[SIM_RULE_ERROR_SIZE]);

/* The size in bytes of a block with @count delays. */
size_t sim_delays_size(uint32_t count);

/* Check @len bytes from an untrusted source. Returns 0 or -EINVAL. */
int sim_delays_check(const struct sim_delays *delays, size_t len);

/* Compile a line and load the file of delays that the line names. *ret_delays is
 * NULL when it names none; else the caller frees it with free(). Returns 0,
 * -EINVAL, -ENOMEM or another -errno, with *ret_error set. */
int sim_rule_load(const char *text, const char *dir, struct sim_rule *ret_rule, struct sim_delays **ret_delays,
		  struct sim_rule_error *ret_error);

#endif
