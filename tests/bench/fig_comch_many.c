/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand clients of one server, all of which sleep between events. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "comch.h"
#include "fig.h"

#define NUM_PROCESSES    10
#define NUM_EACH         100
#define NUM_CLIENTS      (NUM_PROCESSES * NUM_EACH)
#define MANY_DESCRIPTORS 1024 /* the usual limit */
#define NUM_SMALL        64   /* messages on each connection, */
#define NUM_LARGE        40   /* and then of the largest size: more than a receive queue holds */
#define SMALL_BYTES      64u

/* ---- the server ---- */

static int serve(void *arg, int fd)
{
	struct bench_comch end;
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	bool ends = false;
	int rc = bench_comch_open(arg, true, &end);

	if (rc == 0)
		rc = bench_comch_start(&end);
	if (rc == 0 && epoll_ctl(end.epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		rc = -1;
	if (rc == 0)
		rc = bench_answer(fd, 0);
	while (rc == 0 && !ends)
		if (!doca_pe_progress(end.pe))
			ends = bench_comch_rest(&end, fd);
	if (end.failed > 0)
		rc = bench_fail("the server failed to answer %llu times", (unsigned long long)end.failed);
	return bench_comch_close(&end) < 0 ? -1 : rc;
}

/* ---- a process with clients ---- */

struct clients {
	struct bench_comch base; /* owns the device and the progress engine */
	struct bench_comch ends[NUM_EACH];
	uint32_t count;
};

static int connect_next(struct clients *clients)
{
	struct bench_comch *end = &clients->ends[clients->count++];

	*end = clients->base;
	return bench_comch_start(end) < 0 || bench_comch_wait_connected(end) < 0 ? -ECONNREFUSED : 0;
}

static int exchange(struct bench_comch *end, uint32_t bytes, uint32_t count)
{
	doca_error_t result = DOCA_SUCCESS;

	while (count-- > 0 && result == DOCA_SUCCESS) {
		uint64_t sent = end->sent + 1, received = end->received + 1;
		struct doca_comch_task_send *task;

		result = doca_comch_client_task_send_alloc_init(end->client, end->connection, end->message, bytes,
								&task);
		if (result == DOCA_SUCCESS)
			result = doca_task_submit(doca_comch_task_send_as_task(task));
		if (result == DOCA_SUCCESS) {
			bench_comch_wait(end, &end->received, received);
			bench_comch_wait(end, &end->sent, sent);
			doca_task_free(doca_comch_task_send_as_task(task));
		}
	}
	return result == DOCA_SUCCESS ? 0 : -EIO;
}

/* A BENCH_REF_CONNECT makes another connection; a BENCH_REF_MEASURE has each exchange messages. */
static int execute(void *arg, const struct bench_ref_order *order)
{
	struct clients *clients = arg;
	int rc = 0;

	if (order->command == BENCH_REF_CONNECT)
		rc = connect_next(clients);
	for (uint32_t i = 0; order->command != BENCH_REF_CONNECT && i < clients->count && rc == 0; i++)
		rc = exchange(&clients->ends[i], order->bytes, order->count);
	while (doca_pe_progress(
		clients->base.pe)) /* virtual time does not wait for a process that has found nothing to do */
		;
	return rc;
}

static int run_clients(void *arg, int fd)
{
	struct clients *clients = calloc(1, sizeof(*clients));
	int rc = clients ? bench_comch_open(arg, false, &clients->base) : -1;

	if (rc == 0)
		rc = bench_answer(fd, 0);
	if (rc == 0)
		bench_obey(fd, execute, clients);
	for (uint32_t i = 0; clients && i < clients->count; i++)
		if (bench_comch_stop(&clients->ends[i]) < 0)
			rc = -1;
	if (clients && bench_comch_close(&clients->base) < 0)
		rc = -1;
	free(clients);
	return rc;
}

/* ---- the figure ---- */

struct memory {
	double rss, pss; /* KiB */
};

struct many {
	struct bench_card card;
	struct bench_comch_cfg cfg;
	struct bench_process server, clients[NUM_PROCESSES];
	double connect_us[NUM_CLIENTS];
	struct memory server_before, server_fresh, server_after;
	struct memory clients_before, clients_fresh, clients_after;
};

static struct memory memory_of(const struct bench_process *process)
{
	struct memory memory = { 0 };
	char path[48], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)process->pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "Rss: %lf", &memory.rss);
		sscanf(line, "Pss: %lf", &memory.pss);
	}
	if (file)
		fclose(file);
	return memory;
}

