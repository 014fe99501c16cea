/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/bench/bench.h - measurements of copies, messages and tasks of the accelerator engines: points of a sweep, their results, and the comparison of two
 * results.
 *
 *   workloads x sizes x depths x threads x paths x clocks --> points --"bfsim run" each--> results --> table, CSV, JSON
 */
#ifndef SIM_CLI_BENCH_BENCH_H
#define SIM_CLI_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pcie_model/topology/topology.h"

#define CLI_BENCH_MAX_VALUES   32 /* of one dimension */
#define CLI_BENCH_MAX_RUNS     16
#define CLI_BENCH_PROBLEM_SIZE 128
#define CLI_BENCH_ALL_ENGINES  "engines" /* names all workloads of engines that the card has */
#define CLI_BENCH_ALL_RDMA     "rdma"    /* names all workloads of RDMA that the topology allows */

/* What is measured; the first is the default. */
enum cli_bench_workload {
	CLI_BENCH_HOST_TO_DPU, /* DMA, by the DPU's program */
	CLI_BENCH_DPU_TO_HOST,
	CLI_BENCH_COMCH,      /* a message to the DPU and back */
	CLI_BENCH_COMCH_FAST, /* a producer on the host, a consumer on the DPU */
	CLI_BENCH_RDMA_WRITE, /* requests of the host's program to the DPU's */
	CLI_BENCH_RDMA_READ,
	CLI_BENCH_RDMA_SEND,
	CLI_BENCH_RDMA_WRITE_DPU, /* of the DPU's program to the host's */
	CLI_BENCH_RDMA_READ_DPU,
	CLI_BENCH_RDMA_SEND_DPU,
	CLI_BENCH_RDMA_WRITE_PORT, /* between the first and the last function of the host */
	CLI_BENCH_RDMA_READ_PORT,
	CLI_BENCH_RDMA_SEND_PORT,
	CLI_BENCH_SHA, /* this and the others: engines, on memory of the DPU's program */
	CLI_BENCH_DEFLATE,
	CLI_BENCH_INFLATE,
	CLI_BENCH_LZ4,
	CLI_BENCH_EC_CREATE,
	CLI_BENCH_EC_RECOVER,
	CLI_BENCH_GCM_ENCRYPT,
	CLI_BENCH_GCM_DECRYPT,
	CLI_BENCH_NUM_WORKLOADS,
};

extern const char *const cli_bench_workload_names[]; /* and the two names of several; NULL ends them */

/* The accelerator engine that the workload needs; PCIE_NUM_ACCELS = none. */
enum pcie_accel cli_bench_accel(enum cli_bench_workload workload);

/* RDMA: its workloads are three for each place of the ends. */
enum cli_bench_place {
	CLI_BENCH_FROM_HOST,
	CLI_BENCH_FROM_DPU,
	CLI_BENCH_BETWEEN_PORTS,
};

static inline bool cli_bench_is_rdma(enum cli_bench_workload workload)
{
	return workload >= CLI_BENCH_RDMA_WRITE && workload < CLI_BENCH_SHA;
}

static inline enum cli_bench_place cli_bench_rdma_place(enum cli_bench_workload workload)
{
	return (enum cli_bench_place)((workload - CLI_BENCH_RDMA_WRITE) / 3);
}

/* The workload that does the same from the host to the DPU. */
static inline enum cli_bench_workload cli_bench_rdma_op(enum cli_bench_workload workload)
{
	return (enum cli_bench_workload)(CLI_BENCH_RDMA_WRITE + (workload - CLI_BENCH_RDMA_WRITE) % 3);
}

/* Whether the bytes go from one side to the other on a data path. */
bool cli_bench_has_path(enum cli_bench_workload workload);

/* The values of each dimension. */
struct cli_bench_numbers {
	uint64_t list[CLI_BENCH_MAX_VALUES];
	size_t count;
};

struct cli_bench_names {
	const char *list[CLI_BENCH_MAX_VALUES];
	size_t count;
};

struct cli_bench_sweep {
	struct cli_bench_numbers sizes, depths, threads;
	struct cli_bench_names workloads, paths, clocks; /* a workload can be a name of several */
};

