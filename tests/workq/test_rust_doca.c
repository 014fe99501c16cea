/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that rust-doca (github.com/smartnickit-project/rust-doca) makes, in its
 * order: those of its three examples, of its own tests, and of the destructors
 * that run at the end of a scope, in reverse order.
 *
 * It follows the order of 1.5: a map is started empty and gets chunks later. Some
 * steps of its teardown are unusual:
 *
 *   - a device's list lives longer than the device;
 *   - the devices of a local map are removed first, those of an exported or imported one are not;
 *   - buffers are returned, and their inventory and maps destroyed, while the context runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "cmocka_test.h"
#include "tests/multi/session_util.h"
#include "doca_check.h"

#define TEXT           "a text that crosses the bus"
#define MAX_CHUNKS     64
#define NUM_BUFFERS    1024
#define MAX_DESCRIPTOR 2048
#define PATH_SIZE      4096

static char *dir;
static struct proc card, host, dpu;

static int setup(void **state)
{
	dir = proc_make_dir();
	daemon_start(&card, dir, NULL);
	return 0;
}

static int teardown(void **state)
{
	proc_kill_all();
	proc_remove_dir(dir);
	return 0;
}

/* ---- devices ---- */

struct device {
	struct doca_devinfo **list;
	struct doca_dev *dev;
};

static void enter(const char *side)
{
	setenv("BFSIM_SESSION", dir, 1);
	setenv("BFSIM_SIDE", side, 1);
}

static bool is_at(struct doca_devinfo *info, const char *address)
{
	struct doca_pci_bdf bdf = { .raw = 0 };
	char text[16];

	MUST(doca_devinfo_get_pci_addr(info, &bdf));
	snprintf(text, sizeof(text), "%02x:%02x.%x", bdf.bus, bdf.device, bdf.function);
	return strcmp(text, address) == 0;
}

static struct device device_open(const char *address)
{
	struct device device = { 0 };
	uint32_t count = 0;

	MUST(doca_devinfo_list_create(&device.list, &count));
	for (uint32_t i = 0; i < count && !device.dev; i++)
		if (is_at(device.list[i], address))
			MUST(doca_dev_open(device.list[i], &device.dev));
	CHECK(device.dev);
	return device;
}

static void device_drop(struct device *device)
{
	MUST(doca_dev_close(device->dev));
	MUST(doca_devinfo_list_destroy(device->list));
}

/* ---- memory ---- */

static struct doca_mmap *map_new(void)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(NULL, &mmap));
	MUST(doca_mmap_set_max_num_chunks(mmap, MAX_CHUNKS));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

static void map_populate(struct doca_mmap *mmap, void *memory, size_t len)
{
	MUST(doca_mmap_populate(mmap, memory, len, (size_t)sysconf(_SC_PAGESIZE), NULL, NULL));
}

static void local_map_drop(struct doca_mmap *mmap, const struct device *device)
{
	MUST(doca_mmap_dev_rm(mmap, device->dev));
	MUST(doca_mmap_destroy(mmap));
}

static struct doca_buf_inventory *inventory_new(void)
{
	struct doca_buf_inventory *inventory;

	MUST(doca_buf_inventory_create(NULL, NUM_BUFFERS, 0, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	return inventory;
}

static struct doca_buf *buffer_of(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *memory,
				  size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_by_args(inventory, mmap, memory, len, memory, 0, &buf));
	return buf;
}

/* ---- engine and queue ---- */

struct engine {
	struct doca_dma *dma;
	struct doca_workq *workq;
};

static struct engine engine_new(const struct device *device)
{
	struct engine engine;

