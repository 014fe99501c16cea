/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand connections of one RDMA context, whose ends all sleep between events. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "comch.h"
#include "fig.h"
#include "measure.h"
#include "rdma.h"

#define NUM_PROCESSES    10
#define NUM_EACH         100
#define NUM_CONNECTIONS  (NUM_PROCESSES * NUM_EACH)
#define MANY_DESCRIPTORS 1024 /* the usual limit */
#define NUM_SMALL        64   /* messages on each connection, */
#define NUM_LARGE        8    /* and then of the largest size here: more than an inbox holds */
#define NUM_BLOCKS       16
#define SMALL_BYTES      64u
#define LARGE_BYTES      (128u << 10)
#define NUM_ROUNDS       10 /* of a message and its answer on each connection of a process */
#define IDLE_S           1
#define SERVER_ADDRESS   "198.18.0.1" /* the built-in topology gives it to the DPU's first function */

/* ---- the server ---- */

static int watch(struct bench_rdma *end, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(end->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static int prepare(struct bench_rdma *end)
{
	int rc = bench_rdma_listen(end);

	for (uint32_t i = 0; i < end->cfg->num_blocks && rc == 0; i++)
		rc = bench_rdma_receive(end, i);
	return rc;
}

/* Tasks have a connection that nobody uses, until a message names another. */
static int serve(void *arg, int fd)
{
	struct bench_rdma end;
	bool ends = false;
	int rc = bench_rdma_open(arg, "dpu", &end);

	if (rc == 0)
		rc = bench_rdma_export(&end);
	if (rc == 0)
		rc = bench_rdma_make_messages(&end);
	if (rc == 0)
		rc = prepare(&end);
	if (rc == 0)
		rc = watch(&end, fd);
	if (rc == 0)
		rc = bench_answer(fd, 0);
	while (rc == 0 && !ends)
		if (!doca_pe_progress(end.pe))
			ends = bench_rdma_rest(&end, fd);
	if (end.failed > 0)
		rc = bench_fail("the server failed to answer %llu times", (unsigned long long)end.failed);
	return bench_rdma_close(&end) < 0 ? -1 : rc;
}

/* ---- a process with clients ---- */

struct clients {
	struct bench_rdma end;
	struct doca_rdma_connection *connections[NUM_EACH];
	uint32_t count;
};

static int connect_next(struct clients *clients)
{
	int rc = bench_rdma_connect_to_address(&clients->end);

	if (rc == 0)
		clients->connections[clients->count++] = clients->end.connection;
	if (rc == 0 && clients->count == 1)
		rc = bench_rdma_make_messages(&clients->end);
	return rc == 0 ? 0 : -ECONNREFUSED;
}

static int exchange(struct bench_rdma *end, struct doca_rdma_connection *connection, uint32_t bytes, uint32_t count)
{
	int rc = 0;

	while (count-- > 0 && rc == 0) {
		uint64_t sent = end->sent + 1, received = end->received + 1;

		doca_buf_set_data(end->local[0], end->memory, bytes);
		rc = bench_rdma_receive(end, 1);
		if (rc == 0)
			rc = bench_rdma_send_on(end, connection, 0);
		if (rc == 0) {
			bench_rdma_wait(end, &end->received, received);
			bench_rdma_wait(end, &end->sent, sent);
		}
	}
	return rc == 0 && end->failed == 0 ? 0 : -EIO;
}

/* A BENCH_REF_CONNECT makes another connection; a BENCH_REF_MEASURE has each exchange messages. */
static int execute(void *arg, const struct bench_ref_order *order)
{
	struct clients *clients = arg;
	int rc = 0;

	if (order->command == BENCH_REF_CONNECT)
		return connect_next(clients);
	for (uint32_t i = 0; i < clients->count && rc == 0; i++)
		rc = exchange(&clients->end, clients->connections[i], order->bytes, order->count);
	return rc;
}

static int run_clients(void *arg, int fd)
{
	struct clients *clients = calloc(1, sizeof(*clients));
	int rc = clients ? bench_rdma_open(arg, "host", &clients->end) : -1;

	if (rc == 0)
		rc = bench_answer(fd, 0);
	if (rc == 0)
		bench_obey(fd, execute, clients);
	if (clients && bench_rdma_close(&clients->end) < 0)
		rc = -1;
	free(clients);
	return rc;
}

/* ---- the same number of Comch connections of one process ---- */

static int serve_comch(void *arg, int fd)
{
	struct bench_comch end;
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	bool ends = false;
	int rc = bench_comch_open(arg, true, &end);

	if (rc == 0)
		rc = bench_comch_start(&end);
	if (rc == 0)
		rc = epoll_ctl(end.epoll_fd, EPOLL_CTL_ADD, fd, &event);
	if (rc == 0)
		rc = bench_answer(fd, 0);
	while (rc == 0 && !ends)
		if (!doca_pe_progress(end.pe))
			ends = bench_comch_rest(&end, fd);
	return bench_comch_close(&end) < 0 ? -1 : rc;
}

struct comch_clients {
	struct bench_comch base, ends[NUM_EACH];
	uint32_t count;
};

static int connect_comch(void *arg, const struct bench_ref_order *order)
{
	struct comch_clients *clients = arg;
	struct bench_comch *end = &clients->ends[clients->count++];

	*end = clients->base;
	return bench_comch_start(end) < 0 || bench_comch_wait_connected(end) < 0 ? -ECONNREFUSED : 0;
}

static int run_comch_clients(void *arg, int fd)
{
	struct comch_clients *clients = calloc(1, sizeof(*clients));
	int rc = clients ? bench_comch_open(arg, false, &clients->base) : -1;

	if (rc == 0)
		rc = bench_answer(fd, 0);
	if (rc == 0)
		bench_obey(fd, connect_comch, clients);
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
	struct bench_rdma_cfg server_cfg, client_cfg;
	struct bench_comch_cfg comch_cfg;
	struct bench_process server, clients[NUM_PROCESSES], comch_server, comch_clients;
	double connect_us[NUM_CONNECTIONS], comch_us[NUM_EACH];
	double one_us; /* of a message and its answer, while there is one connection */
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
		return bench_fail("a process of the thousand connections is gone");
	if (ret_ns)
		*ret_ns = answer.ns;
	return answer.status == 0 ? 0 : bench_fail("a thousand connections: %s", strerror(-answer.status));
}

static int order(const struct bench_process *process, enum bench_ref_command command, uint32_t bytes, uint32_t count,
		 uint64_t *ret_ns)
{
	const struct bench_ref_order order = { .command = command, .bytes = bytes, .count = count };

	if (bench_send(process->fd, &order, sizeof(order)) < 0)
		return bench_fail("a process of the thousand connections is gone");
	return hear(process, ret_ns);
}

static int start(struct bench_process *process, int (*run)(void *arg, int fd), void *cfg)
{
	return bench_process_fork(run, cfg, process) < 0 ? -1 : hear(process, NULL);
}

static int start_all(struct many *many)
{
	struct rlimit limit;
	int rc = 0;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > MANY_DESCRIPTORS)
		limit.rlim_cur = MANY_DESCRIPTORS;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || bench_card_up(&many->card) < 0)
		return -1;
	many->server_cfg = (struct bench_rdma_cfg){ .card = &many->card,
						    .memfd = -1,
						    .blocks = true,
						    .echoes = true,
						    .block_bytes = LARGE_BYTES,
						    .num_blocks = NUM_BLOCKS,
						    .max_connections = NUM_CONNECTIONS + 1 };
	many->client_cfg = many->server_cfg;
	many->client_cfg.echoes = false;
	many->client_cfg.address = SERVER_ADDRESS;
	many->comch_cfg = (struct bench_comch_cfg){ .card = &many->card, .name = "many", .blocks = true };
	rc = start(&many->server, serve, &many->server_cfg);
	for (unsigned int i = 0; i < NUM_PROCESSES && rc == 0; i++)
		rc = start(&many->clients[i], run_clients, &many->client_cfg);
	if (rc == 0)
		rc = start(&many->comch_server, serve_comch, &many->comch_cfg);
	return rc == 0 ? start(&many->comch_clients, run_comch_clients, &many->comch_cfg) : rc;
}

