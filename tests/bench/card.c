/* SPDX-License-Identifier: BSD-3-Clause */
/* A session and its daemon in a temporary directory, for one figure. */
#include "card.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "sim/daemon/daemon.h"

static int run_daemon(void *arg, int fd)
{
	const struct bench_card *card = arg;

	return sim_daemon_run(&(struct sim_daemon_cfg){
		.dir = card->dir, .topology_path = card->topology_path, .clock = card->clock, .ready_fd = fd });
}

int bench_card_up(struct bench_card *ret_card)
{
	*ret_card = (struct bench_card){ .clock = SIM_CLOCK_FUNCTIONAL };
	return bench_card_up_as(ret_card);
}

int bench_card_up_as(struct bench_card *card)
{
	const char *tmp = getenv("TMPDIR");
	char ready;

	snprintf(card->dir, sizeof(card->dir), "%.48s/card-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	if (!mkdtemp(card->dir))
		return bench_fail("cannot make a session directory %s: %s", card->dir, strerror(errno));
	if (bench_process_fork(run_daemon, card, &card->daemon) < 0)
		return -1;
	if (bench_receive(card->daemon.fd, &ready, 1) < 0)
		return bench_fail("the card's daemon did not start");
	return 0;
}

int bench_card_down(struct bench_card *card)
{
	int rc;

	kill(card->daemon.pid, SIGTERM);
	rc = bench_process_end(&card->daemon);
	rmdir(card->dir);
	return rc;
}

struct visit {
	const struct bench_card *card;
	const char *side, *path;
	int (*run)(void *arg);
	void *arg;
};

static int run_in_session(void *arg, int fd)
{
	const struct visit *visit = arg;

	bench_card_enter(visit->card, visit->side, visit->path);
	return visit->run(visit->arg);
}

int bench_card_run(const struct bench_card *card, const char *side, const char *path, int (*run)(void *arg), void *arg)
{
	struct visit visit = { card, side, path, run, arg };
	struct bench_process process;

	if (bench_process_fork(run_in_session, &visit, &process) < 0)
		return -1;
	return bench_process_end(&process);
}
