/* SPDX-License-Identifier: BSD-3-Clause */
/* Scale: what a message costs among many processes, in each clock mode, and what a task costs with many in flight and on
 * several threads. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comch.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"

/* ---- many processes: pairs of them exchange messages at the same time ---- */

#define MAX_PAIRS 32
#define RUNS      5

/* Messages of all pairs, in one run, which is to be long beside its start and its end. In timed mode each takes its time. */
static const uint32_t num_messages[SIM_CLOCK_NUM_MODES] = {
	[SIM_CLOCK_FUNCTIONAL] = 100000,
	[SIM_CLOCK_TIMED] = 4000,
	[SIM_CLOCK_VIRTUAL] = 50000,
};

struct pairs {
	struct bench_card card;
	char names[MAX_PAIRS][16];
	struct bench_comch_cfg cfgs[MAX_PAIRS];
	struct bench_pair pairs[MAX_PAIRS];
	unsigned int count;
};

static int pairs_open(struct pairs *pairs, enum sim_clock_mode clock, unsigned int count)
{
	*pairs = (struct pairs){ .card.clock = clock };
	if (bench_card_up_as(&pairs->card) < 0)
		return -1;
	for (unsigned int i = 0; i < count; i++) {
		snprintf(pairs->names[i], sizeof(pairs->names[i]), "pair-%u", i);
		/* Many processes that poll would share the machine's CPUs by its time slices, except in virtual time. */
		pairs->cfgs[i] = (struct bench_comch_cfg){ .card = &pairs->card,
							   .name = pairs->names[i],
							   .blocks = clock != SIM_CLOCK_VIRTUAL && count > 1 };
		if (bench_comch_ping_pong(&pairs->cfgs[i], &pairs->pairs[i]) != 0)
			return -1;
		pairs->count++;
	}
	return 0;
}

static int pairs_close(struct pairs *pairs)
{
	int rc = 0;

	for (unsigned int i = 0; i < pairs->count; i++)
		rc |= bench_pair_end(&pairs->pairs[i]);
	return bench_card_down(&pairs->card) < 0 || rc < 0 ? -1 : 0;
}

static int order(const struct bench_process *process, uint32_t count, bool begins)
{
	const struct bench_ref_order order = {
		.command = BENCH_REF_MEASURE, .count = count, .bytes = BENCH_SMALL_BYTES, .begins = begins
	};

	return bench_send(process->fd, &order, sizeof(order));
}

static int hear(const struct bench_process *process)
{
	struct bench_ref_answer answer;

	if (bench_receive(process->fd, &answer, sizeof(answer)) < 0)
		return bench_fail("one of many processes is gone");
	return answer.status == 0 ? 0 : bench_fail("one of many processes: %s", strerror(-answer.status));
}

/* All pairs exchange @count messages each way, at the same time. A way to measure. */
static int pairs_run(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct pairs *pairs = arg;
	uint64_t start_ns = bench_now_ns();
	int rc = 0;

	for (unsigned int i = 0; i < pairs->count && rc == 0; i++)
		if (order(&pairs->pairs[i].second, count, false) < 0 || order(&pairs->pairs[i].first, count, true) < 0)
			rc = -1;
	for (unsigned int i = 0; i < pairs->count && rc == 0; i++)
		if (hear(&pairs->pairs[i].first) < 0 || hear(&pairs->pairs[i].second) < 0)
			rc = -1;
	*ret_ns = bench_now_ns() - start_ns;
	return rc;
}

/* What a message costs. */
struct cost {
	double us;     /* of real time */
	double cpu_us; /* of CPU time, of all processes; without the time in which other programs had the CPUs */
	double sleeps; /* of threads: each is a switch to another thread, and a wake-up */
};

