/* SPDX-License-Identifier: BSD-3-Clause */
/* The workloads, and which points of them a topology allows. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "bench.h"

#define EC_NUM_DATA   2  /* data blocks of a task, which are as many as its redundancy blocks */
#define EC_UNIT_BYTES 64 /* a block's size is a multiple of it */
#define GCM_TAG_BYTES 16

#define MAX_CONNECTIONS 65535 /* of an RDMA context */

const char *const cli_bench_workload_names[] = {
	[CLI_BENCH_HOST_TO_DPU] = "host-to-dpu",
	[CLI_BENCH_DPU_TO_HOST] = "dpu-to-host",
	[CLI_BENCH_COMCH] = "comch",
	[CLI_BENCH_COMCH_FAST] = "comch-fast",
	[CLI_BENCH_RDMA_WRITE] = "rdma-write",
	[CLI_BENCH_RDMA_READ] = "rdma-read",
	[CLI_BENCH_RDMA_SEND] = "rdma-send",
	[CLI_BENCH_RDMA_WRITE_DPU] = "rdma-write-dpu",
	[CLI_BENCH_RDMA_READ_DPU] = "rdma-read-dpu",
	[CLI_BENCH_RDMA_SEND_DPU] = "rdma-send-dpu",
	[CLI_BENCH_RDMA_WRITE_PORT] = "rdma-write-port",
	[CLI_BENCH_RDMA_READ_PORT] = "rdma-read-port",
	[CLI_BENCH_RDMA_SEND_PORT] = "rdma-send-port",
	[CLI_BENCH_SHA] = "sha",
	[CLI_BENCH_DEFLATE] = "deflate",
	[CLI_BENCH_INFLATE] = "inflate",
	[CLI_BENCH_LZ4] = "lz4",
	[CLI_BENCH_EC_CREATE] = "ec-create",
	[CLI_BENCH_EC_RECOVER] = "ec-recover",
	[CLI_BENCH_GCM_ENCRYPT] = "gcm-encrypt",
	[CLI_BENCH_GCM_DECRYPT] = "gcm-decrypt",
	[CLI_BENCH_NUM_WORKLOADS] = CLI_BENCH_ALL_ENGINES,
	[CLI_BENCH_NUM_WORKLOADS + 1] = CLI_BENCH_ALL_RDMA,
	NULL,
};

/* Of the workloads from CLI_BENCH_SHA on. */
static const enum pcie_accel accels[] = {
	[CLI_BENCH_SHA] = PCIE_ACCEL_SHA,
	[CLI_BENCH_DEFLATE] = PCIE_ACCEL_COMPRESS_DEFLATE,
	[CLI_BENCH_INFLATE] = PCIE_ACCEL_DECOMPRESS_DEFLATE,
	[CLI_BENCH_LZ4] = PCIE_ACCEL_DECOMPRESS_LZ4,
	[CLI_BENCH_EC_CREATE] = PCIE_ACCEL_ERASURE_CODING,
	[CLI_BENCH_EC_RECOVER] = PCIE_ACCEL_ERASURE_CODING,
	[CLI_BENCH_GCM_ENCRYPT] = PCIE_ACCEL_AES_GCM,
	[CLI_BENCH_GCM_DECRYPT] = PCIE_ACCEL_AES_GCM,
};

enum pcie_accel cli_bench_accel(enum cli_bench_workload workload)
{
	return workload >= CLI_BENCH_SHA ? accels[workload] : PCIE_NUM_ACCELS;
}

enum cli_bench_workload cli_bench_workload_of(const struct cli_bench_point *point)
{
	enum cli_bench_workload workload = 0;

	while (workload < CLI_BENCH_NUM_WORKLOADS && strcmp(point->workload, cli_bench_workload_names[workload]) != 0)
		workload++;
	return workload;
}

/* Write a message to @text. Returns true. */
__attribute__((format(printf, 2, 3))) static bool say(char text[CLI_BENCH_PROBLEM_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, CLI_BENCH_PROBLEM_SIZE, format, args);
	va_end(args);
	return true;
}

