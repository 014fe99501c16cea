/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/report/hit_counts.h - all hits of the process by rule, and the rules that the program expects or mutes (bfsim.h). */
#ifndef SHIM_CHECK_HIT_COUNTS_H
#define SHIM_CHECK_HIT_COUNTS_H

#include <stdbool.h>

#include "sim/check/rules.h"
#include "stack.h"

/* Count a hit. @stack may be NULL. Returns whether it is to be reported. */
bool check_hit_count(enum sim_check_rule rule, const char *message, const struct check_stack *stack);

#endif
