/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/actor.h - processes attached to a session that execute a test's commands.
 *
 *   struct actor host, dpu;                          the test sends requests, the processes execute them
 *   actor_attach(&host, dir, "host", NULL);
 *   actor_attach(&dpu, dir, "dpu", NULL);
 *   actor_export(&host, ACTOR_ANONYMOUS, &key);
 *   actor_import(&dpu, &key);
 *   actor_read(&dpu)                                 0, or the -errno of sim_copy() in the process
 *
 * An actor exports memory of ACTOR_BYTES, filled with a byte that identifies the
 * export. Between two requests it is blocked in recv(2). actor_begin() and
 * actor_finish() are the halves of a request, so that several actors run at once.
 */
#ifndef TESTS_MULTI_ACTOR_H
#define TESTS_MULTI_ACTOR_H

#include "session_util.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/descriptor.h"
#include "sim/session/session.h"

#define ACTOR_BYTES       (256 * 1024)
#define ACTOR_MAX_EXPORTS 16 /* of one actor, at once */

enum actor_memory {
	ACTOR_ANONYMOUS, /* reached through cma */
	ACTOR_MEMFD,     /* can be mapped */
	ACTOR_READ_ONLY, /* anonymous, exported without the right to write */
};

enum actor_op {
	ACTOR_ATTACH,
	ACTOR_EXPORT,
	ACTOR_UNEXPORT,
	ACTOR_END_ALIAS,
	ACTOR_IMPORT,
	ACTOR_READ,
	ACTOR_READ_UNTIL_ERROR,
	ACTOR_READ_HALTED,
	ACTOR_WRITE,
	ACTOR_RELEASE,
	ACTOR_EXPORT_IMPORTED,
	ACTOR_DETACH,
	ACTOR_COMPUTE,
	ACTOR_FORK,
};

/* An export, as another process needs it. */
struct actor_key {
	struct sim_key key;
	uint8_t descriptor[SIM_DESCRIPTOR_BYTES];
	uint8_t fill; /* the value of all its bytes */
	int number;   /* index in the exporter's memories */
};

struct actor_request {
	enum actor_op op;
	int memory;   /* EXPORT: enum actor_memory; UNEXPORT: number */
	uint8_t fill; /* byte to fill with (EXPORT, WRITE), or to expect (READ) */
	bool abandon; /* FORK: the child abandons the session */
	struct sim_key key;
	char dir[4096], side[PCIE_SIDE_SIZE], path[32];
};

struct actor_reply {
	int rc;
	uint8_t fill;  /* READ: the byte that was read */
	pid_t pid;     /* FORK: of the child */
	char path[32]; /* IMPORT: the one in use */
	struct actor_key exported;
};

struct actor {
	struct proc proc;
	char path[32]; /* in use by the last import */
};

/* Start a process and attach it. @path: the required data path, NULL = the best. Returns the result of attaching. */
int actor_attach(struct actor *actor, const char *dir, const char *side, const char *path);

/* Requests; each returns the result in the process. */
int actor_export(struct actor *actor, enum actor_memory memory, struct actor_key *ret_key);
int actor_unexport(struct actor *actor, const struct actor_key *key);
int actor_import(struct actor *actor, const struct actor_key *key); /* one at a time */

int actor_read(struct actor *actor, const struct actor_key *key); /* fails the test if it reads other bytes */
int actor_write(struct actor *actor, uint8_t fill);
int actor_release(struct actor *actor);
/* Export what the actor has imported again, to the network; @key is what was imported. The alias is ended by its key. */
int actor_export_imported(struct actor *actor, const struct actor_key *key, struct actor_key *ret_alias);
int actor_end_alias(struct actor *actor, const struct actor_key *alias);
pid_t actor_fork(struct actor *actor, bool abandon); /* a child that sleeps; the test kills it */
void actor_detach(struct actor *actor);              /* and end the process */

/* Fail the test unless the daemon of session @dir serves an export and its import by two new processes. */
void actor_expect_served(const char *dir);

/* The two halves of a request: send it, wait for the reply. */
void actor_begin(struct actor *actor, const struct actor_request *request);
struct actor_reply actor_finish(struct actor *actor);

#endif
