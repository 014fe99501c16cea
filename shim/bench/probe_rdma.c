/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: the requester, and what both ends need. */
#include "probe_rdma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_rdma.h>

#include "probe_tasks.h"

#define RETRIES_FOR_EVER 7
#define NUMBER_BYTES     4
#define MAX_LOOKS        100 /* for the data path: each is a run of bfsim ps */

/* ---- both ends ---- */

static void read_address(const struct doca_devinfo *devinfo, char ret_address[16])
{
	uint8_t ip[4];

	probe_must(doca_devinfo_get_ipv4_addr(devinfo, ip, sizeof(ip)), "get a device's address");
	snprintf(ret_address, 16, "%u.%u.%u.%u", ip[0], ip[1], ip[2], ip[3]);
}

struct doca_dev *probe_rdma_open(bool is_last, char ret_address[16])
{
	struct doca_devinfo **list, *devinfo;
	struct doca_dev *dev;
	uint32_t count;

	probe_must(doca_devinfo_create_list(&list, &count), "list the devices");
	probe_must(count > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find a device");
	devinfo = list[is_last ? count - 1 : 0];
	read_address(devinfo, ret_address);
	probe_must(doca_dev_open(devinfo, &dev), "open a device");
	doca_devinfo_destroy_list(list);
	return dev;
}

static uint8_t byte_of(uint64_t number, size_t at)
{
	return at < NUMBER_BYTES ? (uint8_t)(number >> 8 * at) : (uint8_t)(number * 31 + at * 7 + at / 251);
}

void probe_rdma_fill(uint8_t *memory, size_t size, uint64_t number)
{
	for (size_t at = 0; at < size; at++)
		memory[at] = byte_of(number, at);
}

bool probe_rdma_is_block(const uint8_t *memory, size_t size, uint64_t number)
{
	size_t at = 0;

	while (at < size && memory[at] == byte_of(number, at))
		at++;
	return at == size;
}

uint64_t probe_rdma_number_of(const uint8_t *memory, size_t size)
{
	uint64_t number = 0;

	for (size_t at = 0; at < size && at < NUMBER_BYTES; at++)
		number |= (uint64_t)memory[at] << 8 * at;
	return number;
}

void probe_rdma_fail_wrong(enum probe_rdma_op op)
{
	static const char *const names[] = { "written", "read", "sent" };

	fprintf(stderr, "bfsim-bench-probe: rdma: the bytes that were %s are wrong\n", names[op]);
	exit(EXIT_FAILURE);
}

/* ---- the requester's tasks ---- */

PROBE_CALLBACKS(rdma_task_write)
PROBE_CALLBACKS(rdma_task_read)
PROBE_CALLBACKS(rdma_task_send)

static struct {
	enum probe_rdma_op op;
	struct probe_rdma_place place;
} requester;

static void on_established(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)data;
	((struct probe_worker *)ctx_data.ptr)->with = connection;
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)connection;
	(void)data;
	(void)ctx_data;
	probe_must(DOCA_ERROR_CONNECTION_ABORTED, "connect to the responder");
}

/* This end's stop ends the connection. */
static void on_end(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)connection;
	(void)data;
	(void)ctx_data;
}

static doca_error_t configure_tasks(struct doca_rdma *rdma, uint32_t depth)
{
	if (requester.op == PROBE_RDMA_WRITE)
		return doca_rdma_task_write_set_conf(rdma, on_rdma_task_write, on_rdma_task_write_failed, depth);
	if (requester.op == PROBE_RDMA_READ)
		return doca_rdma_task_read_set_conf(rdma, on_rdma_task_read, on_rdma_task_read_failed, depth);
	return doca_rdma_task_send_set_conf(rdma, on_rdma_task_send, on_rdma_task_send_failed, depth);
}

static struct doca_ctx *create(struct probe_worker *worker)
{
	struct doca_rdma *rdma;

	probe_must(doca_rdma_create(worker->run->dev, &rdma), "create a context");
	probe_must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE), "set its permissions");
	probe_must(doca_rdma_set_send_queue_size(rdma, worker->run->depth), "set its send queue");
	probe_must(doca_rdma_set_rnr_retry_count(rdma, RETRIES_FOR_EVER), "set its retries");
	probe_must(doca_rdma_set_connection_state_callbacks(rdma, NULL, on_established, on_failure, on_end),
		   "set its callbacks");
	probe_must(configure_tasks(rdma, worker->run->depth), "configure it");
	worker->instance = rdma;
	return doca_rdma_as_ctx(rdma);
}

static void connect_worker(struct probe_worker *worker)
{
	struct doca_rdma_addr *addr;

	probe_must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, requester.place.address, PROBE_RDMA_PORT, &addr),
		   "make an address");
	probe_must(doca_rdma_connect_to_addr(worker->instance, addr, (union doca_data){ .u64 = 0 }),
		   "connect to the responder");
	while (!worker->with)
		doca_pe_progress(worker->pe);
}

