/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/task_ranges.h - the memory that a task in flight reads and writes. */
#ifndef SHIM_CHECK_TASK_RANGES_H
#define SHIM_CHECK_TASK_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doca_mmap;
struct doca_task;

/* Until when tasks of other processes must leave the bytes alone. */
enum check_range_end {
	CHECK_RANGE_TO_COMPLETION,
	CHECK_RANGE_TO_ACCESS, /* a peer learns of the access before the task's program does, as by the next message */
	CHECK_RANGE_NEVER, /* a message: the peer that has it may use its source, and it may need no buffer of its receive */
};

struct check_task_range {
	const struct doca_mmap *mmap;
	const uint8_t *addr; /* as the program knows it */
	uint8_t *cpu;        /* in this process; NULL = another process's memory, behind the map */
	size_t len_bytes;
	bool is_write;
	bool is_atomic; /* one word by the network, whole: no race with another such access */
	enum check_range_end end;
};

/* Set up to @max ranges of a task that is being posted; returns how many it has. Buffers count as they were taken at the
 * submission: of a destination, the bytes that the task may write. 0 = the task uses no memory, or will fail. */
size_t check_task_get_ranges(const struct doca_task *task, struct check_task_range *ranges, size_t max);

/* Tasks of one number access memory in the order of their posting: those of a connection of RDMA. 0 = in any order. */
uint64_t check_task_order(const struct doca_task *task);

/* Returns whether hooks surround the task's access to memory: that of its job, or of the library (access_begins). */
bool check_task_has_job(const struct doca_task *task);

struct shim_accel_task;

/* How many bytes a task that is being posted writes; UINT64_MAX = as many as its destination has room for, at most. */
uint64_t check_task_output_bytes(const struct shim_accel_task *task);

struct doca_buf;

/* The buffer of a task of a Comch producer or consumer; NULL = it has none, or is another task. */
const struct doca_buf *check_comch_task_buf(const struct doca_task *task);

#endif
