/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock modes: how late a delayed completion is seen by a polling and by a sleeping owner; and the rate of jobs in
 * virtual time. The baseline of a sleeping owner is a plain sleep. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"
#include "sim/engine/engine.h"
#include "sim/engine/queue.h"

#define SAMPLES 301
#define JOBS    400000u
#define DEPTH   32u
#define LEN     ((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL)

static const uint32_t requested_us[] = { 1, 10, 100, 1000 };
#define NUM_REQUESTED (sizeof(requested_us) / sizeof(requested_us[0]))

struct ends {
	struct sim_engine *engine;
	struct sim_queue *queue;
	int news; /* eventfd */
};

struct held_job {
	struct sim_job job; /* first */
	struct sim_queue *queue;
	uint64_t delay_ns;
};

static int hold(struct sim_job *job)
{
	const struct held_job *held = (const struct held_job *)job;

	job->held = true;
	job->due_ns = sim_queue_now_ns(held->queue) + held->delay_ns;
	return 0;
}

static void notify(void *arg)
{
	eventfd_write(((struct ends *)arg)->news, 1);
}

static int ends_open(struct ends *ends)
{
	*ends = (struct ends){ .news = eventfd(0, EFD_CLOEXEC) };
	if (ends->news < 0 || sim_engine_create(&ends->engine) < 0 ||
	    sim_queue_create(ends->engine, 1, notify, ends, &ends->queue) < 0)
		return bench_fail("no memory for a queue");
	return 0;
}

static void ends_close(struct ends *ends)
{
	sim_queue_destroy(ends->queue);
	sim_engine_destroy(ends->engine);
	close(ends->news);
}

static void sleep_until_news(struct ends *ends)
{
	struct pollfd readable = { .fd = ends->news, .events = POLLIN };
	eventfd_t count;

	sim_queue_set_notify(ends->queue, true);
	sim_queue_drain(ends->queue);
	sim_queue_arm_timer(ends->queue);
	if (sim_queue_has_done(ends->queue))
		return;
	while (poll(&readable, 1, -1) < 0)
		;
	eventfd_read(ends->news, &count);
}

/* The delay after which the owner sees a completion that is due in @us microseconds, in microseconds. */
static double late_us(struct ends *ends, uint32_t us, bool sleeps)
{
	struct held_job held = { .job.run = hold, .queue = ends->queue, .delay_ns = (uint64_t)us * 1000 };

	sim_queue_submit(ends->queue, &held.job);
	sim_queue_doorbell(ends->queue);
	if (sleeps)
		sleep_until_news(ends);
	while (!sim_queue_poll(ends->queue))
		;
	return (double)(sim_queue_now_ns(ends->queue) - held.job.due_ns) / 1000;
}

/* The same for a bare sleep. */
static double bare_late_us(uint32_t us)
{
	uint64_t due_ns = bench_now_ns() + (uint64_t)us * 1000;
	const struct timespec due = { .tv_sec = (time_t)(due_ns / 1000000000u),
				      .tv_nsec = (long)(due_ns % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	return (double)(bench_now_ns() - due_ns) / 1000;
}

static int report_late(const struct bench_report *report, struct ends *ends, uint32_t us, bool sleeps)
{
	struct bench_row row = { .unit = "us", .baseline = NAN, .ratio = NAN };
	static double late[SAMPLES], bare[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		late[i] = late_us(ends, us, sleeps);
		bare[i] = sleeps ? bare_late_us(us) : NAN;
	}
	row.ours = bench_median(late, SAMPLES);
	if (sleeps) {
		row.baseline = bench_median(bare, SAMPLES);
		snprintf(row.baseline_name, sizeof(row.baseline_name), "clock_nanosleep");
	}
	snprintf(row.name, sizeof(row.name), "end due in %u us, %s", us, sleeps ? "sleeping" : "polling");
	snprintf(row.note, sizeof(row.note), "late by; 99 of 100 by less than %.1f", late[SAMPLES * 99 / 100]);
	return bench_report_row(report, &row);
}

static int measure_ends(const struct bench_report *report)
{
	struct ends ends;
	int rc = ends_open(&ends);

	prctl(PR_SET_TIMERSLACK, 1ul); /* for the bare sleep, as the engine's thread has it */
	for (size_t i = 0; rc == 0 && i < 2 * NUM_REQUESTED; i++)
		rc = report_late(report, &ends, requested_us[i % NUM_REQUESTED], i >= NUM_REQUESTED);
	if (rc == 0)
		ends_close(&ends);
	return rc;
}

static int measure_virtual(const struct bench_report *report)
{
	struct bench_dma_cfg cfg = {
		.pci = BENCH_DPU_PCI, .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL, .depth = DEPTH
	};
	struct bench_row row = { .name = "virtual time, 64 B jobs",
				 .unit = "M/s",
				 .baseline = NAN,
				 .ratio = NAN,
				 .goal = BENCH_OURS_AT_LEAST,
				 .limit = 0.2,
				 .note = "jobs by real time; 32 in flight" };
	struct bench_dma dma;
	uint64_t start_ns;
	int rc;

	setenv("BFSIM_CLOCK", "virtual", 1);
	setenv("BFSIM_SIDE", "dpu", 1);
	cfg.source = bench_memory_new(LEN);
	cfg.target = bench_memory_new(LEN);
	if (!cfg.source || !cfg.target)
		return -1;
	rc = bench_dma_open(&cfg, &dma);
	start_ns = bench_now_ns();
	if (rc == 0)
		rc = bench_dma_copy(&dma, 0, JOBS);
	row.ours = JOBS * 1e3 / (double)(bench_now_ns() - start_ns);
	bench_dma_close(&dma);
	return rc < 0 ? rc : bench_report_row(report, &row);
}

int bench_fig_time(const struct bench_report *report)
{
	return measure_ends(report) < 0 ? -1 : measure_virtual(report);
}