/* The limit of erasure coding is that of a block, and that of AES-GCM includes the tag. */
static uint64_t max_task_bytes(enum pcie_accel accel, const struct pcie_accel_caps *caps)
{
	if (accel == PCIE_ACCEL_ERASURE_CODING)
		return caps->max_buf_bytes * EC_NUM_DATA;
	if (accel == PCIE_ACCEL_AES_GCM)
		return caps->max_buf_bytes > GCM_TAG_BYTES ? caps->max_buf_bytes - GCM_TAG_BYTES : 0;
	return caps->max_buf_bytes;
}

static bool is_engine_limited(const struct cli_bench_point *point, enum pcie_accel accel,
			      const struct pcie_accel_caps *caps, char text[CLI_BENCH_PROBLEM_SIZE])
{
	uint64_t max_bytes = max_task_bytes(accel, caps);

	if (accel == PCIE_ACCEL_ERASURE_CODING && point->size % (EC_NUM_DATA * EC_UNIT_BYTES) != 0)
		return say(text, "tasks of erasure coding have a multiple of %d bytes", EC_NUM_DATA * EC_UNIT_BYTES);
	if (point->size > max_bytes)
		return say(text, "a task of %s has up to %" PRIu64 " bytes", point->workload, max_bytes);
	return point->depth > caps->max_tasks &&
	       say(text, "a context of %s has up to %" PRIu32 " tasks", point->workload, caps->max_tasks);
}

static bool is_comch_limited(const struct cli_bench_point *point, bool has_messages,
			     const struct cli_bench_limits *limits, char text[CLI_BENCH_PROBLEM_SIZE])
{
	if (has_messages && point->size > limits->max_msg_bytes)
		return say(text, "comch has messages of up to %" PRIu64 " bytes", limits->max_msg_bytes);
	return (point->threads != 1 || strcmp(point->path, "in-place") == 0) &&
	       say(text, "comch and comch-fast have one thread and no path in-place");
}

static bool is_rdma_limited(const struct cli_bench_point *point, enum cli_bench_workload workload,
			    const struct cli_bench_limits *limits, char text[CLI_BENCH_PROBLEM_SIZE])
{
	enum cli_bench_place place = cli_bench_rdma_place(workload);

	if (strcmp(point->path, "in-place") == 0)
		return say(text, "rdma has no path in-place");
	if (point->threads > MAX_CONNECTIONS)
		return say(text, "rdma has up to %d threads", MAX_CONNECTIONS);
	if (point->size > limits->rdma[place].max_bytes)
		return say(text, "an rdma request has up to %" PRIu64 " bytes", limits->rdma[place].max_bytes);
	return point->depth > limits->rdma[place].max_depth &&
	       say(text, "an rdma connection has up to %" PRIu64 " requests", limits->rdma[place].max_depth);
}

bool cli_bench_is_impossible(const struct cli_bench_point *point, const struct cli_bench_limits *limits,
			     char text[CLI_BENCH_PROBLEM_SIZE])
{
	enum cli_bench_workload workload = cli_bench_workload_of(point);
	enum pcie_accel accel = cli_bench_accel(workload);

	if (accel != PCIE_NUM_ACCELS)
		return is_engine_limited(point, accel, &limits->accel[accel], text);
	if (cli_bench_is_rdma(workload))
		return is_rdma_limited(point, workload, limits, text);
	if (workload == CLI_BENCH_COMCH || workload == CLI_BENCH_COMCH_FAST)
		return is_comch_limited(point, workload == CLI_BENCH_COMCH, limits, text);
	return false;
}

bool cli_bench_has_path(enum cli_bench_workload workload)
{
	if (cli_bench_is_rdma(workload) && cli_bench_rdma_op(workload) == CLI_BENCH_RDMA_SEND)
		return false;
	return workload != CLI_BENCH_COMCH && cli_bench_accel(workload) == PCIE_NUM_ACCELS;
}
