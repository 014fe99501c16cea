/* SPDX-License-Identifier: BSD-3-Clause */
/* The conditions of a rule: where and when it applies. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "pcie_model/pci_addr.h"
#include "rule_priv.h"

/* ---- where ---- */

/* Copy a name or pattern to @ret_text, which has @size bytes. */
static int read_name(struct sim_rule_parser *parser, const struct sim_token *token, enum sim_where where,
		     char *ret_text, size_t size)
{
	char what[64];

	if (memchr(token->value.at, '\t', token->value.len))
		return sim_rule_parser_expected(parser, token, "a name without a tab; ? matches one");
	if (token->value.len >= size || !sim_value_is_name(token->value)) {
		snprintf(what, sizeof(what), "a name of up to %zu bytes (* and ? are wildcards)", size - 1);
		return sim_rule_parser_expected(parser, token, what);
	}
	parser->rule.where |= where;
	memcpy(ret_text, token->value.at, token->value.len);
	return 0;
}

int sim_read_side(struct sim_rule_parser *parser, const struct sim_token *token)
{
	return read_name(parser, token, SIM_WHERE_SIDE, parser->rule.side, sizeof(parser->rule.side));
}

int sim_read_program(struct sim_rule_parser *parser, const struct sim_token *token)
{
	return read_name(parser, token, SIM_WHERE_PROGRAM, parser->rule.program, sizeof(parser->rule.program));
}

int sim_read_pid(struct sim_rule_parser *parser, const struct sim_token *token)
{
	uint32_t pid = 0;

	if (sim_read_number(parser, token, 1, INT32_MAX, &pid))
		return -EINVAL;
	parser->rule.where |= SIM_WHERE_PID;
	parser->rule.pid = (int32_t)pid;
	return 0;
}

/* A PCI address is kept in its canonical form. */
int sim_read_device(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_rule *rule = &parser->rule;
	struct pcie_addr addr;

	if (read_name(parser, token, SIM_WHERE_DEVICE, rule->device, sizeof(rule->device)))
		return -EINVAL;
	if (pcie_addr_parse(rule->device, &addr) == 0) {
		memset(rule->device, 0, sizeof(rule->device));
		pcie_addr_format(&addr, rule->device);
	}
	return 0;
}

typedef int bound_reader(struct sim_text text, uint64_t *ret_value);

/* Read "a..b" or "a". */
static int read_range(struct sim_text text, bound_reader *read, uint64_t *ret_min, uint64_t *ret_max)
{
	const char *dots = memmem(text.at, text.len, "..", 2);
	struct sim_text first = text, last = text;

	if (dots) {
		first.len = (size_t)(dots - text.at);
		last.at = dots + 2;
		last.len = text.len - first.len - 2;
	}
	return read(first, ret_min) || read(last, ret_max) ? -EINVAL : 0;
}

/* Read the bounds that one comparison sets. */
static int read_size_bounds(const struct sim_token *token, uint64_t *ret_min, uint64_t *ret_max)
{
	uint64_t bound;

	*ret_min = 0;
	*ret_max = UINT64_MAX;
	if (token->compare == SIM_COMPARE_EQUAL)
		return read_range(token->value, sim_value_bytes, ret_min, ret_max);
	if (sim_value_bytes(token->value, &bound))
		return -EINVAL;
	switch (token->compare) {
	case SIM_COMPARE_ABOVE:
		*ret_min = bound + 1;
		return bound == UINT64_MAX ? -EINVAL : 0;
	case SIM_COMPARE_AT_LEAST:
		*ret_min = bound;
		return 0;
	case SIM_COMPARE_BELOW:
		*ret_max = bound - 1;
		return bound == 0 ? -EINVAL : 0;
	default:
		*ret_max = bound;
		return 0;
	}
}

/* Several conditions on the size intersect. */
int sim_read_size(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_rule *rule = &parser->rule;
	uint64_t min, max;

	if (read_size_bounds(token, &min, &max))
		return sim_rule_parser_expected(parser, token, "bytes (4096, 64k, 1M) or a range of them (1k..64k)");
	rule->where |= SIM_WHERE_SIZE;
	rule->size_min = max_u64(rule->size_min, min);
	rule->size_max = min_u64(rule->size_max, max);
	return 0;
}

int sim_read_addr(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_rule *rule = &parser->rule;

	if (read_range(token->value, sim_value_addr, &rule->addr_min, &rule->addr_max))
		return sim_rule_parser_expected(parser, token, "a range of addresses (0x7f0000000000..0x7f00000fffff)");
	rule->where |= SIM_WHERE_ADDR;
	return 0;
}

/* ---- when ---- */

static int read_count(struct sim_rule_parser *parser, const struct sim_token *token, enum sim_when when,
		      uint32_t *ret_count)
{
	parser->rule.when |= when;
	return sim_read_number(parser, token, 1, UINT32_MAX, ret_count);
}

