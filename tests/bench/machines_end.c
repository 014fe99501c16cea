/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of the figure "machines": it has memory that others write to, or writes to that of another.
 *
 *   bfsim_bench_machines_end CONNECTIONS
 *
 * Each line of standard input is answered by a line:
 *
 *   export FILE                       what the other end needs to connect
 *   connect FILE                      all connections, and import the memory
 *   poll, sleep                       how to wait from now on
 *   time COUNT BYTES DEPTH FIRST NUM  the median time of a write to its completion in ns, on NUM connections in turns from FIRST on;
 *                                     with more than one write under way, the mean time from one completion to the next
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_BYTES       (8u << 20)
#define MAX_COUNT       1000000
#define MAX_DEPTH       64
#define MAX_CONNECTIONS 1024
#define KEY_BYTES       64

static struct doca_dev *dev;
static struct doca_mmap *mmap_, *remote;
static struct doca_buf_inventory *inventory;
static struct doca_pe *pe;
static struct doca_rdma *rdma;
static struct doca_rdma_connection *connections[MAX_CONNECTIONS];
static uint8_t keys[MAX_CONNECTIONS][KEY_BYTES];
static uint32_t num_connections;
static uint8_t *memory;
static uint64_t remote_base;
static bool sleeps;
static uint32_t num_done;
static doca_event_handle_t handle;
static uint64_t times[MAX_COUNT];

#define MUST(call) must((call), #call)

static void must(doca_error_t result, const char *call)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "bfsim_bench_machines_end: %s: %s\n", call, doca_error_get_name(result));
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- opening ---- */

static void on_done(struct doca_rdma_task_write *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task, (void)task_data, (void)ctx_data;
	num_done++;
}

static void on_failed(struct doca_rdma_task_write *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data, (void)ctx_data;
	must(doca_task_get_status(doca_rdma_task_write_as_task(task)), "a write");
}

static void open_device(void)
{
	struct doca_devinfo **list;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_rdma_cap_task_write_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	MUST(dev ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND);
}

