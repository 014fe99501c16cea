/* SPDX-License-Identifier: BSD-3-Clause */
/* A cursor over the events of libyaml, with errors that name file and line. */
#include "yaml_reader_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/printable.h"

int sim_yaml_reader_fail_at(struct sim_yaml_reader *reader, unsigned int line, const char *format, ...)
{
	const char *name = reader->name;
	size_t len = strlen(name);
	char *error = reader->error;
	va_list args;
	int used;

	if (len > 80)
		name += len - 80; /* keep the end of a long path */
	used = snprintf(error, SIM_PLAN_FILE_ERROR_SIZE, "%s:%u: ", name, line);
	va_start(args, format);
	vsnprintf(error + used, (size_t)(SIM_PLAN_FILE_ERROR_SIZE - used), format, args);
	va_end(args);
	sim_make_printable(error);
	return -EINVAL;
}

int sim_yaml_reader_fail_no_memory(struct sim_yaml_reader *reader)
{
	sim_yaml_reader_fail(reader, "no memory to read this");
	return -ENOMEM;
}

/* libyaml gives a byte offset only for encoding errors. */
static unsigned int line_of_byte(const struct sim_yaml_reader *reader, size_t offset)
{
	unsigned int line = 1;

	for (size_t i = 0; i < offset && i < reader->len; i++)
		line += reader->text[i] == '\n';
	return line;
}

static int fail_not_yaml(struct sim_yaml_reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;

	if (parser->error == YAML_MEMORY_ERROR)
		return sim_yaml_reader_fail_no_memory(reader);
	reader->line = parser->error == YAML_READER_ERROR ? line_of_byte(reader, parser->problem_offset) :
							    (unsigned int)parser->problem_mark.line + 1;
	return sim_yaml_reader_fail(reader, "not YAML: %s", parser->problem ? parser->problem : "unreadable");
}

static bool has_anchor(const yaml_event_t *event)
{
	return (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor) ||
	       (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor) ||
	       (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor) ||
	       event->type == YAML_ALIAS_EVENT;
}

int sim_yaml_reader_next(struct sim_yaml_reader *reader)
{
	yaml_event_t *event = &reader->event;

	yaml_event_delete(event);
	if (!yaml_parser_parse(&reader->parser, event))
		return fail_not_yaml(reader);
	reader->line = (unsigned int)event->start_mark.line + 1;
	if (has_anchor(event))
		return sim_yaml_reader_fail(reader,
					    "anchors (&name) and aliases (*name) are not supported; repeat the text");
	if (event->type == YAML_SCALAR_EVENT && strlen(sim_yaml_reader_text(reader)) != event->data.scalar.length)
		return sim_yaml_reader_fail(reader, "has a zero byte in its text; remove it");
	return 0;
}

int sim_yaml_reader_init(struct sim_yaml_reader *reader)
{
	if (!yaml_parser_initialize(&reader->parser))
		return sim_yaml_reader_fail_no_memory(reader);
	yaml_parser_set_input_string(&reader->parser, (const unsigned char *)reader->text, reader->len);
	return 0;
}

void sim_yaml_reader_fini(struct sim_yaml_reader *reader)
{
	yaml_event_delete(&reader->event);
	yaml_parser_delete(&reader->parser);
}
