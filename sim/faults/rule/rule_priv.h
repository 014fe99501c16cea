/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/rule_priv.h - how a line becomes a rule.
 *
 *   line --> tokens --> words read, one by one --> judged as a whole --> rule
 *            rule_parse.c  rule_ops.c rule_when.c rule_acts.c  rule_check.c
 *
 * The table of words (rule_parse.c) has an entry for each condition, limit and action.
 */
#ifndef SIM_FAULTS_RULE_PRIV_H
#define SIM_FAULTS_RULE_PRIV_H

#include "rule.h"
#include "value.h"

#define SIM_MAX_KEYWORDS 48

/* The most that parameters may be. */
#define SIM_MAX_FLIP_BITS (1u << 20)
#define SIM_MAX_WINDOW    1024
#define SIM_MAX_VFS       65535
#define SIM_MAX_ALPHA     1000
#define SIM_MAX_GEN       6
#define SIM_MAX_LANES     16

/* How a condition compares. */
enum sim_compare {
	SIM_COMPARE_NONE,  /* the word stands alone */
	SIM_COMPARE_EQUAL, /* = or == */
	SIM_COMPARE_AT_LEAST,
	SIM_COMPARE_AT_MOST,
	SIM_COMPARE_ABOVE,
	SIM_COMPARE_BELOW,
};

/* One word of the line with what belongs to it. */
struct sim_token {
	struct sim_text name;
	enum sim_compare compare;
	struct sim_text value; /* without quotes around it */
};

struct sim_rule_parser {
	const char *line;
	struct sim_rule rule;
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error *error;
	const char *positions[SIM_MAX_KEYWORDS]; /* where each word stands; NULL = nowhere */
};

/* What reads a word's value into the rule; 0 or -EINVAL with the error set. */
typedef int sim_value_reader(struct sim_rule_parser *parser, const struct sim_token *token);

/* Blame the place @at of the line. Evaluates to -EINVAL. */
int sim_rule_parser_fail(const struct sim_rule_parser *parser, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Say what a word's value should have been: "nth: expected a number from 1, got `x`". */
int sim_rule_parser_expected(const struct sim_rule_parser *parser, const struct sim_token *token, const char *what);

/* A text that a message quotes, as much as there is room for. */
#define SIM_TEXT_FMT       "`%.*s`"
#define SIM_TEXT_ARG(text) ((int)((text).len < 48 ? (text).len : 48)), (text).at

bool sim_text_equals(struct sim_text text, const char *word);

/* Bytes of the word that @text begins with: spaces inside quotes or parentheses belong to it. */
size_t sim_token_len(const char *text);

/* Whether the word of that name means something without a value, and whether with one. Of what is no word, neither. */
bool sim_keyword_allows_no_value(const char *name);
bool sim_keyword_allows_value(const char *name);

/* Read the operations: names and patterns, with commas between them. */
int sim_rule_parse_ops(struct sim_rule_parser *parser, struct sim_text text);

sim_value_reader sim_read_side, sim_read_program, sim_read_pid, sim_read_device, sim_read_size, sim_read_addr;
sim_value_reader sim_read_nth, sim_read_every, sim_read_chance, sim_read_seed, sim_read_from, sim_read_until,
	sim_read_times, sim_read_skip;
sim_value_reader sim_read_fail, sim_read_moved, sim_read_refuse, sim_read_delay, sim_read_flip, sim_read_reorder,
	sim_read_truncate, sim_read_duration, sim_read_degrade, sim_read_errors, sim_read_num_vfs, sim_read_no_value;

/* A number from @min to @max, or blame. */
int sim_read_number(struct sim_rule_parser *parser, const struct sim_token *token, uint32_t min, uint32_t max,
		    uint32_t *ret_value);

/* A word or several that a rule as a whole is wrong about. */
struct sim_rule_conflict {
	const char *word; /* NULL = the line */
	char text[SIM_RULE_ERROR_SIZE];
};

/* Whether the rule is one that can act. Returns 0, or -EINVAL and says why not. */
int sim_rule_find_conflict(const struct sim_rule *rule, struct sim_rule_conflict *ret_conflict);

/* The one of @count @names that is spelled most like @text; NULL when none is close. */
const char *sim_did_you_mean(struct sim_text text, const char *(*name)(size_t i), size_t count);

/* Write names with commas between them. They are those of @bits. */
void sim_write_names(uint64_t bits, const char *(*name)(size_t i), char *ret_text, size_t size);
const char *sim_op_name_at(size_t i);
const char *sim_act_name_at(size_t i);

#endif
