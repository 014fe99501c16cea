/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rule_priv.h"

enum value { NO_VALUE, MAYBE_VALUE, NEEDS_VALUE };

struct keyword {
	const char *name;
	const char *usage; /* how it is written */
	enum value value;
	sim_value_reader *read;
};

#define ACT(act) [SIM_ACT_##act]
static const struct keyword keywords[] = {
	/* Actions come first, with their own numbers. */
	ACT(FAIL) = { "fail", "fail=STATUS", NEEDS_VALUE, sim_read_fail },
	ACT(HANG) = { "hang", "hang", NO_VALUE, sim_read_no_value },
	ACT(REFUSE) = { "refuse", "refuse or refuse=AGAIN", MAYBE_VALUE, sim_read_refuse },
	ACT(DELAY) = { "delay", "delay=TIME or delay=DISTRIBUTION(...)", NEEDS_VALUE, sim_read_delay },
	ACT(FLIP) = { "flip", "flip=BITS", NEEDS_VALUE, sim_read_flip },
	ACT(TEAR) = { "tear", "tear", NO_VALUE, sim_read_no_value },
	ACT(DROP) = { "drop", "drop", NO_VALUE, sim_read_no_value },
	ACT(DUPLICATE) = { "duplicate", "duplicate", NO_VALUE, sim_read_no_value },
	ACT(REORDER) = { "reorder", "reorder=MESSAGES", NEEDS_VALUE, sim_read_reorder },
	ACT(TRUNCATE) = { "truncate", "truncate=BYTES", NEEDS_VALUE, sim_read_truncate },
	ACT(STALL) = { "stall", "stall=TIME", NEEDS_VALUE, sim_read_duration },
	ACT(BREAK) = { "break", "break", NO_VALUE, sim_read_no_value },
	ACT(DOWN) = { "down", "down=TIME", NEEDS_VALUE, sim_read_duration },
	ACT(DEGRADE) = { "degrade", "degrade=gen2x4", NEEDS_VALUE, sim_read_degrade },
	ACT(ERRORS) = { "errors", "errors=PART", NEEDS_VALUE, sim_read_errors },
	ACT(FATAL) = { "fatal", "fatal", NO_VALUE, sim_read_no_value },
	ACT(RESET) = { "reset", "reset", NO_VALUE, sim_read_no_value },
	ACT(REMOVE) = { "remove", "remove", NO_VALUE, sim_read_no_value },
	ACT(ADD) = { "add", "add", NO_VALUE, sim_read_no_value },
	ACT(NUM_VFS) = { "num_vfs", "num_vfs=N", NEEDS_VALUE, sim_read_num_vfs },
	ACT(REP_REMOVE) = { "rep_remove", "rep_remove", NO_VALUE, sim_read_no_value },
	ACT(KILL) = { "kill", "kill", NO_VALUE, sim_read_no_value },
	ACT(PAUSE) = { "pause", "pause=TIME", NEEDS_VALUE, sim_read_duration },
	{ "moved", "moved=BYTES or moved=PERCENT%", NEEDS_VALUE, sim_read_moved },
	{ "side", "side=NAME", NEEDS_VALUE, sim_read_side },
	{ "program", "program=NAME", NEEDS_VALUE, sim_read_program },
	{ "pid", "pid=N", NEEDS_VALUE, sim_read_pid },
	{ "device", "device=ADDRESS or device=NAME", NEEDS_VALUE, sim_read_device },
	{ "size", "size=A..B, size>=BYTES, ...", NEEDS_VALUE, sim_read_size },
	{ "addr", "addr=A..B", NEEDS_VALUE, sim_read_addr },
	{ "nth", "nth=N", NEEDS_VALUE, sim_read_nth },
	{ "every", "every=N", NEEDS_VALUE, sim_read_every },
	{ "p", "p=PROBABILITY", NEEDS_VALUE, sim_read_chance },
	{ "seed", "seed=N", NEEDS_VALUE, sim_read_seed },
	{ "from", "from=TIME", NEEDS_VALUE, sim_read_from },
	{ "until", "until=TIME", NEEDS_VALUE, sim_read_until },
	{ "times", "times=N", NEEDS_VALUE, sim_read_times },
	{ "skip", "skip=N", NEEDS_VALUE, sim_read_skip },
};

