/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions of a rule whose values have a form of their own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pcie_model/did_you_mean.h"
#include "rule_priv.h"

static const char *status_name_at(const void *arg, size_t i)
{
	(void)arg;
	return sim_status_name((uint32_t)i);
}

/* Find a status by name, with or without the API's prefix. */
static int find_status(struct sim_text text, uint32_t *ret_status)
{
	static const char prefix[] = "DOCA_ERROR_";
	size_t len = sizeof(prefix) - 1;

	if (text.len > len && memcmp(text.at, prefix, len) == 0)
		text = (struct sim_text){ text.at + len, text.len - len };
	return sim_status_find(text.at, text.len, ret_status);
}

int sim_read_fail(struct sim_rule_parser *parser, const struct sim_token *token)
{
	const char *suggestion;
	size_t count = 0;
	uint32_t status;

	if (find_status(token->value, &status) == 0 && status != 0) {
		parser->rule.status = (uint8_t)status;
		return 0;
	}
	while (sim_status_name((uint32_t)count))
		count++;
	suggestion = pcie_did_you_mean(token->value.at, token->value.len, status_name_at, NULL, count);
	if (suggestion && !sim_text_equals(token->value, suggestion))
		return sim_rule_parser_fail(parser, token->value.at,
					    "fail: unknown status " SIM_TEXT_FMT "; did you mean `%s`?",
					    SIM_TEXT_ARG(token->value), suggestion);
	return sim_rule_parser_expected(parser, token,
					"an error of the API without DOCA_ERROR_ (IO_FAILED, TIME_OUT, ...)");
}

void sim_write_fail(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	sim_rule_put(writer, "=%s", sim_status_name(rule->status));
	if (rule->moved_is_fraction) {
		sim_rule_put_part(writer, " moved=", rule->moved * 100);
		sim_rule_put(writer, "%%");
	} else if (sim_rule_moves(rule)) {
		sim_rule_put_bytes(writer, " moved=", rule->moved);
	}
}

bool sim_check_fail(const struct sim_rule *rule, bool has_keyword)
{
	return has_keyword == (rule->status != 0) && sim_status_name(rule->status);
}

int sim_read_moved(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_rule *rule = &parser->rule;

	if (sim_value_percent(token->value, &rule->moved) == 0) {
		rule->moved_is_fraction = 1;
		return 0;
	}
	if (sim_value_bytes(token->value, &rule->moved))
		return sim_rule_parser_expected(parser, token, "bytes (4096, 64k) or a part of the copy (50%)");
	return 0;
}

/* It belongs to fail, which writes it. */
void sim_write_moved(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	(void)writer, (void)rule;
}

bool sim_check_moved(const struct sim_rule *rule, bool has_keyword)
{
	(void)has_keyword;
	return rule->moved_is_fraction <= 1 && (!rule->moved_is_fraction || rule->moved <= SIM_PPB);
}

int sim_read_refuse(struct sim_rule_parser *parser, const struct sim_token *token)
{
	uint32_t status;

	if (token->compare == SIM_COMPARE_NONE)
		return 0;
	if (find_status(token->value, &status) || (status != SIM_STATUS_AGAIN && status != SIM_STATUS_NO_MEMORY))
		return sim_rule_parser_expected(parser, token, "AGAIN or NO_MEMORY");
	parser->rule.refuse_status = (uint8_t)status;
	return 0;
}

void sim_write_refuse(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	if (rule->refuse_status)
		sim_rule_put(writer, "=%s", sim_status_name(rule->refuse_status));
}

bool sim_check_refuse(const struct sim_rule *rule, bool has_keyword)
{
	return !rule->refuse_status || (has_keyword && (rule->refuse_status == SIM_STATUS_AGAIN ||
							rule->refuse_status == SIM_STATUS_NO_MEMORY));
}

/* The duration of stall, down and pause. */
int sim_read_duration(struct sim_rule_parser *parser, const struct sim_token *token)
{
	if (parser->rule.duration_ns)
		return sim_rule_parser_fail(parser, token->name.at, "%.*s: a rule has one of stall, down and pause",
					    (int)token->name.len, token->name.at);
	if (sim_arg_read_time(parser, token, &parser->rule.duration_ns))
		return -EINVAL;
	if (!parser->rule.duration_ns)
		return sim_rule_parser_expected(parser, token, "a time above 0");
	return 0;
}

void sim_write_duration(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	sim_rule_put_time(writer, "=", rule->duration_ns);
}

