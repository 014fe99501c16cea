/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/report/hit_output.h - where hits go: standard error, the run's file of hits, the process's own report.
 *
 *   BFSIM_CHECK_HITS     file of hits; bfsim run makes it and writes the report
 *   BFSIM_CHECK_REPORT   report of this process (sim/check/report.h); "%p" in it is the process number. It is replaced at
 *                        each hit, so that a process that is killed leaves what was found. A forked child writes one of
 *                        its own: report.json -> report.4711.json.
 *   BFSIM_CHECK_MUTES    file of mutes (sim/check/mutes.h)
 *   BFSIM_CHECK_FAIL     the least severity that makes the exit status 70 instead of 0
 */
#ifndef SHIM_CHECK_HIT_OUTPUT_H
#define SHIM_CHECK_HIT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/check/rules.h"

struct json_object;

/* Open what the environment names. Mistakes in it are reported; the program runs on without what is wrong. */
void check_output_open(void);

/* Instead: tell the run's file of hits that this program is not checked. */
void check_output_refuse(void);

/* The first hit of a rule at a site. Takes the reference. */
void check_output_hit(enum sim_check_rule rule, struct json_object *hit);

/* At the exit, for each site that was hit again; @hit may be NULL. */
void check_output_repeats(enum sim_check_rule rule, struct json_object *hit, const void *caller, uint64_t count);

/* At the exit, after that. Returns whether the exit status becomes 70. */
bool check_output_end(void);

/* In a forked child: another thread of the parent may have held the lock. */
void check_output_forked(void);

#endif
