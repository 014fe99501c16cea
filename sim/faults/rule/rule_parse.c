/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rule_priv.h"

enum value { NO_VALUE, MAYBE_VALUE, NEEDS_VALUE };

struct word {
	const char *name;
	const char *usage; /* how it is written */
	enum value value;
	sim_word_reader *read;
};

#define ACT(act) [SIM_ACT_##act]
static const struct word words[] = {
	/* Actions come first, with their own numbers. */
	ACT(FAIL) = { "fail", "fail=STATUS", NEEDS_VALUE, sim_read_fail },
	ACT(HANG) = { "hang", "hang", NO_VALUE, sim_read_bare },
	ACT(REFUSE) = { "refuse", "refuse or refuse=AGAIN", MAYBE_VALUE, sim_read_refuse },
	ACT(DELAY) = { "delay", "delay=TIME or delay=DISTRIBUTION(...)", NEEDS_VALUE, sim_read_delay },
	ACT(FLIP) = { "flip", "flip=BITS", NEEDS_VALUE, sim_read_flip },
	ACT(TEAR) = { "tear", "tear", NO_VALUE, sim_read_bare },
	ACT(DROP) = { "drop", "drop", NO_VALUE, sim_read_bare },
	ACT(DUPLICATE) = { "duplicate", "duplicate", NO_VALUE, sim_read_bare },
	ACT(REORDER) = { "reorder", "reorder=MESSAGES", NEEDS_VALUE, sim_read_reorder },
	ACT(TRUNCATE) = { "truncate", "truncate=BYTES", NEEDS_VALUE, sim_read_truncate },
	ACT(STALL) = { "stall", "stall=TIME", NEEDS_VALUE, sim_read_duration },
	ACT(BREAK) = { "break", "break", NO_VALUE, sim_read_bare },
	ACT(DOWN) = { "down", "down=TIME", NEEDS_VALUE, sim_read_duration },
	ACT(DEGRADE) = { "degrade", "degrade=gen2x4", NEEDS_VALUE, sim_read_degrade },
	ACT(ERRORS) = { "errors", "errors=PART", NEEDS_VALUE, sim_read_errors },
	ACT(FATAL) = { "fatal", "fatal", NO_VALUE, sim_read_bare },
	ACT(RESET) = { "reset", "reset", NO_VALUE, sim_read_bare },
	ACT(REMOVE) = { "remove", "remove", NO_VALUE, sim_read_bare },
	ACT(ADD) = { "add", "add", NO_VALUE, sim_read_bare },
	ACT(NUM_VFS) = { "num_vfs", "num_vfs=N", NEEDS_VALUE, sim_read_num_vfs },
	ACT(REP_REMOVE) = { "rep_remove", "rep_remove", NO_VALUE, sim_read_bare },
	ACT(KILL) = { "kill", "kill", NO_VALUE, sim_read_bare },
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

#define NUM_WORDS (sizeof(words) / sizeof(words[0]))
_Static_assert(NUM_WORDS <= SIM_MAX_WORDS, "room for all in sim_parse.seen");

static const char *word_name(size_t i)
{
	return words[i].name;
}

static const struct word *find_word(const char *name)
{
	for (size_t i = 0; i < NUM_WORDS; i++)
		if (strcmp(words[i].name, name) == 0)
			return &words[i];
	return NULL;
}

bool sim_word_can_stand_alone(const char *name)
{
	const struct word *word = find_word(name);

	return word && word->value != NEEDS_VALUE;
}

bool sim_word_takes_value(const char *name)
{
	const struct word *word = find_word(name);

	return word && word->value != NO_VALUE;
}

/* Errors ----------------------------------------------------------------------- */

static void keep_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int sim_parse_fail(const struct sim_parse *parse, const char *at, const char *format, ...)
{
	struct sim_rule_error *error = parse->error;
	va_list args;

	error->column = (unsigned int)(at - parse->line) + 1;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	keep_one_line(error->text);
	return -EINVAL;
}

int sim_parse_expected(const struct sim_parse *parse, const struct sim_token *token, const char *what)
{
	return sim_parse_fail(parse, token->value.at, "%.*s: expected %s, got " SIM_QUOTE, (int)token->name.len,
			      token->name.at, what, SIM_QUOTED(token->value));
}

bool sim_text_is(struct sim_text text, const char *word)
{
	return strlen(word) == text.len && memcmp(word, text.at, text.len) == 0;
}

/* Tokens ----------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* The end of the word that begins at @at: spaces inside quotes or parentheses belong to it. */
static const char *word_end(const char *at, int *ret_depth, bool *ret_quoted)
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

size_t sim_word_len(const char *text)
{
	bool quoted;
	int depth;

	return (size_t)(word_end(text, &depth, &quoted) - text);
}

static int take_word(struct sim_parse *parse, const char **at, struct sim_text *ret_text)
{
	const char *begin = *at, *end;
	bool quoted;
	int depth;

	while (is_space(*begin))
		begin++;
	end = word_end(begin, &depth, &quoted);
	if (quoted)
		return sim_parse_fail(parse, begin, "a \" is missing; quotes stand around a whole value");
	if (depth != 0)
		return sim_parse_fail(parse, begin, "parentheses do not match: there is a %c too few",
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
		*ret_compare = equals ? SIM_COMPARE_LEAST : SIM_COMPARE_ABOVE;
		break;
	case '<':
		*ret_compare = equals ? SIM_COMPARE_MOST : SIM_COMPARE_BELOW;
		break;
	default:
		*ret_compare = SIM_COMPARE_IS;
	}
	return equals ? 2 : 1;
}

/* Take the quotes off a value. */
static int unquote(struct sim_parse *parse, struct sim_text *value)
{
	if (value->len && value->at[0] == '"') {
		if (value->at[value->len - 1] != '"' || value->len < 2)
			return sim_parse_fail(parse, value->at, "quotes stand around a whole value");
		value->at++;
		value->len -= 2;
		if (memchr(value->at, '"', value->len))
			return sim_parse_fail(parse, value->at, "quotes stand around a whole value");
	}
	return 0;
}

static int split(struct sim_parse *parse, struct sim_text text, struct sim_token *ret_token)
{
	struct sim_token token = { .name = { text.at, name_len(text) } };
	size_t sign_len;

	if (token.name.len < text.len) {
		struct sim_text sign = { text.at + token.name.len, text.len - token.name.len };

		sign_len = read_compare(sign, &token.compare);
		token.value = (struct sim_text){ sign.at + sign_len, sign.len - sign_len };
		if (unquote(parse, &token.value))
			return -EINVAL;
	}
	*ret_token = token;
	return 0;
}

/* Words ------------------------------------------------------------------------ */

static int unknown(const struct sim_parse *parse, struct sim_text name)
{
	const char *nearest = sim_nearest(name, word_name, NUM_WORDS);

	if (nearest)
		return sim_parse_fail(parse, name.at, "unknown word " SIM_QUOTE "; did you mean `%s`?",
				      SIM_QUOTED(name), nearest);
	return sim_parse_fail(parse, name.at, "unknown word " SIM_QUOTE
			      "; an operation is followed by conditions and actions, such as size>=4k nth=3 fail=IO_FAILED",
			      SIM_QUOTED(name));
}

/* Whether sign and value are such as the word takes. */
static int check_shape(const struct sim_parse *parse, const struct word *word, const struct sim_token *token)
{
	const char *at = token->name.at;

	if (token->compare == SIM_COMPARE_NONE)
		return word->value == NEEDS_VALUE ?
			       sim_parse_fail(parse, at, "%s: needs a value: %s", word->name, word->usage) :
			       0;
	if (word->value == NO_VALUE)
		return sim_parse_fail(parse, at, "%s: stands alone, without a value", word->name);
	if (!token->value.len)
		return sim_parse_fail(parse, at, "%s: its value is missing: %s", word->name, word->usage);
	if (token->compare != SIM_COMPARE_IS && word->read != sim_read_size)
		return sim_parse_fail(parse, at, "%s: takes = and no other comparison; only size does", word->name);
	return 0;
}

static int read_word(struct sim_parse *parse, struct sim_text text)
{
	struct sim_token token;
	size_t i = 0;

	if (split(parse, text, &token))
		return -EINVAL;
	while (i < NUM_WORDS && !sim_text_is(token.name, words[i].name))
		i++;
	if (i == NUM_WORDS)
		return unknown(parse, token.name);
	if (check_shape(parse, &words[i], &token))
		return -EINVAL;
	if (parse->seen[i] && words[i].read != sim_read_size)
		return sim_parse_fail(parse, token.name.at, "%s: is given twice; take one away", words[i].name);
	parse->seen[i] = token.name.at;
	if (i < SIM_ACT_COUNT)
		parse->rule.actions |= SIM_ACT_BIT(i);
	return words[i].read(parse, &token);
}

static int read_operations(struct sim_parse *parse, const char **at)
{
	struct sim_text text;

	if (take_word(parse, at, &text))
		return -EINVAL;
	if (!text.len)
		return sim_parse_fail(parse, text.at, "the rule is empty; write OPERATION [CONDITION...] ACTION, "
				      "for instance dma.memcpy nth=3 fail=IO_FAILED");
	return sim_parse_ops(parse, text);
}

static int read_words(struct sim_parse *parse, const char *at)
{
	struct sim_text text;
	int rc = 0;

	while (!rc) {
		rc = take_word(parse, &at, &text);
		if (!rc && !text.len)
			return 0;
		if (!rc)
			rc = read_word(parse, text);
	}
	return rc;
}

/* The rule as a whole ------------------------------------------------------------ */

static const char *place_of(const struct sim_parse *parse, const char *word)
{
	for (size_t i = 0; word && i < NUM_WORDS; i++)
		if (strcmp(words[i].name, word) == 0 && parse->seen[i])
			return parse->seen[i];
	return parse->line;
}

static int judge(const struct sim_parse *parse)
{
	struct sim_verdict verdict;

	if (sim_rule_judge(&parse->rule, &verdict) == 0)
		return 0;
	return sim_parse_fail(parse, place_of(parse, verdict.word), "%s", verdict.text);
}

static int check_line(const struct sim_parse *parse)
{
	size_t len = strnlen(parse->line, SIM_RULE_LINE_SIZE);

	if (len == SIM_RULE_LINE_SIZE)
		return sim_parse_fail(parse, parse->line, "the rule is longer than %d bytes", SIM_RULE_LINE_SIZE - 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)parse->line[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return sim_parse_fail(parse, parse->line + i, "a rule is one line of plain text; "
					      "take the control character away");
	}
	return 0;
}

static int read_line(struct sim_parse *parse)
{
	const char *at = parse->line;

	if (check_line(parse) || read_operations(parse, &at) || read_words(parse, at))
		return -EINVAL;
	return judge(parse);
}

int sim_rule_parse(const char *text, struct sim_rule *ret_rule, char ret_delays_file[SIM_DELAYS_FILE_SIZE],
		   struct sim_rule_error *ret_error)
{
	struct sim_parse parse = { .line = text, .error = ret_error };

	memset(&parse.rule, 0, sizeof(parse.rule));
	parse.rule.size_max = UINT64_MAX;
	parse.rule.addr_max = UINT64_MAX;
	parse.rule.until_ns = SIM_NEVER_NS;
	if (read_line(&parse))
		return -EINVAL;
	*ret_rule = parse.rule;
	memcpy(ret_delays_file, parse.delays_file, SIM_DELAYS_FILE_SIZE);
	return 0;
}