/* The first task of a thread needs its connection. */
static struct doca_task *alloc(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to,
			       union doca_data task_data)
{
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	struct doca_rdma_task_send *send;

	if (!worker->with)
		connect_worker(worker);
	if (requester.op == PROBE_RDMA_WRITE) {
		probe_must(
			doca_rdma_task_write_allocate_init(worker->instance, worker->with, from, to, task_data, &write),
			"make a task");
		return doca_rdma_task_write_as_task(write);
	}
	if (requester.op == PROBE_RDMA_READ) {
		probe_must(
			doca_rdma_task_read_allocate_init(worker->instance, worker->with, from, to, task_data, &read),
			"make a task");
		return doca_rdma_task_read_as_task(read);
	}
	probe_must(doca_rdma_task_send_allocate_init(worker->instance, worker->with, from, task_data, &send),
		   "make a task");
	return doca_rdma_task_send_as_task(send);
}

static void destroy(struct probe_worker *worker)
{
	probe_must(doca_rdma_destroy(worker->instance), "destroy the context");
}

static const struct probe_kind requests = { create, alloc, destroy };

/* ---- the requester ---- */

static void read_place(const char *path)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	size_t len;
	FILE *in;

	while (!(in = fopen(path, "rbe")))
		nanosleep(&pause, NULL);
	len = fread(&requester.place, 1, sizeof(requester.place), in);
	fclose(in);
	probe_must(len == sizeof(requester.place) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED, "read the responder's file");
}

static struct doca_mmap *import_memory(struct doca_dev *dev, uint8_t **ret_addr)
{
	struct doca_mmap *mmap;
	size_t bytes;
	void *addr;

	probe_must(doca_mmap_create_from_export(NULL, requester.place.descriptor, requester.place.descriptor_len, dev,
						&mmap),
		   "import memory");
	probe_must(doca_mmap_get_memrange(mmap, &addr, &bytes), "get its range");
	*ret_addr = addr;
	return mmap;
}

static struct doca_mmap *map_own(const struct probe_run *run, uint8_t **ret_addr)
{
	uint64_t num_blocks = (uint64_t)run->depth * run->threads;

	*ret_addr = probe_allocate(run->data_bytes * num_blocks);
	for (uint64_t i = 0; i < num_blocks; i++)
		probe_rdma_fill(*ret_addr + i * run->data_bytes, run->data_bytes, i);
	return probe_map(run->dev, *ret_addr, run->data_bytes * num_blocks, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

/* A send task has no target: its room is not used. */
static void map_both(struct probe_run *run)
{
	if (requester.op == PROBE_RDMA_READ)
		run->source = import_memory(run->dev, &run->source_addr);
	else
		run->source = map_own(run, &run->source_addr);
	if (requester.op == PROBE_RDMA_WRITE)
		run->target = import_memory(run->dev, &run->target_addr);
	else
		run->target = map_own(run, &run->target_addr);
	if (requester.op == PROBE_RDMA_READ)
		memset(run->target_addr, 0, run->data_bytes * run->depth * run->threads);
}

/* While the memory is all that was imported. The session learns of it a moment after the import. */
static void find_data_path(char path[16])
{
	for (int i = 0; i < MAX_LOOKS && !path[0]; i++)
		probe_read_import_path(path);
}

static void check_read(const struct probe_run *run)
{
	uint64_t num_used = run->count < run->depth ? run->count : run->depth;

	for (unsigned int thread = 0; thread < run->threads; thread++)
		for (uint64_t i = 0; i < num_used; i++) {
			uint64_t number = (uint64_t)thread * run->depth + i;

			if (!probe_rdma_is_block(run->target_addr + number * run->data_bytes, run->data_bytes, number))
				probe_rdma_fail_wrong(PROBE_RDMA_READ);
		}
}

int probe_rdma_request(const struct probe_rdma_cfg *cfg)
{
	struct probe_run run = { .kind = &requests,
				 .source_bytes = cfg->size,
				 .target_bytes = cfg->size,
				 .data_bytes = cfg->size,
				 .depth = cfg->depth,
				 .threads = cfg->threads,
				 .count = cfg->count };
	char address[16], data_path[16] = "";

	requester.op = cfg->op;
	read_place(cfg->path);
	run.dev = probe_rdma_open(false, address);
	map_both(&run);
	if (cfg->op != PROBE_RDMA_SEND)
		find_data_path(data_path);
	probe_tasks_measure(&run, cfg->size, data_path);
	if (cfg->op == PROBE_RDMA_READ)
		check_read(&run);
	probe_must(doca_mmap_destroy(run.source), "destroy a map");
	probe_must(doca_mmap_destroy(run.target), "destroy a map");
	probe_must(doca_dev_close(run.dev), "close the device");
	return EXIT_SUCCESS;
}
