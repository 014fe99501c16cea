/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h - the test interface of the simulated card, beside the DOCA calls of the tested program.
 *
 *   cc test.c $(pkg-config --cflags --libs doca-common doca-dma bfsim cmocka)
 *
 * A test creates a card, adds faults, calls the tested code, and asks which rules hit:
 *
 *   static void test_a_copy_that_fails_once_is_repeated(void **state)
 *   {
 *           uint32_t id;
 *           struct bfsim_fault fault;
 *
 *           assert_int_equal(bfsim_fault_add("dma.memcpy nth=1 fail=IO_FAILED", &id), 0);
 *           assert_int_equal(copy_with_retries(...), 0);
 *           assert_int_equal(bfsim_fault_get(id, &fault), 0);
 *           assert_int_equal(fault.fired, 1);
 *   }
 *
 * The session. Functions without a session argument use the calling process's session: the one
 * that the process was started in (bfsim run, bfsim exec) or has entered. A process without a session
 * has a private card, which needs no preparation. Rules can be added to it before the first device is
 * opened, and stay when the last device is closed. A forked child gets a private card of its own, with
 * a copy of the rules and their counters. All processes of a session share its card.
 *
 * Faults. A rule is a line of text with an operation, a place, a time and an action:
 * "dma.memcpy size>=4096 nth=3 fail=IO_FAILED". doc/faults.md is the manual.
 * A rule hits operations that begin after bfsim_fault_add() returned, and none that begins after
 * bfsim_fault_remove() or bfsim_fault_clear() returned. Timed rules for links and functions have taken
 * effect when bfsim_fault_add() returns, if the process has a private card (the first search for a
 * device creates it). In a session, they take effect shortly afterwards.
 *
 * Errors. Functions return 0 or a negative errno value, and leave results unchanged on failure.
 * bfsim_error() returns one line about the calling thread's last failure: the mistake, its place, and
 * a remedy. Every function can return -ENOMEM. If the session's daemon does not answer, every function
 * can also return -ECONNREFUSED, -EAGAIN or another error of sockets.
 *
 * Threads. Any thread may call any function. bfsim_session_start(), _enter() and _stop() change the
 * process's environment or start processes: call them before the process starts other threads.
 *
 * A real card has no such header: use it in tests only.
 */
#ifndef BFSIM_H
#define BFSIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a line about the calling thread's last failure; "" before the first, never NULL. The text is
 * valid until the thread's next call. */
const char *bfsim_error(void);

/* Time ---------------------------------------------------------------------------- */

/* Returns session time: nanoseconds since the session, or the process's private card, began. The clock
 * mode decides how time passes (doc/time.md; BFSIM_CLOCK for a private card). Rules use session time in
 * from= and until=. Returns 0 when the session does not answer (bfsim_error()). */
uint64_t bfsim_now_ns(void);

/* Faults -------------------------------------------------------------------------- */

#define BFSIM_FAULT_TEXT_SIZE 1024

struct bfsim_fault {
	uint32_t id;      /* begins at 1; the session never reuses an id */
	uint64_t matched; /* operations that match the rule; counted until the rule can't hit any more */
	uint64_t fired;   /* matched operations that the rule hit */
	char text[BFSIM_FAULT_TEXT_SIZE]; /* the rule in its canonical spelling */
};

/* Add a rule at the end of the plan. @ret_id may be NULL. The function reads the files that the rule
 * names (delay=trace(FILE)). Returns -EINVAL (not a rule: bfsim_error() names the column), -ENOSPC (the
 * plan is full), -ENOTSUP (the rule can have no effect: one for peer or daemon without a session; one that
 * makes links slower where the clock is functional), or the error of reading a file. A private card's clock
 * is known while it has a device open: a rule for slower links that was added before is accepted, and a line
 * in the log says then that it has no effect. */
int bfsim_fault_add(const char *rule, uint32_t *ret_id);

/* Add the rules of a plan (a YAML file) in their order, and set the plan's seed if the file has one. The
 * function adds all rules or none. Errors: see bfsim_fault_add(); bfsim_error() names the line. */
int bfsim_fault_load(const char *path);

/* Remove a rule. Returns -ENOENT when no rule has this id. */
int bfsim_fault_remove(uint32_t id);

/* Remove all rules. */
int bfsim_fault_clear(void);

/* Set the seed of the rules' random choices; the default is 0. The same seed, rules and operations in
 * the same order give the same faults. */
int bfsim_fault_seed(uint64_t seed);

/* Get a rule and its counters. Returns -ENOENT when no rule has this id. */
int bfsim_fault_get(uint32_t id, struct bfsim_fault *ret_fault);

/* Returns the number of rules that have not hit yet, 0 or more. *ret_first is the first of them, if any;
 * @ret_first may be NULL. Use this in teardowns: a test whose fault did not happen has proved nothing. */
int bfsim_fault_unfired(struct bfsim_fault *ret_first);

/* Counters ------------------------------------------------------------------------ */

/* The tasks of a session's processes, running and ended: the sums of what bfsim stats shows. On a private
 * card, the tasks of this process. */
