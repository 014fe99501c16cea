/* SPDX-License-Identifier: BSD-3-Clause */
/* A client or a server of Comch that forges what it sends: its handshake, announcements of consumers, records, the
 * descriptors that come with them. Between two forgeries it may be honest. An attacked server goes on to serve an honest
 * client. */
#include "hostile.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../multi/comch_forger.h"
#include "proc.h"

#define SERVICE    "hostile"
#define FORGE_MS   150
#define ACCEPT_MS  20
#define MAX_FORGED 200 /* records and announcements on one connection */

/* Change some words of a message; most of it stays as it is. */
static void change_words(struct bout *bout, void *bytes, size_t len)
{
	for (uint64_t i = bout_random(bout, 3); i > 0; i--) {
		uint32_t word =
			bout_random(bout, 2) ? (uint32_t)bout_random(bout, 5) : (uint32_t)bout_random(bout, UINT32_MAX);

		if (bout_random(bout, 4) == 0)
			word = UINT32_MAX;
		memcpy((uint8_t *)bytes + bout_random(bout, len / 4) * 4, &word, sizeof(word));
	}
}

static int make_fd(struct bout *bout)
{
	int fds[2];

	switch (bout_random(bout, 4)) {
	case 0:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 1:
		return eventfd(0, EFD_CLOEXEC);
	case 2:
		return memfd_create("short", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	default:
		CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
		close(fds[0]);
		return fds[1];
	}
}

/* Replace one of the descriptors, or leave some out. Returns the descriptor to close after the message was sent, or -1. */
static int change_fds(struct bout *bout, int *fds, uint32_t *num_fds)
{
	int fd;

	if (bout_random(bout, 6) == 0)
		*num_fds = (uint32_t)bout_random(bout, *num_fds + 1);
	if (*num_fds == 0 || bout_random(bout, 4) > 0)
		return -1;
	fd = make_fd(bout);
	fds[bout_random(bout, *num_fds)] = fd;
	return fd;
}

static void close_made(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Connect, or accept a client. Returns whether there is a connection. */
static bool connect_forged(struct bout *bout, struct forger *forger)
{
	struct sim_handshake_msg msg;
	bool is_connected;
	int made = -1;

	forger_handshake(forger, &msg);
	if (bout_random(bout, 2)) {
		change_words(bout, msg.body, sizeof(struct sim_pipe_address));
		made = change_fds(bout, msg.fds, &msg.num_fds);
	}
	if (forger->listener)
		is_connected = forger_accept(forger, &msg, ACCEPT_MS);
	else
		is_connected = forger_connect(forger, SERVICE, &msg) == 0;
	close_made(made);
	__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	return is_connected;
}

static void forge_announcement(struct bout *bout, struct forger *forger)
{
	struct sim_consumer_info info = { .id = (uint32_t)bout_random(bout, 8), .num_slots = 1, .max_imm_bytes = 8 };
	int fds[2] = { forger->ring_fd, forger->wake.send_fd }, made;
	uint32_t num_fds = 2;

	if (bout_random(bout, 2))
		change_words(bout, &info, sizeof(info));
	made = change_fds(bout, fds, &num_fds);
	forger_announce(forger, &info, fds, num_fds);
	close_made(made);
}

static void forge_record(struct bout *bout, struct forger *forger)
{
	const uint32_t max = forger->out.max_record_bytes;
	uint32_t kind = bout_random(bout, 16) ? (uint32_t)bout_random(bout, SIM_PIPE_MESSAGE_WITH_HDR + 2) :
						(uint32_t)bout_random(bout, UINT32_MAX);
	uint8_t *bytes = calloc(1, max);
	size_t len = bout_random(bout, 2) ? bout_random(bout, 48) : bout_random(bout, max + 1);

	CHECK(bytes);
	change_words(bout, bytes, 48);
	forger_send_record(forger, kind, bytes, len);
	free(bytes);
}

static void forge(struct bout *bout, struct forger *forger)
{
	int64_t end = proc_now_ms() + FORGE_MS;

	while (proc_now_ms() < end) {
		if (!connect_forged(bout, forger))
			continue;
		for (int i = 0; i < MAX_FORGED && forger_is_open(forger) && proc_now_ms() < end; i++) {
			if (bout_random(bout, 3) == 0)
				forge_announcement(bout, forger);
			else if (sim_ring_arm_space(&forger->out, forger->out.max_record_bytes))
				forge_record(bout, forger);
			__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
		}
		forger_disconnect(forger);
	}
	forger_close(forger);
}

static int run_forged_client(struct bout *bout, int sock)
{
	struct forger forger;

	forger_open(&forger, "host");
	forge(bout, &forger);
	return ROLE_REFUSED;
}

static int run_forged_server(struct bout *bout, int sock)
{
	struct forger forger;

	forger_open(&forger, "dpu");
	forger_listen(&forger, SERVICE);
	forge(bout, &forger);
	return ROLE_REFUSED;
}

static void forge_client(struct bout *bout)
{
	struct party *server, *forger, *honest;

	server = bout_start(bout, "server", "dpu", role_patient_server, -1);
	forger = bout_start(bout, "forger", "host", run_forged_client, -1);
	bout_pause(bout, FORGE_MS);
	honest = bout_start(bout, "honest client", "host", role_client, -1);
	if (bout_wait(bout, honest) && honest->status != 0)
		bout_defect(bout, &bout->tally->wrong, "was not served", "honest client");
	bout_wait(bout, forger);
	server->is_victim = true; /* it serves on */
	kill(server->pid, SIGKILL);
}

/* Clients that take any message, one after the other. */
static void forge_server(struct bout *bout)
{
	bout_start(bout, "forger", "dpu", run_forged_server, -1);
	for (int i = 0; i < 2; i++)
		bout_start(bout, "client", "host", role_stubborn_client, -1);
}

static void forge_end(struct bout *bout)
{
	setenv("BFSIM_PATH", "", 1);
	bout_session(bout);
	if (strcmp(bout->path, "server") == 0)
		forge_client(bout);
	else
		forge_server(bout);
}

const struct attack attack_forge = { "forge", attack_comch_victims, 100, 4, forge_end };
