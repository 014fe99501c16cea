/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/plan/yaml_reader_priv.h - a cursor over the events of a YAML text.
 *
 * An entry of a plan is a text or a mapping, which libcyaml's schemas cannot
 * express. The events of libyaml can, and they carry their lines.
 */
#ifndef SIM_FAULTS_YAML_READER_PRIV_H
#define SIM_FAULTS_YAML_READER_PRIV_H

#include <yaml.h>

#include "plan_file.h"

struct sim_yaml_reader {
	/* Set by the caller; name, text and error are borrowed. */
	const char *name, *text;
	size_t len;
	char *error;       /* SIM_PLAN_FILE_ERROR_SIZE bytes */
	unsigned int line; /* of the current event, from 1 */

	yaml_parser_t parser;
	yaml_event_t event; /* the current event */
};

/* Begin before the first event. Returns 0, or -ENOMEM with the error set. */
int sim_yaml_reader_init(struct sim_yaml_reader *reader);
void sim_yaml_reader_fini(struct sim_yaml_reader *reader);

/* Go to the next event. Returns 0, -EINVAL (not YAML, or an anchor) or -ENOMEM, with the error set. */
int sim_yaml_reader_next(struct sim_yaml_reader *reader);

/* The text of a scalar. */
static inline const char *sim_yaml_reader_text(const struct sim_yaml_reader *reader)
{
	return (const char *)reader->event.data.scalar.value;
}

/* Set the error, at @line or at the current event. Returns -EINVAL, or -ENOMEM for the last one. */
int sim_yaml_reader_fail_at(struct sim_yaml_reader *reader, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define sim_yaml_reader_fail(reader, ...) sim_yaml_reader_fail_at((reader), (reader)->line, __VA_ARGS__)
int sim_yaml_reader_fail_no_memory(struct sim_yaml_reader *reader);

/* plan_file_mapping.c: read the mapping that begins at the current event into a rule. */
int sim_plan_file_read_mapping(struct sim_yaml_reader *reader, struct sim_plan_file_rule *rule);

#endif
