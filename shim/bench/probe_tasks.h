/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/bench/probe_tasks.h - tasks of one kind, a fixed number of them under way in each thread.
 *
 *   source  [task 0][task 1] ... [task n-1][task 0] ...      the blocks of a thread's tasks lie behind those of the one before
 *              |       |             |        |              a task is submitted again when it has ended
 *   target  [task 0][task 1] ... [task n-1][task 0] ...
 */
#ifndef SHIM_BENCH_PROBE_TASKS_H
#define SHIM_BENCH_PROBE_TASKS_H

#include <pthread.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_types.h>

#include "probe.h"

struct probe_worker;

/* Each function ends the program when it fails. */
struct probe_kind {
	/* Create the instance for worker->run->depth tasks, as worker->instance and worker->with. Returns its context. */
	struct doca_ctx *(*create)(struct probe_worker *worker);
	struct doca_task *(*alloc)(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to,
				   union doca_data task_data);
	void (*destroy)(struct probe_worker *worker);
};

struct probe_run {
	const struct probe_kind *kind;
	struct doca_dev *dev;
	struct doca_mmap *source, *target;
	uint8_t *source_addr, *target_addr;
	size_t source_bytes, target_bytes; /* of a block */
	size_t data_bytes;                 /* of a task's source, at the begin of its block */
	unsigned int depth, threads;
	uint64_t count; /* tasks of each thread */
};

struct probe_slot {
	struct doca_task *task;
	struct doca_buf *from, *to;
	uint64_t began_ns;
};

/* One thread, with a context and a progress engine. */
struct probe_worker {
	const struct probe_run *run;
	unsigned int number;
	pthread_t thread;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	void *instance, *with; /* of the kind; with: key or matrix */
	struct doca_buf_inventory *inventory;
	struct probe_slot *slots;
	struct probe_times times;
	uint64_t num_submitted;
};

/* Run the tasks, and print the result; @task_bytes and @path as in probe_print_result(). */
void probe_tasks_measure(const struct probe_run *run, uint64_t task_bytes, const char *path);

/* Run one task. Returns the bytes of its output. */
size_t probe_tasks_run_one(const struct probe_run *run);

/* The callbacks of a type of tasks: on_TYPE() and on_TYPE_failed(). */
void probe_tasks_done(union doca_data task_data, union doca_data ctx_data);
void probe_tasks_failed(const struct doca_task *task);

#define PROBE_CALLBACKS(type)                                                                                         \
	static void on_##type(struct doca_##type *task, union doca_data task_data, union doca_data ctx_data)          \
	{                                                                                                             \
		(void)task;                                                                                           \
		probe_tasks_done(task_data, ctx_data);                                                                \
	}                                                                                                             \
                                                                                                                      \
	static void on_##type##_failed(struct doca_##type *task, union doca_data task_data, union doca_data ctx_data) \
	{                                                                                                             \
		(void)task_data;                                                                                      \
		(void)ctx_data;                                                                                       \
		probe_tasks_failed(doca_##type##_as_task(task));                                                      \
	}

#endif
