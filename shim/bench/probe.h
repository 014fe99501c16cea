/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/bench/probe.h - parts of the program that bfsim bench runs on both sides. A failure ends the program with a message. */
#ifndef SHIM_BENCH_PROBE_H
#define SHIM_BENCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

/* End the program unless @result is DOCA_SUCCESS: "cannot @what: ...". */
void probe_must(doca_error_t result, const char *what);

struct doca_dev *probe_open_first(void);
struct doca_mmap *probe_map(struct doca_dev *dev, void *memory, size_t bytes, uint32_t permissions);
/* Memory that is filled; for the path "mapped", such that other processes can map it. */
void *probe_allocate(size_t bytes);
/* Zeros that the program needs itself. */
void *probe_calloc(size_t count, size_t size);

/* The file appears when it is complete. */
void probe_write_file(const char *path, const void *bytes, size_t len);

struct doca_ctx;
struct doca_pe;
/* Start @ctx, with @data for its callbacks, and wait until it runs. @other_pe is progressed as well; NULL = none. */
void probe_ctx_start(struct doca_ctx *ctx, struct doca_pe *pe, void *data, struct doca_pe *other_pe);
/* Stop @ctx and wait until it is idle. */
void probe_ctx_stop(struct doca_ctx *ctx, struct doca_pe *pe);

/* The measurements of one thread, in session time. */
struct probe_times {
	uint64_t *latencies; /* of tasks in the order of their ends */
	uint64_t count, began_ns, ended_ns;
};

/* The data path of the session's only import, which the command of $BFSIM_BENCH_PS tells; "" = unknown. */
void probe_read_import_path(char path[16]);

/* Print the line of JSON about tasks of @task_bytes each. @path: the data path, "" = there is none; NULL = that of
 * probe_read_import_path(). */
void probe_print_result(const struct probe_times *times, size_t num_threads, uint64_t task_bytes, const char *path);

/* Copies by DMA tasks. @path: the file of the exporter's descriptor; NULL = own memory on both ends. @writes: to the
 * exporter's memory. @count: tasks of each thread. */
struct probe_copy_cfg {
	const char *path;
	bool writes;
	size_t size;
	unsigned int depth, threads;
	uint64_t count;
};
int probe_copy(const struct probe_copy_cfg *cfg);

/* Tasks of an accelerator engine on own memory. @name: the workload. @device: name of the InfiniBand device. @size: bytes of text
 * that a task works on, which is the output of those that decompress, recover or decrypt; @count: tasks of each thread. Returns a
 * status: PROBE_LACKS_ENGINE if the device does not offer the engine, of which the libraries have logged a warning. */
struct probe_engine_cfg {
	const char *name, *device;
	size_t size;
	unsigned int depth, threads;
	uint64_t count;
};
#define PROBE_LACKS_ENGINE 3 /* sim/cli/bench/bench_run.c knows it */
int probe_engine(const struct probe_engine_cfg *cfg);

/* Comch: messages that the DPU's side sends back (@is_fast: false), or that a producer sends to the DPU's consumer. The host's
 * side measures, the DPU's ends when it has disconnected. */
struct probe_comch_cfg {
	bool is_fast;
	size_t size;
	unsigned int depth;
	uint64_t count;
};
int probe_comch_host(const struct probe_comch_cfg *cfg);
int probe_comch_dpu(const struct probe_comch_cfg *cfg);

/* RDMA requests to a responder, which writes what a requester needs to the file @path. @count: of each of the requester's threads,
 * which have a connection each. The requester measures, on the first function of its side; the responder is on the first of its own, or
 * on the last, and ends when the requester has disconnected. Both compare what has arrived with what was sent. */
enum probe_rdma_op {
	PROBE_RDMA_WRITE,
	PROBE_RDMA_READ,
	PROBE_RDMA_SEND,
};
struct probe_rdma_cfg {
	enum probe_rdma_op op;
	bool is_last;
	const char *path;
	size_t size;
	unsigned int depth, threads;
	uint64_t count;
};
int probe_rdma_request(const struct probe_rdma_cfg *cfg);
int probe_rdma_serve(const struct probe_rdma_cfg *cfg);

#endif
