/* SPDX-License-Identifier: BSD-3-Clause */
/* Keywords of a rule, and their values: read into the field of the rule, written from it, checked. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rule_priv.h"

/* ---- the keyword and its field ---- */

bool sim_rule_has(const struct sim_rule *rule, const struct sim_keyword *keyword)
{
	switch (keyword->kind) {
	case SIM_KEYWORD_ACT:
		return (rule->actions & SIM_ACT_BIT(keyword->number)) != 0;
	case SIM_KEYWORD_CONDITION:
		return rule->where & UINT32_C(1) << keyword->number;
	case SIM_KEYWORD_LIMIT:
		return rule->when & UINT32_C(1) << keyword->number;
	default:
		return sim_rule_moves(rule);
	}
}

void sim_rule_add(struct sim_rule *rule, const struct sim_keyword *keyword)
{
	if (keyword->kind == SIM_KEYWORD_ACT)
		rule->actions |= SIM_ACT_BIT(keyword->number);
	else if (keyword->kind == SIM_KEYWORD_CONDITION)
		rule->where |= UINT32_C(1) << keyword->number;
	else if (keyword->kind == SIM_KEYWORD_LIMIT)
		rule->when |= UINT32_C(1) << keyword->number;
}

static uint64_t get_field(const struct sim_rule *rule, const struct sim_arg *arg)
{
	const char *at = (const char *)rule + arg->offset;
	uint32_t value_32;
	uint64_t value;

	if (arg->size == sizeof(value)) {
		memcpy(&value, at, sizeof(value));
		return value;
	}
	memcpy(&value_32, at, sizeof(value_32));
	return value_32;
}

static void set_field(struct sim_rule *rule, const struct sim_arg *arg, uint64_t value)
{
	char *at = (char *)rule + arg->offset;
	uint32_t value_32 = (uint32_t)value;

	if (arg->size == sizeof(value))
		memcpy(at, &value, sizeof(value));
	else
		memcpy(at, &value_32, sizeof(value_32));
}

/* ---- reading ---- */

int sim_arg_read_number(struct sim_rule_parser *parser, const struct sim_token *token, uint64_t least, uint64_t most,
			uint64_t *ret_value)
{
	char what[64];

	if (sim_value_number(token->value, most, ret_value) == 0 && *ret_value >= least)
		return 0;
	if (most >= INT32_MAX)
		snprintf(what, sizeof(what), "a number from %" PRIu64, least);
	else
		snprintf(what, sizeof(what), "a number from %" PRIu64 " to %" PRIu64, least, most);
	return sim_rule_parser_expected(parser, token, what);
}

int sim_arg_read_time(struct sim_rule_parser *parser, const struct sim_token *token, uint64_t *ret_ns)
{
	if (sim_value_time(token->value, ret_ns))
		return sim_rule_parser_expected(
			parser, token, "a time of whole ns, up to 1000000000s, with its unit ns, us, ms or s (1.5ms)");
	return 0;
}

int sim_arg_read_text(struct sim_rule_parser *parser, const struct sim_token *token, char *ret_text, size_t size)
{
	char what[64];

	if (memchr(token->value.at, '\t', token->value.len))
		return sim_rule_parser_expected(parser, token, "a name without a tab; ? matches one");
	if (token->value.len >= size || !sim_value_is_name(token->value)) {
		snprintf(what, sizeof(what), "a name of up to %zu bytes (* and ? are wildcards)", size - 1);
		return sim_rule_parser_expected(parser, token, what);
	}
	memcpy(ret_text, token->value.at, token->value.len);
	return 0;
}

static int read_value(struct sim_rule_parser *parser, const struct sim_arg *arg, const struct sim_token *token,
		      uint64_t *ret_value)
{
	int rc;

	if (arg->type == SIM_ARG_TIME)
		return sim_arg_read_time(parser, token, ret_value);
	if (arg->type == SIM_ARG_NUMBER)
		return sim_arg_read_number(parser, token, arg->least, arg->most, ret_value);
	rc = arg->type == SIM_ARG_PART ? sim_value_fraction(token->value, ret_value) :
					 sim_value_bytes(token->value, ret_value);
	if (rc || *ret_value < arg->least || *ret_value > arg->most)
		return sim_rule_parser_expected(parser, token, arg->what);
	return 0;
}