#define NUM_KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))
_Static_assert(NUM_KEYWORDS <= SIM_MAX_KEYWORDS, "room for all in sim_rule_parser.seen");

static const char *keyword_name(size_t i)
{
	return keywords[i].name;
}

static const struct keyword *find_keyword(const char *name)
{
	for (size_t i = 0; i < NUM_KEYWORDS; i++)
		if (strcmp(keywords[i].name, name) == 0)
			return &keywords[i];
	return NULL;
}

bool sim_keyword_allows_no_value(const char *name)
{
	const struct keyword *keyword = find_keyword(name);

	return keyword && keyword->value != NEEDS_VALUE;
}

bool sim_keyword_allows_value(const char *name)
{
	const struct keyword *keyword = find_keyword(name);

	return keyword && keyword->value != NO_VALUE;
}

/* Errors ----------------------------------------------------------------------- */

static void replace_control_chars(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int sim_rule_parser_fail(const struct sim_rule_parser *parser, const char *at, const char *format, ...)
{
	struct sim_rule_error *error = parser->error;
	va_list args;

	error->column = (unsigned int)(at - parser->line) + 1;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	replace_control_chars(error->text);
	return -EINVAL;
}

int sim_rule_parser_expected(const struct sim_rule_parser *parser, const struct sim_token *token, const char *what)
{
	return sim_rule_parser_fail(parser, token->value.at, "%.*s: expected %s, got " SIM_TEXT_FMT,
				    (int)token->name.len, token->name.at, what, SIM_TEXT_ARG(token->value));
}

bool sim_text_equals(struct sim_text text, const char *word)
{
	return strlen(word) == text.len && memcmp(word, text.at, text.len) == 0;
}

/* Tokens ----------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* The end of the word that begins at @at: spaces inside quotes or parentheses belong to it. */
static const char *token_end(const char *at, int *ret_depth, bool *ret_quoted)
{
	bool quoted = false;
	int depth = 0;

	for (; *at && (quoted || depth > 0 || !is_space(*at)); at++) {
		quoted ^= *at == '"';
		depth += !quoted && *at == '(';
		depth -= !quoted && *at == ')';
	}
	*ret_depth = depth;
	*ret_quoted = quoted;
	return at;
}

size_t sim_token_len(const char *text)
{
	bool quoted;
	int depth;

	return (size_t)(token_end(text, &depth, &quoted) - text);
}

static int next_token(struct sim_rule_parser *parser, const char **at, struct sim_text *ret_text)
{
	const char *begin = *at, *end;
	bool quoted;
	int depth;

	while (is_space(*begin))
		begin++;
	end = token_end(begin, &depth, &quoted);
	if (quoted)
		return sim_rule_parser_fail(parser, begin, "a \" is missing; quotes stand around a whole value");
	if (depth != 0)
		return sim_rule_parser_fail(parser, begin, "parentheses do not match: there is a %c too few",
					    depth > 0 ? ')' : '(');
	*ret_text = (struct sim_text){ begin, (size_t)(end - begin) };
	*at = end;
	return 0;
}

static size_t name_len(struct sim_text text)
{
	size_t len = 0;

	while (len < text.len && !strchr("=<>", text.at[len]))
		len++;
	return len;
}

/* The sign between name and value; its length. */
static size_t read_compare(struct sim_text sign, enum sim_compare *ret_compare)
{
	bool equals = sign.len > 1 && sign.at[1] == '=';

	switch (sign.at[0]) {
	case '>':
		*ret_compare = equals ? SIM_COMPARE_AT_LEAST : SIM_COMPARE_ABOVE;
		break;
	case '<':
		*ret_compare = equals ? SIM_COMPARE_AT_MOST : SIM_COMPARE_BELOW;
		break;
	default:
		*ret_compare = SIM_COMPARE_EQUAL;
	}
	return equals ? 2 : 1;
}

/* Take the quotes off a value. */
static int unquote(struct sim_rule_parser *parser, struct sim_text *value)
{
	if (value->len && value->at[0] == '"') {
		if (value->at[value->len - 1] != '"' || value->len < 2)
			return sim_rule_parser_fail(parser, value->at, "quotes stand around a whole value");
		value->at++;
		value->len -= 2;
		if (memchr(value->at, '"', value->len))
			return sim_rule_parser_fail(parser, value->at, "quotes stand around a whole value");
	}
	return 0;
}

static int split_token(struct sim_rule_parser *parser, struct sim_text text, struct sim_token *ret_token)
{
	struct sim_token token = { .name = { text.at, name_len(text) } };
	size_t sign_len;

	if (token.name.len < text.len) {
		struct sim_text sign = { text.at + token.name.len, text.len - token.name.len };

		sign_len = read_compare(sign, &token.compare);
		token.value = (struct sim_text){ sign.at + sign_len, sign.len - sign_len };
		if (unquote(parser, &token.value))
			return -EINVAL;
	}
	*ret_token = token;
	return 0;
}

/* Words ------------------------------------------------------------------------ */

static int fail_unknown_keyword(const struct sim_rule_parser *parser, struct sim_text name)
{
	const char *suggestion = sim_did_you_mean(name, keyword_name, NUM_KEYWORDS);

	if (suggestion)
		return sim_rule_parser_fail(parser, name.at, "unknown word " SIM_TEXT_FMT "; did you mean `%s`?",
					    SIM_TEXT_ARG(name), suggestion);
	return sim_rule_parser_fail(
		parser, name.at,
		"unknown word " SIM_TEXT_FMT
		"; an operation is followed by conditions and actions, such as size>=4k nth=3 fail=IO_FAILED",
		SIM_TEXT_ARG(name));
}

/* Whether sign and value are such as the word takes. */
static int check_value_form(const struct sim_rule_parser *parser, const struct keyword *keyword,
			    const struct sim_token *token)
{
	const char *at = token->name.at;

	if (token->compare == SIM_COMPARE_NONE)
		return keyword->value == NEEDS_VALUE ? sim_rule_parser_fail(parser, at, "%s: needs a value: %s",
									    keyword->name, keyword->usage) :
						       0;
	if (keyword->value == NO_VALUE)
		return sim_rule_parser_fail(parser, at, "%s: stands alone, without a value", keyword->name);
	if (!token->value.len)
		return sim_rule_parser_fail(parser, at, "%s: its value is missing: %s", keyword->name, keyword->usage);
	if (token->compare != SIM_COMPARE_EQUAL && keyword->read != sim_read_size)
		return sim_rule_parser_fail(parser, at, "%s: takes = and no other comparison; only size does",
					    keyword->name);
	return 0;
}

static int read_token(struct sim_rule_parser *parser, struct sim_text text)
{
	struct sim_token token;
	size_t i = 0;

	if (split_token(parser, text, &token))
		return -EINVAL;
	while (i < NUM_KEYWORDS && !sim_text_equals(token.name, keywords[i].name))
		i++;
	if (i == NUM_KEYWORDS)
		return fail_unknown_keyword(parser, token.name);
	if (check_value_form(parser, &keywords[i], &token))
		return -EINVAL;
	if (parser->positions[i] && keywords[i].read != sim_read_size)
		return sim_rule_parser_fail(parser, token.name.at, "%s: is given twice; take one away",
					    keywords[i].name);
	parser->positions[i] = token.name.at;
	if (i < SIM_ACT_COUNT)
		parser->rule.actions |= SIM_ACT_BIT(i);
	return keywords[i].read(parser, &token);
}

static int read_operations(struct sim_rule_parser *parser, const char **at)
{
	struct sim_text text;

	if (next_token(parser, at, &text))
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
		rc = next_token(parser, &at, &text);
		if (!rc && !text.len)
			return 0;
		if (!rc)
			rc = read_token(parser, text);
	}
	return rc;
}

/* The rule as a whole ------------------------------------------------------------ */

static const char *keyword_position(const struct sim_rule_parser *parser, const char *word)
{
	for (size_t i = 0; word && i < NUM_KEYWORDS; i++)
		if (strcmp(keywords[i].name, word) == 0 && parser->positions[i])
			return parser->positions[i];
	return parser->line;
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
		unsigned char c = (unsigned char)parser->line[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return sim_rule_parser_fail(parser, parser->line + i,
						    "a rule is one line of plain text; "
						    "take the control character away");
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
