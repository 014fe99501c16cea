/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that say what. The action's bit is set already. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rule_priv.h"

int sim_read_bare(struct sim_parse *parse, const struct sim_token *token)
{
	(void)parse;
	(void)token;
	return 0;
}

static const char *status_name_at(size_t i)
{
	return sim_status_name((uint32_t)i);
}

/* The API's prefix may stand before it. */
static int find_status(struct sim_text text, uint32_t *ret_status)
{
	static const char prefix[] = "DOCA_ERROR_";
	size_t len = sizeof(prefix) - 1;

	if (text.len > len && memcmp(text.at, prefix, len) == 0)
		text = (struct sim_text){ text.at + len, text.len - len };
	return sim_status_find(text.at, text.len, ret_status);
}

int sim_read_fail(struct sim_parse *parse, const struct sim_token *token)
{
	const char *nearest;
	size_t count = 0;
	uint32_t status;

	if (find_status(token->value, &status) == 0 && status != 0) {
		parse->rule.status = (uint8_t)status;
		return 0;
	}
	while (sim_status_name((uint32_t)count))
		count++;
	nearest = sim_nearest(token->value, status_name_at, count);
	if (nearest && !sim_text_is(token->value, nearest))
		return sim_parse_fail(parse, token->value.at, "fail: unknown status " SIM_QUOTE "; did you mean `%s`?",
				      SIM_QUOTED(token->value), nearest);
	return sim_parse_expected(parse, token, "an error of the API without DOCA_ERROR_ (IO_FAILED, TIME_OUT, ...)");
}

int sim_read_moved(struct sim_parse *parse, const struct sim_token *token)
{
	struct sim_rule *rule = &parse->rule;

	if (sim_value_percent(token->value, &rule->moved) == 0) {
		rule->moved_is_part = 1;
		return 0;
	}
	if (sim_value_bytes(token->value, &rule->moved))
		return sim_parse_expected(parse, token, "bytes (4096, 64k) or a part of the copy (50%)");
	return 0;
}

int sim_read_refuse(struct sim_parse *parse, const struct sim_token *token)
{
	uint32_t status;

	if (token->compare == SIM_COMPARE_NONE)
		return 0;
	if (find_status(token->value, &status) || (status != SIM_STATUS_AGAIN && status != SIM_STATUS_NO_MEMORY))
		return sim_parse_expected(parse, token, "AGAIN or NO_MEMORY");
	parse->rule.refuse_status = (uint8_t)status;
	return 0;
}

int sim_read_flip(struct sim_parse *parse, const struct sim_token *token)
{
	return sim_read_number(parse, token, 1, SIM_MAX_FLIP_BITS, &parse->rule.flip_bits);
}

int sim_read_reorder(struct sim_parse *parse, const struct sim_token *token)
{
	return sim_read_number(parse, token, 1, SIM_MAX_WINDOW, &parse->rule.window);
}

int sim_read_num_vfs(struct sim_parse *parse, const struct sim_token *token)
{
	return sim_read_number(parse, token, 0, SIM_MAX_VFS, &parse->rule.num_vfs);
}

int sim_read_truncate(struct sim_parse *parse, const struct sim_token *token)
{
	uint64_t bytes;

	if (sim_value_bytes(token->value, &bytes) || bytes > UINT32_MAX)
		return sim_parse_expected(parse, token, "bytes that are left of the message (0, 16, 1k)");
	parse->rule.truncate_bytes = (uint32_t)bytes;
	return 0;
}

int sim_read_errors(struct sim_parse *parse, const struct sim_token *token)
{
	uint64_t part;

	if (sim_value_part(token->value, &part) || part == 0)
		return sim_parse_expected(parse, token, "a part of all packets above 0 and up to 1 (1e-4, 0.1%)");
	parse->rule.errors_ppb = (uint32_t)part;
	return 0;
}

/* "gen2x4". */
int sim_read_degrade(struct sim_parse *parse, const struct sim_token *token)
{
	struct sim_text text = token->value;
	uint64_t gen, lanes;

	if (text.len < 6 || memcmp(text.at, "gen", 3) != 0 || text.at[4] != 'x' ||
	    sim_value_number((struct sim_text){ text.at + 3, 1 }, SIM_MAX_GEN, &gen) || gen < 1 ||
	    sim_value_number((struct sim_text){ text.at + 5, text.len - 5 }, SIM_MAX_LANES, &lanes) || lanes < 1 ||
	    (lanes & (lanes - 1)) != 0 || text.at[5] == '0')
		return sim_parse_expected(parse, token, "a generation of 1 to 6 and 1, 2, 4, 8 or 16 lanes (gen2x4)");
	parse->rule.link_gen = (uint8_t)gen;
	parse->rule.link_lanes = (uint8_t)lanes;
	return 0;
}

