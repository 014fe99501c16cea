/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: latency of copies of the host's memory, by data path. */
#include "fig.h"
#include "memory.h"
#include "remote.h"

#define SMALL(of_path, ...) OF_BYTES(BENCH_SMALL_BYTES, of_path, __VA_ARGS__)
#define OF_BYTES(bytes, of_path, ...)                                                                 \
	{                                                                                             \
		.path = (of_path), .block_bytes = (bytes), .num_blocks = BENCH_NUM_SMALL, .depth = 1, \
		.baseline_depth = 1, .rounds = 151, .slice_warm_up = 16, .measure = BENCH_LATENCY,    \
		.row = { __VA_ARGS__ }                                                                \
	}

static const struct bench_remote_cfg cases[] = {
	SMALL("cma", .name = "host-to-DPU 64 B, cma", .baseline_name = "process_vm_readv", .goal = BENCH_RATIO_AT_MOST,
	      .limit = 1.5),
	SMALL("procmem", .name = "host-to-DPU 64 B, procmem", .baseline_name = "process_vm_readv",
	      .goal = BENCH_RATIO_AT_MOST, .limit = 1.2),
	OF_BYTES(4096, "cma", .name = "host-to-DPU 4 KiB, cma", .baseline_name = "process_vm_readv"),
	OF_BYTES(4096, "procmem", .name = "host-to-DPU 4 KiB, procmem", .baseline_name = "process_vm_readv"),
	OF_BYTES(65536, "cma", .name = "host-to-DPU 64 KiB, cma", .baseline_name = "process_vm_readv"),
	OF_BYTES(65536, "procmem", .name = "host-to-DPU 64 KiB, procmem", .baseline_name = "process_vm_readv"),
	SMALL("mapped", .name = "host-to-DPU 64 B, mapped", .baseline_name = "memcpy from a mapping"),
	SMALL("shm", .name = "host-to-DPU 64 B, shm", .baseline_name = "fi_read", .goal = BENCH_RATIO_AT_MOST,
	      .limit = 1),
	SMALL("tcp", .name = "host-to-DPU 64 B, tcp", .baseline_name = "fi_read", .goal = BENCH_RATIO_AT_MOST,
	      .limit = 1),
};

int bench_fig_latency(const struct bench_report *report)
{
	struct bench_card card;
	int rc = 0;

	if (bench_card_up(&card) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		rc |= bench_remote(&card, &cases[i], report);
	return bench_card_down(&card) < 0 ? -1 : rc;
}
