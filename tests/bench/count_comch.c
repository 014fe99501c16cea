/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch messages between two processes that take turns: no end polls while the other one is at work. */
#include <stdio.h>
#include <stdlib.h>

#include "comch.h"
#include "count.h"
#include "measure.h"
#include "memory.h"

struct end {
	struct bench_card card;
	struct bench_comch_cfg cfg;
	struct bench_comch comch;
};

/* The client sends, the server receives. */
static int open_end(struct end *end, bool is_server)
{
	struct bench_comch *comch = &end->comch;

	*end = (struct end){ .cfg = { .card = &end->card, .name = "count" } };
	snprintf(end->card.dir, sizeof(end->card.dir), "%s", getenv("BFSIM_SESSION"));
	if (bench_comch_open(&end->cfg, is_server, comch) < 0 || bench_comch_start(comch) < 0 ||
	    bench_comch_wait_connected(comch) < 0)
		return -1;
	if (!is_server && doca_comch_client_task_send_alloc_init(comch->client, comch->connection, comch->message,
								 BENCH_SMALL_BYTES, &comch->ping) != DOCA_SUCCESS)
		return bench_fail("no send task");
	return 0;
}

static int send_or_receive(struct bench_comch *end)
{
	if (end->server) {
		bench_comch_wait(end, &end->received, end->received + 1);
		return 0;
	}
	if (doca_task_submit(doca_comch_task_send_as_task(end->ping)) != DOCA_SUCCESS)
		return bench_fail("a message is not sent");
	bench_comch_wait(end, &end->sent, end->sent + 1);
	return 0;
}

static int run_other(void *is_server, int fd)
{
	struct end end;
	char turn;
	int rc = open_end(&end, *(bool *)is_server);

	while (rc == 0 && bench_receive(fd, &turn, 1) == 0) {
		rc = send_or_receive(&end.comch);
		if (rc == 0)
			rc = bench_send(fd, &turn, 1);
	}
	return rc;
}

static int give_turn(int fd)
{
	char turn = 0;

	return bench_send(fd, &turn, 1) < 0 ? -1 : bench_receive(fd, &turn, 1);
}

/* The first message is not counted. */
static int run_turns(struct end *end, int fd, uint32_t count)
{
	int rc = 0;

	for (uint32_t i = 0; i <= count && rc == 0; i++) {
		if (end->comch.server)
			rc = give_turn(fd);
		if (i > 0)
			bench_count_toggle();
		if (rc == 0)
			rc = send_or_receive(&end->comch);
		if (i > 0)
			bench_count_toggle();
		if (rc == 0 && !end->comch.server)
			rc = give_turn(fd);
	}
	return rc;
}

static int count_messages(bool is_server, uint32_t count)
{
	struct bench_process other;
	bool other_is_server = !is_server;
	struct end end;
	int rc = bench_process_fork(run_other, &other_is_server, &other);

	if (rc == 0)
		rc = open_end(&end, is_server);
	if (rc == 0)
		rc = run_turns(&end, other.fd, count);
	return bench_process_end(&other) < 0 ? -1 : rc;
}

int bench_count_sends(uint32_t count)
{
	return count_messages(false, count);
}

int bench_count_receives(uint32_t count)
{
	return count_messages(true, count);
}
