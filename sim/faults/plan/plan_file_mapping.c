/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule in the form of a mapping: composed into a line for the parser of rules; errors
 * are mapped back to the lines of the keys. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/faults/rule/keyword.h"
#include "yaml_reader_priv.h"

struct key_position {
	unsigned int column; /* of the keyword in the composed line */
	unsigned int line;   /* of the key in the file */
};

struct line_builder {
	char text[SIM_RULE_LINE_SIZE];
	size_t len;
	struct key_position key_positions[SIM_MAX_KEYWORDS];
	size_t num_keys;
};

static int append_text(struct sim_yaml_reader *reader, struct line_builder *builder, const char *text)
{
	size_t len = strlen(text);

	if (len >= sizeof(builder->text) - builder->len)
		return sim_yaml_reader_fail(reader, "the rule is longer than %d bytes", SIM_RULE_LINE_SIZE - 1);
	memcpy(builder->text + builder->len, text, len + 1);
	builder->len += len;
	return 0;
}

static int begin_key(struct sim_yaml_reader *reader, struct line_builder *builder, unsigned int line)
{
	if (builder->num_keys == SIM_MAX_KEYWORDS)
		return sim_yaml_reader_fail(reader, "the rule has more words than there are");
	if (append_text(reader, builder, " "))
		return -EINVAL;
	builder->key_positions[builder->num_keys++] = (struct key_position){ (unsigned int)builder->len + 1, line };
	return 0;
}

/* A value with spaces gets quotes. */
static int append_value(struct sim_yaml_reader *reader, struct line_builder *builder, const char *value)
{
	const char *quote = *value && sim_token_len(value) < strlen(value) ? "\"" : "";

	if (*quote && strchr(value, '"'))
		return sim_yaml_reader_fail(reader, "a value with spaces cannot have a \" in it");
	return append_text(reader, builder, quote) || append_text(reader, builder, value) ||
			       append_text(reader, builder, quote) ?
		       -EINVAL :
		       0;
}

/* The booleans of YAML 1.1 and 1.2, in any case. A keyword that needs a value takes
 * them as text: a program may be called yes. */
static const char *const true_words[] = { "true", "yes", "on", NULL };
static const char *const false_words[] = { "false", "no", "off", NULL };

static bool is_one_of(const char *value, const char *const *names)
{
	while (*names && strcasecmp(value, *names) != 0)
		names++;
	return *names;
}

static int check_value(struct sim_yaml_reader *reader, const char *key, const char *value)
{
	bool alone = sim_keyword_allows_no_value(key);

	if (strcmp(value, "false") == 0 || (alone && is_one_of(value, false_words)))
		return sim_yaml_reader_fail(reader, "%s: cannot be false; leave it out", key);
	if (alone && !sim_keyword_allows_value(key) && !is_one_of(value, true_words))
		return sim_yaml_reader_fail(reader, "%s: takes no value; write %s: true, or leave it out", key, key);
	return 0;
}

static int append_key_value(struct sim_yaml_reader *reader, struct line_builder *builder, const char *key,
			    const char *value)
{
	if (append_text(reader, builder, key))
		return -EINVAL;
	if (strcmp(value, "true") == 0 || (sim_keyword_allows_no_value(key) && is_one_of(value, true_words)))
		return 0;
	if (!(*value && strchr("=<>", *value)) && append_text(reader, builder, "="))
		return -EINVAL;
	return append_value(reader, builder, value);
}

/* A key consists of letters only: other characters would mean something else in a line. */
static bool is_keyword_text(const char *key)
{
	return *key && strspn(key, "abcdefghijklmnopqrstuvwxyz_") == strlen(key);
}

static int read_op(struct sim_yaml_reader *reader, char op[SIM_RULE_LINE_SIZE])
{
	const char *text = sim_yaml_reader_text(reader);

	if (*op)
		return sim_yaml_reader_fail(reader, "op: is given twice; remove one");
	if (!*text || strlen(text) >= SIM_RULE_LINE_SIZE || strpbrk(text, " \t"))
		return sim_yaml_reader_fail(reader, "op: expected an operation, such as dma.memcpy, got `%.48s`", text);
	strcpy(op, text);
	return 0;
}

static int read_pair(struct sim_yaml_reader *reader, struct line_builder *builder, char op[SIM_RULE_LINE_SIZE])
{
	unsigned int line = reader->line;
	char key[32];
	int rc;

	if (reader->event.type != YAML_SCALAR_EVENT || !is_keyword_text(sim_yaml_reader_text(reader)) ||
	    strlen(sim_yaml_reader_text(reader)) >= sizeof(key))
		return sim_yaml_reader_fail(reader,
					    "expected one of a rule's words as key, such as op, size, nth or fail");
	strcpy(key, sim_yaml_reader_text(reader));
	rc = sim_yaml_reader_next(reader);
	if (rc)
		return rc;
	if (reader->event.type != YAML_SCALAR_EVENT)
		return sim_yaml_reader_fail(reader, "%s: expected a single value", key);
	if (strcmp(key, "op") == 0)
		return read_op(reader, op);
	rc = check_value(reader, key, sim_yaml_reader_text(reader));
	if (rc == 0)
		rc = begin_key(reader, builder, line);
	return rc ? rc : append_key_value(reader, builder, key, sim_yaml_reader_text(reader));
}

static int read_pairs(struct sim_yaml_reader *reader, struct line_builder *builder, char op[SIM_RULE_LINE_SIZE])
{
	int rc;

	for (;;) {
		rc = sim_yaml_reader_next(reader);
		if (rc || reader->event.type == YAML_MAPPING_END_EVENT)
			return rc;
		rc = read_pair(reader, builder, op);
		if (rc)
			return rc;
	}
}

/* The line of the key at @column of the composed line; @otherwise if that is the operation. */
static unsigned int source_line_of(const struct line_builder *builder, unsigned int column, unsigned int otherwise)
{
	for (size_t i = 0; i < builder->num_keys; i++)
		if (builder->key_positions[i].column <= column)
			otherwise = builder->key_positions[i].line;
	return otherwise;
}

int sim_plan_file_read_mapping(struct sim_yaml_reader *reader, struct sim_plan_file_rule *rule)
{
	struct line_builder builder = { 0 };
	char op[SIM_RULE_LINE_SIZE] = "", line[2 * SIM_RULE_LINE_SIZE];
	struct sim_rule_error error;
	unsigned int at;
	int rc;

	rc = read_pairs(reader, &builder, op);
	if (rc)
		return rc;
	if (!*op)
		return sim_yaml_reader_fail_at(reader, rule->line,
					       "op: is missing; it names the operation (dma.memcpy)");
	snprintf(line, sizeof(line), "%s%s", op, builder.text);
	if (sim_rule_parse(line, &rule->rule, rule->delays_file, &error) == 0)
		return 0;
	at = (unsigned int)strlen(op) < error.column ? error.column - (unsigned int)strlen(op) : 0;
	return sim_yaml_reader_fail_at(reader, source_line_of(&builder, at, rule->line), "%s", error.text);
}