/* Delays ------------------------------------------------------------------------- */

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

/* What a distribution's two numbers are. */
struct distribution {
	const char *name, *usage;
	enum sim_delay_kind kind;
	int (*read_b)(struct sim_text text, uint64_t *ret_value);
};

static int read_alpha(struct sim_text text, uint64_t *ret_value)
{
	return sim_value_billionths(text, SIM_MAX_ALPHA, ret_value);
}

static const struct distribution distributions[] = {
	{ "uniform", "uniform(LEAST, MOST)", SIM_DELAY_UNIFORM, sim_value_time },
	{ "normal", "normal(MEAN, DEVIATION)", SIM_DELAY_NORMAL, sim_value_time },
	{ "lognormal", "lognormal(MEAN, DEVIATION)", SIM_DELAY_LOGNORMAL, sim_value_time },
	{ "pareto", "pareto(LEAST, ALPHA)", SIM_DELAY_PARETO, read_alpha },
};

#define NUM_DISTRIBUTIONS (sizeof(distributions) / sizeof(distributions[0]))

static int read_two(struct sim_parse *parse, const struct distribution *distribution, struct sim_text args)
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
		return sim_parse_fail(parse, args.at, "delay: expected %s, with units of time (20us)%s, got "
				      SIM_QUOTE, distribution->usage,
				      distribution->kind == SIM_DELAY_PARETO ? " and a number up to 1000" : "",
				      SIM_QUOTED(args));
	parse->rule.delay_kind = distribution->kind;
	parse->rule.delay_a = value_a;
	parse->rule.delay_b = value_b;
	return 0;
}

static int read_file(struct sim_parse *parse, struct sim_text args)
{
	args = trim(args);
	if (args.len >= 2 && args.at[0] == '"' && args.at[args.len - 1] == '"') {
		args.at++;
		args.len -= 2;
	}
	if (!args.len || args.len >= SIM_DELAYS_FILE_SIZE || memchr(args.at, '"', args.len))
		return sim_parse_fail(parse, args.at, "delay: expected trace(FILE), the file's name up to %d bytes, got "
				      SIM_QUOTE, SIM_DELAYS_FILE_SIZE - 1, SIM_QUOTED(args));
	parse->rule.delay_kind = SIM_DELAY_TRACE;
	memcpy(parse->delays_file, args.at, args.len);
	return 0;
}

static const char *distribution_name(size_t i)
{
	return i < NUM_DISTRIBUTIONS ? distributions[i].name : i == NUM_DISTRIBUTIONS ? "trace" : "fixed";
}

static int unknown(const struct sim_parse *parse, const struct sim_token *token, struct sim_text name)
{
	const char *nearest = sim_nearest(name, distribution_name, NUM_DISTRIBUTIONS + 2);

	if (nearest && strcmp(nearest, "fixed") == 0)
		return sim_parse_fail(parse, token->value.at, "delay: a fixed delay is written without parentheses: "
				      "delay=10us");
	if (nearest)
		return sim_parse_fail(parse, token->value.at, "delay: unknown distribution " SIM_QUOTE
				      "; did you mean `%s`?", SIM_QUOTED(name), nearest);
	return sim_parse_expected(parse, token, "a time with its unit (10us), or one of uniform(a,b), normal(mean,sd), "
				  "lognormal(mean,sd), pareto(min,alpha), trace(FILE)");
}

int sim_read_delay(struct sim_parse *parse, const struct sim_token *token)
{
	struct sim_text value = token->value, args;
	const char *paren = memchr(value.at, '(', value.len);
	struct sim_text name = { value.at, paren ? (size_t)(paren - value.at) : 0 };

	if (!paren && sim_value_time(value, &parse->rule.delay_a) == 0) {
		parse->rule.delay_kind = SIM_DELAY_FIXED;
		return 0;
	}
	if (!paren || value.at[value.len - 1] != ')')
		return unknown(parse, token, paren ? name : value);
	args = (struct sim_text){ paren + 1, value.len - name.len - 2 };
	for (size_t i = 0; i < NUM_DISTRIBUTIONS; i++)
		if (sim_text_is(name, distributions[i].name))
			return read_two(parse, &distributions[i], args);
	if (sim_text_is(name, "trace"))
		return read_file(parse, args);
	return unknown(parse, token, name);
}
