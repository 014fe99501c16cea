/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/near_miss.h - why a fault rule never hit: the operations that came closest to it, and what they lacked. */
#ifndef SIM_CLI_RUN_NEAR_MISS_H
#define SIM_CLI_RUN_NEAR_MISS_H

#include "fault_sites.h"

#define CLI_NEAR_MISS_SIZE 512

/* Write the reason for a rule that has not fired. @sites: of the session; NULL = not known, then only counts are said. */
void cli_near_miss_describe(const struct sim_plan_rule *rule, struct cli_fault_sites *sites,
			    char ret_text[CLI_NEAR_MISS_SIZE]);

#endif