/* The CPU time and the sleeps of a process's threads up to now, added to @sum. */
static void add_account(pid_t pid, struct cost *sum)
{
	char path[300], line[128];
	struct dirent *entry;
	unsigned long long ns, sleeps;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		FILE *file;

		if (entry->d_name[0] == '.') /* ".." has the first thread's files, too */
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, entry->d_name);
		file = fopen(path, "r");
		if (file && fscanf(file, "%llu", &ns) == 1)
			sum->cpu_us += (double)ns / 1000;
		if (file)
			fclose(file);
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "voluntary_ctxt_switches: %llu", &sleeps) == 1)
				sum->sleeps += (double)sleeps;
		if (file)
			fclose(file);
	}
	if (folder)
		closedir(folder);
}

static struct cost account_of(const struct pairs *pairs)
{
	struct cost sum = { 0 };

	for (unsigned int i = 0; i < pairs->count; i++) {
		add_account(pairs->pairs[i].first.pid, &sum);
		add_account(pairs->pairs[i].second.pid, &sum);
	}
	return sum;
}

/* One message: the median over some runs of its real time, and the means of the rest. */
static int measure_pairs(enum sim_clock_mode clock, unsigned int num_pairs, struct cost *ret_cost)
{
	static struct pairs pairs;
	uint32_t count = num_messages[clock] / 2 / num_pairs;
	double us[RUNS], num_messages_in_all = 2.0 * count * num_pairs * RUNS;
	struct cost before, after;
	uint64_t ns = 0;
	int rc = pairs_open(&pairs, clock, num_pairs);

	if (rc == 0)
		rc = pairs_run(&pairs, 10, &ns); /* warms up */
	before = account_of(&pairs);
	for (int run = 0; run < RUNS && rc == 0; run++) {
		rc = pairs_run(&pairs, count, &ns);
		us[run] = (double)ns / 1000 / (2.0 * count * num_pairs);
	}
	after = account_of(&pairs);
	if (rc == 0)
		*ret_cost = (struct cost){ .us = bench_median(us, RUNS),
					   .cpu_us = (after.cpu_us - before.cpu_us) / num_messages_in_all,
					   .sleeps = (after.sleeps - before.sleeps) / num_messages_in_all };
	return pairs_close(&pairs) < 0 ? -1 : rc;
}

static int report_pairs_row(const struct bench_report *report, enum sim_clock_mode clock, unsigned int num_pairs,
			    bool on_one_cpu, struct cost costs[SIM_CLOCK_NUM_MODES])
{
	struct bench_row row = { .unit = "us", .baseline = NAN, .ratio = NAN };
	const struct cost *ours = &costs[clock], *functional = &costs[SIM_CLOCK_FUNCTIONAL];

	if (measure_pairs(clock, num_pairs, &costs[clock]) < 0)
		return -1;
	row.ours = ours->us;
	snprintf(row.name, sizeof(row.name), "%u processes, %s%s", 2 * num_pairs, sim_clock_mode_name(clock),
		 on_one_cpu ? ", one CPU" : "");
	snprintf(row.note, sizeof(row.note), "a Comch message; %.1f us of CPU time, %.2f sleeps", ours->cpu_us,
		 ours->sleeps);
	if (clock == SIM_CLOCK_VIRTUAL) {
		row.baseline = functional->us;
		row.ratio = ours->us / functional->us;
		if (num_pairs == 1) {
			row.goal = BENCH_OURS_AT_MOST;
			row.limit = 10;
		} else if (on_one_cpu) { /* on several, those of functional mode run at the same time */
			row.goal = BENCH_RATIO_AT_MOST;
			row.limit = 2;
		}
		snprintf(row.baseline_name, sizeof(row.baseline_name), "functional");
		snprintf(row.note + strlen(row.note), sizeof(row.note) - strlen(row.note), "; %.2f x its CPU time",
			 ours->cpu_us / functional->cpu_us);
	}
	return bench_report_row(report, &row);
}

static int report_pairs(const struct bench_report *report, bool on_one_cpu)
{
	static const unsigned int counts[] = { 1, 4, 16, 32 };
	struct cost costs[SIM_CLOCK_NUM_MODES];

	for (size_t i = on_one_cpu; i < sizeof(counts) / sizeof(counts[0]); i++) /* two that poll want two CPUs */
		for (int clock = 0; clock < SIM_CLOCK_NUM_MODES; clock++)
			if ((clock != SIM_CLOCK_TIMED || !on_one_cpu) &&
			    report_pairs_row(report, (enum sim_clock_mode)clock, counts[i], on_one_cpu, costs) < 0)
				return -1;
	return 0;
}

