/* SPDX-License-Identifier: BSD-3-Clause */
/* The death of a Comch peer that is noticed late: a client in a process of its own is killed while messages to it wait. Until
 * the notice they stay open, and no event comes; behind it they fail, and the server learns of the disconnect. In real
 * time and in virtual time. */
#include <bfsim.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cell.h"

#define CLIENT_QUEUE 4
#define NUM_MESSAGES 6

#define SENT   "sent 1\nsent 2\nsent 3\nsent 4\n"
#define FAILED "send 5 failed: DOCA_ERROR_CONNECTION_ABORTED\nsend 6 failed: DOCA_ERROR_CONNECTION_ABORTED\n"

/* Connects, and reads nothing. */
static void be_victim(struct side *side, int ready_fd)
{
	struct comch_actor *client;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	side->dev = comch_open("b1:00.0");
	MUST(doca_pe_create(&side->pe));
	client = comch_client(side, side->dev, COMCH_NAME);
	MUST(doca_comch_client_set_recv_queue_size(client->client, CLIENT_QUEUE));
	comch_start(client);
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_RUNNING);
	CHECK(write(ready_fd, "r", 1) == 1);
	for (;;)
		pause();
}

static pid_t start_victim(struct side *side)
{
	int fds[2];
	pid_t pid;
	char byte;

	CHECK(pipe(fds) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		be_victim(side, fds[1]);
	CHECK(read(fds[0], &byte, 1) == 1);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static void death_host(struct side *side)
{
	pid_t victim = start_victim(side);

	comch_meet(side); /* the messages are submitted */
	CHECK(kill(victim, SIGKILL) == 0);
	CHECK(waitpid(victim, NULL, 0) == victim);
	comch_meet(side);
	comch_meet(side);
}

static void death_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	uint64_t begin_ns = bfsim_now_ns();

	cell_arm();
	for (uint64_t number = 1; number <= NUM_MESSAGES; number++)
		comch_send(server, side->connection, number, "text");
	comch_expect(side, SENT);
	comch_meet(side);
	comch_meet(side); /* it is dead */
	comch_expect(side, cell->on_dpu);
	CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	cell_expect_hit();
	comch_end(server);
	comch_meet(side);
}

static const struct cell cells[] = {
	{ "comch.peer_death", "delay", "nth=1 delay=500ms", death_dpu, death_host, FAILED "disconnected\n", "" },
};

int main(void)
{
	int failed = cell_run("death", cells, sizeof(cells) / sizeof(cells[0]));

	comch_session.clock = "virtual";
	return failed + cell_run("death", cells, sizeof(cells) / sizeof(cells[0]));
}
