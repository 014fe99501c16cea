/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: tasks of the engines besides DMA's against the libraries that do their work.
 *
 *   64 KiB              against the bare library
 *   64 B                against the library and two DMA copies of 64 bytes: a ratio of 1 says that a task costs twice what a
 *                       copy does, beyond the library
 *   64 KiB, 2 threads   a context and an engine in each, against the library in two threads */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "card.h"
#include "dma.h"
#include "engine.h"
#include "fig.h"
#include "memory.h"

#define LARGE_BYTES 65536
#define NUM_LARGE   64
#define DEPTH       32
#define MAX_THREADS 2

struct comparison {
	struct bench_engine engines[MAX_THREADS];
	uint32_t num_threads;
	struct bench_dma dma; /* of small work */
	uint32_t count;
};

/* ---- one thread ---- */

static int run_ours(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct comparison *comparison = arg;
	uint64_t start = bench_now_ns();
	int rc = bench_engine_run(&comparison->engines[0], count);

	*ret_ns = bench_now_ns() - start;
	return rc;
}

static int run_bare(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct comparison *comparison = arg;
	uint64_t start = bench_now_ns();
	int rc = bench_engine_run_bare(&comparison->engines[0], count);

	*ret_ns = bench_now_ns() - start;
	return rc;
}

static int run_bare_and_copies(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct comparison *comparison = arg;
	uint64_t start = bench_now_ns();
	int rc = bench_engine_run_bare(&comparison->engines[0], count);

	if (rc == 0)
		rc = bench_dma_copy(&comparison->dma, 0, 2 * count);
	*ret_ns = bench_now_ns() - start;
	return rc;
}

/* ---- two threads ---- */

struct thread {
	pthread_t id;
	struct bench_engine *engine;
	uint32_t count;
	int (*run)(struct bench_engine *engine, uint32_t count);
	int rc;
};

static void *run_thread(void *arg)
{
	struct thread *thread = arg;

	thread->rc = thread->run(thread->engine, thread->count);
	return NULL;
}

/* Half of the work in each. */
static int run_in_threads(struct comparison *comparison, int (*run)(struct bench_engine *engine, uint32_t count),
			  uint32_t count, uint64_t *ret_ns)
{
	struct thread threads[MAX_THREADS];
	uint64_t start = bench_now_ns();
	int rc = 0;

	for (uint32_t i = 0; i < comparison->num_threads; i++) {
		threads[i] = (struct thread){ .engine = &comparison->engines[i],
					      .count = count / comparison->num_threads + 1,
					      .run = run };
		if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]) != 0)
			return bench_fail("no thread");
	}
	for (uint32_t i = 0; i < comparison->num_threads; i++) {
		pthread_join(threads[i].id, NULL);
		rc |= threads[i].rc;
	}
	*ret_ns = bench_now_ns() - start;
	return rc;
}

static int run_ours_in_threads(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_in_threads(arg, bench_engine_run, count, ret_ns);
}

static int run_bare_in_threads(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_in_threads(arg, bench_engine_run_bare, count, ret_ns);
}

/* ---- the rows ---- */

static int open_all(struct comparison *comparison, const struct bench_engine_kind *kind, uint32_t text_bytes)
{
	for (uint32_t i = 0; i < comparison->num_threads; i++) {
		comparison->engines[i] = (struct bench_engine){
			.kind = kind, .text_bytes = text_bytes, .num_blocks = NUM_LARGE, .depth = DEPTH
		};
		if (bench_engine_open(&comparison->engines[i]) < 0)
			return -1;
	}
	return 0;
}

static int open_copies(struct bench_dma *dma)
{
	struct bench_dma_cfg cfg = {
		.pci = BENCH_DPU_PCI, .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL, .depth = DEPTH
	};

	cfg.source = bench_memory_new((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL);
	cfg.target = bench_memory_new((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL);
	return cfg.source && cfg.target ? bench_dma_open(&cfg, dma) : -1;
}

static int compare(const struct bench_report *report, struct comparison *comparison, const struct bench_cfg *cfg,
		   const struct bench_row *row, enum bench_measure measure)
{
	struct bench_result result;

	if (bench_measure(cfg, &result) < 0)
		return -1;
	for (uint32_t i = 0; i < comparison->num_threads; i++)
		if (!bench_engine_agrees(&comparison->engines[i]))
			return bench_fail("%s: the outputs differ", row->name);
	return bench_report_result(report, row, &result, measure, comparison->engines[0].text_bytes);
}

static int measure_large(const struct bench_report *report, const struct bench_engine_kind *kind, uint32_t num_threads)
{
	struct comparison comparison = { .num_threads = num_threads };
	const struct bench_cfg cfg = {
		.ours = { num_threads > 1 ? run_ours_in_threads : run_ours, &comparison },
		.baseline = { num_threads > 1 ? run_bare_in_threads : run_bare, &comparison },
		.warm_up = 2 * NUM_LARGE,
		.rounds = 31,
	};
	struct bench_row row = { .goal = BENCH_RATIO_AT_LEAST, .limit = 0.9 };
	int rc;

	snprintf(row.name, sizeof(row.name), num_threads > 1 ? "%s 64 KiB, %u threads" : "%s 64 KiB", kind->name,
		 num_threads);
	snprintf(row.baseline_name, sizeof(row.baseline_name), "%s", kind->library);
	rc = open_all(&comparison, kind, LARGE_BYTES);
	if (rc == 0)
		rc = compare(report, &comparison, &cfg, &row, BENCH_BANDWIDTH);
	for (uint32_t i = 0; i < num_threads; i++)
		bench_engine_close(&comparison.engines[i]);
	return rc;
}

static int measure_small(const struct bench_report *report, const struct bench_engine_kind *kind)
{
	struct comparison comparison = { .num_threads = 1 };
	const struct bench_cfg cfg = {
		.ours = { run_ours, &comparison },
		.baseline = { run_bare_and_copies, &comparison },
		.warm_up = 1000,
		.rounds = 31,
	};
	struct bench_row row = { .goal = BENCH_RATIO_AT_LEAST, .limit = 1 };
	int rc;

	snprintf(row.name, sizeof(row.name), "%s %u B", kind->name, kind->small_bytes);
	snprintf(row.baseline_name, sizeof(row.baseline_name), "%s + 2 copies", kind->library);
	rc = open_all(&comparison, kind, kind->small_bytes);
	if (rc == 0)
		rc = open_copies(&comparison.dma);
	if (rc == 0)
		rc = compare(report, &comparison, &cfg, &row, BENCH_RATE);
	bench_dma_close(&comparison.dma);
	bench_engine_close(&comparison.engines[0]);
	return rc;
}

/* On a private card, which has all engines. */
int bench_fig_engines(const struct bench_report *report)
{
	int rc = 0;

	setenv("BFSIM_TOPOLOGY", BENCH_ALL_ENGINES, 1);
	setenv("BFSIM_SIDE", "dpu", 1);
	for (size_t i = 0; i < bench_num_engine_kinds && rc == 0; i++) {
		const struct bench_engine_kind *kind = &bench_engine_kinds[i];

		rc = measure_large(report, kind, 1);
		if (rc == 0)
			rc = measure_small(report, kind);
		if (rc == 0)
			rc = measure_large(report, kind, MAX_THREADS);
	}
	return rc;
}