bool sim_check_duration(const struct sim_rule *rule, bool has_keyword)
{
	const sim_bits lasting = SIM_ACT_BIT(SIM_ACT_STALL) | SIM_ACT_BIT(SIM_ACT_DOWN) | SIM_ACT_BIT(SIM_ACT_PAUSE);

	return (has_keyword || !(rule->actions & lasting) ? has_keyword == (rule->duration_ns != 0) : true) &&
	       rule->duration_ns <= SIM_RULE_MAX_NS;
}

/* Read "gen2x4". */
int sim_read_degrade(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_text text = token->value;
	uint64_t gen, lanes;

	if (text.len < 6 || memcmp(text.at, "gen", 3) != 0 || text.at[4] != 'x' ||
	    sim_value_number((struct sim_text){ text.at + 3, 1 }, SIM_MAX_GEN, &gen) || gen < 1 ||
	    sim_value_number((struct sim_text){ text.at + 5, text.len - 5 }, SIM_MAX_LANES, &lanes) || lanes < 1 ||
	    (lanes & (lanes - 1)) != 0 || text.at[5] == '0')
		return sim_rule_parser_expected(parser, token,
						"a generation of 1 to 6 and 1, 2, 4, 8 or 16 lanes (gen2x4)");
	parser->rule.link_gen = (uint8_t)gen;
	parser->rule.link_lanes = (uint8_t)lanes;
	return 0;
}

void sim_write_degrade(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	sim_rule_put(writer, "=gen%ux%u", rule->link_gen, rule->link_lanes);
}

bool sim_check_degrade(const struct sim_rule *rule, bool has_keyword)
{
	return has_keyword == (rule->link_gen != 0) && rule->link_gen <= SIM_MAX_GEN &&
	       has_keyword == (rule->link_lanes != 0) && rule->link_lanes <= SIM_MAX_LANES &&
	       (rule->link_lanes & (rule->link_lanes - 1)) == 0;
}

/* ---- delays ---- */