int sim_arg_read(struct sim_rule_parser *parser, const struct sim_keyword *keyword, const struct sim_token *token)
{
	const struct sim_arg *arg = &keyword->arg;
	uint64_t value;

	switch (arg->type) {
	case SIM_ARG_NONE:
		return 0;
	case SIM_ARG_OWN:
		return arg->read(parser, token);
	case SIM_ARG_TEXT:
		return sim_arg_read_text(parser, token, (char *)&parser->rule + arg->offset, arg->size);
	default:
		if (read_value(parser, arg, token, &value))
			return -EINVAL;
		set_field(&parser->rule, arg, value);
		return 0;
	}
}

/* ---- writing ---- */

void sim_rule_put(struct sim_rule_writer *writer, const char *format, ...)
{
	size_t room = SIM_RULE_TEXT_SIZE - writer->used;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(writer->text + writer->used, room, format, args);
	va_end(args);
	writer->used += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

void sim_rule_put_bytes(struct sim_rule_writer *writer, const char *before, uint64_t bytes)
{
	char text[SIM_VALUE_SIZE];

	sim_value_write_bytes(bytes, text);
	sim_rule_put(writer, "%s%s", before, text);
}

void sim_rule_put_time(struct sim_rule_writer *writer, const char *before, uint64_t ns)
{
	char text[SIM_VALUE_SIZE];

	sim_value_write_time(ns, text);
	sim_rule_put(writer, "%s%s", before, text);
}

void sim_rule_put_part(struct sim_rule_writer *writer, const char *before, uint64_t ppb)
{
	char text[SIM_VALUE_SIZE];

	sim_value_write_ppb(ppb, text);
	sim_rule_put(writer, "%s%s", before, text);
}

/* Quotes also keep a name that begins with "=" apart from the comparison before it. */
void sim_rule_put_text(struct sim_rule_writer *writer, const char *before, const char *text)
{
	const char *quote = *text == '=' || *text == '\'' || strpbrk(text, " ()") ? "\"" : "";

	sim_rule_put(writer, "%s%s%s%s", before, quote, text, quote);
}

void sim_arg_write(struct sim_rule_writer *writer, const struct sim_keyword *keyword, const struct sim_rule *rule)
{
	const struct sim_arg *arg = &keyword->arg;

	switch (arg->type) {
	case SIM_ARG_NONE:
		break;
	case SIM_ARG_OWN:
		arg->write(writer, rule);
		break;
	case SIM_ARG_TEXT:
		sim_rule_put_text(writer, "=", (const char *)rule + arg->offset);
		break;
	case SIM_ARG_TIME:
		sim_rule_put_time(writer, "=", get_field(rule, arg));
		break;
	case SIM_ARG_PART:
		sim_rule_put_part(writer, "=", get_field(rule, arg));
		break;
	case SIM_ARG_BYTES:
		sim_rule_put_bytes(writer, "=", get_field(rule, arg));
		break;
	case SIM_ARG_NUMBER:
		sim_rule_put(writer, "=%" PRIu64, get_field(rule, arg));
		break;
	}
}

/* ---- checking ---- */

static bool is_zero(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

bool sim_rule_text_is_valid(const char *text, size_t size, bool has_keyword)
{
	size_t len = strnlen(text, size);

	return len < size && is_zero(text + len, size - len) && sim_value_is_name((struct sim_text){ text, len }) &&
	       has_keyword == (len > 0);
}

bool sim_arg_is_valid(const struct sim_keyword *keyword, const struct sim_rule *rule)
{
	const struct sim_arg *arg = &keyword->arg;
	bool has_keyword = sim_rule_has(rule, keyword);
	uint64_t value;

	switch (arg->type) {
	case SIM_ARG_NONE:
		return true;
	case SIM_ARG_OWN:
		return arg->check(rule, has_keyword);
	case SIM_ARG_TEXT:
		return sim_rule_text_is_valid((const char *)rule + arg->offset, arg->size, has_keyword);
	default:
		value = get_field(rule, arg);
		return has_keyword ? value >= arg->least && value <= arg->most : value == arg->absent;
	}
}
