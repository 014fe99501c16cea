/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_copy: the DPU's half of a copy between a host process (host_copy) and this one.
 *
 *   reading:            host memory --DMA--> own memory --> file
 *   writing: file --> own memory --DMA--> host memory
 */
#include <limits.h>

#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>

#include "common/app.h"
#include "common/copier.h"
#include "common/desc_file.h"
#include "common/device.h"
#include "common/memory.h"

#ifndef DOCA_ARCH_DPU
#error "dpu_copy runs on the DPU: build it against the DPU's SDK tree"
#endif

DOCA_LOG_REGISTER(DPU_COPY);

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char descriptor[PATH_MAX];
	char file[PATH_MAX];
	bool write;
	uint32_t chunk_bytes, depth, source_pieces, target_pieces, timeout_s;
};

APP_TAKE_STRING(pci_addr)
APP_TAKE_STRING(descriptor)
APP_TAKE_STRING(file)
APP_TAKE_SWITCH(write)
APP_TAKE_COUNT(chunk_bytes)
APP_TAKE_COUNT(depth)
APP_TAKE_COUNT(source_pieces)
APP_TAKE_COUNT(target_pieces)
APP_TAKE_COUNT(timeout_s)

static const struct app_flag flags[] = {
	APP_STRING("p", "pci-addr", "<address>", "The device (default " APP_PCI_ADDR ")", pci_addr),
	APP_MANDATORY_STRING("d", "descriptor", "<file>", "The host's export descriptor; waited for", descriptor),
	APP_MANDATORY_STRING("f", "file", "<file>", "Where the host's bytes go, or with --write come from", file),
	APP_SWITCH("w", "write", "Write the file to host memory instead of reading that", write),
	APP_COUNT("c", "chunk", "<bytes>", "Copied by one task (default 64 KiB)", chunk_bytes),
	APP_COUNT("n", "depth", "<tasks>", "In flight at once (default 8)", depth),
	APP_COUNT("ns", "source-pieces", "<count>", "Chained buffers to a task's source (default 1)", source_pieces),
	APP_COUNT("nt", "target-pieces", "<count>", "Chained buffers to a task's target (default 1)", target_pieces),
	APP_COUNT("t", "timeout", "<seconds>", "Wait this long for the descriptor (default 30)", timeout_s),
};

/* The memory of this process: the file, or room for what the host has. */
static doca_error_t get_memory(const struct config *config, const struct remote *host, struct memory *ret_memory)
{
	struct memory memory = { 0 };
	doca_error_t result;

	if (!config->write)
		return memory_of_zeros(host->len_bytes, ret_memory);
	result = memory_of_file(config->file, MEMORY_HEAP, false, &memory);
	if (result != DOCA_SUCCESS)
		return result;
	if (memory.len_bytes > host->len_bytes) {
		DOCA_LOG_ERR("%s has %zu bytes, the host's memory only %zu", config->file, memory.len_bytes,
			     host->len_bytes);
		memory_release(&memory);
		return DOCA_ERROR_TOO_BIG;
	}
	*ret_memory = memory;
	return DOCA_SUCCESS;
}

static doca_error_t copy(const struct config *config, struct doca_dev *dev, const struct remote *host,
			 const struct memory *memory)
{
	struct doca_mmap *mmap;
	double duration_s = 0;
	doca_error_t result =
		device_map(dev, memory->addr, memory->len_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &mmap);

	if (result != DOCA_SUCCESS)
		return result;
	result = copier_run(
		&(struct copier_cfg){
			.dev = dev,
			.source = { config->write ? mmap : host->mmap, config->write ? memory->addr : host->addr,
				    config->source_pieces },
			.target = { config->write ? host->mmap : mmap, config->write ? host->addr : memory->addr,
				    config->target_pieces },
			.len_bytes = memory->len_bytes,
			.chunk_bytes = config->chunk_bytes,
			.depth = config->depth,
			.step = 1,
		},
		&duration_s);
	app_check(doca_mmap_destroy(mmap), "unmap the memory");
	if (result == DOCA_SUCCESS)
		app_print_throughput(memory->len_bytes, duration_s);
	return result;
}

static doca_error_t exchange(const struct config *config, struct doca_dev *dev, const struct remote *host)
{
	struct memory memory = { 0 };
	doca_error_t result = get_memory(config, host, &memory);

	if (result == DOCA_SUCCESS)
		result = copy(config, dev, host, &memory);
	if (result == DOCA_SUCCESS && !config->write)
		result = memory_to_file(&memory, config->file);
	memory_release(&memory);
	return result;
}

static doca_error_t run(void *arg)
{
	const struct config *config = arg;
	struct remote host = { 0 };
	struct doca_dev *dev;
	doca_error_t result = device_open(config->pci_addr, &dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = desc_file_import(config->descriptor, config->timeout_s, dev, &host);
	if (result == DOCA_SUCCESS)
		result = exchange(config, dev, &host);
	remote_release(&host);
	app_check(doca_dev_close(dev), "close the device");
	return result;
}

int main(int argc, char **argv)
{
	static const struct app app = { flags, sizeof(flags) / sizeof(flags[0]), run };
	struct config config = { .pci_addr = APP_PCI_ADDR,
				 .chunk_bytes = 64 << 10,
				 .depth = 8,
				 .source_pieces = 1,
				 .target_pieces = 1,
				 .timeout_s = 30 };

	return app_main(&app, &config, argc, argv);
}