static int connect_one(const struct bench_process *process, double *ret_us)
{
	uint64_t ns = 0;

	if (order(process, BENCH_REF_CONNECT, 0, 0, &ns) < 0)
		return -1;
	*ret_us = (double)ns / 1000;
	return 0;
}

static int time_messages(const struct many *many, uint32_t num_connections, uint32_t count, double *ret_us)
{
	uint64_t ns = 0;

	if (order(&many->clients[0], BENCH_REF_MEASURE, SMALL_BYTES, count, &ns) < 0)
		return -1;
	*ret_us = (double)ns / 1000 / num_connections / count;
	return 0;
}

/* The first hundred and those of Comch take turns. */
static int connect_all(struct many *many)
{
	for (unsigned int i = 0; i < NUM_CONNECTIONS; i++) {
		if (i == 1 && time_messages(many, 1, NUM_ROUNDS * NUM_EACH, &many->one_us) < 0)
			return -1;
		if (i < NUM_EACH && connect_one(&many->comch_clients, &many->comch_us[i]) < 0)
			return -1;
		if (connect_one(&many->clients[i / NUM_EACH], &many->connect_us[i]) < 0)
			return bench_fail("connection %u of %u can't be made", i + 1, NUM_CONNECTIONS);
	}
	return 0;
}

