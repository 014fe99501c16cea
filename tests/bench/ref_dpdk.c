/* SPDX-License-Identifier: BSD-3-Clause */
/* A DMA device made of software, to be measured against (reference.h): DPDK's
 * dma_skeleton. The device copies in a thread of its own; EAL keeps that off
 * the core that submits when there is another one.
 *
 *   bfsim_bench_dpdk FD
 */
#include <errno.h>
#include <rte_dmadev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "memory.h"
#include "process.h"
#include "reference.h"

#define RING_SIZE 1024
#define DEVICE    "dma_skeleton"

struct device {
	int16_t id;
	uint8_t *source, *target;
};

/* The first core that we may use; the device's thread gets the others. */
static int first_core(void)
{
	cpu_set_t cores;
	int core = 0;

	CPU_ZERO(&cores);
	sched_getaffinity(0, sizeof(cores), &cores);
	while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &cores))
		core++;
	return core;
}

static int start_eal(void)
{
	char core[16];
	char *args[] = { "bench", "-l", core,          "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
			 "-m",    "64", "--log-level", "error",     "--vdev",   DEVICE,        NULL };

	snprintf(core, sizeof(core), "%d", first_core());
	return rte_eal_init(sizeof(args) / sizeof(args[0]) - 1, args) < 0 ? -rte_errno : 0;
}

static int open_device(struct device *device)
{
	const struct rte_dma_conf conf = { .nb_vchans = 1 };
	const struct rte_dma_vchan_conf vchan = { .direction = RTE_DMA_DIR_MEM_TO_MEM, .nb_desc = RING_SIZE };
	int rc = start_eal();

	if (rc < 0)
		return rc;
	device->id = (int16_t)rte_dma_get_dev_id_by_name(DEVICE);
	if (device->id < 0)
		return -ENOSYS;
	rc = rte_dma_configure(device->id, &conf);
	if (rc == 0)
		rc = rte_dma_vchan_setup(device->id, 0, &vchan);
	device->source = bench_memory_new(BENCH_SMALL_BYTES * BENCH_NUM_SMALL);
	device->target = bench_memory_new(BENCH_SMALL_BYTES * BENCH_NUM_SMALL);
	return device->source && device->target ? rc : -ENOMEM;
}

static int run_batch(const struct device *device, uint32_t first, const struct bench_ref_order *order)
{
	bool error = false;
	uint32_t done = 0;

	for (uint32_t i = 0; i < order->depth; i++) {
		size_t offset = (size_t)((first + i) % BENCH_NUM_SMALL) * order->bytes;
		uint64_t flags = i + 1 == order->depth ? RTE_DMA_OP_FLAG_SUBMIT : 0;

		if (rte_dma_copy(device->id, 0, (uintptr_t)device->source + offset, (uintptr_t)device->target + offset,
				 order->bytes, flags) < 0)
			return -ENOSPC;
	}
	while (done < order->depth && !error)
		done += rte_dma_completed(device->id, 0, (uint16_t)order->depth, NULL, &error);
	return error ? -EIO : 0;
}

/* The device's thread, which polls, runs only meanwhile. */
static int measure(const struct device *device, const struct bench_ref_order *order, uint64_t *ret_ns)
{
	int rc = rte_dma_start(device->id);
	uint64_t start;

	if (rc == 0)
		rc = run_batch(device, 0, order); /* it wakes */
	start = bench_now_ns();
	for (uint32_t i = 0; i < order->count && rc == 0; i++)
		rc = run_batch(device, i * order->depth, order);
	*ret_ns = bench_now_ns() - start;
	rte_dma_stop(device->id);
	return rc;
}

int main(int argc, char **argv)
{
	struct device device;
	struct bench_ref_order order;
	struct bench_ref_answer answer;
	int fd = argc > 1 ? atoi(argv[1]) : -1;

	if (fd < 0)
		return bench_fail("usage: %s FD", argv[0]), 2;
	answer = (struct bench_ref_answer){ .status = open_device(&device) };
	if (bench_send(fd, &answer, sizeof(answer)) < 0 || answer.status < 0)
		return 1;
	bench_memory_fill(device.source, BENCH_SMALL_BYTES * BENCH_NUM_SMALL, 1);
	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		answer.status = measure(&device, &order, &answer.ns);
		if (bench_memory_check(device.target, BENCH_SMALL_BYTES * BENCH_NUM_SMALL, 1) < 0)
			answer.status = -EIO;
		if (bench_send(fd, &answer, sizeof(answer)) < 0)
			return 1;
	}
	rte_dma_close(device.id);
	rte_eal_cleanup();
	return 0;
}
