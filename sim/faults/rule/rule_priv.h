/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/rule_priv.h - from a line to a rule.
 *
 *   line --> tokens -----> operations, conditions and actions, one by one ----> check of the whole --> rule
 *            rule_token.c  rule_ops.c  rule_conditions.c  rule_actions.c        rule_check.c
 *
 * rule_parse.c drives this. The table of keywords (keyword.c) has one entry for
 * each condition, limit and action, with the reader of its value.
 */
#ifndef SIM_FAULTS_RULE_PRIV_H
#define SIM_FAULTS_RULE_PRIV_H

#include "keyword.h"
#include "rule.h"
#include "value.h"

/* Upper limits of parameters. */
#define SIM_MAX_FLIP_BITS (1u << 20)
#define SIM_MAX_WINDOW    1024
#define SIM_MAX_VFS       65535
#define SIM_MAX_ALPHA     1000
#define SIM_MAX_GEN       6
#define SIM_MAX_LANES     16

/* The comparison between a keyword and its value. */
enum sim_compare {
	SIM_COMPARE_NONE,  /* the keyword stands alone */
	SIM_COMPARE_EQUAL, /* = or == */
	SIM_COMPARE_AT_LEAST,
	SIM_COMPARE_AT_MOST,
	SIM_COMPARE_ABOVE,
	SIM_COMPARE_BELOW,
};

/* A part of the line between spaces: a keyword with its value. */
struct sim_token {
	struct sim_text name;
	enum sim_compare compare;
	struct sim_text value; /* without the quotes around it */
};

struct sim_rule_parser {
	const char *line;
	struct sim_rule rule;
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error *error;
	const char *positions[SIM_MAX_KEYWORDS]; /* of each keyword in the line; NULL = the line does not have it */
};

/* Reads the value of a keyword into the rule. Returns 0, or -EINVAL with the error set. */
typedef int sim_value_reader(struct sim_rule_parser *parser, const struct sim_token *token);

/* ---- rule_token.c ---- */

/* Set the error, at the position @at of the line. Returns -EINVAL. */
int sim_rule_parser_fail(const struct sim_rule_parser *parser, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Set the error for a wrong value: "nth: expected a number from 1, got `x`". Returns -EINVAL. */
int sim_rule_parser_expected(const struct sim_rule_parser *parser, const struct sim_token *token, const char *what);

/* For printf: a quotation of a text, cut to a reasonable length. */
#define SIM_TEXT_FMT       "`%.*s`"
#define SIM_TEXT_ARG(text) ((int)((text).len < 48 ? (text).len : 48)), (text).at

bool sim_text_equals(struct sim_text text, const char *word);

/* Read the token at *at and move *at behind it; an empty text at the end of the line. */
int sim_rule_next_token(struct sim_rule_parser *parser, const char **at, struct sim_text *ret_text);

/* Split a token into name, comparison and value. */
int sim_rule_split_token(struct sim_rule_parser *parser, struct sim_text text, struct sim_token *ret_token);

/* Read a number from @min to @max. */
int sim_read_number(struct sim_rule_parser *parser, const struct sim_token *token, uint32_t min, uint32_t max,
		    uint32_t *ret_value);

/* ---- rule_ops.c ---- */

/* Read the operations: names and patterns, separated by commas. */
int sim_rule_parse_ops(struct sim_rule_parser *parser, struct sim_text text);

/* Write the names of the bits in @bits, separated by commas. */
void sim_write_names(uint64_t bits, const char *(*name)(size_t i), char *ret_text, size_t size);
const char *sim_op_name_at(size_t i);
const char *sim_act_name_at(size_t i);

/* ---- rule_conditions.c, rule_actions.c ---- */

sim_value_reader sim_read_side, sim_read_program, sim_read_pid, sim_read_device, sim_read_size, sim_read_addr;
sim_value_reader sim_read_after, sim_read_nth, sim_read_every, sim_read_chance, sim_read_seed, sim_read_from,
	sim_read_until, sim_read_times, sim_read_skip;
sim_value_reader sim_read_fail, sim_read_moved, sim_read_refuse, sim_read_delay, sim_read_flip, sim_read_reorder,
	sim_read_truncate, sim_read_duration, sim_read_degrade, sim_read_errors, sim_read_num_vfs, sim_read_no_value;

/* ---- keyword.c ---- */

enum sim_keyword_value { SIM_NO_VALUE, SIM_MAYBE_VALUE, SIM_NEEDS_VALUE };

struct sim_keyword {
	const char *name;
	const char *usage; /* "nth=N" */
	enum sim_keyword_value value;
	sim_value_reader *read;
};

/* The keywords by number; those of actions come first, numbered as enum sim_act. NULL behind the last one. */
const struct sim_keyword *sim_keyword_at(size_t i);

/* The number of the keyword @name, or SIM_MAX_KEYWORDS. */
size_t sim_keyword_find(struct sim_text name);

/* The keyword whose name is closest to @name, or NULL. */
const char *sim_keyword_suggest(struct sim_text name);

/* ---- rule_check.c ---- */

/* A contradiction in the rule as a whole. */
struct sim_rule_conflict {
	const char *word; /* the keyword; NULL = the line */
	char text[SIM_RULE_ERROR_SIZE];
};

/* Check that the rule can act. Returns 0, or -EINVAL with *ret_conflict set. */
int sim_rule_find_conflict(const struct sim_rule *rule, struct sim_rule_conflict *ret_conflict);

/* Whether a failed task of the rule has moved a part of its data. */
static inline bool sim_rule_moves(const struct sim_rule *rule)
{
	return !(rule->when & SIM_WHEN_AFTER) && (rule->moved || rule->moved_is_fraction);
}

#endif