static struct memory memory_of_clients(const struct many *many)
{
	struct memory sum = { 0 };

	for (unsigned int i = 0; i < NUM_PROCESSES; i++) {
		struct memory one = memory_of(&many->clients[i]);

		sum.rss += one.rss;
		sum.pss += one.pss;
	}
	return sum;
}

static int hear(const struct bench_process *process, uint64_t *ret_ns)
{
	struct bench_ref_answer answer;

	if (bench_receive(process->fd, &answer, sizeof(answer)) < 0)
		return bench_fail("a process of the thousand clients is gone");
	if (ret_ns)
		*ret_ns = answer.ns;
	return answer.status == 0 ? 0 : bench_fail("a thousand clients: %s", strerror(-answer.status));
}

static int order(const struct bench_process *process, enum bench_ref_command command, uint32_t bytes, uint32_t count,
		 uint64_t *ret_ns)
{
	const struct bench_ref_order order = { .command = command, .bytes = bytes, .count = count };

	if (bench_send(process->fd, &order, sizeof(order)) < 0)
		return bench_fail("a process of the thousand clients is gone");
	return hear(process, ret_ns);
}

static int start_all(struct many *many, enum sim_clock_mode clock)
{
	struct rlimit limit;

	many->card = (struct bench_card){ .clock = clock };
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > MANY_DESCRIPTORS)
		limit.rlim_cur = MANY_DESCRIPTORS;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || bench_card_up_as(&many->card) < 0)
		return -1;
	many->cfg = (struct bench_comch_cfg){ .card = &many->card, .name = "many", .blocks = true, .echoes = true };
	if (bench_process_fork(serve, &many->cfg, &many->server) < 0 || hear(&many->server, NULL) < 0)
		return -1;
	many->cfg.echoes = false;
	for (unsigned int i = 0; i < NUM_PROCESSES; i++)
		if (bench_process_fork(run_clients, &many->cfg, &many->clients[i]) < 0 ||
		    hear(&many->clients[i], NULL) < 0)
			return -1;
	return 0;
}

static int connect_all(struct many *many)
{
	for (unsigned int i = 0; i < NUM_CLIENTS; i++) {
		uint64_t ns = 0;

		if (order(&many->clients[i / NUM_EACH], BENCH_REF_CONNECT, 0, 0, &ns) < 0)
			return bench_fail("client %u of %u can't connect", i + 1, NUM_CLIENTS);
		many->connect_us[i] = (double)ns / 1000;
	}
	return 0;
}

static int exchange_all(const struct many *many)
{
	for (unsigned int i = 0; i < NUM_PROCESSES; i++)
		if (order(&many->clients[i], BENCH_REF_MEASURE, SMALL_BYTES, NUM_SMALL, NULL) < 0 ||
		    order(&many->clients[i], BENCH_REF_MEASURE, BENCH_COMCH_MAX_MSG, NUM_LARGE, NULL) < 0)
			return -1;
	return 0;
}

static int measure(struct many *many)
{
	many->server_before = memory_of(&many->server);
	many->clients_before = memory_of_clients(many);
	if (connect_all(many) < 0)
		return -1;
	many->server_fresh = memory_of(&many->server);
	many->clients_fresh = memory_of_clients(many);
	if (exchange_all(many) < 0)
		return -1;
	many->server_after = memory_of(&many->server);
	many->clients_after = memory_of_clients(many);
	return 0;
}

/* ---- results ---- */

static int report_memory(const struct bench_report *report, const char *name, const struct memory *before,
			 const struct memory *fresh, const struct memory *after)
{
	struct bench_row row = { .unit = "KiB", .baseline = NAN, .ratio = NAN, .goal = BENCH_OURS_BELOW, .limit = 64 };

	if (before->rss == 0 || after->rss == 0)
		return bench_report_skipped(report, name, "/proc does not show the memory of processes");
	snprintf(row.name, sizeof(row.name), "%s", name);
	row.ours = (after->rss - before->rss) / NUM_CLIENTS;
	snprintf(row.note, sizeof(row.note), "Rss of 1 of %d, after traffic; Pss %.1f; before traffic %.1f",
		 NUM_CLIENTS, (after->pss - before->pss) / NUM_CLIENTS, (fresh->rss - before->rss) / NUM_CLIENTS);
	return bench_report_row(report, &row);
}

