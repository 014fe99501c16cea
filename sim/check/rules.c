/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds rules, severities and modes by their names. */
#include "rules.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const severity_names[SIM_CHECK_NUM_SEVERITIES] = {
	[SIM_CHECK_ERROR] = "error",
	[SIM_CHECK_WARNING] = "warning",
	[SIM_CHECK_PORTABILITY] = "portability",
	[SIM_CHECK_PERFORMANCE] = "performance",
	[SIM_CHECK_HINT] = "hint",
};

const struct sim_check_rule_entry *sim_check_rule_find(const char *id)
{
	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++)
		if (strcasecmp(id, sim_check_rules[i].id) == 0 || strcasecmp(id, sim_check_rules[i].name) == 0)
			return &sim_check_rules[i];
	return NULL;
}

const char *sim_check_severity_name(enum sim_check_severity severity)
{
	return severity_names[severity];
}

int sim_check_severity_parse(const char *text, enum sim_check_severity *ret_severity)
{
	for (int i = 0; i < SIM_CHECK_NUM_SEVERITIES; i++)
		if (strcmp(text, severity_names[i]) == 0) {
			*ret_severity = (enum sim_check_severity)i;
			return 0;
		}
	return -EINVAL;
}

static const char *const mode_names[] = {
	[SIM_CHECK_OFF] = "off",
	[SIM_CHECK_API] = "api",
	[SIM_CHECK_RACES] = "races",
	[SIM_CHECK_STRICT] = "strict",
};

const char *sim_check_mode_name(enum sim_check_mode mode)
{
	return mode_names[mode];
}

int sim_check_mode_parse(const char *text, enum sim_check_mode *ret_mode)
{
	if (strcmp(text, "") == 0 || strcmp(text, "1") == 0)
		text = mode_names[SIM_CHECK_API];
	for (int mode = SIM_CHECK_OFF; mode <= SIM_CHECK_STRICT; mode++)
		if (strcmp(text, mode_names[mode]) == 0) {
			*ret_mode = (enum sim_check_mode)mode;
			return 0;
		}
	return -EINVAL;
}
