/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule that is written as a mapping: it is put into a line, so that there is
 * one parser, and errors are led back to the keys. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "plan_file_priv.h"

struct piece {
	unsigned int column; /* where the word begins in the line */
	unsigned int line;   /* of its key in the file */
};

struct draft {
	char text[SIM_RULE_LINE_SIZE];
	size_t len;
	struct piece pieces[SIM_MAX_WORDS];
	size_t num_pieces;
};

static int put(struct sim_reader *reader, struct draft *draft, const char *text)
{
	size_t len = strlen(text);

	if (len >= sizeof(draft->text) - draft->len)
		return sim_reader_fail(reader, "the rule is longer than %d bytes", SIM_RULE_LINE_SIZE - 1);
	memcpy(draft->text + draft->len, text, len + 1);
	draft->len += len;
	return 0;
}

static int begin_piece(struct sim_reader *reader, struct draft *draft, unsigned int line)
{
	if (draft->num_pieces == SIM_MAX_WORDS)
		return sim_reader_fail(reader, "the rule has more words than there are");
	if (put(reader, draft, " "))
		return -EINVAL;
	draft->pieces[draft->num_pieces++] = (struct piece){ (unsigned int)draft->len + 1, line };
	return 0;
}

/* A value that would fall apart in a line gets quotes. */
static int put_value(struct sim_reader *reader, struct draft *draft, const char *value)
{
	const char *quote = *value && sim_word_len(value) < strlen(value) ? "\"" : "";

	if (*quote && strchr(value, '"'))
		return sim_reader_fail(reader, "a value with spaces can't have a \" in it");
	return put(reader, draft, quote) || put(reader, draft, value) || put(reader, draft, quote) ? -EINVAL : 0;
}

/* What YAML has meant by true and false, in its versions; each in lower case, capitalized, or in capitals. A program
 * may be called yes, so these are values where a word needs one. */
static const char *const yes[] = {"true", "yes", "on", NULL}, *const no[] = {"false", "no", "off", NULL};

static bool says(const char *value, const char *const *names)
{
	while (*names && strcasecmp(value, *names) != 0)
		names++;
	return *names;
}

static int check_value(struct sim_reader *reader, const char *key, const char *value)
{
	bool alone = sim_word_can_stand_alone(key);

	if (strcmp(value, "false") == 0 || (alone && says(value, no)))
		return sim_reader_fail(reader, "%s: can't be false; leave it out", key);
	if (alone && !sim_word_takes_value(key) && !says(value, yes))
		return sim_reader_fail(reader, "%s: takes no value; write %s: true, or leave it out", key, key);
	return 0;
}

static int put_word(struct sim_reader *reader, struct draft *draft, const char *key, const char *value)
{
	if (put(reader, draft, key))
		return -EINVAL;
	if (strcmp(value, "true") == 0 || (sim_word_can_stand_alone(key) && says(value, yes)))
		return 0;
	if (!(*value && strchr("=<>", *value)) && put(reader, draft, "="))
		return -EINVAL;
	return put_value(reader, draft, value);
}

/* Keys are words, and nothing that a line would read as more. */
static bool is_word(const char *key)
{
	return *key && strspn(key, "abcdefghijklmnopqrstuvwxyz_") == strlen(key);
}

static int read_op(struct sim_reader *reader, char op[SIM_RULE_LINE_SIZE])
{
	const char *text = sim_reader_text(reader);

	if (*op)
		return sim_reader_fail(reader, "op: is given twice; take one away");
	if (!*text || strlen(text) >= SIM_RULE_LINE_SIZE || strpbrk(text, " \t"))
		return sim_reader_fail(reader, "op: expected an operation, such as dma.memcpy, got `%.48s`", text);
	strcpy(op, text);
	return 0;
}

/* One key and its value. */
static int read_pair(struct sim_reader *reader, struct draft *draft, char op[SIM_RULE_LINE_SIZE])
{
	unsigned int line = reader->line;
	char key[32];
	int rc;

	if (reader->event.type != YAML_SCALAR_EVENT || !is_word(sim_reader_text(reader)) ||
	    strlen(sim_reader_text(reader)) >= sizeof(key))
		return sim_reader_fail(reader, "expected one of a rule's words as key, such as op, size, nth or fail");
	strcpy(key, sim_reader_text(reader));
	rc = sim_reader_next(reader);
	if (rc)
		return rc;
	if (reader->event.type != YAML_SCALAR_EVENT)
		return sim_reader_fail(reader, "%s: expected a single value", key);
	if (strcmp(key, "op") == 0)
		return read_op(reader, op);
	rc = check_value(reader, key, sim_reader_text(reader));
	if (rc == 0)
		rc = begin_piece(reader, draft, line);
	return rc ? rc : put_word(reader, draft, key, sim_reader_text(reader));
}

static int read_pairs(struct sim_reader *reader, struct draft *draft, char op[SIM_RULE_LINE_SIZE])
{
	int rc;

	for (;;) {
		rc = sim_reader_next(reader);
		if (rc || reader->event.type == YAML_MAPPING_END_EVENT)
			return rc;
		rc = read_pair(reader, draft, op);
		if (rc)
			return rc;
	}
}

/* The line of the key whose word stands at @column; of the rule when it is the operation. */
static unsigned int line_of(const struct draft *draft, unsigned int column, unsigned int otherwise)
{
	for (size_t i = 0; i < draft->num_pieces; i++)
		if (draft->pieces[i].column <= column)
			otherwise = draft->pieces[i].line;
	return otherwise;
}

int sim_reader_mapping(struct sim_reader *reader, struct sim_plan_file_rule *rule)
{
	struct draft draft = { .len = 0 };
	char op[SIM_RULE_LINE_SIZE] = "", line[2 * SIM_RULE_LINE_SIZE];
	struct sim_rule_error error;
	unsigned int at;
	int rc;

	rc = read_pairs(reader, &draft, op);
	if (rc)
		return rc;
	if (!*op)
		return sim_reader_fail_at(reader, rule->line, "op: is missing; it names the operation (dma.memcpy)");
	snprintf(line, sizeof(line), "%s%s", op, draft.text);
	if (sim_rule_parse(line, &rule->rule, rule->delays_file, &error) == 0)
		return 0;
	at = (unsigned int)strlen(op) < error.column ? error.column - (unsigned int)strlen(op) : 0;
	return sim_reader_fail_at(reader, line_of(&draft, at, rule->line), "%s", error.text);
}