static void open_all(void)
{
	const uint32_t access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE;

	open_device();
	memory = aligned_alloc(4096, MAX_BYTES);
	memset(memory, 1, MAX_BYTES);
	MUST(doca_mmap_create(&mmap_));
	MUST(doca_mmap_add_dev(mmap_, dev));
	MUST(doca_mmap_set_memrange(mmap_, memory, MAX_BYTES));
	MUST(doca_mmap_set_permissions(mmap_, access));
	MUST(doca_mmap_start(mmap_));
	MUST(doca_buf_inventory_create(2 * MAX_DEPTH, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_pe_create(&pe));
	MUST(doca_rdma_create(dev, &rdma));
	MUST(doca_rdma_set_permissions(rdma, access));
	MUST(doca_rdma_set_max_num_connections(rdma, (uint16_t)num_connections));
	MUST(doca_rdma_task_write_set_conf(rdma, on_done, on_failed, MAX_DEPTH));
	MUST(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
	MUST(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	MUST(doca_pe_get_notification_handle(pe, &handle));
}

/* ---- files ---- */

static bool export_all(const char *name)
{
	FILE *file = fopen(name, "w");
	const void *bytes;
	uint64_t base = (uintptr_t)memory;
	size_t len;
	bool is_written = file && fwrite(&base, sizeof(base), 1, file) == 1;

	MUST(doca_mmap_export_rdma(mmap_, dev, &bytes, &len));
	is_written = is_written && len == KEY_BYTES && fwrite(bytes, len, 1, file) == 1;
	for (uint32_t i = 0; is_written && i < num_connections; i++) {
		MUST(doca_rdma_export(rdma, &bytes, &len, &connections[i]));
		is_written = len == KEY_BYTES && fwrite(bytes, len, 1, file) == 1;
	}
	if (file)
		is_written = fclose(file) == 0 && is_written;
	return is_written;
}

static bool connect_all(const char *name)
{
	FILE *file = fopen(name, "r");
	uint8_t key[KEY_BYTES];
	bool is_read = file && fread(&remote_base, sizeof(remote_base), 1, file) == 1 &&
		       fread(key, sizeof(key), 1, file) == 1 &&
		       fread(keys, KEY_BYTES, num_connections, file) == num_connections;

	if (file)
		fclose(file);
	if (!is_read)
		return false;
	MUST(doca_mmap_create_from_export(NULL, key, sizeof(key), dev, &remote));
	for (uint32_t i = 0; i < num_connections; i++)
		MUST(doca_rdma_connect(rdma, keys[i], KEY_BYTES, connections[i]));
	return true;
}

/* ---- writes ---- */

struct slot {
	struct doca_rdma_task_write *task;
	struct doca_buf *to;
};

static void wait_for_more(uint32_t than)
{
	struct pollfd event = { .fd = handle, .events = POLLIN };

	for (;;) {
		while (doca_pe_progress(pe) > 0)
			;
		if (num_done > than)
			return;
		if (!sleeps)
			continue;
		MUST(doca_pe_request_notification(pe));
		poll(&event, 1, -1);
		MUST(doca_pe_clear_notification(pe, handle));
	}
}

static void open_slots(struct slot *slots, uint32_t bytes, uint32_t depth)
{
	const union doca_data none = { .u64 = 0 };
	struct doca_buf *from;

	for (uint32_t i = 0; i < depth; i++) {
		MUST(doca_buf_inventory_buf_get_by_data(inventory, mmap_, memory + (size_t)i * bytes, bytes, &from));
		MUST(doca_buf_inventory_buf_get_by_addr(
			inventory, remote, (void *)(uintptr_t)(remote_base + (size_t)i * bytes), bytes, &slots[i].to));
		MUST(doca_rdma_task_write_allocate_init(rdma, connections[0], from, slots[i].to, none, &slots[i].task));
	}
}

static void close_slots(struct slot *slots, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++) {
		struct doca_buf *from = (struct doca_buf *)(uintptr_t)doca_rdma_task_write_get_src_buf(slots[i].task);

		doca_task_free(doca_rdma_task_write_as_task(slots[i].task));
		MUST(doca_buf_dec_refcount(from, NULL));
		MUST(doca_buf_dec_refcount(slots[i].to, NULL));
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void time_writes(uint32_t count, uint32_t bytes, uint32_t depth, uint32_t first, uint32_t num)
{
	struct slot slots[MAX_DEPTH];
	uint32_t begun = 0, done = 0;
	uint64_t start, last;

	open_slots(slots, bytes, depth);
	num_done = 0;
	start = last = now_ns();
	while (done < count) {
		for (; begun < count && begun - done < depth; begun++) {
			struct slot *slot = &slots[begun % depth];

			MUST(doca_buf_reset_data_len(slot->to));
			doca_rdma_task_write_set_rdma_connection(slot->task, connections[first + begun % num]);
			MUST(doca_task_submit(doca_rdma_task_write_as_task(slot->task)));
		}
		wait_for_more(done);
		for (; done < num_done; done++) {
			times[done] = now_ns() - last;
			last += times[done];
		}
	}
	close_slots(slots, depth);
	qsort(times, count, sizeof(times[0]), compare);
	printf("%llu\n", (unsigned long long)(depth > 1 ? (last - start) / count : times[count / 2]));
}

/* ---- commands ---- */

static void obey(char *line)
{
	uint32_t count, bytes, depth, first, num;
	char name[256];

	if (sscanf(line, "export %255s", name) == 1) {
		puts(export_all(name) ? "ok" : "error");
	} else if (sscanf(line, "connect %255s", name) == 1) {
		puts(connect_all(name) ? "ok" : "error");
	} else if (strncmp(line, "poll", 4) == 0 || strncmp(line, "sleep", 5) == 0) {
		sleeps = line[0] == 's';
		puts("ok");
	} else if (sscanf(line, "time %u %u %u %u %u", &count, &bytes, &depth, &first, &num) == 5 &&
		   count <= MAX_COUNT && depth <= MAX_DEPTH && bytes <= MAX_BYTES / depth &&
		   first + num <= num_connections && num > 0) {
		time_writes(count, bytes, depth, first, num);
	} else {
		puts("error");
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[512];

	num_connections = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	if (num_connections == 0 || num_connections > MAX_CONNECTIONS)
		return EXIT_FAILURE;
	open_all();
	puts("ok");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return EXIT_SUCCESS;
}