static int exchange_all(const struct many *many)
{
	for (unsigned int i = 0; i < NUM_PROCESSES; i++)
		if (order(&many->clients[i], BENCH_REF_MEASURE, SMALL_BYTES, NUM_SMALL, NULL) < 0 ||
		    order(&many->clients[i], BENCH_REF_MEASURE, LARGE_BYTES, NUM_LARGE, NULL) < 0)
			return -1;
	return 0;
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
	double *first = many->connect_us, *last = many->connect_us + NUM_CONNECTIONS - NUM_EACH;
	struct bench_row growth = { .name = "RDMA connect, the last 100 of 1000",
				    .baseline_name = "the first 100",
				    .unit = "us",
				    .goal = BENCH_RATIO_AT_MOST,
				    .limit = 1.5,
				    .ours = mean(last, NUM_EACH),
				    .baseline = mean(first, NUM_EACH) };
	struct bench_row connect = { .name = "RDMA connect, by an address",
				     .baseline_name = "Comch connect",
				     .unit = "us",
				     .goal = BENCH_RATIO_AT_MOST,
				     .limit = 2 };
	double last_median = bench_median(last, NUM_EACH), first_median = bench_median(first, NUM_EACH);

	growth.ratio = growth.ours / growth.baseline;
	snprintf(growth.note, sizeof(growth.note), "means; ratio of medians: %.2f", last_median / first_median);
	connect.ours = first_median;
	connect.baseline = bench_median(many->comch_us, NUM_EACH);
	connect.ratio = connect.ours / connect.baseline;
	return bench_report_row(report, &connect) < 0 ? -1 : bench_report_row(report, &growth);
}

static int report_memory(const struct bench_report *report, const char *name, const struct memory *before,
			 const struct memory *fresh, const struct memory *after)
{
	struct bench_row row = {
		.unit = "KiB", .baseline = NAN, .ratio = NAN, .goal = BENCH_OURS_AT_MOST, .limit = 64
	};

	if (before->rss == 0 || after->rss == 0)
		return bench_report_skipped(report, name, "/proc does not show the memory of processes");
	snprintf(row.name, sizeof(row.name), "%s", name);
	row.ours = (after->rss - before->rss) / NUM_CONNECTIONS;
	snprintf(row.note, sizeof(row.note), "Rss of 1 of %d, after traffic; Pss %.1f; before traffic %.1f",
		 NUM_CONNECTIONS, (after->pss - before->pss) / NUM_CONNECTIONS,
		 (fresh->rss - before->rss) / NUM_CONNECTIONS);
	return bench_report_row(report, &row);
}

static double cpu_ms(const struct bench_process *process)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(process->pid, &clock) == 0)
		clock_gettime(clock, &used);
	return (double)used.tv_sec * 1000 + (double)used.tv_nsec / 1e6;
}

/* What the process of the thousand connections uses while nothing happens. */
static int report_idle(const struct bench_report *report, const struct many *many)
{
	struct bench_row row = { .name = "1000 RDMA connections, idle",
				 .unit = "% of a CPU",
				 .baseline = NAN,
				 .ratio = NAN,
				 .goal = BENCH_OURS_AT_MOST,
				 .limit = 0.01 };
	double before = cpu_ms(&many->server);

	sleep(IDLE_S);
	row.ours = (cpu_ms(&many->server) - before) / (IDLE_S * 1000) * 100;
	return bench_report_row(report, &row);
}

static int measure(const struct bench_report *report, struct many *many)
{
	struct bench_row row = { .name = "1000 RDMA connections",
				 .unit = "us",
				 .baseline_name = "1 connection",
				 .note = "a message and its answer; both sleep" };

	many->server_before = memory_of(&many->server);
	many->clients_before = memory_of_clients(many);
	if (connect_all(many) < 0 || report_connects(report, many) < 0)
		return -1;
	many->server_fresh = memory_of(&many->server);
	many->clients_fresh = memory_of_clients(many);
	if (exchange_all(many) < 0)
		return -1;
	many->server_after = memory_of(&many->server);
	many->clients_after = memory_of_clients(many);
	if (report_memory(report, "RDMA connection, at the server", &many->server_before, &many->server_fresh,
			  &many->server_after) < 0 ||
	    report_memory(report, "RDMA connection, at the client", &many->clients_before, &many->clients_fresh,
			  &many->clients_after) < 0 ||
	    report_idle(report, many) < 0 || time_messages(many, NUM_EACH, NUM_ROUNDS, &row.ours) < 0)
		return -1;
	row.baseline = many->one_us;
	row.ratio = row.ours / row.baseline;
	return bench_report_row(report, &row);
}

static int end_all(struct many *many)
{
	int rc = 0;

	for (unsigned int i = 0; i < NUM_PROCESSES; i++)
		rc |= bench_process_end(&many->clients[i]);
	rc |= bench_process_end(&many->server);
	rc |= bench_process_end(&many->comch_clients);
	rc |= bench_process_end(&many->comch_server);
	return bench_card_down(&many->card) < 0 ? -1 : rc;
}

int bench_fig_rdma_many(const struct bench_report *report)
{
	static struct many many;
	int rc = start_all(&many);

	if (rc == 0)
		rc = measure(report, &many);
	return end_all(&many) < 0 ? -1 : rc;
}
