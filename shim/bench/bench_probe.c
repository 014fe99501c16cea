/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that bfsim bench runs on a side: exports memory, or copies from it by DMA tasks and measures.
 *
 *   bfsim-bench-probe export FILE BYTES                        until its standard input ends
 *   bfsim-bench-probe copy FILE SIZE DEPTH THREADS COUNT       FILE "-": from its own memory
 *
 * Prints one line of JSON: tasks, bytes, nanoseconds of session time, and percentiles of the tasks' latencies.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bfsim.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "bfsim-bench-probe: cannot %s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count), "list the devices");
	must(count > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find a device");
	must(doca_dev_open(list[0], &dev), "open the first device");
	doca_devinfo_destroy_list(list);
	return dev;
}

static struct doca_mmap *map(struct doca_dev *dev, void *memory, size_t bytes, uint32_t permissions)
{
	struct doca_mmap *mmap;

	must(doca_mmap_create(&mmap), "create a map");
	must(doca_mmap_set_permissions(mmap, permissions), "set its permissions");
	must(doca_mmap_set_memrange(mmap, memory, bytes), "set its range");
	must(doca_mmap_add_dev(mmap, dev), "add the device");
	must(doca_mmap_start(mmap), "start it");
	return mmap;
}

/* For the path "mapped", memory that other processes can map. */
static void *allocate(size_t bytes)
{
	const char *path = getenv("BFSIM_PATH");
	bool is_shared = path && strcmp(path, "mapped") == 0;
	size_t size = (bytes + 4095) / 4096 * 4096;
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | (is_shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	must(memory != MAP_FAILED ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "allocate memory");
	memset(memory, 0x5a, bytes);
	return memory;
}

/* ---- export ---- */

/* The file appears when it is complete. */
static void write_file(const char *path, const void *bytes, size_t len)
{
	char name[4096];
	FILE *out;

	snprintf(name, sizeof(name), "%s.new", path);
	out = fopen(name, "wbe");
	if (!out || fwrite(bytes, 1, len, out) != len || fclose(out) != 0 || rename(name, path) < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

static int export_memory(const char *path, size_t bytes)
{
	struct doca_dev *dev = open_first();
	struct doca_mmap *mmap = map(dev, allocate(bytes), bytes, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	const void *descriptor;
	size_t len;

	must(doca_mmap_export_pci(mmap, dev, &descriptor, &len), "export memory");
	write_file(path, descriptor, len);
	while (getchar() != EOF)
		;
	must(doca_mmap_destroy(mmap), "destroy the map");
	must(doca_dev_close(dev), "close the device");
	return EXIT_SUCCESS;
}

/* ---- copy ---- */

struct setup {
	const char *path; /* of the descriptor; NULL = own memory */
	size_t size;
	unsigned int depth, threads;
	uint64_t count; /* tasks of each thread */
	struct doca_dev *dev;
	struct doca_mmap *source, *target;
	uint8_t *source_addr, *target_addr;
};

struct slot {
	struct doca_dma_task_memcpy *task;
	struct doca_buf *from, *to;
	uint64_t began_ns;
};

struct worker {
	const struct setup *setup;
	unsigned int number;
	pthread_t thread;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_buf_inventory *inventory;
	struct slot *slots;
	uint64_t *latencies; /* of tasks in the order of their ends */
	uint64_t num_submitted, num_ended, began_ns, ended_ns;
};

static void submit(struct worker *worker, struct slot *slot)
{
	must(doca_buf_reset_data_len(slot->to), "reset a buffer");
	slot->began_ns = bfsim_now_ns();
	must(doca_task_submit(doca_dma_task_memcpy_as_task(slot->task)), "submit a task");
	worker->num_submitted++;
}

static void on_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct worker *worker = ctx_data.ptr;
	struct slot *slot = task_data.ptr;

	(void)task;
	worker->latencies[worker->num_ended++] = bfsim_now_ns() - slot->began_ns;
	if (worker->num_submitted < worker->setup->count)
		submit(worker, slot);
}

static void on_error(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	must(doca_task_get_status(doca_dma_task_memcpy_as_task(task)), "copy");
}

static void prepare(struct worker *worker)
{
	const struct setup *setup = worker->setup;
	union doca_data data = { .ptr = worker };

	must(doca_pe_create(&worker->pe), "create a progress engine");
	must(doca_dma_create(setup->dev, &worker->dma), "create a context");
	must(doca_dma_task_memcpy_set_conf(worker->dma, on_done, on_error, setup->depth), "configure it");
	must(doca_ctx_set_user_data(doca_dma_as_ctx(worker->dma), data), "set its data");
	must(doca_pe_connect_ctx(worker->pe, doca_dma_as_ctx(worker->dma)), "connect it");
	must(doca_ctx_start(doca_dma_as_ctx(worker->dma)), "start it");
	must(doca_buf_inventory_create(2 * setup->depth, &worker->inventory), "create an inventory");
	must(doca_buf_inventory_start(worker->inventory), "start it");
	worker->slots = calloc(setup->depth, sizeof(*worker->slots));
	worker->latencies = calloc(setup->count, sizeof(*worker->latencies));
	must(worker->slots && worker->latencies ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "allocate memory");
	for (unsigned int i = 0; i < setup->depth; i++) {
		struct slot *slot = &worker->slots[i];
		size_t offset = ((size_t)worker->number * setup->depth + i) * setup->size;

		must(doca_buf_inventory_buf_get_by_data(worker->inventory, setup->source, setup->source_addr + offset,
							setup->size, &slot->from),
		     "get a buffer");
		must(doca_buf_inventory_buf_get_by_addr(worker->inventory, setup->target, setup->target_addr + offset,
							setup->size, &slot->to),
		     "get a buffer");
		must(doca_dma_task_memcpy_alloc_init(worker->dma, slot->from, slot->to,
						     (union doca_data){ .ptr = slot }, &slot->task),
		     "make a task");
	}
}

static void release(struct worker *worker)
{
	for (unsigned int i = 0; i < worker->setup->depth; i++)
		doca_task_free(doca_dma_task_memcpy_as_task(worker->slots[i].task));
	if (doca_ctx_stop(doca_dma_as_ctx(worker->dma)) == DOCA_ERROR_IN_PROGRESS)
		while (doca_pe_progress(worker->pe))
			;
	must(doca_dma_destroy(worker->dma), "destroy the context");
	must(doca_pe_destroy(worker->pe), "destroy the progress engine");
	for (unsigned int i = 0; i < worker->setup->depth; i++) {
		doca_buf_dec_refcount(worker->slots[i].from, NULL);
		doca_buf_dec_refcount(worker->slots[i].to, NULL);
	}
	must(doca_buf_inventory_destroy(worker->inventory), "destroy the inventory");
	free(worker->slots);
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	prepare(worker);
	worker->began_ns = bfsim_now_ns();
	for (unsigned int i = 0; i < worker->setup->depth && worker->num_submitted < worker->setup->count; i++)
		submit(worker, &worker->slots[i]);
	while (worker->num_ended < worker->setup->count)
		doca_pe_progress(worker->pe);
	worker->ended_ns = bfsim_now_ns();
	release(worker);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t percentile(const uint64_t *sorted, uint64_t count, unsigned int thousandths)
{
	uint64_t rank = (count * thousandths + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static void print_result(const struct setup *setup, const struct worker *workers)
{
	uint64_t count = setup->count * setup->threads, begin = UINT64_MAX, end = 0;
	uint64_t *all = calloc(count, sizeof(*all));

	must(all ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "allocate memory");
	for (unsigned int i = 0; i < setup->threads; i++) {
		memcpy(all + i * setup->count, workers[i].latencies, setup->count * sizeof(*all));
		begin = workers[i].began_ns < begin ? workers[i].began_ns : begin;
		end = workers[i].ended_ns > end ? workers[i].ended_ns : end;
	}
	qsort(all, count, sizeof(*all), compare);
	printf("{\"tasks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"p50\":%" PRIu64 ",\"p90\":%" PRIu64
	       ",\"p99\":%" PRIu64 ",\"p999\":%" PRIu64 ",\"max\":%" PRIu64 "}\n",
	       count, count * setup->size, end - begin, percentile(all, count, 500), percentile(all, count, 900),
	       percentile(all, count, 990), percentile(all, count, 999), all[count - 1]);
	free(all);
}

/* The exporter's memory, when its descriptor is there. */
static void import_memory(struct setup *setup)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint8_t descriptor[1024];
	size_t len, bytes;
	void *addr;
	FILE *in;

	while (!(in = fopen(setup->path, "rbe")))
		nanosleep(&pause, NULL);
	len = fread(descriptor, 1, sizeof(descriptor), in);
	fclose(in);
	setup->dev = open_first();
	must(doca_mmap_create_from_export(NULL, descriptor, len, setup->dev, &setup->source), "import memory");
	must(doca_mmap_get_memrange(setup->source, &addr, &bytes), "get its range");
	setup->source_addr = addr;
}

static int copy(struct setup *setup)
{
	size_t bytes = setup->size * setup->depth * setup->threads;
	struct worker *workers = calloc(setup->threads, sizeof(*workers));

	must(workers ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "allocate memory");
	setup->target_addr = allocate(bytes);
	if (setup->path) {
		import_memory(setup);
	} else {
		setup->dev = open_first();
		setup->source_addr = allocate(bytes);
		setup->source = map(setup->dev, setup->source_addr, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	}
	setup->target = map(setup->dev, setup->target_addr, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	for (unsigned int i = 0; i < setup->threads; i++) {
		workers[i] = (struct worker){ .setup = setup, .number = i };
		if (i > 0 && pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			must(DOCA_ERROR_NO_MEMORY, "start a thread");
	}
	work(&workers[0]);
	for (unsigned int i = 1; i < setup->threads; i++)
		pthread_join(workers[i].thread, NULL);
	print_result(setup, workers);
	must(doca_mmap_destroy(setup->source), "destroy a map");
	must(doca_mmap_destroy(setup->target), "destroy a map");
	must(doca_dev_close(setup->dev), "close the device");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "export") == 0)
		return export_memory(argv[2], strtoull(argv[3], NULL, 10));
	if (argc == 7 && strcmp(argv[1], "copy") == 0) {
		struct setup setup = { .path = strcmp(argv[2], "-") == 0 ? NULL : argv[2],
				       .size = strtoull(argv[3], NULL, 10),
				       .depth = (unsigned int)strtoul(argv[4], NULL, 10),
				       .threads = (unsigned int)strtoul(argv[5], NULL, 10),
				       .count = strtoull(argv[6], NULL, 10) };

		if (setup.size && setup.depth && setup.threads && setup.count)
			return copy(&setup);
	}
	fprintf(stderr, "bfsim-bench-probe is a part of bfsim bench\n");
	return EXIT_FAILURE;
}
