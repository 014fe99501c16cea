/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile process of the session that writes anything into the state which all its processes share, in each clock: the
 * clock's page, the fault plan, the functions' status words, the checker's ledger. Honest pairs run before, meanwhile and
 * after it. The daemon goes on to answer, and ends when it is told to.
 *
 * Times and even the clock's mode may be wrong, so an honest process may wait for ever: it is killed then, which is no
 * defect. A crash, wrong bytes, or a daemon that hangs is one. */
#include "hostile.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proc.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"
#include "sim/state/shared_state.h"

#define HARM_MS   150
#define ANSWER_MS 12000 /* longer than a wait for a stopped holder of the clock's lock */
#define END_MS    2000

/* ---- the hostile process ---- */

struct part {
	size_t offset, len;
};

#define PART(member)                                                                                      \
	{                                                                                                 \
		offsetof(struct sim_shared_state, member), sizeof(((struct sim_shared_state *)0)->member) \
	}
#define HEAD(member, bytes)                                      \
	{                                                        \
		offsetof(struct sim_shared_state, member), bytes \
	}

/* Large parts begin with what is in use. */
static const struct part parts[] = {
	PART(clock.now_ns),
	PART(clock.lock),
	HEAD(clock, 512),
	HEAD(clock.due, 512),
	HEAD(clock.participants, 2048),
	HEAD(clock.engines, 512),
	HEAD(clock.cards, 4096),
	HEAD(plan, 64),
	HEAD(plan.slots, 4096),
	PART(plan.series),
	HEAD(functions, 512),
	HEAD(ledger, 8192),
	PART(clock),
	PART(plan),
	PART(ledger),
};

static uint64_t make_word(struct bout *bout)
{
	switch (bout_random(bout, 5)) {
	case 0:
		return bout->random;
	case 1:
		return bout_random(bout, 8);
	case 2:
		return UINT64_MAX;
	case 3:
		return (uint64_t)getppid() << 32 | bout_random(bout, 4); /* a process that lives */
	default:
		return 0;
	}
}

static void scribble(struct bout *bout, uint8_t *state, const struct part *part)
{
	uint64_t word = make_word(bout);
	size_t num_words = part->len / 8;
	volatile uint64_t *words = (void *)(state + part->offset);

	if (bout_random(bout, 16) == 0 && num_words <= 1024)
		for (size_t i = 0; i < num_words; i++)
			words[i] = word;
	else
		for (int i = 0; i < 8; i++)
			words[bout_random(bout, num_words)] = make_word(bout);
}

static int connect_to(const struct bout *bout)
{
	int dir_fd = sim_session_dir_open(bout->dir, false), sock = sim_session_dir_connect(dir_fd);

	close(dir_fd);
	return sock;
}

/* One part all the time in most rounds, so that the others stay as they are. */
static int scribble_state(struct bout *bout, int sock)
{
	struct sim_msg msg = { .type = SIM_MSG_SHARED_STATE };
	const size_t num_parts = sizeof(parts) / sizeof(parts[0]);
	const struct part *part = &parts[bout_random(bout, num_parts)];
	bool all_parts = bout->round % 4 == 0;
	int64_t end = proc_now_ms() + HARM_MS;
	struct sim_segment state;
	int fd;

	CHECK(attack_call_with(connect_to(bout), &msg, -1, &fd) == 0);
	CHECK(sim_shared_state_map(fd, &state) == 0);
	send(sock, "", 1, MSG_NOSIGNAL);
	while (proc_now_ms() < end) {
		scribble(bout, state.base, all_parts ? &parts[bout_random(bout, num_parts)] : part);
		__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	}
	return ROLE_DONE;
}

/* ---- the honest processes ---- */

static void start_pair(struct bout *bout, struct party *ret_pair[2])
{
	int socks[2];

	bout_pair(socks);
	ret_pair[0] = bout_start(bout, "exporter", "host", role_exporter, socks[0]);
	ret_pair[1] = bout_start(bout, "importer", "dpu", role_importer, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

static void start_talk(struct bout *bout, struct party *ret_pair[2])
{
	ret_pair[0] = bout_start(bout, "server", "dpu", role_server, -1);
	ret_pair[1] = bout_start(bout, "client", "host", role_client, -1);
}

/* The daemon answers a process that has nothing to do with the shared state. */
static void expect_answer(struct bout *bout)
{
	struct sim_msg msg = { .type = SIM_MSG_STATUS, .seq = 1 };
	int sock = connect_to(bout), fd = -1;

	if (sock < 0 || sim_msg_send(sock, &msg, -1) < 0 || !proc_readable_within(sock, ANSWER_MS) ||
	    sim_msg_recv(sock, &msg, &fd) < 0)
		bout_defect(bout, &bout->tally->hung, "does not answer", "daemon");
	if (fd >= 0)
		close(fd);
	close(sock);
}

static void end_in_wrong_time(struct bout *bout)
{
	int64_t end = proc_now_ms() + END_MS;

	for (unsigned int i = 0; i < bout->num_parties; i++) {
		struct party *party = &bout->parties[i];

		while (party != bout->daemon && !party->has_ended && proc_now_ms() < end)
			bout_poll(bout, party, 10);
		if (party == bout->daemon || party->has_ended)
			continue;
		party->is_victim = true;
		kill(party->pid, SIGKILL);
	}
}

static void attack_clock(struct bout *bout)
{
	struct party *before[2], *after[2], *talk[2];
	int socks[2];
	char byte;

	setenv("BFSIM_PATH", "", 1);
	setenv("BFSIM_CHECK", bout->round % 2 ? "races" : "off", 1);
	bout->clock = bout->path;
	bout_session(bout);
	start_pair(bout, before);
	start_talk(bout, talk);
	bout_pair(socks);
	bout_start(bout, "scribbler", "host", scribble_state, socks[0]);
	close(socks[0]);
	recv(socks[1], &byte, 1, 0);
	close(socks[1]);
	expect_answer(bout);
	start_pair(bout, after);
	expect_answer(bout);
	end_in_wrong_time(bout);
	expect_answer(bout);
	setenv("BFSIM_CHECK", "off", 1);
}

static const char *const clocks[] = { "functional", "timed", "virtual", NULL };

const struct attack attack_state = { "state", clocks, 60, 2, attack_clock };
