/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand connections: processes, orders to them, memory, and the rows that all kinds of connections have. */
#include "many.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "measure.h"
#include "reference.h"

#define MANY_DESCRIPTORS 1024 /* the usual limit */
#define NUM_SMALL        64

int bench_many_limit_descriptors(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > MANY_DESCRIPTORS)
		limit.rlim_cur = MANY_DESCRIPTORS;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? bench_fail("setrlimit() failed") : 0;
}

/* ---- processes ---- */

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

int bench_many_start(struct bench_process *process, int (*run)(void *arg, int fd), void *cfg)
{
	return bench_process_fork(run, cfg, process) < 0 ? -1 : hear(process, NULL);
}

int bench_many_start_clients(struct bench_many *many, int (*run)(void *arg, int fd), void *cfg)
{
	int rc = 0;

	for (unsigned int i = 0; i < BENCH_MANY_PROCESSES && rc == 0; i++)
		rc = bench_many_start(&many->clients[i], run, cfg);
	return rc;
}

int bench_many_connect(const struct bench_process *process, double *ret_us)
{
	uint64_t ns = 0;

	if (order(process, BENCH_REF_CONNECT, 0, 0, &ns) < 0)
		return -1;
	*ret_us = (double)ns / 1000;
	return 0;
}

int bench_many_connect_next(struct bench_many *many, unsigned int number)
{
	if (bench_many_connect(&many->clients[number / BENCH_MANY_EACH], &many->connect_us[number]) < 0)
		return bench_fail("connection %u of %u can't be made", number + 1, BENCH_MANY_CONNECTIONS);
	return 0;
}

int bench_many_time_messages(const struct bench_many *many, uint32_t num_connections, uint32_t count, double *ret_us)
{
	uint64_t ns = 0;

	if (order(&many->clients[0], BENCH_REF_MEASURE, BENCH_MANY_SMALL_BYTES, count, &ns) < 0)
		return -1;
	*ret_us = (double)ns / 1000 / num_connections / count;
	return 0;
}

int bench_many_exchange(const struct bench_many *many, uint32_t bytes, uint32_t count)
{
	for (unsigned int i = 0; i < BENCH_MANY_PROCESSES; i++)
		if (order(&many->clients[i], BENCH_REF_MEASURE, BENCH_MANY_SMALL_BYTES, NUM_SMALL, NULL) < 0 ||
		    order(&many->clients[i], BENCH_REF_MEASURE, bytes, count, NULL) < 0)
			return -1;
	return 0;
}

int bench_many_end(struct bench_many *many)
{
	int rc = 0;

	for (unsigned int i = 0; i < BENCH_MANY_PROCESSES; i++)
		rc |= bench_process_end(&many->clients[i]);
	return rc | bench_process_end(&many->server);
}

/* ---- memory ---- */

static struct bench_many_memory memory_of(const struct bench_process *process)
{
	struct bench_many_memory memory = { 0 };
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

void bench_many_note_memory(struct bench_many *many, enum bench_many_moment moment)
{
	struct bench_many_memory *sum = &many->of_clients[moment];

	many->of_server[moment] = memory_of(&many->server);
	*sum = (struct bench_many_memory){ 0 };
	for (unsigned int i = 0; i < BENCH_MANY_PROCESSES; i++) {
		struct bench_many_memory one = memory_of(&many->clients[i]);

		sum->rss += one.rss;
		sum->pss += one.pss;
	}
}

static int report_one(const struct bench_report *report, const char *kind, const char *side,
		      const struct bench_many_memory moments[BENCH_MANY_NUM_MOMENTS], enum bench_goal goal)
{
	const struct bench_many_memory *before = &moments[BENCH_MANY_BEFORE], *fresh = &moments[BENCH_MANY_FRESH],
				       *after = &moments[BENCH_MANY_TRAFFIC];
	struct bench_row row = { .unit = "KiB", .baseline = NAN, .ratio = NAN, .goal = goal, .limit = 64 };

	snprintf(row.name, sizeof(row.name), "%s connection, at the %s", kind, side);
	if (before->rss == 0 || after->rss == 0)
		return bench_report_skipped(report, row.name, "/proc does not show the memory of processes");
	row.ours = (after->rss - before->rss) / BENCH_MANY_CONNECTIONS;
	snprintf(row.note, sizeof(row.note), "Rss of 1 of %d, after traffic; Pss %.1f; before traffic %.1f",
		 BENCH_MANY_CONNECTIONS, (after->pss - before->pss) / BENCH_MANY_CONNECTIONS,
		 (fresh->rss - before->rss) / BENCH_MANY_CONNECTIONS);
	return bench_report_row(report, &row);
}

int bench_many_report_memory(const struct bench_report *report, const struct bench_many *many, const char *kind,
			     enum bench_goal goal)
{
	int rc = report_one(report, kind, "server", many->of_server, goal);

	return rc < 0 ? rc : report_one(report, kind, "client", many->of_clients, goal);
}

/* ---- connects ---- */

static double mean(const double *values, unsigned int count)
{
	double sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

int bench_many_report_growth(const struct bench_report *report, struct bench_many *many, const char *kind)
{
	double *first = many->connect_us, *last = many->connect_us + BENCH_MANY_CONNECTIONS - BENCH_MANY_EACH;
	struct bench_row row = { .baseline_name = "the first 100",
				 .unit = "us",
				 .goal = BENCH_RATIO_AT_MOST,
				 .limit = 1.5,
				 .ours = mean(last, BENCH_MANY_EACH),
				 .baseline = mean(first, BENCH_MANY_EACH) };
	double last_median = bench_median(last, BENCH_MANY_EACH), first_median = bench_median(first, BENCH_MANY_EACH);

	snprintf(row.name, sizeof(row.name), "%s connect, the last 100 of 1000", kind);
	row.ratio = row.ours / row.baseline;
	snprintf(row.note, sizeof(row.note), "means; ratio of medians: %.2f", last_median / first_median);
	return bench_report_row(report, &row);
}
