/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds and removes fault rules during the soak. */
#include "inject.h"

#include <stdio.h>

#include <bfsim.h>

#define NUM_PLACES 4096

static const char *const lasting[NUM_LASTING] = {
	[LASTING_FLIP_COPY] = "dma.memcpy p=0.3% flip=2",
	[LASTING_TEAR_COPY] = "dma.memcpy size>=16 p=0.2% tear",
	[LASTING_FLIP_OUTPUT] = "erasure_coding.create,erasure_coding.update,compress.decompress_* p=0.3% flip=1",
	[LASTING_FLIP_MESSAGE] = "comch.send p=0.2% flip=1",
	[LASTING_DROP_MESSAGE] = "comch.send side=host p=0.2% drop",
	[LASTING_DROP_MESSAGE_OF_DPU] = "comch.send side=dpu p=0.2% drop",
	[LASTING_DUPLICATE_MESSAGE] = "comch.send p=0.2% duplicate",
	[LASTING_TRUNCATE_MESSAGE] = "comch.send p=0.2% truncate=100",
	[LASTING_REORDER_MESSAGE] = "comch.send p=0.2% reorder=4",
	[LASTING_FLIP_FAST] = "comch.producer.send p=0.2% flip=1",
	[LASTING_DROP_FAST] = "comch.producer.send p=0.2% drop",
	[LASTING_DUPLICATE_FAST] = "comch.producer.send p=0.2% duplicate",
	[LASTING_TRUNCATE_FAST] = "comch.producer.send p=0.2% truncate=100",
	[LASTING_REORDER_FAST] = "comch.producer.send p=0.2% reorder=4",
	[LASTING_FLIP_RDMA] = "rdma.write,rdma.read,rdma.receive p=0.2% flip=1",
};

/* %u: a number from 1 to 20. */
static const char *const passing[] = {
	"dma.memcpy p=%u%% delay=uniform(1us,2ms)",
	"dma.memcpy p=0.%u%% fail=IO_FAILED",
	"dma.memcpy p=0.%u%% fail=IO_FAILED moved=40%%",
	"dma.memcpy side=dpu p=0.%u%% fail=DRIVER moved=90%%",
	"dma.memcpy p=0.0%u%% hang",
	"dma.memcpy p=%u%% refuse=AGAIN",
	"dma.memcpy side=host p=%u%% refuse=NO_MEMORY",
	"dma.memcpy size>=4k every=%u delay=lognormal(300us,300us)",
	"sha.*,compress.*,aes_gcm.*,erasure_coding.* p=%u%% delay=uniform(1us,1ms)",
	"sha.*,compress.*,aes_gcm.*,erasure_coding.* p=0.%u%% fail=IO_FAILED moved=40%%",
	"sha.*,compress.*,aes_gcm.*,erasure_coding.* p=%u%% refuse=AGAIN",
	"sha.*,compress.*,aes_gcm.*,erasure_coding.* p=0.0%u%% hang",
	"aes_gcm.* p=0.%u%% bad_tag",
	"compress.* p=%u%% bad_checksum",
	"comch.send,comch.producer.send p=%u%% delay=uniform(1us,1ms)",
	"comch.send p=%u%% refuse=AGAIN",
	"comch.producer.send p=%u%% refuse=AGAIN",
	"comch.send p=0.0%u%% break",
	"comch.connect p=%u%% refuse",
	"comch.connect p=%u%% stall=2ms",
	"comch.consumer.recv p=0.0%u%% fail=IO_FAILED",
	"rdma.* p=%u%% delay=uniform(1us,1ms)",
	"rdma.send,rdma.write,rdma.read,rdma.fetch_add p=0.%u%% fail=IO_FAILED",
	"rdma.write,rdma.read p=0.%u%% fail=IO_FAILED moved=40%%",
	"rdma.send,rdma.write,rdma.read,rdma.fetch_add p=%u%% refuse=AGAIN",
	"rdma.send,rdma.write,rdma.read,rdma.fetch_add p=0.0%u%% hang",
	"sync_event.update p=0.%u%% fail=IO_FAILED",
	"sync_event.update p=%u%% delay=uniform(1us,1ms)",
	"mmap.export,mmap.import,ctx.start p=%u%% delay=uniform(1us,1ms)",
	"link device=03:00.0 down=%ums",
	"peer side=host pause=%ums",
	"peer side=dpu pause=%ums",
};

static int print_error(const char *what)
{
	fprintf(stderr, "soak: %s: %s\n", what, bfsim_error());
	return -1;
}

/* Use every entry of the plan once: otherwise memory would grow while rules come and go, and the memory check would
 * fail. This takes thousands of calls, minutes on a busy machine. */
static int use_all_places(void)
{
	uint32_t id;

	for (int i = 0; i < NUM_PLACES; i++)
		if (bfsim_fault_add("dma.memcpy hang", &id) < 0 || bfsim_fault_remove(id) < 0)
			return print_error("a rule that goes again");
	return 0;
}

int inject_open(struct inject *inject, struct shared *shared)
{
	*inject = (struct inject){ .random = random_of(shared->seed, 'i', 0) };
	if (bfsim_fault_seed(shared->seed) < 0)
		return print_error("the plan's seed");
	if (MEMORY_TELLS && use_all_places() < 0)
		return -1;
	for (int i = 0; i < NUM_LASTING; i++)
		if (bfsim_fault_add(lasting[i], &shared->lasting[i]) < 0)
			return print_error(lasting[i]);
	return 0;
}

static int take_out(struct inject *inject, uint32_t *id)
{
	struct bfsim_fault fault;

	if (bfsim_fault_get(*id, &fault) < 0 || bfsim_fault_remove(*id) < 0)
		return print_error("remove a rule");
	inject->num_fired += fault.fired;
	inject->num_removed++;
	*id = 0;
	return 0;
}

int inject_turn(struct inject *inject)
{
	uint32_t *id = &inject->ids[random_in(&inject->random, 0, INJECT_MAX - 1)];
	const char *format = passing[random_in(&inject->random, 0, sizeof(passing) / sizeof(passing[0]) - 1)];
	unsigned int number = (unsigned int)random_in(&inject->random, 1, 20);
	char rule[256];

	if (*id)
		return take_out(inject, id);
	snprintf(rule, sizeof(rule), format, number);
	if (bfsim_fault_add(rule, id) < 0)
		return print_error(rule);
	inject->num_added++;
	return 0;
}
