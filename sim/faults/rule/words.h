/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/words.h - the words of fault rules: one row for each action, condition and limit.
 *
 * Parser, formatter, checks, help, the fuzz dictionary and the test of the manual follow from the rows. A row has a name for
 * the code, the keyword, its usage, and the argument, one of
 *
 *   NONE               the keyword stands alone
 *   NUMBER, BYTES, PART(field, least, most, what)
 *                      a value of that unit in the field of struct sim_rule, which is 0 without the keyword; @what completes
 *                      "expected ...", NULL: the bounds say it
 *   TIME(field, absent), whose field is @absent without the keyword
 *   TEXT(field)        a name, mostly a pattern
 *   OWN(name)          sim_read_NAME(), sim_write_NAME() and sim_check_NAME() (rule_priv.h)
 *   OWN_OR_NONE(name)  the same; the keyword may stand alone
 *
 * The rows of conditions and limits stand in the order in which a rule is written. A new word also needs its field
 * (rule.h), and its effect or its match (sim/faults/inject); a condition also its operations (operations.toml).
 */
#ifndef SIM_FAULTS_WORDS_H
#define SIM_FAULTS_WORDS_H

/* Limits of parameters. */
#define SIM_PPB           1000000000u /* probabilities and fractions are in billionths */
#define SIM_NEVER_NS      UINT64_MAX
#define SIM_MAX_FLIP_BITS (1u << 20)
#define SIM_MAX_WINDOW    1024
#define SIM_MAX_VFS       65535
#define SIM_MAX_ALPHA     1000
#define SIM_MAX_GEN       6
#define SIM_MAX_LANES     16

/* X(action, keyword, usage, argument, role): the effect. Each role includes those above it:
 *   CHANGES the operation or its data
 *   DECIDES its outcome: a rule has one such action at most
 *   ENDS    it: later rules do not fire
 *   ALONE   nothing is left that another action could change */
#define SIM_ACTS(X)                                                                                              \
	X(FAIL, "fail", "fail=STATUS", OWN(fail), ENDS)                                                          \
	X(HANG, "hang", "hang", NONE, ALONE)                                                                     \
	X(REFUSE, "refuse", "refuse or refuse=AGAIN", OWN_OR_NONE(refuse), ALONE)                                \
	X(DELAY, "delay", "delay=TIME or delay=DISTRIBUTION(...)", OWN(delay), CHANGES)                          \
	X(FLIP, "flip", "flip=BITS", NUMBER(flip_bits, 1, SIM_MAX_FLIP_BITS, NULL), CHANGES)                     \
	X(TEAR, "tear", "tear", NONE, CHANGES)                                                                   \
	X(BAD_CHECKSUM, "bad_checksum", "bad_checksum", NONE, CHANGES)                                           \
	X(BAD_TAG, "bad_tag", "bad_tag", NONE, CHANGES)                                                          \
	X(DROP, "drop", "drop", NONE, ALONE)                                                                     \
	X(DUPLICATE, "duplicate", "duplicate", NONE, CHANGES)                                                    \
	X(REORDER, "reorder", "reorder=MESSAGES", NUMBER(window, 1, SIM_MAX_WINDOW, NULL), CHANGES)              \
	X(TRUNCATE, "truncate", "truncate=BYTES",                                                                \
	  BYTES(truncate_bytes, 0, UINT32_MAX, "bytes that are left of the message (0, 16, 1k)"), CHANGES)       \
	X(STALL, "stall", "stall=TIME", OWN(duration), DECIDES)                                                  \
	X(BREAK, "break", "break", NONE, ENDS)                                                                   \
	X(DOWN, "down", "down=TIME", OWN(duration), DECIDES)                                                     \
	X(RATE, "rate", "rate=BYTES", BYTES(rate_bytes, 1, UINT32_MAX, "bytes in a second (64k, 10M)"), CHANGES) \
	X(DEGRADE, "degrade", "degrade=gen2x4", OWN(degrade), DECIDES)                                           \
	X(ERRORS, "errors", "errors=PART",                                                                       \
	  PART(errors_ppb, 1, SIM_PPB, "a part of all packets above 0 and up to 1 (1e-4, 0.1%)"), CHANGES)       \
	X(FATAL, "fatal", "fatal", NONE, ENDS)                                                                   \
	X(RESET, "reset", "reset", NONE, ENDS)                                                                   \
	X(REMOVE, "remove", "remove", NONE, ENDS)                                                                \
	X(ADD, "add", "add", NONE, DECIDES)                                                                      \
	X(NUM_VFS, "num_vfs", "num_vfs=N", NUMBER(num_vfs, 0, SIM_MAX_VFS, NULL), DECIDES)                       \
	X(REP_REMOVE, "rep_remove", "rep_remove", NONE, DECIDES)                                                 \
	X(KILL, "kill", "kill", NONE, ENDS)                                                                      \
	X(PAUSE, "pause", "pause=TIME", OWN(duration), DECIDES)

/* X(condition, keyword, usage, argument): where a rule applies. */
#define SIM_CONDITIONS(X)                                                 \
	X(SIDE, "side", "side=NAME", TEXT(side))                          \
	X(PROGRAM, "program", "program=NAME", TEXT(program))              \
	X(PID, "pid", "pid=N", NUMBER(pid, 1, INT32_MAX, NULL))           \
	X(DEVICE, "device", "device=ADDRESS or device=NAME", OWN(device)) \
	X(SIZE, "size", "size=A..B, size>=BYTES, ...", OWN(size))         \
	X(ADDR, "addr", "addr=A..B", OWN(addr))

/* X(limit, keyword, usage, argument): when it applies. */
#define SIM_LIMITS(X)                                                                         \
	X(AFTER, "after", "after='OPERATION nth=N'", OWN(after))                              \
	X(FROM, "from", "from=TIME", TIME(from_ns, 0))                                        \
	X(UNTIL, "until", "until=TIME", TIME(until_ns, SIM_NEVER_NS))                         \
	X(SKIP, "skip", "skip=N", NUMBER(skip, 1, UINT32_MAX, NULL))                          \
	X(NTH, "nth", "nth=N", NUMBER(nth, 1, UINT32_MAX, NULL))                              \
	X(EVERY, "every", "every=N", NUMBER(every, 1, UINT32_MAX, NULL))                      \
	X(CHANCE, "p", "p=PROBABILITY",                                                       \
	  PART(chance_ppb, 1, SIM_PPB, "a probability above 0 and up to 1 (0.01, 1e-6, 5%)")) \
	X(SEED, "seed", "seed=N", NUMBER(seed, 0, UINT64_MAX, NULL))                          \
	X(TIMES, "times", "times=N", NUMBER(times, 1, UINT32_MAX, NULL))

#endif