static struct sim_text trim(struct sim_text text)
{
	while (text.len && (text.at[0] == ' ' || text.at[0] == '\t')) {
		text.at++;
		text.len--;
	}
	while (text.len && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* A distribution of delays with two parameters; the first one is a time. */
struct distribution {
	const char *name, *usage;
	enum sim_delay_kind kind;
	int (*read_b)(struct sim_text text, uint64_t *ret_value);
};

static int read_alpha(struct sim_text text, uint64_t *ret_value)
{
	return sim_value_ppb(text, SIM_MAX_ALPHA, ret_value);
}

static const struct distribution distributions[] = {
	{ "uniform", "uniform(LEAST, MOST)", SIM_DELAY_UNIFORM, sim_value_time },
	{ "normal", "normal(MEAN, DEVIATION)", SIM_DELAY_NORMAL, sim_value_time },
	{ "lognormal", "lognormal(MEAN, DEVIATION)", SIM_DELAY_LOGNORMAL, sim_value_time },
	{ "pareto", "pareto(LEAST, ALPHA)", SIM_DELAY_PARETO, read_alpha },
};

#define NUM_DISTRIBUTIONS (sizeof(distributions) / sizeof(distributions[0]))

static int read_distribution_args(struct sim_rule_parser *parser, const struct distribution *distribution,
				  struct sim_text args)
{
	const char *comma = memchr(args.at, ',', args.len);
	struct sim_text a = args, b = args;
	uint64_t value_a, value_b;

	if (comma) {
		a.len = (size_t)(comma - args.at);
		b.at = comma + 1;
		b.len = args.len - a.len - 1;
	}
	if (!comma || sim_value_time(trim(a), &value_a) || distribution->read_b(trim(b), &value_b))
		return sim_rule_parser_fail(
			parser, args.at, "delay: expected %s, with units of time (20us)%s, got " SIM_TEXT_FMT,
			distribution->usage, distribution->kind == SIM_DELAY_PARETO ? " and a number up to 1000" : "",
			SIM_TEXT_ARG(args));
	parser->rule.delay_kind = distribution->kind;
	parser->rule.delay_a = value_a;
	parser->rule.delay_b = value_b;
	return 0;
}

static int read_delays_file_name(struct sim_rule_parser *parser, struct sim_text args)
{
	args = trim(args);
	if (args.len >= 2 && args.at[0] == '"' && args.at[args.len - 1] == '"') {
		args.at++;
		args.len -= 2;
	}
	if (memchr(args.at, '\t', args.len))
		return sim_rule_parser_fail(
			parser, args.at,
			"delay: expected trace(FILE), the file's name without a tab, got " SIM_TEXT_FMT,
			SIM_TEXT_ARG(args));
	if (!args.len || args.len >= SIM_DELAYS_FILE_SIZE || !sim_value_is_name(args))
		return sim_rule_parser_fail(
			parser, args.at,
			"delay: expected trace(FILE), the file's name up to %d bytes, got " SIM_TEXT_FMT,
			SIM_DELAYS_FILE_SIZE - 1, SIM_TEXT_ARG(args));
	parser->rule.delay_kind = SIM_DELAY_TRACE;
	memcpy(parser->delays_file, args.at, args.len);
	return 0;
}

static const char *distribution_name(const void *arg, size_t i)
{
	(void)arg;
	return i < NUM_DISTRIBUTIONS ? distributions[i].name : i == NUM_DISTRIBUTIONS ? "trace" : "fixed";
}

static int fail_unknown_distribution(const struct sim_rule_parser *parser, const struct sim_token *token,
				     struct sim_text name)
{
	const char *suggestion = pcie_did_you_mean(name.at, name.len, distribution_name, NULL, NUM_DISTRIBUTIONS + 2);

	if (suggestion && strcmp(suggestion, "fixed") == 0)
		return sim_rule_parser_fail(parser, token->value.at,
					    "delay: a fixed delay is written without parentheses: "
					    "delay=10us");
	if (suggestion)
		return sim_rule_parser_fail(parser, token->value.at,
					    "delay: unknown distribution " SIM_TEXT_FMT "; did you mean `%s`?",
					    SIM_TEXT_ARG(name), suggestion);
	return sim_rule_parser_expected(parser, token,
					"a time with its unit (10us), or one of uniform(a,b), normal(mean,sd), "
					"lognormal(mean,sd), pareto(min,alpha), trace(FILE)");
}

int sim_read_delay(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_text value = token->value, args;
	const char *paren = memchr(value.at, '(', value.len);
	struct sim_text name = { value.at, paren ? (size_t)(paren - value.at) : 0 };

	if (!paren && sim_value_time(value, &parser->rule.delay_a) == 0) {
		parser->rule.delay_kind = SIM_DELAY_FIXED;
		return 0;
	}
	if (!paren || value.at[value.len - 1] != ')')
		return fail_unknown_distribution(parser, token, paren ? name : value);
	args = (struct sim_text){ paren + 1, value.len - name.len - 2 };
	for (size_t i = 0; i < NUM_DISTRIBUTIONS; i++)
		if (sim_text_equals(name, distributions[i].name))
			return read_distribution_args(parser, &distributions[i], args);
	if (sim_text_equals(name, "trace"))
		return read_delays_file_name(parser, args);
	return fail_unknown_distribution(parser, token, name);
}

void sim_write_delay(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	const char *file = writer->delays_file, *quote = file && strpbrk(file, " ()") ? "\"" : "";
	size_t i = 0;

	if (rule->delay_kind == SIM_DELAY_TRACE) {
		sim_rule_put(writer, "=trace(%s%s%s)", quote, file ? file : "?", quote);
		return;
	}
	if (rule->delay_kind == SIM_DELAY_FIXED) {
		sim_rule_put_time(writer, "=", rule->delay_a);
		return;
	}
	while (distributions[i].kind != rule->delay_kind)
		i++;
	sim_rule_put(writer, "=%s", distributions[i].name);
	sim_rule_put_time(writer, "(", rule->delay_a);
	if (rule->delay_kind == SIM_DELAY_PARETO)
		sim_rule_put_part(writer, ",", rule->delay_b);
	else
		sim_rule_put_time(writer, ",", rule->delay_b);
	sim_rule_put(writer, ")");
}

bool sim_check_delay(const struct sim_rule *rule, bool has_keyword)
{
	bool has_b = rule->delay_kind >= SIM_DELAY_UNIFORM && rule->delay_kind <= SIM_DELAY_PARETO;

	return rule->delay_kind <= SIM_DELAY_TRACE && has_keyword == (rule->delay_kind != SIM_DELAY_NONE) &&
	       rule->delay_a <= (has_keyword ? SIM_RULE_MAX_NS : 0) && rule->delay_b <= (has_b ? SIM_RULE_MAX_NS : 0) &&
	       (rule->delay_kind != SIM_DELAY_PARETO || rule->delay_b <= SIM_MAX_ALPHA * (uint64_t)SIM_PPB);
}