static int report_pairs_on_one_cpu(const struct bench_report *report)
{
	cpu_set_t before;
	int rc = bench_one_cpu_begin(&before);

	if (rc < 0)
		return rc;
	rc = report_pairs(report, true);
	bench_one_cpu_end(&before);
	return rc;
}

/* ---- many tasks, several threads ---- */

#define MAX_THREADS 2
#define TASK_RUNS   5

/* Of a thread in one run, which is to be long beside the time in which the scheduler finds a CPU for each. */
static const uint32_t num_tasks[SIM_CLOCK_NUM_MODES] = {
	[SIM_CLOCK_FUNCTIONAL] = 2000000,
	[SIM_CLOCK_TIMED] = 200000,
	[SIM_CLOCK_VIRTUAL] = 200000,
};

struct copier {
	uint32_t depth, num_tasks;
	pthread_barrier_t *meeting;
	pthread_t thread;
	uint64_t begin_ns, end_ns; /* of a run */
	int rc;
};

/* Nobody has a context while the threads meet: in virtual time, the others would wait for one that sleeps with a context. */
static void run_copier(struct copier *copier, const struct bench_dma_cfg *cfg)
{
	struct bench_dma dma;

	pthread_barrier_wait(copier->meeting);
	if (copier->rc == 0) {
		copier->rc = bench_dma_open(cfg, &dma);
		copier->begin_ns = bench_now_ns();
		if (copier->rc == 0)
			copier->rc = bench_dma_copy(&dma, 0, copier->num_tasks);
		copier->end_ns = bench_now_ns();
		bench_dma_close(&dma);
	}
	pthread_barrier_wait(copier->meeting);
}

static void *copy(void *arg)
{
	struct copier *copier = arg;
	size_t len = (size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL;
	struct bench_dma_cfg cfg = { .pci = BENCH_DPU_PCI,
				     .block_bytes = BENCH_SMALL_BYTES,
				     .num_blocks = copier->depth > BENCH_NUM_SMALL ? copier->depth : BENCH_NUM_SMALL,
				     .depth = copier->depth };

	len = (size_t)cfg.block_bytes * cfg.num_blocks;
	cfg.source = bench_memory_new(len);
	cfg.target = bench_memory_new(len);
	copier->rc = cfg.source && cfg.target ? 0 : -1;
	for (int run = 0; run <= TASK_RUNS; run++) /* the first one warms up */
		run_copier(copier, &cfg);
	return NULL;
}

/* The time of a run of all threads, from the first one's begin to the last one's end. */
static uint64_t span_ns(const struct copier *copiers, unsigned int count)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (unsigned int i = 0; i < count; i++) {
		begin_ns = copiers[i].begin_ns < begin_ns ? copiers[i].begin_ns : begin_ns;
		end_ns = copiers[i].end_ns > end_ns ? copiers[i].end_ns : end_ns;
	}
	return end_ns - begin_ns;
}

struct tasks {
	const struct bench_report *report;
	enum sim_clock_mode clock;
	double apart_ns; /* a task of two processes, each with a card of its own */
};

