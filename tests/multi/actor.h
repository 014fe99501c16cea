/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/actor.h - a session's daemon, and processes attached to it that do as they are told.
 *
 *   struct actor host, dpu;                          the test says, the processes do
 *   actor_attach(&host, dir, "host", NULL);
 *   actor_attach(&dpu, dir, "dpu", NULL);
 *   actor_export(&host, ACTOR_ANONYMOUS, &key);
 *   actor_import(&dpu, &key);
 *   actor_read(&dpu)                                 0, or the -errno that sim_copy() gave there
 *
 * An actor exports memory of ACTOR_BYTES, filled with a byte that says who it
 * is. Between two orders it is blocked in read(2). Each order can be split in
 * actor_begin() and actor_finish(), so that several actors are busy at once.
 */
#ifndef TESTS_MULTI_ACTOR_H
#define TESTS_MULTI_ACTOR_H

#include "proc.h"
#include "sim/session/session.h"

#define ACTOR_BYTES       (256 * 1024)
#define ACTOR_MAX_EXPORTS 16 /* of one actor, at once */

enum actor_memory {
	ACTOR_ANONYMOUS, /* reached through cma */
	ACTOR_MEMFD,     /* can be mapped */
};

enum actor_order {
	ACTOR_ATTACH,
	ACTOR_EXPORT,
	ACTOR_UNEXPORT,
	ACTOR_IMPORT,
	ACTOR_READ,
	ACTOR_READ_UNTIL_ERROR,
	ACTOR_READ_HALTED,
	ACTOR_WRITE,
	ACTOR_RELEASE,
	ACTOR_DETACH,
	ACTOR_COMPUTE,
	ACTOR_FORK,
};

/* An export, as another process needs it. */
struct actor_key {
	struct sim_key key;
	uint8_t descriptor[SIM_DESCRIPTOR_BYTES];
	uint8_t fill; /* what its bytes are */
	int number;   /* of the exporter's memories */
};

struct actor_say {
	enum actor_order order;
	int memory;   /* EXPORT: enum actor_memory; UNEXPORT: number */
	uint8_t fill; /* EXPORT: what to fill with; READ: what to expect; WRITE: what to write */
	bool abandon; /* FORK: does the child let go of the session */
	struct sim_key key;
	char dir[4096], side[PCIE_SIDE_SIZE], path[32];
};

struct actor_answer {
	int rc;
	uint8_t fill;  /* READ: what was there */
	pid_t pid;     /* FORK: of the child */
	char path[32]; /* IMPORT: the one in use */
	struct actor_key exported;
};

struct actor {
	struct proc proc;
	char path[32]; /* in use by the last import */
};

/* Start the daemon of session @dir, and wait until it is ready. */
void daemon_start(struct proc *daemon, const char *dir, const char *topology);

/* Start one as it is, with limits on its descriptors. */
void daemon_start_limited(struct proc *daemon, const char *dir, int max_fds);

/* Run sim_daemon_run() and hear what it returns, be it at its end or at its failure. */
void daemon_try(struct proc *daemon, const char *dir, const char *topology);
int daemon_result(struct proc *daemon);

/* Whether the daemon lists that process, and whether it ceases to within the deadline. */
bool daemon_knows(const char *dir, pid_t pid);
bool daemon_forgets(const char *dir, pid_t pid);

/* What the daemon says of its processes: a JSON text without its blanks. */
void daemon_read_status(const char *dir, char *text, size_t size);

/* SIGTERM, and expect that it ends with 0. */
void daemon_stop(struct proc *daemon);

/* cmocka's setup and teardown for tests that use devices in processes alone: those are in a new session, by
 * BFSIM_SESSION. At the end its daemon must still live, and end well. */
int session_setup(void **state);
int session_teardown(void **state);

/* Start a process and attach it. @path: the data path to insist on, NULL = the best. Returns what attaching did. */
int actor_attach(struct actor *actor, const char *dir, const char *side, const char *path);

/* Orders; each returns what it did there. */
int actor_export(struct actor *actor, enum actor_memory memory, struct actor_key *ret_key);
int actor_unexport(struct actor *actor, const struct actor_key *key);
int actor_import(struct actor *actor, const struct actor_key *key); /* one at a time */

/* On a busy machine an exporter may not be quick enough for libfabric: again. */
int actor_import_patiently(struct actor *actor, const struct actor_key *key);

int actor_read(struct actor *actor, const struct actor_key *key); /* fails the test when other bytes are there */
int actor_write(struct actor *actor, uint8_t fill);
int actor_release(struct actor *actor);
pid_t actor_fork(struct actor *actor, bool abandon); /* a child that only lives; the test's to kill */
void actor_detach(struct actor *actor);              /* and end the process */

/* The halves of any order. */
void actor_begin(struct actor *actor, const struct actor_say *say);
struct actor_answer actor_finish(struct actor *actor);

#endif
