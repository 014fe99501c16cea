/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that say where and when. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pcie_model/pci_addr.h"
#include "rule_priv.h"

int sim_read_number(struct sim_parse *parse, const struct sim_token *token, uint32_t min, uint32_t max,
		    uint32_t *ret_value)
{
	char what[64];
	uint64_t value;

	if (sim_value_number(token->value, max, &value) == 0 && value >= min) {
		*ret_value = (uint32_t)value;
		return 0;
	}
	if (max == UINT32_MAX || max == INT32_MAX)
		snprintf(what, sizeof(what), "a number from %u", min);
	else
		snprintf(what, sizeof(what), "a number from %u to %u", min, max);
	return sim_parse_expected(parse, token, what);
}

/* Where ------------------------------------------------------------------------ */

/* A name or pattern into @ret_text, which has @size bytes. */
static int read_name(struct sim_parse *parse, const struct sim_token *token, enum sim_where where, char *ret_text,
		     size_t size)
{
	char what[64];

	if (token->value.len >= size || memchr(token->value.at, '"', token->value.len)) {
		snprintf(what, sizeof(what), "a name of up to %zu bytes (* and ? may stand for more)", size - 1);
		return sim_parse_expected(parse, token, what);
	}
	parse->rule.where |= where;
	memcpy(ret_text, token->value.at, token->value.len);
	return 0;
}

int sim_read_side(struct sim_parse *parse, const struct sim_token *token)
{
	return read_name(parse, token, SIM_WHERE_SIDE, parse->rule.side, sizeof(parse->rule.side));
}

int sim_read_program(struct sim_parse *parse, const struct sim_token *token)
{
	return read_name(parse, token, SIM_WHERE_PROGRAM, parse->rule.program, sizeof(parse->rule.program));
}

int sim_read_pid(struct sim_parse *parse, const struct sim_token *token)
{
	uint32_t pid = 0;

	if (sim_read_number(parse, token, 1, INT32_MAX, &pid))
		return -EINVAL;
	parse->rule.where |= SIM_WHERE_PID;
	parse->rule.pid = (int32_t)pid;
	return 0;
}

/* An address is kept in one spelling. */
int sim_read_device(struct sim_parse *parse, const struct sim_token *token)
{
	struct sim_rule *rule = &parse->rule;
	struct pcie_addr addr;

	if (read_name(parse, token, SIM_WHERE_DEVICE, rule->device, sizeof(rule->device)))
		return -EINVAL;
	if (pcie_addr_parse(rule->device, &addr) == 0) {
		memset(rule->device, 0, sizeof(rule->device));
		pcie_addr_format(&addr, rule->device);
	}
	return 0;
}

typedef int read_bound(struct sim_text text, uint64_t *ret_value);

/* "a..b" or "a". */
static int read_range(struct sim_text text, read_bound *read, uint64_t *ret_min, uint64_t *ret_max)
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

/* What one comparison leaves of all sizes. */
static int read_size_bounds(const struct sim_token *token, uint64_t *ret_min, uint64_t *ret_max)
{
	uint64_t bound;

	*ret_min = 0;
	*ret_max = UINT64_MAX;
	if (token->compare == SIM_COMPARE_IS)
		return read_range(token->value, sim_value_bytes, ret_min, ret_max);
	if (sim_value_bytes(token->value, &bound))
		return -EINVAL;
	switch (token->compare) {
	case SIM_COMPARE_ABOVE:
		*ret_min = bound + 1;
		return bound == UINT64_MAX ? -EINVAL : 0;
	case SIM_COMPARE_LEAST:
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

/* Several conditions on the size hold together. */
int sim_read_size(struct sim_parse *parse, const struct sim_token *token)
{
	struct sim_rule *rule = &parse->rule;
	uint64_t min, max;

	if (read_size_bounds(token, &min, &max))
		return sim_parse_expected(parse, token, "bytes (4096, 64k, 1M) or a range of them (1k..64k)");
	rule->where |= SIM_WHERE_SIZE;
	rule->size_min = min > rule->size_min ? min : rule->size_min;
	rule->size_max = max < rule->size_max ? max : rule->size_max;
	return 0;
}

int sim_read_addr(struct sim_parse *parse, const struct sim_token *token)
{
	struct sim_rule *rule = &parse->rule;

	if (read_range(token->value, sim_value_addr, &rule->addr_min, &rule->addr_max))
		return sim_parse_expected(parse, token, "a range of addresses (0x7f0000000000..0x7f00000fffff)");
	rule->where |= SIM_WHERE_ADDR;
	return 0;
}

/* When ------------------------------------------------------------------------- */

static int read_count(struct sim_parse *parse, const struct sim_token *token, enum sim_when when, uint32_t *ret_count)
{
	parse->rule.when |= when;
	return sim_read_number(parse, token, 1, UINT32_MAX, ret_count);
}

int sim_read_nth(struct sim_parse *parse, const struct sim_token *token)
{
	return read_count(parse, token, SIM_WHEN_NTH, &parse->rule.nth);
}

int sim_read_every(struct sim_parse *parse, const struct sim_token *token)
{
	return read_count(parse, token, SIM_WHEN_EVERY, &parse->rule.every);
}

int sim_read_times(struct sim_parse *parse, const struct sim_token *token)
{
	return read_count(parse, token, SIM_WHEN_TIMES, &parse->rule.times);
}

int sim_read_skip(struct sim_parse *parse, const struct sim_token *token)
{
	return read_count(parse, token, SIM_WHEN_SKIP, &parse->rule.skip);
}

int sim_read_chance(struct sim_parse *parse, const struct sim_token *token)
{
	uint64_t chance;

	if (sim_value_part(token->value, &chance) || chance == 0)
		return sim_parse_expected(parse, token, "a probability above 0 and up to 1 (0.01, 1e-6, 5%)");
	parse->rule.when |= SIM_WHEN_CHANCE;
	parse->rule.chance_ppb = (uint32_t)chance;
	return 0;
}

int sim_read_seed(struct sim_parse *parse, const struct sim_token *token)
{
	if (sim_value_number(token->value, UINT64_MAX, &parse->rule.seed))
		return sim_parse_expected(parse, token, "a number from 0");
	parse->rule.when |= SIM_WHEN_SEED;
	return 0;
}

static int read_time(struct sim_parse *parse, const struct sim_token *token, uint64_t *ret_ns)
{
	if (sim_value_time(token->value, ret_ns))
		return sim_parse_expected(parse, token, "a time of whole ns, up to 1000000000s, with its unit ns, us, ms or s (1.5ms)");
	return 0;
}

int sim_read_from(struct sim_parse *parse, const struct sim_token *token)
{
	parse->rule.when |= SIM_WHEN_FROM;
	return read_time(parse, token, &parse->rule.from_ns);
}

int sim_read_until(struct sim_parse *parse, const struct sim_token *token)
{
	parse->rule.when |= SIM_WHEN_UNTIL;
	return read_time(parse, token, &parse->rule.until_ns);
}

/* How long, for the actions that last. */
int sim_read_duration(struct sim_parse *parse, const struct sim_token *token)
{
	if (parse->rule.duration_ns)
		return sim_parse_fail(parse, token->name.at, "%.*s: a rule has one of stall, down and pause",
				      (int)token->name.len, token->name.at);
	if (read_time(parse, token, &parse->rule.duration_ns))
		return -EINVAL;
	if (!parse->rule.duration_ns)
		return sim_parse_expected(parse, token, "a time above 0");
	return 0;
}