struct bfsim_tasks {
	uint64_t submitted; /* and accepted */
	uint64_t completed; /* without an error */
	uint64_t failed;    /* completed with an error */
	uint64_t bytes;     /* that the completed tasks moved */
};

/* Count the tasks of one kind ("DMA memcpy", as bfsim stats names it) by processes of one side. NULL selects
 * all kinds or all sides. Returns -ENOENT when the kind or the side does not exist (bfsim_error() lists
 * the known ones), so that a misspelt name does not pass as 0 failures. Returns -ENOTSUP on a private card
 * without counters (BFSIM_TRACE=off). */
int bfsim_tasks(const char *side, const char *operation, struct bfsim_tasks *ret_tasks);

/* The checker --------------------------------------------------------------------- */

/* What bfsim run --check reports (doc/checker.md), for assertions in tests:
 *
 *   assert_int_equal(bfsim_check_hits(NULL, &hits), 0);
 *   assert_int_equal(hits, 0);
 *
 * The functions are about this process. @rule is an id ("BFC-TASK-001") or a name ("submit-not-running"), or NULL: all
 * rules. Each returns -ENOTSUP when the process is not checked (BFSIM_CHECK), so that a test that runs
 * without the checker does not pass as free of hits; and -EINVAL when no rule has that name. */

/* Count the hits since the program's start. Hits that were expected or muted are none. */
int bfsim_check_hits(const char *rule, uint64_t *ret_hits);

struct bfsim_check_hit {
	char rule[16];      /* id */
	char severity[16];  /* "error", "warning", ... */
	char message[512];  /* what happened */
	char function[128]; /* of the program; "" = unknown */
	char file[256];     /* its source; "" = unknown */
	uint32_t line;      /* 0 = unknown */
};

/* Get the last hit; also one that was expected. Returns -ENOENT when there was none. */
int bfsim_check_last(const char *rule, struct bfsim_check_hit *ret_hit);

/* Expect hits of a rule, in all threads, from here to the end: they are not reported and do not change the exit status.
 * *ret_hits is how many there were. bfsim_check_expect_begin() returns -EALREADY when they are expected already;
 * bfsim_check_expect_end() returns -EPERM without a begin. */
int bfsim_check_expect_begin(const char *rule);
int bfsim_check_expect_end(const char *rule, uint64_t *ret_hits);

/* Mute a rule, in all threads, from here to the end, for code that may hit it. Mutes nest. bfsim_check_mute_end()
 * returns -EPERM without a begin. */
int bfsim_check_mute_begin(const char *rule);
int bfsim_check_mute_end(const char *rule);

/* Sessions ------------------------------------------------------------------------ */

/* A session for tests with a process on each side.
 *
 *   start --> [running] --enter: this process joins; env: programs that it starts join--> stop
 *
 * The session's directory is temporary. When the thread that started the session ends, even by a crash,
 * the daemon ends too and removes the directory. So start the session in the main thread, or in a
 * thread that runs as long as the session. */
struct bfsim_session;

struct bfsim_session_cfg {
	const char *topology; /* the card, as a YAML file (doc/topology.md); NULL = one BlueField-3 with two ports */
	const char *clock;    /* how time passes (doc/time.md): "functional", "timed" or "virtual"; NULL = functional */
};

/* Start a session; @cfg may be NULL. The caller ends *ret_session with bfsim_session_stop(). The library
 * searches for bfsimd relative to its own file, or uses $BFSIM_BFSIMD. Returns -EINVAL (wrong topology:
 * bfsim_error() names the line; or unknown clock mode), -ENOENT (no topology file, or no bfsimd) or others. */
int bfsim_session_start(const struct bfsim_session_cfg *cfg, struct bfsim_session **ret_session);

/* Returns the session's directory, for the option --session of bfsim's commands. The session owns the
 * text. Returns NULL when @session is NULL. */
const char *bfsim_session_dir(const struct bfsim_session *session);

/* Make the environment for a program on @side ("host", "dpu", ...) of the session, for execve(2) or
 * posix_spawn(3): this process's environment with the variables of the session. *ret_env is one block;
 * the caller releases it with free(). Returns -ENOENT when the card has no such side. */
int bfsim_session_env(const struct bfsim_session *session, const char *side, char ***ret_env);

/* Put this process on @side of the session. The function sets the environment, so the next list of devices
 * is that side's. A child may call it after fork(). A test program can enter several sessions, one after
 * another: each call leaves the previous card and invalidates its device lists. Returns -ENOENT (no such
 * side), or -EBUSY when the process has devices or a graph open; the process then keeps its card. */
int bfsim_session_enter(struct bfsim_session *session, const char *side);

/* End the session, and restore the environment that bfsim_session_enter() changed. Programs that are still
 * in the session get errors. In a forked child, the parent's session keeps running. The function always
 * frees @session and accepts NULL. Returns 0, or -ETIMEDOUT when the daemon had to be killed. */
int bfsim_session_stop(struct bfsim_session *session);

#ifdef __cplusplus
}
#endif

#endif
