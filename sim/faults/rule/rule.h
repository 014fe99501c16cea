/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/rule.h - one fault rule, as a line of text and compiled.
 *
 *   dma.memcpy  size>=4k program=my_app  nth=3   fail=IO_FAILED moved=50%
 *   operation   where                    when    action
 *
 * A compiled rule has a fixed size and no pointers: processes share it in memory
 * and send it over sockets as it is. A rule is a value: copy it at will. doc/faults.md
 * describes the text.
 *
 * "delay=trace(FILE)" takes delays from a file. The rule itself does not hold them:
 * they are a struct sim_delays (delays.h), which a plan keeps.
 */
#ifndef SIM_FAULTS_RULE_H
#define SIM_FAULTS_RULE_H

#include "op.h"

#define SIM_RULE_SIDE_SIZE    24
#define SIM_RULE_PROGRAM_SIZE 32
#define SIM_RULE_DEVICE_SIZE  40
#define SIM_DELAYS_FILE_SIZE  128

#define SIM_RULE_LINE_SIZE  1024 /* the longest line, with its terminating zero */
#define SIM_RULE_ERROR_SIZE 256
#define SIM_RULE_TEXT_SIZE  SIM_RULE_LINE_SIZE

#define SIM_RULE_MAX_NS UINT64_C(1000000000000000000) /* the longest time and delay: 31 years */

/* Distributions of delays, in ns. */
enum sim_delay_kind {
	SIM_DELAY_NONE,
	SIM_DELAY_FIXED,     /* a */
	SIM_DELAY_UNIFORM,   /* from a to b, both included */
	SIM_DELAY_NORMAL,    /* mean a, standard deviation b; never below 0 */
	SIM_DELAY_LOGNORMAL, /* mean a and standard deviation b of the delays themselves */
	SIM_DELAY_PARETO,    /* minimum a, alpha b (in billionths) */
	SIM_DELAY_TRACE,     /* the delays of a file in order, repeatedly; a: the plan's number of the series */
};

struct sim_rule {
	sim_bits ops;                /* SIM_OP_BIT()s, as written; see sim_rule_ops() */
	uint64_t size_min, size_max; /* bytes of the operation, inclusive */
	uint64_t addr_min, addr_max; /* the operation touches a byte in this range */
	uint64_t from_ns, until_ns;  /* session time, until excluded; SIM_NEVER_NS = no end */
	sim_bits actions;            /* SIM_ACT_BIT()s; at least one */
	sim_bits after_ops;          /* SIM_WHEN_AFTER: an event begins at the after_nth of these operations */
	uint64_t seed;               /* if SIM_WHEN_SEED; else the plan's */
	uint64_t delay_a, delay_b;
	uint64_t moved;                   /* FAIL: bytes written before, or billionths of the size */
	uint64_t duration_ns;             /* STALL, DOWN, PAUSE */
	uint32_t after_nth;               /* from 1 */
	uint32_t skip, nth, every, times; /* from 1, as sim_rule.when says */
	uint32_t chance_ppb;              /* if SIM_WHEN_CHANCE */
	uint32_t errors_ppb;              /* ERRORS: packets that are replayed */
	uint32_t where;                   /* bits of enum sim_where: conditions that the rule has */
	uint32_t when;                    /* bits of enum sim_when: limits that it has */
	int32_t pid;
	uint32_t flip_bits;           /* FLIP */
	uint32_t truncate_bytes;      /* TRUNCATE */
	uint32_t window;              /* REORDER: messages, from 1 */
	uint32_t num_vfs;             /* NUM_VFS */
	uint32_t rate_bytes;          /* RATE: in a second */
	uint8_t status;               /* FAIL: an enum sim_status */
	uint8_t refuse_status;        /* REFUSE: AGAIN or NO_MEMORY; 0 = the default */
	uint8_t delay_kind;           /* DELAY: enum sim_delay_kind */
	uint8_t moved_is_fraction;    /* moved is in billionths of the size */
	uint8_t link_gen, link_lanes; /* DEGRADE */
	uint8_t reserved[6];
	char side[SIM_RULE_SIDE_SIZE]; /* pattern with * and ?; program and device, too */
	char program[SIM_RULE_PROGRAM_SIZE];
	char device[SIM_RULE_DEVICE_SIZE]; /* a PCI address with its domain, or the name of an RDMA device */
};
_Static_assert(sizeof(struct sim_rule) == offsetof(struct sim_rule, device) + SIM_RULE_DEVICE_SIZE,
	       "rules are shared and sent: \"reserved\" makes their size a multiple of 16 bytes");

/* The error in a text. Columns count bytes from 1. */
struct sim_rule_error {
	unsigned int column;
	char text[SIM_RULE_ERROR_SIZE]; /* one line: "nth: expected a number from 1, got `x`" */
};

/* Compile @text. *ret_delays_file is the file that the delays come from, or ""; the
 * file is not opened. Returns 0, or -EINVAL with *ret_error set and the results as
 * they were. */
int sim_rule_parse(const char *text, struct sim_rule *ret_rule, char ret_delays_file[SIM_DELAYS_FILE_SIZE],
		   struct sim_rule_error *ret_error);

/* Write the text of @rule, which compiles to the same rule. @delays_file may be NULL
 * when the delays do not come from a file. sim_rule_check() accepts @rule. Returns the
 * length, below SIM_RULE_TEXT_SIZE. */
size_t sim_rule_format(const struct sim_rule *rule, const char *delays_file, char ret_text[SIM_RULE_TEXT_SIZE]);

/* Check a rule from an untrusted source: 0 if some text compiles to it, else -EINVAL. */
int sim_rule_check(const struct sim_rule *rule);

/* The operations that the rule can hit: those that it names, that can have its
 * conditions and its actions. */
sim_bits sim_rule_ops(const struct sim_rule *rule);

/* Whether the rule makes links slower, for as long as it lasts. */
bool sim_rule_slows_links(const struct sim_rule *rule);

/* Whether @text matches @pattern, which may have * and ?. */
bool sim_glob(const char *pattern, const char *text);

#endif
