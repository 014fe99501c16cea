/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h - what a test says to the simulated card, beside the DOCA calls of the program that it tests.
 *
 *   cc test.c $(pkg-config --cflags --libs doca-dma bfsim cmocka)
 *
 * A test makes a card, puts faults into it, calls the code that it tests, and asks
 * what struck:
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
 * The session. All functions without a session argument are about the one that the
 * calling process is in: that which it was started in (bfsim run, bfsim exec) or has
 * entered, and else its private card, which every process has that is in no session.
 * A private card needs no preparation: rules can be added before the first device is
 * opened, and stay when the last is closed. A forked child gets a private card of its own,
 * with a copy of the rules and of what they had counted; a session is shared by all who are in it.
 *
 * Faults. A rule is a line of text, an operation, where, when and what:
 * "dma.memcpy size>=4096 nth=3 fail=IO_FAILED". doc/faults.md is the manual.
 * Rules strike operations that begin after bfsim_fault_add() returned, and none
 * that begins after bfsim_fault_remove() or bfsim_fault_clear() did. What rules do to links
 * and functions by the clock is done when bfsim_fault_add() returns, on a private card that is there (one
 * comes with the first device that is looked for); in a session it is within moments.
 *
 * Errors. Functions return 0 or a negative errno value, and leave results as they were
 * when they fail. bfsim_error() has one line about the calling thread's last failure: what
 * was wrong, where, and what to do. -ENOMEM and, in a session whose daemon does not
 * answer, -ECONNREFUSED, -EAGAIN and others of sockets can come from every function.
 *
 * Threads. All may be called by any thread. bfsim_session_start(), _enter() and _stop()
 * change the process's environment or start processes: call them before others are started.
 *
 * On silicon there is no such header: keep its use to tests.
 */
#ifndef BFSIM_H
#define BFSIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* About the calling thread's last failure here; "" before the first. The text is
 * good until the thread's next call. Never NULL. */
const char *bfsim_error(void);

/* Time ---------------------------------------------------------------------------- */

/* Session time: nanoseconds since the session, or the process's private card,
 * began, by its clock (doc/time.md; of a private card: BFSIM_CLOCK); what from= and until= of rules are measured in. 0 when the session can't be
 * asked (bfsim_error()). */
uint64_t bfsim_now_ns(void);

/* Faults -------------------------------------------------------------------------- */

#define BFSIM_FAULT_TEXT_SIZE 1024

struct bfsim_fault {
	uint32_t id;      /* from 1; no later rule of the session gets it */
	uint64_t matched; /* operations that the rule looks for: its where holds. Ends with the last that can fire. */
	uint64_t fired;   /* of these, those that it struck */
	char text[BFSIM_FAULT_TEXT_SIZE]; /* the rule, in its normal spelling */
};

/* Add a rule behind those that are there. @ret_id may be NULL. Files that it names
 * (delay=trace(FILE)) are read now. Returns -EINVAL (not a rule: bfsim_error() names the
 * column), -ENOSPC (the plan is full), -ENOTSUP (rules for peer and daemon take a session: on a
 * private card there is no other process), or what reading the file failed with. */
int bfsim_fault_add(const char *rule, uint32_t *ret_id);

/* Add the rules of a plan, a YAML file, in its order, and take its seed if it has one.
 * All are added, or none. Returns as bfsim_fault_add(); bfsim_error() names the line. */
int bfsim_fault_load(const char *path);

/* Take a rule out. Returns -ENOENT when there is none of that id. */
int bfsim_fault_remove(uint32_t id);

/* Take all out. */
int bfsim_fault_clear(void);

/* What rules leave to chance follows this seed from now on; 0 until it is set. The same
 * seed, rules and operations in the same order give the same faults. */
int bfsim_fault_seed(uint64_t seed);

/* What became of a rule until now. Returns -ENOENT when there is none of that id. */
int bfsim_fault_get(uint32_t id, struct bfsim_fault *ret_fault);

/* How many rules have not struck yet, 0 or more; *ret_first is the first of them, if there
 * is one, and may be NULL. For teardowns: a test that meant to inject a fault and did not
 * has proved nothing. */
int bfsim_fault_unfired(struct bfsim_fault *ret_first);

/* Counters ------------------------------------------------------------------------ */

/* What the processes of a session have done, those that have ended too: what bfsim stats shows, added up. On a private
 * card, what this process has done. */
struct bfsim_tasks {
	uint64_t submitted; /* and taken */
	uint64_t completed; /* well */
	uint64_t failed;    /* completed with an error */
	uint64_t bytes;     /* that the completed ones moved */
};

/* Count the tasks of one kind ("DMA memcpy", as bfsim stats names it) by processes of one side; NULL means all of
 * them. Returns -ENOENT when there is no such kind, or no such side of the card (bfsim_error() names those that there
 * are): "no failures" of a kind that is misspelt says nothing. -ENOTSUP on a private card where nothing is counted
 * (BFSIM_TRACE=off). */
int bfsim_tasks(const char *side, const char *operation, struct bfsim_tasks *ret_tasks);

/* Sessions ------------------------------------------------------------------------ */

/* For tests with a process on each side: a session of their own.
 *
 *   start --> [lives] --enter: this process is in it; env: programs that it starts are--> stop
 *
 * Its directory is a temporary one. Nothing stays behind, not even when the test crashes: the
 * daemon ends, and removes the directory, with the thread that started it, which
 * should therefore be the main thread or one that lives as long as the session. */
struct bfsim_session;

struct bfsim_session_cfg {
	const char *topology; /* the card, as a YAML file (doc/topology.md); NULL = one BlueField-3 with two ports */
	const char *clock;    /* how time passes (doc/time.md): "functional", "timed" or "virtual"; NULL = functional */
};

/* Start one; @cfg may be NULL. *ret_session is the caller's (bfsim_session_stop()). bfsimd is
 * found from where this library is, or by $BFSIM_BFSIMD. Returns -EINVAL (the topology is
 * wrong: bfsim_error() names the line; or there is no such clock), -ENOENT (no such file, or no bfsimd) or others. */
int bfsim_session_start(const struct bfsim_session_cfg *cfg, struct bfsim_session **ret_session);

/* Its directory, which bfsim's commands take as --session. The session's; NULL of NULL. */
const char *bfsim_session_dir(const struct bfsim_session *session);

/* The environment for a program that shall be on @side ("host", "dpu", ...) of the
 * session, for execve(2) or posix_spawn(3): this process's, with what is
 * needed added. *ret_env is the caller's, and one block: free() it. Returns -ENOENT when
 * the card has no such side. */
int bfsim_session_env(const struct bfsim_session *session, const char *side, char ***ret_env);

/* Put this process on @side: by its environment, so that the next device that it lists is that side's; or a
 * child, after its fork. A test program can enter one session after another: the card that it was on is let go,
 * and lists of that one's devices are no longer good. Returns -ENOENT (no such side) or -EBUSY: the process has
 * devices open, or a graph, and stays where it is. */
int bfsim_session_enter(struct bfsim_session *session, const char *side);

/* End it, and take back what entering has set in this process's environment. Programs that
 * are still in it get errors. In a forked child the session is left alone, as it is
 * the parent's. *session is freed in any case; NULL is fine. Returns 0, or -ETIMEDOUT:
 * the daemon did not end by itself and was killed. */
int bfsim_session_stop(struct bfsim_session *session);

#ifdef __cplusplus
}
#endif

#endif
