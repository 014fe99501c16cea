/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/remote.h - host-to-DPU copies over one data path, against the path's bare means.
 *
 *   path     ours                            baseline
 *   procmem  tasks that read an export       process_vm_readv() of the same memory
 *   cma      tasks that read an export       process_vm_readv() of the same memory
 *   mapped   the same, of a memfd            memcpy() from a mapping of the same memfd
 *   shm,tcp  the same                        fi_read() between two processes that use libfabric bare, or
 *                                            process_vm_readv()
 *
 * The exporting host process sleeps; the copies run in a DPU process.
 */
#ifndef TESTS_BENCH_REMOTE_H
#define TESTS_BENCH_REMOTE_H

#include "card.h"
#include "report.h"

struct bench_remote_cfg {
	const char *path;
	uint32_t block_bytes, num_blocks; /* of the memory; an operation is a block */
	uint32_t depth;                   /* our tasks in flight */
	uint32_t baseline_depth;          /* libfabric's reads under way; the other means have one */
	bool is_beside_readv;             /* of shm and tcp: the baseline is process_vm_readv() */
	bool has_one_cpu;                 /* both processes run on one CPU, in turns */
	uint32_t pause_us;                /* before each operation, so that the exporter sleeps; not measured */
	uint32_t rounds, slice_warm_up;   /* measure.h */
	struct bench_row row;             /* its name, goal and limit */
	enum bench_measure measure;
};

/* Measure and report; a path that this machine or build lacks is reported as
 * skipped. Returns 0 or -1. */
int bench_remote(const struct bench_card *card, const struct bench_remote_cfg *cfg, const struct bench_report *report);

#endif
