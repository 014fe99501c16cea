/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions and limits of a rule whose values have a form of their own: where and when it applies. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "pcie_model/pci_addr.h"
#include "rule_priv.h"

/* A PCI address is kept in its canonical form. */
int sim_read_device(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_rule *rule = &parser->rule;
	struct pcie_addr addr;

	if (sim_arg_read_text(parser, token, rule->device, sizeof(rule->device)))
		return -EINVAL;
	if (pcie_addr_parse(rule->device, &addr) == 0) {
		memset(rule->device, 0, sizeof(rule->device));
		pcie_addr_format(&addr, rule->device);
	}
	return 0;
}

void sim_write_device(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	sim_rule_put_text(writer, "=", rule->device);
}

bool sim_check_device(const struct sim_rule *rule, bool has_keyword)
{
	char canonical[PCIE_ADDR_TEXT_SIZE];
	struct pcie_addr addr;

	if (!sim_rule_text_is_valid(rule->device, sizeof(rule->device), has_keyword))
		return false;
	if (pcie_addr_parse(rule->device, &addr) < 0)
		return true;
	pcie_addr_format(&addr, canonical);
	return strcmp(rule->device, canonical) == 0;
}

/* ---- size and address ---- */

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
	rule->size_min = max_u64(rule->size_min, min);
	rule->size_max = min_u64(rule->size_max, max);
	return 0;
}

void sim_write_size(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	bool is_single = rule->size_min == rule->size_max;

	if (!is_single && rule->size_min == 0 && rule->size_max != UINT64_MAX) {
		sim_rule_put_bytes(writer, "<=", rule->size_max);
		return;
	}
	sim_rule_put_bytes(writer, !is_single && rule->size_max == UINT64_MAX ? ">=" : "=", rule->size_min);
	if (!is_single && rule->size_max != UINT64_MAX)
		sim_rule_put_bytes(writer, "..", rule->size_max);
}

bool sim_check_size(const struct sim_rule *rule, bool has_keyword)
{
	return has_keyword || (!rule->size_min && rule->size_max == UINT64_MAX);
}

int sim_read_addr(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_rule *rule = &parser->rule;

	if (read_range(token->value, sim_value_addr, &rule->addr_min, &rule->addr_max))
		return sim_rule_parser_expected(parser, token, "a range of addresses (0x7f0000000000..0x7f00000fffff)");
	return 0;
}

void sim_write_addr(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	sim_rule_put(writer, "=0x%" PRIx64 "..0x%" PRIx64, rule->addr_min, rule->addr_max);
}

bool sim_check_addr(const struct sim_rule *rule, bool has_keyword)
{
	return has_keyword || (!rule->addr_min && rule->addr_max == UINT64_MAX);
}

/* ---- after ---- */

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
	uint64_t nth;

	if (sim_rule_split_token(parser, word, &token))
		return -EINVAL;
	if (!sim_text_equals(token.name, "nth") || token.compare != SIM_COMPARE_EQUAL)
		return sim_rule_parser_fail(
			parser, word.at,
			"after: takes operations and perhaps nth=N, such as after='dma.memcpy nth=10'");
	if (sim_arg_read_number(parser, &token, 1, UINT32_MAX, &nth))
		return -EINVAL;
	parser->rule.after_nth = (uint32_t)nth;
	return 0;
}

/* An event that begins at an operation: "dma.memcpy nth=10". */
int sim_read_after(struct sim_rule_parser *parser, const struct sim_token *token)
{
	struct sim_text rest = token->value, ops = take_word(&rest), count = take_word(&rest), more = take_word(&rest);
	sim_bits own_ops = parser->rule.ops;
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
	parser->rule.after_nth = 1;
	return count.len ? read_after_count(parser, count) : 0;
}

void sim_write_after(struct sim_rule_writer *writer, const struct sim_rule *rule)
{
	sim_rule_put(writer, "='");
	sim_rule_put_ops(writer, rule->after_ops);
	sim_rule_put(writer, " nth=%" PRIu32 "'", rule->after_nth);
}

bool sim_check_after(const struct sim_rule *rule, bool has_keyword)
{
	return has_keyword == (rule->after_ops != 0) && has_keyword == (rule->after_nth != 0) &&
	       !(rule->after_ops & ~(SIM_OPS_ALL & ~SIM_OPS_EVENTS));
}
