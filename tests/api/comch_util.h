/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/comch_util.h - two processes on one card, for the tests of Comch.
 *
 * A test is two functions, one for each side. They run in processes of their own, on
 * the card of a session that comch_run() starts (data/comch.yaml):
 *
 *   static void test_..._dpu(struct side *side)    { server = comch_serve(side); ... }
 *   static void test_..._host(struct side *side)   { client = comch_call(side); ... }
 *   static const struct CMUnitTest tests[] = { COMCH_TEST(test_...), ... };
 *
 * The sides synchronise by comch_sync_send() and comch_sync_recv(); a side that receives
 * does not progress meanwhile, unless it calls comch_sync_recv_progressing().
 *
 * All callbacks write lines into their side's trace, and then react as the test says:
 *
 *	client: idle -> starting
 *	connected
 *	received "hello"
 *	sent 7
 *	send 8 failed: DOCA_ERROR_CONNECTION_RESET
 *
 * comch_expect() progresses until the trace is as long as what the test expects, and
 * compares. Sides sleep on the engine's notification handle when nothing is to do;
 * with COMCH_WAIT=busy in the environment they poll. COMCH_TEST=PATTERN picks tests.
 *
 * cmocka's assertions don't work here: EXPECT, MUST and CHECK end the process, and with
 * it the test.
 */
#ifndef TESTS_API_COMCH_UTIL_H
#define TESTS_API_COMCH_UTIL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "cmocka_test.h"
#include "doca_check.h"

#define COMCH_NAME  "test" /* of a server, where the name does not matter */
#define COMCH_TASKS 16

struct side;
struct comch_actor;

/* What callbacks do after they have added their line to the trace; NULL: nothing more (tasks are freed). */
struct comch_reactions {
	void (*state)(struct comch_actor *actor, enum doca_ctx_states next);
	void (*status)(struct comch_actor *server, struct doca_comch_connection *connection, bool connected);
	void (*message)(struct comch_actor *actor, struct doca_comch_connection *connection);
	void (*consumer)(struct comch_actor *actor, struct doca_comch_connection *connection);
	void (*task)(struct comch_actor *actor, struct doca_task *task);
};

/* A context with its name in the trace. */
struct comch_actor {
	struct side *side;
	const char *name;
	struct doca_ctx *ctx;
	struct doca_comch_server *server; /* or */
	struct doca_comch_client *client;
	struct comch_reactions on;
};

struct side {
	bool is_dpu, is_busy;
	bool has_left; /* the other side has ended */
	int sync_fd;
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* the DPU's: of the host's first device */
	struct doca_pe *pe;
	struct doca_comch_connection *connection; /* the connection of the last callback */
	uint8_t message[8192];                    /* the last one */
	uint32_t message_len;
	uint32_t consumer; /* the last one of the other end */
	uint32_t num_messages, num_sent;
	bool is_quiet; /* messages and sends add no lines: they are many */
	char trace[8192];
};

/* ---- the test program ---- */

typedef void comch_half(struct side *side);

struct comch_halves {
	comch_half *dpu, *host;
};

#define COMCH_HALVES_BY(run, test, on_dpu, on_host)                                      \
	{                                                                                \
		.name = #test, .test_func = run, .initial_state = &(struct comch_halves) \
		{                                                                        \
			on_dpu, on_host                                                  \
		}                                                                        \
	}
#define COMCH_HALVES(test, on_dpu, on_host) COMCH_HALVES_BY(comch_run_halves, test, on_dpu, on_host)

/* Of test_..._dpu() and test_..._host(); or one of them, with nothing on the other side. */
#define COMCH_TEST(test)      COMCH_HALVES(test, test##_dpu, test##_host)
#define COMCH_DPU_TEST(test)  COMCH_HALVES(test, test##_dpu, comch_nothing)
#define COMCH_HOST_TEST(test) COMCH_HALVES(test, comch_nothing, test##_host)

/* Not under valgrind, which reports accesses to memory that is gone. */
#define COMCH_NATIVE_TEST(test) COMCH_HALVES_BY(comch_run_natively, test, test##_dpu, test##_host)

void comch_nothing(struct side *side);
void comch_run_halves(void **state);
void comch_run_natively(void **state);

/* The session of comch_run(); set before it. */
struct comch_session {
	const char *topology; /* below tests/api/data */
	const char *clock;
};
extern struct comch_session comch_session;

#define comch_run(tests) comch_run_all(#tests, tests, sizeof(tests) / sizeof((tests)[0]))
int comch_run_all(const char *name, const struct CMUnitTest *tests, size_t num_tests);

/* ---- synchronisation of the sides ---- */

void comch_sync_send(struct side *side, uint64_t value);
uint64_t comch_sync_recv(struct side *side);             /* without progress */
uint64_t comch_sync_recv_progressing(struct side *side); /* with */

/* Wait until both sides are here; the second function progresses meanwhile. */
void comch_meet(struct side *side);
void comch_meet_progressing(struct side *side);

/* ---- devices ---- */

struct doca_dev *comch_open(const char *pci_addr);
struct doca_dev_rep *comch_open_rep(struct doca_dev *dev, const char *pci_addr);

/* ---- actors ---- */

/* Created, configured, connected to the side's engine, idle. */
struct comch_actor *comch_server(struct side *side, struct doca_dev *dev, struct doca_dev_rep *rep, const char *name);
struct comch_actor *comch_client(struct side *side, struct doca_dev *dev, const char *name);

/* Make an actor of any context: user data, trace of its states. */
struct comch_actor *comch_actor(struct side *side, const char *name, struct doca_ctx *ctx);

/* Make its context known to the side's engine, start it. */
void comch_start(struct comch_actor *actor);

/* Start a server and wait for its first client; start a client and wait until it is connected. Clears the trace. */
struct comch_actor *comch_serve(struct side *side);
struct comch_actor *comch_call(struct side *side);

/* Stop the actor, progress until it is idle, destroy it. Accepts an idle or destroyed actor. */
void comch_end(struct comch_actor *actor);

enum doca_ctx_states comch_state(const struct comch_actor *actor);

/* Casts of a context's user data: the actor of a task. */
struct comch_actor *comch_actor_of(const struct doca_task *task);

/* ---- messages ---- */

/* A send task whose user data is @number; submitted. */
struct doca_comch_task_send *comch_task(struct comch_actor *actor, struct doca_comch_connection *connection,
					uint64_t number, const void *data, uint32_t len);
void comch_send(struct comch_actor *actor, struct doca_comch_connection *connection, uint64_t number, const char *text);

/* ---- progress and trace ---- */

void comch_note(struct side *side, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One step; the first sleeps when there is no event, the second does not. The process fails at its deadline. */
void comch_step(struct side *side);

#define comch_until(side, condition)      \
	do {                              \
		while (!(condition))      \
			comch_step(side); \
	} while (0)

/* Progress until the trace is @lines, and clear it. */
#define comch_expect(side, lines) comch_expect_at(side, lines, __FILE__, __LINE__)
void comch_expect_at(struct side *side, const char *lines, const char *file, int line);

/* Clear the trace. */
void comch_forget(struct side *side);

#endif
