/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/fault_effect.h - events that happened while no program was there.
 *
 * A reset before the first program has attached counts as fired and tests nothing. The recordings of a run say who was
 * attached when.
 */
#ifndef SIM_CLI_RUN_FAULT_EFFECT_H
#define SIM_CLI_RUN_FAULT_EFFECT_H

#include "verdict.h"

/* Wait until the daemon has evaluated the events that were due from the begin: it does so within a few milliseconds, and a run
 * may be shorter. Gives up soon, as a rule may match nothing. */
void cli_fault_events_settle(const struct sim_plan *plan);

/* Tell @verdict which rules for links and functions fired, and struck no program of the session @dir, whose daemon must
 * live. */
void cli_fault_effects_report(const struct sim_plan *plan, const char *dir, struct cli_verdict *verdict);

#endif
