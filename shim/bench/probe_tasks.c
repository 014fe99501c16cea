/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that keep tasks under way. */
#include "probe_tasks.h"

#include <stdlib.h>

#include <bfsim.h>
#include <doca_ctx.h>
#include <doca_pe.h>

static void submit(struct probe_worker *worker, struct probe_slot *slot)
{
	probe_must(doca_buf_reset_data_len(slot->to), "reset a buffer");
	slot->began_ns = bfsim_now_ns();
	probe_must(doca_task_submit(slot->task), "submit a task");
	worker->num_submitted++;
}

void probe_tasks_done(union doca_data task_data, union doca_data ctx_data)
{
	struct probe_worker *worker = ctx_data.ptr;
	struct probe_slot *slot = task_data.ptr;

	worker->times.latencies[worker->times.count++] = bfsim_now_ns() - slot->began_ns;
	if (worker->num_submitted < worker->run->count)
		submit(worker, slot);
}

void probe_tasks_failed(const struct doca_task *task)
{
	probe_must(doca_task_get_status(task), "run a task");
}

static void make_task(struct probe_worker *worker, unsigned int i)
{
	const struct probe_run *run = worker->run;
	struct probe_slot *slot = &worker->slots[i];
	size_t block = (size_t)worker->number * run->depth + i;

	probe_must(doca_buf_inventory_buf_get_by_data(worker->inventory, run->source,
						      run->source_addr + block * run->source_bytes, run->data_bytes,
						      &slot->from),
		   "get a buffer");
	probe_must(doca_buf_inventory_buf_get_by_addr(worker->inventory, run->target,
						      run->target_addr + block * run->target_bytes, run->target_bytes,
						      &slot->to),
		   "get a buffer");
	slot->task = run->kind->alloc(worker, slot->from, slot->to, (union doca_data){ .ptr = slot });
}

static void prepare(struct probe_worker *worker)
{
	const struct probe_run *run = worker->run;

	probe_must(doca_pe_create(&worker->pe), "create a progress engine");
	worker->ctx = run->kind->create(worker);
	probe_ctx_start(worker->ctx, worker->pe, worker, NULL);
	probe_must(doca_buf_inventory_create(2 * run->depth, &worker->inventory), "create an inventory");
	probe_must(doca_buf_inventory_start(worker->inventory), "start it");
	worker->slots = probe_calloc(run->depth, sizeof(*worker->slots));
	worker->times.latencies = probe_calloc(run->count, sizeof(*worker->times.latencies));
	for (unsigned int i = 0; i < run->depth; i++)
		make_task(worker, i);
}

static void release(struct probe_worker *worker)
{
	for (unsigned int i = 0; i < worker->run->depth; i++)
		doca_task_free(worker->slots[i].task);
	probe_ctx_stop(worker->ctx, worker->pe);
	worker->run->kind->destroy(worker);
	probe_must(doca_pe_destroy(worker->pe), "destroy the progress engine");
	for (unsigned int i = 0; i < worker->run->depth; i++) {
		doca_buf_dec_refcount(worker->slots[i].from, NULL);
		doca_buf_dec_refcount(worker->slots[i].to, NULL);
	}
	probe_must(doca_buf_inventory_destroy(worker->inventory), "destroy the inventory");
	free(worker->slots);
}

static void run_tasks(struct probe_worker *worker)
{
	const struct probe_run *run = worker->run;

	worker->times.began_ns = bfsim_now_ns();
	for (unsigned int i = 0; i < run->depth && worker->num_submitted < run->count; i++)
		submit(worker, &worker->slots[i]);
	while (worker->times.count < run->count)
		doca_pe_progress(worker->pe);
	worker->times.ended_ns = bfsim_now_ns();
}

static void *work(void *arg)
{
	struct probe_worker *shared = arg;
	struct probe_worker own = *shared; /* in cache lines that no other thread writes */

	prepare(&own);
	run_tasks(&own);
	release(&own);
	shared->times = own.times;
	return NULL;
}

void probe_tasks_measure(const struct probe_run *run, uint64_t task_bytes, const char *path)
{
	struct probe_worker *workers = probe_calloc(run->threads, sizeof(*workers));
	struct probe_times *times = probe_calloc(run->threads, sizeof(*times));

	for (unsigned int i = 0; i < run->threads; i++) {
		workers[i] = (struct probe_worker){ .run = run, .number = i };
		if (i > 0 && pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			probe_must(DOCA_ERROR_NO_MEMORY, "start a thread");
	}
	work(&workers[0]);
	for (unsigned int i = 0; i < run->threads; i++) {
		if (i > 0)
			pthread_join(workers[i].thread, NULL);
		times[i] = workers[i].times;
	}
	probe_print_result(times, run->threads, task_bytes, path);
	for (unsigned int i = 0; i < run->threads; i++)
		free(times[i].latencies);
	free(times);
	free(workers);
}

size_t probe_tasks_run_one(const struct probe_run *run)
{
	struct probe_run one = *run;
	struct probe_worker worker = { .run = &one };
	size_t len;

	one.depth = one.threads = 1;
	one.count = 1;
	prepare(&worker);
	run_tasks(&worker);
	probe_must(doca_buf_get_data_len(worker.slots[0].to, &len), "get the length of an output");
	release(&worker);
	free(worker.times.latencies);
	return len;
}
