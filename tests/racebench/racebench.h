/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/racebench/racebench.h - small programs with and without a race, by which the detectors are measured.
 *
 * A program's name ends in _racy or _clean. A racy program has its race in every run: what it does too early comes
 * before the call that would have waited. A clean program is the closest correct one. Programs that read early verify
 * the data, as a real program would, and end with status 1 when the data is wrong.
 */
#ifndef TESTS_RACEBENCH_H
#define TESTS_RACEBENCH_H

#include <stdbool.h>

#include "cmocka_test.h"
#include "tests/api/dma_util.h"

struct racebench_engine; /* of engine.c */

/* The variant of a scenario. */
struct racebench_args {
	size_t len;                            /* bytes of a copy or a message */
	size_t at;                             /* the byte that the program touches */
	bool is_list;                          /* source and destination are lists of two buffers */
	bool is_delivery;                      /* the importer writes to the shared memory */
	bool has_second;                       /* a second process imports the memory */
	bool is_mapping;                       /* the shared memory is a mapping, not of the heap */
	bool in_graph;                         /* the copy is the first node of a graph */
	bool in_other_thread;                  /* a thread other than the one that submitted touches it */
	const struct racebench_engine *engine; /* that does the work; NULL = DMA's */
};

struct racebench_program {
	const char *name, *group;
	unsigned int num_processes;
	void (*run)(const struct racebench_args *args);
	/* Or: in a racebench_rig(), which racebench_finish() gets afterwards. */
	void (*run_in_rig)(struct rig *rig, const struct racebench_args *args);
	struct racebench_args args;
};

/* Each ends with an entry without a name. */
extern const struct racebench_program dma_programs[], engine_programs[], order_programs[], graph_programs[],
	sync_programs[], import_programs[], agree_programs[], comch_programs[], rdma_programs[];

#define RACEBENCH_PROGRAM(group_, name_, processes, way, function, ...)                                              \
	{                                                                                                            \
		.name = #group_ "_" #name_, .group = #group_, .num_processes = processes, .way = function, .args = { \
			__VA_ARGS__                                                                                  \
		}                                                                                                    \
	}

#define RACEBENCH_BYTES(bytes, offset) .len = (bytes), .at = (offset)
#define RACEBENCH_SMALL                RACEBENCH_BYTES(64, 20)
#define RACEBENCH_LARGE                RACEBENCH_BYTES(65536, 40000)

/* ---- early reads ---- */

/* End the process with status 1 if the data that was read is wrong. */
void racebench_use(bool is_right);

/* ---- copies in an arena: four areas, of AREA_BYTES each ---- */

#define AREA_BYTES      ((size_t)128 << 10)
#define SRC             ((size_t)0)
#define SRC2            AREA_BYTES
#define DST             (2 * AREA_BYTES)
#define DST2            (3 * AREA_BYTES)
#define RACEBENCH_ARENA (4 * AREA_BYTES)

/* A running rig with this arena. */
struct rig *racebench_rig(void);

/* A task that copies @args->len bytes, as a pair or as lists. */
struct doca_task *racebench_task(struct rig *rig, const struct racebench_args *args, uint64_t number, size_t to,
				 size_t from);
void racebench_copy(struct rig *rig, const struct racebench_args *args, uint64_t number, size_t to, size_t from);

/* Wait until nothing is in flight, close the rig. */
void racebench_finish(struct rig *rig);

/* ---- touches, in this thread or in another one that has ended on return ---- */

void racebench_write(struct rig *rig, const struct racebench_args *args, size_t area);

/* Use the copy of @from, which the program takes for complete. */
void racebench_read(struct rig *rig, const struct racebench_args *args, size_t area, size_t from);

/* Run the function in a thread, and join the thread. */
void racebench_in_thread(void (*function)(void *arg), void *arg);

#endif