int sim_read_nth(struct sim_rule_parser *parser, const struct sim_token *token)
{
	return read_count(parser, token, SIM_WHEN_NTH, &parser->rule.nth);
}

int sim_read_every(struct sim_rule_parser *parser, const struct sim_token *token)
{
	return read_count(parser, token, SIM_WHEN_EVERY, &parser->rule.every);
}

int sim_read_times(struct sim_rule_parser *parser, const struct sim_token *token)
{
	return read_count(parser, token, SIM_WHEN_TIMES, &parser->rule.times);
}

int sim_read_skip(struct sim_rule_parser *parser, const struct sim_token *token)
{
	return read_count(parser, token, SIM_WHEN_SKIP, &parser->rule.skip);
}

int sim_read_chance(struct sim_rule_parser *parser, const struct sim_token *token)
{
	uint64_t chance;

	if (sim_value_fraction(token->value, &chance) || chance == 0)
		return sim_rule_parser_expected(parser, token, "a probability above 0 and up to 1 (0.01, 1e-6, 5%)");
	parser->rule.when |= SIM_WHEN_CHANCE;
	parser->rule.chance_ppb = (uint32_t)chance;
	return 0;
}

int sim_read_seed(struct sim_rule_parser *parser, const struct sim_token *token)
{
	if (sim_value_number(token->value, UINT64_MAX, &parser->rule.seed))
		return sim_rule_parser_expected(parser, token, "a number from 0");
	parser->rule.when |= SIM_WHEN_SEED;
	return 0;
}

static int read_time(struct sim_rule_parser *parser, const struct sim_token *token, uint64_t *ret_ns)
{
	if (sim_value_time(token->value, ret_ns))
		return sim_rule_parser_expected(
			parser, token, "a time of whole ns, up to 1000000000s, with its unit ns, us, ms or s (1.5ms)");
	return 0;
}

int sim_read_from(struct sim_rule_parser *parser, const struct sim_token *token)
{
	parser->rule.when |= SIM_WHEN_FROM;
	return read_time(parser, token, &parser->rule.from_ns);
}

int sim_read_until(struct sim_rule_parser *parser, const struct sim_token *token)
{
	parser->rule.when |= SIM_WHEN_UNTIL;
	return read_time(parser, token, &parser->rule.until_ns);
}

/* Take the first word off @rest; it is empty if there is none. */
static struct sim_text take_word(struct sim_text *rest)
{
	struct sim_text word;

	while (rest->len && *rest->at == ' ') {
		rest->at++;
		rest->len--;
	}
	word = (struct sim_text){ rest->at, 0 };
	while (word.len < rest->len && word.at[word.len] != ' ')
		word.len++;
	rest->at += word.len;
	rest->len -= word.len;
	return word;
}

static int read_after_count(struct sim_rule_parser *parser, struct sim_text word)
{
	struct sim_token token;

	if (sim_rule_split_token(parser, word, &token))
		return -EINVAL;
	if (!sim_text_equals(token.name, "nth") || token.compare != SIM_COMPARE_EQUAL)
		return sim_rule_parser_fail(
			parser, word.at,
			"after: takes operations and perhaps nth=N, such as after='dma.memcpy nth=10'");
	return sim_read_number(parser, &token, 1, UINT32_MAX, &parser->rule.nth);
}

/* An event that begins at an operation: "dma.memcpy nth=10". */
int sim_read_after(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_text rest = token->value, ops = take_word(&rest), count = take_word(&rest), more = take_word(&rest);
	uint64_t own_ops = parser->rule.ops;
	int rc;

	if (!ops.len || more.len)
		return sim_rule_parser_expected(parser, token, "operations and perhaps nth=N");
	parser->rule.ops = 0;
	rc = sim_rule_parse_ops(parser, ops);
	parser->rule.after_ops = parser->rule.ops & ~SIM_OPS_EVENTS;
	parser->rule.ops = own_ops;
	if (rc)
		return rc;
	if (!parser->rule.after_ops)
		return sim_rule_parser_fail(parser, ops.at, "after: an event follows operations, such as dma.memcpy");
	parser->rule.when |= SIM_WHEN_AFTER;
	parser->rule.nth = 1;
	return count.len ? read_after_count(parser, count) : 0;
}

/* The duration of stall, down and pause. */
int sim_read_duration(struct sim_rule_parser *parser, const struct sim_token *token)
{
	if (parser->rule.duration_ns)
		return sim_rule_parser_fail(parser, token->name.at, "%.*s: a rule has one of stall, down and pause",
					    (int)token->name.len, token->name.at);
	if (read_time(parser, token, &parser->rule.duration_ns))
		return -EINVAL;
	if (!parser->rule.duration_ns)
		return sim_rule_parser_expected(parser, token, "a time above 0");
	return 0;
}
