/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/keyword.h - the keywords of rules, for code that composes a rule's line. */
#ifndef SIM_FAULTS_KEYWORD_H
#define SIM_FAULTS_KEYWORD_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_MAX_KEYWORDS 48

/* Whether the keyword @name may stand alone, and whether it may have a value. False for unknown names. */
bool sim_keyword_allows_no_value(const char *name);
bool sim_keyword_allows_value(const char *name);

/* Bytes of the token that @text begins with: spaces inside quotes or parentheses belong to it. */
size_t sim_token_len(const char *text);

#endif