static double mean(const double *values, unsigned int count)
{
	double sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

static int report_connects(const struct bench_report *report, struct many *many)
{
	double *first = many->connect_us, *last = many->connect_us + NUM_CLIENTS - NUM_EACH;
	struct bench_row row = { .name = "Comch connect, the last 100 of 1000",
				 .baseline_name = "the first 100",
				 .unit = "us",
				 .goal = BENCH_RATIO_AT_MOST,
				 .limit = 1.5,
				 .ours = mean(last, NUM_EACH),
				 .baseline = mean(first, NUM_EACH) };
	double last_median = bench_median(last, NUM_EACH), first_median = bench_median(first, NUM_EACH);

	row.ratio = row.ours / row.baseline;
	snprintf(row.note, sizeof(row.note), "means; ratio of medians: %.2f", last_median / first_median);
	return bench_report_row(report, &row);
}

static int report_all(const struct bench_report *report, struct many *many)
{
	if (report_memory(report, "Comch connection, at the server", &many->server_before, &many->server_fresh,
			  &many->server_after) < 0 ||
	    report_memory(report, "Comch connection, at the client", &many->clients_before, &many->clients_fresh,
			  &many->clients_after) < 0)
		return -1;
	return report_connects(report, many);
}

static int end_all(struct many *many)
{
	int rc = 0;

	for (unsigned int i = 0; i < NUM_PROCESSES; i++)
		rc |= bench_process_end(&many->clients[i]);
	rc |= bench_process_end(&many->server);
	return bench_card_down(&many->card) < 0 ? -1 : rc;
}

/* ---- messages, in each clock mode ---- */

#define NUM_ROUNDS 10 /* on each connection of a process */

static int time_messages(const struct many *many, uint32_t num_connections, uint32_t count, double *ret_us)
{
	uint64_t ns;

	if (order(&many->clients[0], BENCH_REF_MEASURE, SMALL_BYTES, count, &ns) < 0)
		return -1;
	*ret_us = (double)ns / 1000 / num_connections / count;
	return 0;
}

/* A message and its answer, while there is one connection and while there are all; 100 take part in turn. */
static int report_messages(const struct bench_report *report, struct many *many)
{
	const char *clock = sim_clock_mode_name(many->card.clock);
	struct bench_row row = { .unit = "us", .baseline_name = "1 connection", .note = "a message and its answer" };
	uint64_t ns;
	int rc = order(&many->clients[0], BENCH_REF_CONNECT, 0, 0, &ns);

	if (rc == 0)
		rc = time_messages(many, 1, NUM_ROUNDS * NUM_EACH, &row.baseline);
	for (unsigned int i = 1; i < NUM_CLIENTS && rc == 0; i++)
		rc = order(&many->clients[i / NUM_EACH], BENCH_REF_CONNECT, 0, 0, &ns);
	if (rc == 0)
		rc = time_messages(many, NUM_EACH, NUM_ROUNDS, &row.ours);
	if (rc < 0)
		return -1;
	row.ratio = row.ours / row.baseline;
	snprintf(row.name, sizeof(row.name), "1000 Comch connections, %s", clock);
	return bench_report_row(report, &row);
}

static int report_clock(const struct bench_report *report, struct many *many, enum sim_clock_mode clock)
{
	int rc = start_all(many, clock);

	if (rc == 0)
		rc = report_messages(report, many);
	return end_all(many) < 0 ? -1 : rc;
}

int bench_fig_comch_many(const struct bench_report *report)
{
	static struct many many;
	int rc = start_all(&many, SIM_CLOCK_FUNCTIONAL);

	if (rc == 0)
		rc = measure(&many);
	if (rc == 0)
		rc = report_all(report, &many);
	rc = end_all(&many) < 0 ? -1 : rc;
	for (int clock = 0; clock < SIM_CLOCK_NUM_MODES && rc == 0; clock++)
		if (clock != SIM_CLOCK_TIMED) /* there a message takes its time */
			rc = report_clock(report, &many, (enum sim_clock_mode)clock);
	return rc;
}
