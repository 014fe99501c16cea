/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/rule_priv.h - from a line to a rule.
 *
 *   line --> tokens -----> operations, conditions and actions, one by one ----> check of the whole --> rule
 *            rule_token.c  rule_ops.c  rule_conditions.c  rule_actions.c        rule_check.c
 *
 * rule_parse.c drives this. The table of keywords (keyword.c) has one entry for each row of words.h; arg.c reads, writes and
 * checks the values of the common types. rule_format.c goes the way back.
 */
#ifndef SIM_FAULTS_RULE_PRIV_H
#define SIM_FAULTS_RULE_PRIV_H

#include "keyword.h"
#include "rule.h"
#include "value.h"

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

/* ---- rule_ops.c ---- */

/* Read the operations: names and patterns, separated by commas. */
int sim_rule_parse_ops(struct sim_rule_parser *parser, struct sim_text text);

/* Write operations: "*", patterns of families, names. */
struct sim_rule_writer;
void sim_rule_put_ops(struct sim_rule_writer *writer, sim_bits ops);

/* Write the names of the bits in @bits, separated by commas. */
void sim_write_names(sim_bits bits, const char *(*name)(size_t i), char *ret_text, size_t size);
const char *sim_op_name_at(size_t i);
const char *sim_act_name_at(size_t i);

/* ---- keyword.c ---- */

struct sim_rule_writer {
	char *text; /* SIM_RULE_TEXT_SIZE bytes */
	size_t used;
	const char *delays_file; /* NULL = none */
};

/* Reads the value of a keyword into the rule. Returns 0, or -EINVAL with the error set. */
typedef int sim_arg_reader(struct sim_rule_parser *parser, const struct sim_token *token);
/* Writes the comparison and the value. */
typedef void sim_arg_writer(struct sim_rule_writer *writer, const struct sim_rule *rule);
/* Whether the rule has a value that some text has, if it has the keyword, and none otherwise. */
typedef bool sim_arg_check(const struct sim_rule *rule, bool has_keyword);

enum sim_arg_type {
	SIM_ARG_NONE,
	SIM_ARG_NUMBER,
	SIM_ARG_BYTES,
	SIM_ARG_PART, /* billionths */
	SIM_ARG_TIME, /* ns */
	SIM_ARG_TEXT,
	SIM_ARG_OWN,
};

struct sim_arg {
	enum sim_arg_type type;
	bool may_be_missing;   /* the keyword may stand alone */
	uint16_t offset, size; /* of the field in struct sim_rule */
	uint64_t least, most, absent;
	const char *what;
	sim_arg_reader *read; /* these three of SIM_ARG_OWN */
	sim_arg_writer *write;
	sim_arg_check *check;
};

enum sim_keyword_kind { SIM_KEYWORD_ACT, SIM_KEYWORD_CONDITION, SIM_KEYWORD_LIMIT, SIM_KEYWORD_PART };

struct sim_keyword {
	const char *name;
	const char *usage; /* "nth=N" */
	enum sim_keyword_kind kind;
	uint32_t number; /* enum sim_act, or of the bit of enum sim_where or enum sim_when */
	struct sim_arg arg;
};

/* The keywords by number, in the order in which a rule is written. NULL behind the last one. */
const struct sim_keyword *sim_keyword_at(size_t i);

/* The number of the keyword @name, or SIM_MAX_KEYWORDS. */
size_t sim_keyword_find(struct sim_text name);

/* The keyword whose name is closest to @name, or NULL. */
const char *sim_keyword_suggest(struct sim_text name);

/* ---- arg.c ---- */

/* Whether the rule has the keyword; and let it have it. A part of an action (moved) follows from the action. */
bool sim_rule_has(const struct sim_rule *rule, const struct sim_keyword *keyword);
void sim_rule_add(struct sim_rule *rule, const struct sim_keyword *keyword);

int sim_arg_read(struct sim_rule_parser *parser, const struct sim_keyword *keyword, const struct sim_token *token);
void sim_arg_write(struct sim_rule_writer *writer, const struct sim_keyword *keyword, const struct sim_rule *rule);
bool sim_arg_is_valid(const struct sim_keyword *keyword, const struct sim_rule *rule);

/* Read values of the common types, for arguments of several. */
int sim_arg_read_number(struct sim_rule_parser *parser, const struct sim_token *token, uint64_t least, uint64_t most,
			uint64_t *ret_value);
int sim_arg_read_time(struct sim_rule_parser *parser, const struct sim_token *token, uint64_t *ret_ns);
int sim_arg_read_text(struct sim_rule_parser *parser, const struct sim_token *token, char *ret_text, size_t size);

/* Write a text, and values behind one. */
void sim_rule_put(struct sim_rule_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_rule_put_bytes(struct sim_rule_writer *writer, const char *before, uint64_t bytes);
void sim_rule_put_time(struct sim_rule_writer *writer, const char *before, uint64_t ns);
void sim_rule_put_part(struct sim_rule_writer *writer, const char *before, uint64_t ppb);
void sim_rule_put_text(struct sim_rule_writer *writer, const char *before, const char *text);

/* Whether @text, of a field of @size bytes, is what a rule can have, and is empty without the keyword. Zeros follow it. */
bool sim_rule_text_is_valid(const char *text, size_t size, bool has_keyword);

/* ---- rule_conditions.c, rule_actions.c: arguments of a type of their own ---- */

sim_arg_reader sim_read_device, sim_read_size, sim_read_addr, sim_read_after, sim_read_fail, sim_read_moved,
	sim_read_refuse, sim_read_delay, sim_read_duration, sim_read_degrade;
sim_arg_writer sim_write_device, sim_write_size, sim_write_addr, sim_write_after, sim_write_fail, sim_write_moved,
	sim_write_refuse, sim_write_delay, sim_write_duration, sim_write_degrade;
sim_arg_check sim_check_device, sim_check_size, sim_check_addr, sim_check_after, sim_check_fail, sim_check_moved,
	sim_check_refuse, sim_check_delay, sim_check_duration, sim_check_degrade;

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
	return rule->moved || rule->moved_is_fraction;
}

#endif
