/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule in the form of a mapping: composed into a line for the parser of rules; errors
 * are mapped back to the lines of the keys. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "plan_file_priv.h"
#include "sim/faults/rule/keyword.h"

struct key_position {
	unsigned int column; /* of the keyword in the composed line */
	size_t line;         /* of the key in the file */
};

struct line_builder {
	const struct pcie_yaml_doc *doc;
	const char *op; /* NULL until the mapping's key "op" was read */
	char text[SIM_RULE_LINE_SIZE];
	size_t len;
	struct key_position key_positions[SIM_MAX_KEYWORDS];
	size_t num_keys;
};

static int append_text(struct line_builder *builder, const struct pcie_yaml_node *node, const char *text)
{
	size_t len = strlen(text);

	if (len >= sizeof(builder->text) - builder->len)
		return pcie_yaml_error(builder->doc, node, "the rule is longer than %d bytes", SIM_RULE_LINE_SIZE - 1);
	memcpy(builder->text + builder->len, text, len + 1);
	builder->len += len;
	return 0;
}

/* A value with spaces gets quotes. */
static int append_value(struct line_builder *builder, const struct pcie_yaml_node *node)
{
	const char *value = node->text;
	const char *quote = *value && sim_token_len(value) < strlen(value) ? "\"" : "";

	if (*quote && strchr(value, '"'))
		return pcie_yaml_error(builder->doc, node, "a value with spaces cannot have a \" in it");
	return append_text(builder, node, quote) || append_text(builder, node, value) ||
			       append_text(builder, node, quote) ?
		       -EINVAL :
		       0;
}

/* The booleans of YAML 1.1 and 1.2, in any case. A keyword that needs a value takes
 * them as text: a program may be called yes. */
static const char *const true_words[] = { "true", "yes", "on", NULL };
static const char *const false_words[] = { "false", "no", "off", NULL };

static bool is_one_of(const char *value, const char *const *names)
{
	while (*names && strcasecmp(value, *names) != 0)
		names++;
	return *names;
}

static int check_value(const struct line_builder *builder, const struct pcie_yaml_node *node)
{
	bool alone = sim_keyword_allows_no_value(node->key);

	if (strcmp(node->text, "false") == 0 || (alone && is_one_of(node->text, false_words)))
		return pcie_yaml_error(builder->doc, node, "cannot be false; leave it out");
	if (alone && !sim_keyword_allows_value(node->key) && !is_one_of(node->text, true_words))
		return pcie_yaml_error(builder->doc, node, "takes no value; write %s: true, or leave it out",
				       node->key);
	if (builder->num_keys == SIM_MAX_KEYWORDS)
		return pcie_yaml_error(builder->doc, node, "the rule has more words than there are");
	return 0;
}

static int append_pair(struct line_builder *builder, const struct pcie_yaml_node *node)
{
	const char *value = node->text;

	if (check_value(builder, node) || append_text(builder, node, " "))
		return -EINVAL;
	builder->key_positions[builder->num_keys++] =
		(struct key_position){ (unsigned int)builder->len + 1, node->line };
	if (append_text(builder, node, node->key))
		return -EINVAL;
	if (strcmp(value, "true") == 0 || (sim_keyword_allows_no_value(node->key) && is_one_of(value, true_words)))
		return 0;
	if (!(*value && strchr("=<>", *value)) && append_text(builder, node, "="))
		return -EINVAL;
	return append_value(builder, node);
}

static int read_op(struct line_builder *builder, const struct pcie_yaml_node *node)
{
	if (builder->op)
		return pcie_yaml_error(builder->doc, node, "is given twice; remove one");
	if (!*node->text || strlen(node->text) >= SIM_RULE_LINE_SIZE || strpbrk(node->text, " \t"))
		return pcie_yaml_error(builder->doc, node, "expected an operation, such as dma.memcpy, got `%.48s`",
				       node->text);
	builder->op = node->text;
	return 0;
}

/* A key consists of letters only: other characters would mean something else in a line. */
static bool is_keyword_text(const char *key)
{
	return *key && strspn(key, "abcdefghijklmnopqrstuvwxyz_") == strlen(key);
}

static int read_pair(struct line_builder *builder, const struct pcie_yaml_node *node)
{
	if (!is_keyword_text(node->key))
		return pcie_yaml_error(builder->doc, node->parent,
				       "expected one of a rule's words as key, such as op, size, nth or fail");
	if (node->type != PCIE_YAML_SCALAR)
		return pcie_yaml_error(builder->doc, node, "expected a single value");
	return strcmp(node->key, "op") == 0 ? read_op(builder, node) : append_pair(builder, node);
}

/* The line of the key at @column of the composed line; @otherwise if that is the operation. */
static size_t source_line_of(const struct line_builder *builder, unsigned int column, size_t otherwise)
{
	for (size_t i = 0; i < builder->num_keys; i++)
		if (builder->key_positions[i].column <= column)
			otherwise = builder->key_positions[i].line;
	return otherwise;
}

int sim_plan_file_read_mapping(const struct pcie_yaml_doc *doc, const struct pcie_yaml_node *node,
			       struct sim_plan_file_rule *rule)
{
	struct line_builder builder = { .doc = doc };
	char line[2 * SIM_RULE_LINE_SIZE];
	struct sim_rule_error error;
	unsigned int at, op_len;

	for (const struct pcie_yaml_node *pair = node->first; pair; pair = pair->next)
		if (read_pair(&builder, pair))
			return -EINVAL;
	if (!builder.op)
		return pcie_yaml_error(doc, node, "op is missing; it names the operation (dma.memcpy)");
	snprintf(line, sizeof(line), "%s%s", builder.op, builder.text);
	if (sim_rule_parse(line, &rule->rule, rule->delays_file, &error) == 0)
		return 0;
	op_len = (unsigned int)strlen(builder.op);
	at = op_len < error.column ? error.column - op_len : 0;
	return pcie_yaml_error_at_line(doc, node, source_line_of(&builder, at, rule->line), "%s", error.text);
}
