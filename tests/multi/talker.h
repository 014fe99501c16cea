/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/talker.h - processes that connect to each other as they are told.
 *
 *   struct talker dpu, host;                        the test says, the processes do
 *   talker_attach(&dpu, dir, "dpu");
 *   talker_listen(&dpu, 0, DPU0, HOST0, "echo");    its listener 0
 *   talker_attach(&host, dir, "host");
 *   talker_connect(&host, 0, HOST0, "echo", 1000, "hi");   its channel 0
 *   talker_expect_offer(&dpu, 0, 0, "hi");          listener 0 gives its channel 0
 *   talker_accept(&dpu, 0, "welcome");
 *   talker_expect_letter(&host, 0, "welcome", 0);
 *
 * What is expected is waited for: the process sleeps until it is notified, so a
 * notification that does not come is found out as well as a wrong one.
 * A letter sent with descriptors has memory files, whose contents are what it says.
 */
#ifndef TESTS_MULTI_TALKER_H
#define TESTS_MULTI_TALKER_H

#include "proc.h"
#include "sim/session/channel.h"

enum { DPU0, DPU1, HOST0, HOST1 }; /* functions of the built-in topology; DPU0 has HOST0's representor, ... */

#define TALKER_CHANNELS 300

struct talker {
	struct proc proc;
};

enum talker_order {
	TALKER_ATTACH,
	TALKER_LISTEN,
	TALKER_UNLISTEN,
	TALKER_TAKE_OFFER,
	TALKER_CONNECT,
	TALKER_ACCEPT,
	TALKER_SEND,
	TALKER_TAKE,
	TALKER_HAS_LETTER,
	TALKER_WAIT_STATUS,
	TALKER_NUDGE,
	TALKER_WAIT_NOTE,
	TALKER_CLOSE,
	TALKER_LIMIT_FDS,
	TALKER_COUNT_FDS,
	TALKER_FORK,
	TALKER_DETACH,
};

struct talker_say {
	enum talker_order order;
	int listener, channel;
	uint32_t function, rep, timeout_ms;
	int status; /* to wait for, or to close with */
	uint32_t num_fds;
	char text[SIM_HANDSHAKE_MSG_SIZE];
	char name[160], dir[1024], side[PCIE_SIDE_SIZE];
};

struct talker_answer {
	int rc;
	uint32_t num_fds;
	char text[SIM_HANDSHAKE_MSG_SIZE];
};

/* Attach; @dir NULL = a private card. */
void talker_attach(struct talker *talker, const char *dir, const char *side);

/* Each returns what the call did there. */
int talker_listen(struct talker *talker, int listener, uint32_t function, uint32_t rep, const char *name);
void talker_unlisten(struct talker *talker, int listener);
int talker_connect(struct talker *talker, int channel, uint32_t function, const char *name, uint32_t timeout_ms,
		   const char *hello);
int talker_accept(struct talker *talker, int channel, const char *welcome);
int talker_send(struct talker *talker, int channel, const char *text, uint32_t num_fds);
void talker_nudge(struct talker *talker, int channel);
void talker_close(struct talker *talker, int channel, int reason);

/* Wait for it, and fail if it is another. */
void talker_expect_offer(struct talker *talker, int listener, int channel, const char *hello);
void talker_expect_letter(struct talker *talker, int channel, const char *text, uint32_t num_fds);
void talker_expect_status(struct talker *talker, int channel, int status);
void talker_expect_note(struct talker *talker, int channel); /* one more than when last asked */

bool talker_has_letter(struct talker *talker, int channel);

/* No more than this many descriptors further than now; and how many it has. */
void talker_limit_fds(struct talker *talker, int more);
int talker_count_fds(struct talker *talker);

/* A child that lets go of the session and lives on; the test's to kill. */
pid_t talker_fork(struct talker *talker);

void talker_detach(struct talker *talker); /* and end the process */

/* The halves of any order. */
void talker_begin(struct talker *talker, const struct talker_say *say);
struct talker_answer talker_finish(struct talker *talker);

#endif