	MUST(doca_dma_create(&engine.dma));
	MUST(doca_ctx_dev_add(doca_dma_as_ctx(engine.dma), device->dev));
	MUST(doca_ctx_start(doca_dma_as_ctx(engine.dma)));
	MUST(doca_workq_create(1, &engine.workq));
	MUST(doca_ctx_workq_add(doca_dma_as_ctx(engine.dma), engine.workq));
	return engine;
}

static void engine_drop(struct engine *engine, const struct device *device)
{
	MUST(doca_ctx_workq_rm(doca_dma_as_ctx(engine->dma), engine->workq));
	MUST(doca_workq_destroy(engine->workq));
	MUST(doca_ctx_stop(doca_dma_as_ctx(engine->dma)));
	MUST(doca_ctx_dev_rm(doca_dma_as_ctx(engine->dma), device->dev));
	MUST(doca_dma_destroy(engine->dma));
}

/* A zeroed job; the program polls for its event; its buffers are returned with it. */
static void copy(struct engine *engine, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_job_memcpy job = { 0 };
	struct doca_event event = { 0 };
	doca_error_t result;

	job.base.ctx = doca_dma_as_ctx(engine->dma);
	job.base.flags = DOCA_JOB_FLAGS_NONE;
	job.src_buff = src;
	job.dst_buff = dst;
	job.base.type = DOCA_DMA_JOB_MEMCPY;
	MUST(doca_workq_submit(engine->workq, &job.base));
	do
		result = doca_workq_progress_retrieve(engine->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	MUST(result);
	MUST((doca_error_t)event.result.u64);
	CHECK(event.type == DOCA_DMA_JOB_MEMCPY);
}

static void buffers_drop(struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_buf_refcount_rm(src, NULL));
	MUST(doca_buf_refcount_rm(dst, NULL));
}

/* ---- the local example ---- */

static void copy_locally(const struct device *device, char *from, char *to, size_t len)
{
	struct engine engine = engine_new(device);
	struct doca_mmap *mmap = map_new();
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;

	MUST(doca_mmap_dev_add(mmap, device->dev));
	inventory = inventory_new();
	map_populate(mmap, from, len);
	src = buffer_of(inventory, mmap, from, len);
	MUST(doca_buf_set_data(src, from, len));
	map_populate(mmap, to, len);
	dst = buffer_of(inventory, mmap, to, len);
	copy(&engine, src, dst);
	CHECK(memcmp(from, to, len) == 0);
	buffers_drop(src, dst);
	MUST(doca_buf_inventory_destroy(inventory));
	local_map_drop(mmap, device);
	engine_drop(&engine, device);
}

static void be_local(int ctl, const void *arg)
{
	struct device device;
	char *from = strdup(TEXT), *to = calloc(1, sizeof(TEXT));

	enter("dpu");
	device = device_open("03:00.0");
	copy_locally(&device, from, to, sizeof(TEXT));
	device_drop(&device);
	free(from);
	free(to);
}

static void test_local_example_copies(void **state)
{
	proc_start(&dpu, be_local, NULL);
	proc_end(&dpu);
}

/* ---- host and DPU, with two files in between ---- */

static FILE *file_of(const char *name, const char *mode)
{
	char path[PATH_SIZE];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, mode);
	CHECK(file);
	return file;
}

static void save_config(const void *descriptor, size_t descriptor_len, const void *memory, size_t len)
{
	FILE *file = file_of("export.txt", "wb");

	CHECK(fwrite(descriptor, 1, descriptor_len, file) == descriptor_len);
	fclose(file);
	file = file_of("buffer.txt", "w");
	fprintf(file, "%llu\n%zu\n", (unsigned long long)(uintptr_t)memory, len);
	fclose(file);
}

struct config {
	char descriptor[MAX_DESCRIPTOR];
	size_t descriptor_len, len;
	void *memory; /* the host's */
};

static struct config load_config(void)
{
	unsigned long long address;
	struct config config;
	FILE *file = file_of("export.txt", "rb");

	config.descriptor_len = fread(config.descriptor, 1, sizeof(config.descriptor), file);
	CHECK(feof(file));
	fclose(file);
	file = file_of("buffer.txt", "r");
	CHECK(fscanf(file, "%llu\n%zu\n", &address, &config.len) == 2);
	fclose(file);
	config.memory = (void *)(uintptr_t)address;
	return config;
}

/* Send 'e' when the files exist, and wait until the socket is closed. */
static void be_host(int ctl, const void *arg)
{
	char *memory = strdup(TEXT), byte;
	struct doca_mmap *mmap;
	struct device device;
	size_t descriptor_len = 0;
	void *descriptor;

	enter("host");
	device = device_open("b1:00.0");
	mmap = map_new();
	MUST(doca_mmap_dev_add(mmap, device.dev));
	map_populate(mmap, memory, sizeof(TEXT));
	MUST(doca_mmap_export(mmap, device.dev, &descriptor, &descriptor_len));
	save_config(descriptor, descriptor_len, memory, sizeof(TEXT));
	free(descriptor); /* rust-doca does not free it */
	proc_send(ctl, "e", 1);
	while (read(ctl, &byte, 1) > 0)
		;
	MUST(doca_mmap_destroy(mmap));
	device_drop(&device);
	free(memory);
}

