/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: throughput of copies of the host's memory, by data path. */
#include "fig.h"
#include "memory.h"
#include "remote.h"

#define LARGE(of_path, num_rounds, in_flight, ...)                                                                     \
	{                                                                                                              \
		.path = (of_path), .block_bytes = BENCH_BLOCK_BYTES, .num_blocks = BENCH_NUM_BLOCKS, .depth = 4,       \
		.baseline_depth = (in_flight), .rounds = (num_rounds), .slice_warm_up = 1, .measure = BENCH_BANDWIDTH, \
		.row = { __VA_ARGS__ }                                                                                 \
	}

#define BESIDE_READV(one_cpu, pause, ...)                                                                    \
	{                                                                                                    \
		.path = "shm", .block_bytes = BENCH_BLOCK_BYTES, .num_blocks = BENCH_NUM_BLOCKS, .depth = 4, \
		.is_beside_readv = true, .has_one_cpu = (one_cpu), .pause_us = (pause), .rounds = 71,        \
		.slice_warm_up = 1, .measure = BENCH_BANDWIDTH,                                              \
		.row = {.baseline_name = "process_vm_readv",                                                 \
			.goal = BENCH_RATIO_AT_LEAST,                                                        \
			__VA_ARGS__ }                                                                        \
	}

static const struct bench_remote_cfg cases[] = {
	LARGE("cma", 71, 1, .name = "host-to-DPU 1 MiB, cma", .baseline_name = "process_vm_readv",
	      .goal = BENCH_RATIO_AT_LEAST, .limit = 0.95),
	LARGE("procmem", 71, 1, .name = "host-to-DPU 1 MiB, procmem", .baseline_name = "process_vm_readv"),
	LARGE("mapped", 71, 1, .name = "host-to-DPU 1 MiB, mapped", .baseline_name = "memcpy from a mapping",
	      .goal = BENCH_RATIO_AT_LEAST, .limit = 0.9),
	LARGE("shm", 71, 1, .name = "host-to-DPU 1 MiB, shm", .baseline_name = "fi_read", .goal = BENCH_RATIO_AT_LEAST,
	      .limit = 1),
	LARGE("shm", 31, 4, .name = "host-to-DPU 1 MiB, shm, 4 deep", .baseline_name = "fi_read, 4 at a time"),
	BESIDE_READV(false, 0, .name = "host-to-DPU 1 MiB, shm", .limit = 1.0),
	BESIDE_READV(true, 0, .name = "host-to-DPU 1 MiB, shm, one CPU", .limit = 0.6),
	BESIDE_READV(false, 200, .name = "host-to-DPU 1 MiB, shm, exporter asleep", .limit = 0.6),
	LARGE("tcp", 71, 1, .name = "host-to-DPU 1 MiB, tcp", .baseline_name = "fi_read", .goal = BENCH_RATIO_AT_LEAST,
	      .limit = 1),
	LARGE("tcp", 31, 4, .name = "host-to-DPU 1 MiB, tcp, 4 deep", .baseline_name = "fi_read, 4 at a time"),
};

int bench_fig_remote(const struct bench_report *report)
{
	struct bench_card card;
	int rc = 0;

	if (bench_card_up(&card) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		rc |= bench_remote(&card, &cases[i], report);
	return bench_card_down(&card) < 0 ? -1 : rc;
}