/* The least time for one task, in ns, of @num_threads contexts at the same time. */
static int measure_tasks(const struct tasks *tasks, uint32_t depth, unsigned int num_threads, double *ret_ns)
{
	static struct copier copiers[MAX_THREADS];
	pthread_barrier_t meeting;
	double best = INFINITY;
	int rc = 0;

	setenv("BFSIM_CLOCK", sim_clock_mode_name(tasks->clock), 1);
	setenv("BFSIM_SIDE", "dpu", 1);
	pthread_barrier_init(&meeting, NULL, num_threads + 1);
	for (unsigned int i = 0; i < num_threads; i++) {
		copiers[i] =
			(struct copier){ .depth = depth, .num_tasks = num_tasks[tasks->clock], .meeting = &meeting };
		pthread_create(&copiers[i].thread, NULL, copy, &copiers[i]);
	}
	for (int run = 0; run <= TASK_RUNS; run++) {
		double ns;

		pthread_barrier_wait(&meeting);
		pthread_barrier_wait(&meeting);
		ns = (double)span_ns(copiers, num_threads) / num_tasks[tasks->clock] / num_threads;
		if (run > 0 && ns < best)
			best = ns;
	}
	for (unsigned int i = 0; i < num_threads; i++) {
		pthread_join(copiers[i].thread, NULL);
		rc |= copiers[i].rc;
	}
	pthread_barrier_destroy(&meeting);
	*ret_ns = best;
	return rc;
}

static int run_apart(void *arg, int fd)
{
	double ns = 0;

	if (measure_tasks(arg, 32, 1, &ns) < 0 || bench_send(fd, &ns, sizeof(ns)) < 0)
		return -1;
	bench_wait_for_end(fd);
	return 0;
}

/* What two threads can reach at best: processes that share nothing but the machine. */
static int measure_apart(struct tasks *tasks)
{
	struct bench_process processes[MAX_THREADS];
	double ns, per_ns = 0;
	int rc = 0;

	for (unsigned int i = 0; i < MAX_THREADS; i++)
		if (bench_process_fork(run_apart, tasks, &processes[i]) < 0)
			return -1;
	for (unsigned int i = 0; i < MAX_THREADS && rc == 0; i++) {
		rc = bench_receive(processes[i].fd, &ns, sizeof(ns));
		per_ns += 1 / ns;
	}
	for (unsigned int i = 0; i < MAX_THREADS; i++)
		rc |= bench_process_end(&processes[i]);
	tasks->apart_ns = 1 / per_ns;
	return rc;
}

static int report_task_row(const struct tasks *tasks, const char *what, double ns, const char *baseline_name,
			   double baseline_ns)
{
	struct bench_row row = { .unit = "ns", .ours = ns, .baseline = baseline_ns, .ratio = ns / baseline_ns };

	snprintf(row.name, sizeof(row.name), "%s, %s", what, sim_clock_mode_name(tasks->clock));
	snprintf(row.baseline_name, sizeof(row.baseline_name), "%s", baseline_name);
	snprintf(row.note, sizeof(row.note), "a local task of 64 bytes");
	return bench_report_row(tasks->report, &row);
}

static int report_tasks(const struct tasks *tasks)
{
	static const uint32_t depths[] = { 1, 256, 4096, 65536 };
	double baseline_ns, ns;

	if (measure_tasks(tasks, 32, 1, &baseline_ns) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		char what[24];

		snprintf(what, sizeof(what), "%u in flight", depths[i]);
		if (measure_tasks(tasks, depths[i], 1, &ns) < 0 ||
		    report_task_row(tasks, what, ns, "32 in flight", baseline_ns) < 0)
			return -1;
	}
	if (measure_tasks(tasks, 32, MAX_THREADS, &ns) < 0 ||
	    report_task_row(tasks, "2 threads", ns, "1 thread", baseline_ns) < 0)
		return -1;
	return report_task_row(tasks, "2 threads", ns, "2 processes", tasks->apart_ns);
}

static int run_tasks(void *arg, int fd)
{
	return report_tasks(arg);
}

static int report_tasks_by_clock(const struct bench_report *report)
{
	for (int clock = 0; clock < SIM_CLOCK_NUM_MODES; clock++) {
		struct tasks tasks = { .report = report, .clock = (enum sim_clock_mode)clock };
		struct bench_process process;

		if (measure_apart(&tasks) < 0 || bench_process_fork(run_tasks, &tasks, &process) < 0 ||
		    bench_process_end(&process) < 0)
			return -1;
	}
	return 0;
}

int bench_fig_scale(const struct bench_report *report)
{
	if (report_pairs(report, false) < 0 || report_pairs_on_one_cpu(report) < 0)
		return -1;
	return report_tasks_by_clock(report);
}
