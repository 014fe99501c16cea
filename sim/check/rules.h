/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/rules.h - the checker's rules: the table that is written from sim/check/rules. */
#ifndef SIM_CHECK_RULES_H
#define SIM_CHECK_RULES_H

#include "rule_ids.h" /* generated */

/* Modes of the checker; each has the rules of those before it. */
enum sim_check_mode {
	SIM_CHECK_OFF,
	SIM_CHECK_API,
	SIM_CHECK_RACES,
	SIM_CHECK_STRICT,
};

#define SIM_CHECK_MODES "api, races or strict"

#define SIM_CHECK_SEVERITIES "error, warning, portability, performance, hint"

/* Of bfsim run, and of programs with BFSIM_CHECK_FAIL, that would be 0 without the checker. */
#define SIM_CHECK_EXIT_STATUS 70

/* From the most severe on. */
enum sim_check_severity {
	SIM_CHECK_ERROR,
	SIM_CHECK_WARNING,
	SIM_CHECK_PORTABILITY,
	SIM_CHECK_PERFORMANCE,
	SIM_CHECK_HINT,
	SIM_CHECK_NUM_SEVERITIES,
};

/* sim/check/rules says what the fields are. */
struct sim_check_rule_entry {
	const char *id, *name, *rule, *card, *cause, *remedy, *releases, *source;
	enum sim_check_severity severity;
	enum sim_check_mode mode;
};

extern const struct sim_check_rule_entry sim_check_rules[SIM_CHECK_NUM_RULES];

/* A rule that can't be checked. */
struct sim_check_unchecked_rule {
	const char *rule, *reason;
};

extern const struct sim_check_unchecked_rule sim_check_unchecked_rules[]; /* ends with NULL */

/* The rule of an id or a name, in any case of letters; NULL = none. */
const struct sim_check_rule_entry *sim_check_rule_find(const char *id);

/* "error", "warning", ... and back. sim_check_severity_parse() returns 0 or -EINVAL. */
const char *sim_check_severity_name(enum sim_check_severity severity);
int sim_check_severity_parse(const char *text, enum sim_check_severity *ret_severity);

/* "api", "races", ... and back. "" and "1" are api. sim_check_mode_parse() returns 0 or -EINVAL. */
const char *sim_check_mode_name(enum sim_check_mode mode);
int sim_check_mode_parse(const char *text, enum sim_check_mode *ret_mode);

#endif
