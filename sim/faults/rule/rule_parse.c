/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of rules: operations, then keywords, then the check of the whole. */
#include <errno.h>
#include <string.h>

#include "rule_priv.h"
#include "sim/base/printable.h"

static int fail_unknown_keyword(const struct sim_rule_parser *parser, struct sim_text name)
{
	const char *suggestion = sim_keyword_suggest(name);

	if (suggestion)
		return sim_rule_parser_fail(parser, name.at, "unknown word " SIM_TEXT_FMT "; did you mean `%s`?",
					    SIM_TEXT_ARG(name), suggestion);
	return sim_rule_parser_fail(
		parser, name.at,
		"unknown word " SIM_TEXT_FMT
		"; an operation is followed by conditions and actions, such as size>=4k nth=3 fail=IO_FAILED",
		SIM_TEXT_ARG(name));
}

/* Check the comparison and the value against the form of the keyword. */
static int check_value_form(const struct sim_rule_parser *parser, const struct sim_keyword *keyword,
			    const struct sim_token *token)
{
	const char *at = token->name.at;

	if (token->compare == SIM_COMPARE_NONE && (keyword->arg.type == SIM_ARG_NONE || keyword->arg.may_be_missing))
		return 0;
	if (token->compare == SIM_COMPARE_NONE)
		return sim_rule_parser_fail(parser, at, "%s: needs a value: %s", keyword->name, keyword->usage);
	if (keyword->arg.type == SIM_ARG_NONE)
		return sim_rule_parser_fail(parser, at, "%s: takes no value", keyword->name);
	if (!token->value.len)
		return sim_rule_parser_fail(parser, at, "%s: its value is missing: %s", keyword->name, keyword->usage);
	if (token->compare != SIM_COMPARE_EQUAL && keyword->arg.read != sim_read_size)
		return sim_rule_parser_fail(parser, at, "%s: takes = and no other comparison; only size does",
					    keyword->name);
	return 0;
}

static int read_token(struct sim_rule_parser *parser, struct sim_text text)
{
	const struct sim_keyword *keyword;
	struct sim_token token;
	size_t i;

	if (sim_rule_split_token(parser, text, &token))
		return -EINVAL;
	i = sim_keyword_find(token.name);
	keyword = sim_keyword_at(i);
	if (!keyword)
		return fail_unknown_keyword(parser, token.name);
	if (check_value_form(parser, keyword, &token))
		return -EINVAL;
	if (parser->positions[i] && keyword->arg.read != sim_read_size)
		return sim_rule_parser_fail(parser, token.name.at, "%s: is given twice; remove one", keyword->name);
	parser->positions[i] = token.name.at;
	sim_rule_add(&parser->rule, keyword);
	return sim_arg_read(parser, keyword, &token);
}

static int read_operations(struct sim_rule_parser *parser, const char **at)
{
	struct sim_text text;

	if (sim_rule_next_token(parser, at, &text))
		return -EINVAL;
	if (!text.len)
		return sim_rule_parser_fail(parser, text.at,
					    "the rule is empty; write OPERATION [CONDITION...] ACTION, "
					    "for instance dma.memcpy nth=3 fail=IO_FAILED");
	return sim_rule_parse_ops(parser, text);
}

static int read_tokens(struct sim_rule_parser *parser, const char *at)
{
	struct sim_text text;
	int rc = 0;

	while (!rc) {
		rc = sim_rule_next_token(parser, &at, &text);
		if (!rc && !text.len)
			return 0;
		if (!rc)
			rc = read_token(parser, text);
	}
	return rc;
}

static const char *keyword_position(const struct sim_rule_parser *parser, const char *word)
{
	size_t i = word ? sim_keyword_find((struct sim_text){ word, strlen(word) }) : SIM_MAX_KEYWORDS;

	return i < SIM_MAX_KEYWORDS && parser->positions[i] ? parser->positions[i] : parser->line;
}

static int validate(const struct sim_rule_parser *parser)
{
	struct sim_rule_conflict conflict;

	if (sim_rule_find_conflict(&parser->rule, &conflict) == 0)
		return 0;
	return sim_rule_parser_fail(parser, keyword_position(parser, conflict.word), "%s", conflict.text);
}

static int check_line(const struct sim_rule_parser *parser)
{
	size_t len = strnlen(parser->line, SIM_RULE_LINE_SIZE);

	if (len == SIM_RULE_LINE_SIZE)
		return sim_rule_parser_fail(parser, parser->line, "the rule is longer than %d bytes",
					    SIM_RULE_LINE_SIZE - 1);
	for (size_t i = 0; i < len; i++) {
		if (!sim_is_printable(parser->line[i]) && parser->line[i] != '\t')
			return sim_rule_parser_fail(parser, parser->line + i,
						    "a rule is one line of plain text; "
						    "remove the control character");
	}
	return 0;
}

static int parse_line(struct sim_rule_parser *parser)
{
	const char *at = parser->line;

	if (check_line(parser) || read_operations(parser, &at) || read_tokens(parser, at))
		return -EINVAL;
	return validate(parser);
}

int sim_rule_parse(const char *text, struct sim_rule *ret_rule, char ret_delays_file[SIM_DELAYS_FILE_SIZE],
		   struct sim_rule_error *ret_error)
{
	struct sim_rule_parser parser = { .line = text, .error = ret_error };

	memset(&parser.rule, 0, sizeof(parser.rule));
	parser.rule.size_max = UINT64_MAX;
	parser.rule.addr_max = UINT64_MAX;
	parser.rule.until_ns = SIM_NEVER_NS;
	if (parse_line(&parser))
		return -EINVAL;
	*ret_rule = parser.rule;
	memcpy(ret_delays_file, parser.delays_file, SIM_DELAYS_FILE_SIZE);
	return 0;
}