struct cli_bench_point {
	char workload[16];
	char device[PCIE_IBDEV_SIZE]; /* of a workload of engines */
	bool may_lack;                /* the engine was not asked for by name: without it the point is left out */
	uint64_t size, depth, threads;
	char path[16];  /* data path that was asked for; "best" = what bfsim chooses */
	char clock[16]; /* functional, timed, virtual */
	/* Results of the runs; the percentiles are those of the median run. */
	char used_path[16];                     /* data path of the last run; "" = the workload has none */
	uint64_t byte_rate[CLI_BENCH_MAX_RUNS]; /* bytes per second, sorted; 0 = the run took no session time */
	uint32_t num_runs;
	uint64_t task_rate; /* per second */
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};

/* Where and when it was measured. */
struct cli_bench_env {
	char version[32], date[32], machine[256], card[192], topology[256];
};

struct cli_bench {
	struct cli_bench_env env;
	struct cli_bench_point *points;
	size_t num_points;
};

/* CLI_BENCH_NUM_WORKLOADS for a name that this version does not know. */
enum cli_bench_workload cli_bench_workload_of(const struct cli_bench_point *point);

/* Median of the runs. */
uint64_t cli_bench_byte_rate(const struct cli_bench_point *point);

struct cli_bench_cfg {
	const char *topology; /* file, or NULL */
	uint64_t count;       /* tasks of each thread; 0 = by size */
	uint32_t num_runs;
};

/* What the topology allows. */
struct cli_bench_limits {
	uint64_t max_msg_bytes; /* of a Comch message */
	struct {
		uint64_t max_bytes, max_depth; /* least of both ends */
		const char *lack;              /* why there are no such ends; static; NULL = they are there */
	} rdma[CLI_BENCH_BETWEEN_PORTS + 1];
	struct pcie_accel_caps accel[PCIE_NUM_ACCELS]; /* of the first function of the DPU that has the engine */
	char device[PCIE_NUM_ACCELS][PCIE_IBDEV_SIZE]; /* of that function */
	const char *profile;                           /* of the card; static */
};

/* Find out about this machine and the topology. Returns 0, or -1 with a message. */
int cli_bench_env_get(const struct cli_bench_cfg *cfg, struct cli_bench_env *ret_env,
		      struct cli_bench_limits *ret_limits);

/* Whether the topology does not allow the point; if so, the reason is written to @text. */
bool cli_bench_is_impossible(const struct cli_bench_point *point, const struct cli_bench_limits *limits,
			     char text[CLI_BENCH_PROBLEM_SIZE]);

/* Make bench->points of all combinations that are possible, and say on standard error which are left out and why. Returns 0, or
 * -1 with a message (the caller frees them in both cases). */
int cli_bench_make_points(const struct cli_bench_sweep *sweep, const struct cli_bench_limits *limits,
			  struct cli_bench *bench);

/* Run a point as often as @cfg says, and fill in its results. Returns 0, -1 with a message, or -ENOTSUP if this machine lacks
 * the library that does the engine's work; the run has said which. */
int cli_bench_run(const struct cli_bench_cfg *cfg, struct cli_bench_point *point);

/* A line of a table or of CSV, and the headings; each is flushed, so that it appears when its point is done. */
void cli_bench_print_headings(void);
void cli_bench_print_point(const struct cli_bench_point *point);
void cli_bench_print_csv_headings(void);
void cli_bench_print_csv_point(const struct cli_bench_point *point);

/* Write JSON to @path, or to standard output with NULL. Returns 0, or -1 with a message. */
int cli_bench_write_json(const struct cli_bench *bench, const char *path);

/* Read such JSON. Returns 0 (the caller frees ret_bench->points), or -1 with a message. */
int cli_bench_read_json(const char *path, struct cli_bench *ret_bench);

/* Print the points of both, and which differ by more than their runs do among themselves; on standard error, whether machine,
 * card, topology or data paths differ. Returns the number of points that are in both. */
size_t cli_bench_compare(const struct cli_bench *before, const struct cli_bench *now, size_t *ret_num_slower);

#endif
