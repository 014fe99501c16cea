/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by plan_file.c and plan_file_rule.c only. */
#ifndef SIM_FAULTS_PLAN_FILE_PRIV_H
#define SIM_FAULTS_PLAN_FILE_PRIV_H

#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#include "plan_file.h"
#include "sim/faults/rule/rule_priv.h"

struct sim_yaml_reader {
	const char *name, *text;
	size_t len;
	char *error;
	struct sim_plan_file *file;
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	unsigned int line;  /* its line, from 1 */
};

/* Go to the next event. 0, -EINVAL (not YAML, or more of it than we read; the error is set) or -ENOMEM. */
int sim_yaml_reader_next(struct sim_yaml_reader *reader);

/* The text of a scalar. */
static inline const char *sim_yaml_reader_text(const struct sim_yaml_reader *reader)
{
	return (const char *)reader->event.data.scalar.value;
}

/* Set the error, with the line's or the current event's place. -EINVAL. */
int sim_yaml_reader_fail_at(struct sim_yaml_reader *reader, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define sim_yaml_reader_fail(reader, ...) sim_yaml_reader_fail_at((reader), (reader)->line, __VA_ARGS__)

/* Read the mapping that begins here as a rule. */
int sim_yaml_reader_read_rule(struct sim_yaml_reader *reader, struct sim_plan_file_rule *rule);

#endif
