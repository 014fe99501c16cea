/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a rule, and patterns with * and ?. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pcie_model/did_you_mean.h"
#include "rule_priv.h"

/* On a mismatch, backtrack to the last * and let it match one more character. */
static bool glob_matches(struct sim_text pattern, const char *text)
{
	const char *star_text = NULL;
	size_t i = 0, star = 0;

	while (*text) {
		if (i < pattern.len && pattern.at[i] == '*') {
			star = ++i;
			star_text = text;
		} else if (i < pattern.len && (pattern.at[i] == '?' || pattern.at[i] == *text)) {
			i++;
			text++;
		} else if (star_text) {
			i = star;
			text = ++star_text;
		} else {
			return false;
		}
	}
	while (i < pattern.len && pattern.at[i] == '*')
		i++;
	return i == pattern.len;
}

bool sim_glob(const char *pattern, const char *text)
{
	return glob_matches((struct sim_text){ pattern, strlen(pattern) }, text);
}

const char *sim_op_name_at(size_t i)
{
	return sim_op_name((enum sim_op)i);
}

const char *sim_act_name_at(size_t i)
{
	return sim_act_name((enum sim_act)i);
}

void sim_write_names(sim_bits bits, const char *(*name)(size_t i), char *ret_text, size_t size)
{
	size_t used = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; bits; i++, bits >>= 1) {
		if (!(bits & 1) || used >= size)
			continue;
		used += (size_t)snprintf(ret_text + used, size - used, "%s%s", used ? ", " : "", name(i));
	}
}

static const char *op_name(const void *arg, size_t i)
{
	(void)arg;
	return sim_op_name_at(i);
}

static int fail_unknown_op(const struct sim_rule_parser *parser, struct sim_text name)
{
	const char *suggestion = pcie_did_you_mean(name.at, name.len, op_name, NULL, SIM_OP_COUNT);

	if (memchr(name.at, '=', name.len))
		return sim_rule_parser_fail(
			parser, name.at, "a rule begins with its operation, such as dma.memcpy, not with " SIM_TEXT_FMT,
			SIM_TEXT_ARG(name));
	if (suggestion)
		return sim_rule_parser_fail(parser, name.at, "unknown operation " SIM_TEXT_FMT "; did you mean `%s`?",
					    SIM_TEXT_ARG(name), suggestion);
	return sim_rule_parser_fail(parser, name.at,
				    "unknown operation " SIM_TEXT_FMT "; bfsim fault --help lists them",
				    SIM_TEXT_ARG(name));
}

static sim_bits ops_matching(struct sim_text pattern)
{
	sim_bits ops = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (glob_matches(pattern, sim_op_name(op)))
			ops |= SIM_OP_BIT(op);
	return ops;
}

int sim_rule_parse_ops(struct sim_rule_parser *parser, struct sim_text text)
{
	const char *end = text.at + text.len;

	for (;;) {
		const char *comma = memchr(text.at, ',', (size_t)(end - text.at));
		struct sim_text name = { text.at, (size_t)((comma ? comma : end) - text.at) };
		sim_bits ops = ops_matching(name);

		if (!name.len)
			return sim_rule_parser_fail(parser, name.at, "an operation is missing beside the comma");
		if (!ops)
			return fail_unknown_op(parser, name);
		parser->rule.ops |= ops;
		if (!comma)
			return 0;
		text.at = comma + 1;
	}
}

/* ---- writing: all, whole families, and single ones ---- */

static size_t family_len(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? (size_t)(dot - name) + 1 : 0;
}

static sim_bits family_of(enum sim_op op)
{
	const char *name = sim_op_name(op);
	size_t len = family_len(name);
	sim_bits ops = 0;

	for (enum sim_op other = 0; len && other < SIM_OP_COUNT; other++)
		if (strncmp(sim_op_name(other), name, len) == 0)
			ops |= SIM_OP_BIT(other);
	return ops;
}

void sim_rule_put_ops(struct sim_rule_writer *writer, sim_bits ops)
{
	const char *comma = "";

	if (ops == SIM_OPS_ALL) {
		sim_rule_put(writer, "*");
		return;
	}
	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		sim_bits family = family_of(op);

		if (!(ops & SIM_OP_BIT(op)))
			continue;
		if ((family & (family - 1)) && (ops & family) == family) {
			sim_rule_put(writer, "%s%.*s*", comma, (int)family_len(sim_op_name(op)), sim_op_name(op));
			ops &= ~family;
		} else {
			sim_rule_put(writer, "%s%s", comma, sim_op_name(op));
		}
		comma = ",";
	}
}
