/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand connections of one RDMA context, whose ends all sleep between events. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "comch.h"
#include "fig.h"
#include "many.h"
#include "measure.h"
#include "rdma.h"
#include "reference.h"

#define NUM_LARGE      8 /* messages of the largest size here: more than an inbox holds */
#define NUM_BLOCKS     16
#define LARGE_BYTES    (128u << 10)
#define NUM_ROUNDS     10  /* of a message and its answer on each connection of a process */
#define SETTLE_MS      300 /* the engine's thread ticks for a moment behind the end of traffic */
#define IDLE_S         1
#define SERVER_ADDRESS "198.18.0.1" /* the built-in topology gives it to the DPU's first function */

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
	struct doca_rdma_connection *connections[BENCH_MANY_EACH];
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

/* ---- the figure ---- */

/* Beside the thousand connections, a hundred of Comch are made. */
struct figure {
	struct bench_card card;
	struct bench_rdma_cfg server_cfg, client_cfg;
	struct bench_comch_cfg comch_cfg;
	struct bench_process comch_server, comch_clients;
	struct bench_many many;
	double comch_us[BENCH_MANY_EACH];
	double one_us; /* of a message and its answer, while there is one connection */
};

static int start_all(struct figure *figure)
{
	int rc;

	if (bench_many_limit_descriptors() < 0 || bench_card_up(&figure->card) < 0)
		return -1;
	figure->server_cfg = (struct bench_rdma_cfg){ .card = &figure->card,
						      .memfd = -1,
						      .blocks = true,
						      .echoes = true,
						      .block_bytes = LARGE_BYTES,
						      .num_blocks = NUM_BLOCKS,
						      .max_connections = BENCH_MANY_CONNECTIONS + 1 };
	figure->client_cfg = figure->server_cfg;
	figure->client_cfg.echoes = false;
	figure->client_cfg.address = SERVER_ADDRESS;
	figure->comch_cfg = (struct bench_comch_cfg){ .card = &figure->card, .name = "many", .blocks = true };
	rc = bench_many_start(&figure->many.server, serve, &figure->server_cfg);
	if (rc == 0)
		rc = bench_many_start_clients(&figure->many, run_clients, &figure->client_cfg);
	if (rc == 0)
		rc = bench_many_start(&figure->comch_server, bench_many_serve_comch, &figure->comch_cfg);
	if (rc == 0)
		rc = bench_many_start(&figure->comch_clients, bench_many_run_comch_clients, &figure->comch_cfg);
	return rc;
}

/* The first hundred and those of Comch take turns. */
static int connect_all(struct figure *figure)
{
	for (unsigned int i = 0; i < BENCH_MANY_CONNECTIONS; i++) {
		if (i == 1 &&
		    bench_many_time_messages(&figure->many, 1, NUM_ROUNDS * BENCH_MANY_EACH, &figure->one_us) < 0)
			return -1;
		if (i < BENCH_MANY_EACH && bench_many_connect(&figure->comch_clients, &figure->comch_us[i]) < 0)
			return -1;
		if (bench_many_connect_next(&figure->many, i) < 0)
			return -1;
	}
	return 0;
}

static int report_connects(const struct bench_report *report, struct figure *figure)
{
	struct bench_row row = { .name = "RDMA connect, by an address",
				 .baseline_name = "Comch connect",
				 .unit = "us",
				 .goal = BENCH_RATIO_AT_MOST,
				 .limit = 2,
				 .ours = bench_median(figure->many.connect_us, BENCH_MANY_EACH),
				 .baseline = bench_median(figure->comch_us, BENCH_MANY_EACH) };

	row.ratio = row.ours / row.baseline;
	return bench_report_row(report, &row) < 0 ? -1 : bench_many_report_growth(report, &figure->many, "RDMA");
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
static int report_idle(const struct bench_report *report, const struct bench_many *many)
{
	struct bench_row row = { .name = "1000 RDMA connections, idle",
				 .unit = "% of a CPU",
				 .baseline = NAN,
				 .ratio = NAN,
				 .goal = BENCH_OURS_AT_MOST,
				 .limit = 0.01 };
	double before;

	usleep(SETTLE_MS * 1000);
	before = cpu_ms(&many->server);
	sleep(IDLE_S);
	row.ours = (cpu_ms(&many->server) - before) / (IDLE_S * 1000) * 100;
	return bench_report_row(report, &row);
}

static int measure(const struct bench_report *report, struct figure *figure)
{
	struct bench_row row = { .name = "1000 RDMA connections",
				 .unit = "us",
				 .baseline_name = "1 connection",
				 .note = "a message and its answer; both sleep" };
	struct bench_many *many = &figure->many;

	bench_many_note_memory(many, BENCH_MANY_BEFORE);
	if (connect_all(figure) < 0 || report_connects(report, figure) < 0)
		return -1;
	bench_many_note_memory(many, BENCH_MANY_FRESH);
	if (bench_many_exchange(many, LARGE_BYTES, NUM_LARGE) < 0)
		return -1;
	bench_many_note_memory(many, BENCH_MANY_TRAFFIC);
	if (bench_many_report_memory(report, many, "RDMA", BENCH_OURS_AT_MOST) < 0 || report_idle(report, many) < 0 ||
	    bench_many_time_messages(many, BENCH_MANY_EACH, NUM_ROUNDS, &row.ours) < 0)
		return -1;
	row.baseline = figure->one_us;
	row.ratio = row.ours / row.baseline;
	return bench_report_row(report, &row);
}

static int end_all(struct figure *figure)
{
	int rc = bench_many_end(&figure->many);

	rc |= bench_process_end(&figure->comch_clients);
	rc |= bench_process_end(&figure->comch_server);
	return bench_card_down(&figure->card) < 0 ? -1 : rc;
}

int bench_fig_rdma_many(const struct bench_report *report)
{
	static struct figure figure;
	int rc = start_all(&figure);

	if (rc == 0)
		rc = measure(report, &figure);
	return end_all(&figure) < 0 ? -1 : rc;
}