static void copy_from_host(const struct device *device, const struct config *config, char *to)
{
	struct engine engine = engine_new(device);
	struct doca_mmap *mmap = map_new(), *remote;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;

	MUST(doca_mmap_dev_add(mmap, device->dev));
	MUST(doca_mmap_create_from_export(NULL, config->descriptor, config->descriptor_len, device->dev, &remote));
	inventory = inventory_new();
	src = buffer_of(inventory, remote, config->memory, config->len);
	MUST(doca_buf_set_data(src, config->memory, config->len));
	map_populate(mmap, to, config->len);
	dst = buffer_of(inventory, mmap, to, config->len);
	copy(&engine, src, dst);
	buffers_drop(src, dst);
	MUST(doca_buf_inventory_destroy(inventory));
	MUST(doca_mmap_destroy(remote));
	local_map_drop(mmap, device);
	engine_drop(&engine, device);
}

/* Send the bytes that were read. */
static void be_dpu(int ctl, const void *arg)
{
	struct config config = load_config();
	char *to = calloc(1, config.len);
	struct device device;

	enter("dpu");
	device = device_open("03:00.0");
	copy_from_host(&device, &config, to);
	device_drop(&device);
	proc_send(ctl, to, config.len);
	free(to);
}

static void test_map_exported_to_files_is_imported_by_the_other_side(void **state)
{
	char byte, text[sizeof(TEXT)];

	proc_start(&host, be_host, NULL);
	proc_recv(host.ctl, &byte, 1);
	for (int i = 0; i < 2; i++) { /* the files serve a second process as well */
		proc_start(&dpu, be_dpu, NULL);
		proc_recv(dpu.ctl, text, sizeof(text));
		assert_string_equal(text, TEXT);
		proc_end(&dpu);
	}
	proc_end(&host);
}

/* ---- the calls of its own tests ---- */

/* A map that no device was added to, and two chunks in it. */
static void be_without_device(int ctl, const void *arg)
{
	char *memory[2] = { malloc(64), malloc(64) };
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	struct doca_buf *buf[2];
	void *data;

	enter("dpu");
	mmap = map_new();
	inventory = inventory_new();
	for (int i = 0; i < 2; i++) {
		map_populate(mmap, memory[i], 64);
		buf[i] = buffer_of(inventory, mmap, memory[i], 64);
		MUST(doca_buf_get_data(buf[i], &data));
		CHECK(data == memory[i]);
	}
	buffers_drop(buf[0], buf[1]);
	MUST(doca_buf_inventory_destroy(inventory));
	MUST(doca_mmap_destroy(mmap));
	free(memory[0]);
	free(memory[1]);
}

static void test_map_without_a_device_gives_buffers(void **state)
{
	proc_start(&dpu, be_without_device, NULL);
	proc_end(&dpu);
}

static void be_exporter(int ctl, const void *arg)
{
	struct doca_mmap *mmap;
	struct device device;
	char *memory = malloc(1024);
	size_t len = 0;
	uint64_t max = 0;
	void *descriptor;

	enter("host");
	device = device_open("b1:00.0");
	MUST(doca_dma_get_max_buf_size(doca_dev_as_devinfo(device.dev), &max));
	CHECK(max >= 1024);
	mmap = map_new();
	MUST(doca_mmap_dev_add(mmap, device.dev));
	map_populate(mmap, memory, 1024);
	MUST(doca_mmap_export(mmap, device.dev, &descriptor, &len));
	CHECK(doca_mmap_dev_rm(mmap, device.dev) == DOCA_ERROR_NOT_PERMITTED);
	free(descriptor);
	MUST(doca_mmap_destroy(mmap));
	device_drop(&device);
	free(memory);
}

static void test_device_of_an_exported_map_stays(void **state)
{
	proc_start(&host, be_exporter, NULL);
	proc_end(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_local_example_copies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_map_exported_to_files_is_imported_by_the_other_side, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_map_without_a_device_gives_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_device_of_an_exported_map_stays, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
