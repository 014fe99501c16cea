/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/printable.h - control characters in rules, names and error messages. */
#ifndef SIM_FAULTS_PRINTABLE_H
#define SIM_FAULTS_PRINTABLE_H

#include <stdbool.h>

static inline bool sim_is_printable(char c)
{
	return (unsigned char)c >= ' ' && c != 0x7f;
}

/* Replace the control characters of @text by '?'. */
static inline void sim_make_printable(char *text)
{
	for (; *text; text++)
		if (!sim_is_printable(*text))
			*text = '?';
}

/* Whether a rule can have @text in quotes. */
static inline bool sim_is_quotable(const char *text)
{
	for (; *text; text++)
		if (!sim_is_printable(*text) || *text == '"')
			return false;
	return true;
}

#endif
