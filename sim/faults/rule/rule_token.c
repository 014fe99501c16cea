/* SPDX-License-Identifier: BSD-3-Clause */
/* The tokens of a rule's line, and the errors of its parser. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rule_priv.h"
#include "sim/base/printable.h"

int sim_rule_parser_fail(const struct sim_rule_parser *parser, const char *at, const char *format, ...)
{
	struct sim_rule_error *error = parser->error;
	va_list args;

	error->column = (unsigned int)(at - parser->line) + 1;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	sim_make_printable(error->text);
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

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* The end of the token that begins at @at: spaces inside quotes or parentheses belong to it. A double quote may stand anywhere; a
 * single one, which may be part of a name, only encloses a whole value. *ret_quote is the quote that is missing, or zero. */
static const char *token_end(const char *at, int *ret_depth, char *ret_quote)
{
	const char *value = NULL;
	char quote = '\0';
	int depth = 0;

	for (; *at && (quote || depth > 0 || !is_space(*at)); at++) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || (*at == '\'' && at == value))
			quote = *at;
		if (!value && *at == '=')
			value = at + 1;
		depth += !quote && *at == '(';
		depth -= !quote && *at == ')';
	}
	*ret_depth = depth;
	*ret_quote = quote;
	return at;
}

size_t sim_token_len(const char *text)
{
	char quote;
	int depth;

	return (size_t)(token_end(text, &depth, &quote) - text);
}

int sim_rule_next_token(struct sim_rule_parser *parser, const char **at, struct sim_text *ret_text)
{
	const char *begin = *at, *end;
	char quote;
	int depth;

	while (is_space(*begin))
		begin++;
	end = token_end(begin, &depth, &quote);
	if (quote)
		return sim_rule_parser_fail(parser, begin, "a %c is missing; quotes enclose a whole value", quote);
	if (depth != 0)
		return sim_rule_parser_fail(parser, begin, "parentheses do not match: a %c is missing",
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

/* Read the comparison that @sign begins with. Returns its length. */
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
	char quote = value->len ? value->at[0] : '\0';

	if (quote == '"' || quote == '\'') {
		if (value->at[value->len - 1] != quote || value->len < 2)
			return sim_rule_parser_fail(parser, value->at, "quotes enclose a whole value");
		value->at++;
		value->len -= 2;
		if (memchr(value->at, quote, value->len))
			return sim_rule_parser_fail(parser, value->at, "quotes enclose a whole value");
	}
	return 0;
}

int sim_rule_split_token(struct sim_rule_parser *parser, struct sim_text text, struct sim_token *ret_token)
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
