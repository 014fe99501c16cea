/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/channel_actor.h - processes that open listeners and channels on a test's command.
 *
 *   struct channel_actor dpu, host;                         the test sends requests, the processes execute them
 *   channel_actor_attach(&dpu, dir, "dpu");
 *   channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo");     open listener 0
 *   channel_actor_attach(&host, dir, "host");
 *   channel_actor_connect(&host, 0, HOST0, "echo", 1000, "hi");   open channel 0
 *   channel_actor_expect_offer(&dpu, 0, 0, "hi");           listener 0 returns channel 0 of the DPU
 *   channel_actor_accept(&dpu, 0, "welcome");
 *   channel_actor_expect_msg(&host, 0, "welcome", 0);
 *
 * An expect call waits: the process sleeps until it is notified, so a missing
 * notification fails the test as well as a wrong message. Each descriptor of a
 * message is a memory file that repeats the message's text.
 */
#ifndef TESTS_MULTI_CHANNEL_ACTOR_H
#define TESTS_MULTI_CHANNEL_ACTOR_H

#include "proc.h"
#include "sim/session/channel.h"

enum { DPU0, DPU1, HOST0, HOST1 }; /* functions of the built-in topology; DPU0 has HOST0's representor, ... */

#define CHANNEL_ACTOR_CHANNELS 300

struct channel_actor {
	struct proc proc;
};

enum channel_actor_op {
	CHANNEL_ACTOR_ATTACH,
	CHANNEL_ACTOR_LISTEN,
	CHANNEL_ACTOR_UNLISTEN,
	CHANNEL_ACTOR_RECV_OFFER,
	CHANNEL_ACTOR_CONNECT,
	CHANNEL_ACTOR_ACCEPT,
	CHANNEL_ACTOR_SEND,
	CHANNEL_ACTOR_RECV,
	CHANNEL_ACTOR_HAS_MSG,
	CHANNEL_ACTOR_WAIT_STATUS,
	CHANNEL_ACTOR_WAKE,
	CHANNEL_ACTOR_WAIT_NOTIFICATION,
	CHANNEL_ACTOR_CLOSE,
	CHANNEL_ACTOR_LIMIT_FDS,
	CHANNEL_ACTOR_COUNT_FDS,
	CHANNEL_ACTOR_FORK,
	CHANNEL_ACTOR_DETACH,
};

struct channel_actor_request {
	enum channel_actor_op op;
	int listener, channel;
	uint32_t function, rep, timeout_ms;
	int status; /* to wait for, or to close with */
	uint32_t num_fds;
	char text[SIM_HANDSHAKE_MSG_SIZE];
	char name[160], dir[1024], side[PCIE_SIDE_SIZE];
};

struct channel_actor_reply {
	int rc;
	uint32_t num_fds;
	char text[SIM_HANDSHAKE_MSG_SIZE];
};

/* Start a process and attach it to the session in @dir; NULL = a private card. */
void channel_actor_attach(struct channel_actor *actor, const char *dir, const char *side);

/* Each returns the result of the call in the process. */
int channel_actor_listen(struct channel_actor *actor, int listener, uint32_t function, uint32_t rep, const char *name);
void channel_actor_unlisten(struct channel_actor *actor, int listener);
int channel_actor_connect(struct channel_actor *actor, int channel, uint32_t function, const char *name,
			  uint32_t timeout_ms, const char *hello);
int channel_actor_accept(struct channel_actor *actor, int channel, const char *welcome);
int channel_actor_send(struct channel_actor *actor, int channel, const char *text, uint32_t num_fds);
void channel_actor_wake(struct channel_actor *actor, int channel);
void channel_actor_close(struct channel_actor *actor, int channel, int reason);

/* Wait for the offer, message or status; fail if another one comes first. */
void channel_actor_expect_offer(struct channel_actor *actor, int listener, int channel, const char *hello);
void channel_actor_expect_msg(struct channel_actor *actor, int channel, const char *text, uint32_t num_fds);
void channel_actor_expect_status(struct channel_actor *actor, int channel, int status);
void channel_actor_expect_notification(struct channel_actor *actor, int channel); /* since the last call */

bool channel_actor_has_msg(struct channel_actor *actor, int channel);

/* Limit the process to @more further descriptors; count its open descriptors. */
void channel_actor_limit_fds(struct channel_actor *actor, int more);
int channel_actor_count_fds(struct channel_actor *actor);

/* Fork a child that abandons the session and stays alive; the test kills it. */
pid_t channel_actor_fork(struct channel_actor *actor);

void channel_actor_detach(struct channel_actor *actor); /* and end the process */

/* The two halves of a request: send it, wait for the reply. */
void channel_actor_begin(struct channel_actor *actor, const struct channel_actor_request *request);
struct channel_actor_reply channel_actor_finish(struct channel_actor *actor);

#endif
