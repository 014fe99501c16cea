/* SPDX-License-Identifier: BSD-3-Clause */
/* local_copy: copy a file to another by DMA tasks, all within one process.
 *
 *   file --mapped privately--> [DMA engine] --> heap --written--> file
 */
#include <limits.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "common/app.h"
#include "common/copier.h"
#include "common/device.h"
#include "common/memory.h"

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char input[PATH_MAX];
	char output[PATH_MAX];
	uint32_t chunk_bytes, depth, source_pieces, target_pieces;
};

APP_TAKE_STRING(pci_addr)
APP_TAKE_STRING(input)
APP_TAKE_STRING(output)
APP_TAKE_COUNT(chunk_bytes)
APP_TAKE_COUNT(depth)
APP_TAKE_COUNT(source_pieces)
APP_TAKE_COUNT(target_pieces)

static const struct app_flag flags[] = {
	APP_STRING("p", "pci-addr", "<address>", "The device (default " APP_PCI_ADDR ")", pci_addr),
	APP_MANDATORY_STRING("i", "input", "<file>", "Copy this file", input),
	APP_MANDATORY_STRING("o", "output", "<file>", "to this one", output),
	APP_COUNT("c", "chunk", "<bytes>", "Copied by one task (default 64 KiB)", chunk_bytes),
	APP_COUNT("n", "depth", "<tasks>", "In flight at once (default 8)", depth),
	APP_COUNT("ns", "source-pieces", "<count>", "Chained buffers to a task's source (default 1)", source_pieces),
	APP_COUNT("nt", "target-pieces", "<count>", "Chained buffers to a task's target (default 1)", target_pieces),
};

struct maps {
	struct doca_mmap *source, *target;
};

static doca_error_t map_both(struct doca_dev *dev, struct memory *from, struct memory *to, struct maps *ret_maps)
{
	struct maps maps;
	doca_error_t result =
		device_map(dev, from->addr, from->len_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &maps.source);

	if (result != DOCA_SUCCESS)
		return result;
	result = device_map(dev, to->addr, to->len_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &maps.target);
	if (result == DOCA_SUCCESS)
		*ret_maps = maps;
	else
		doca_mmap_destroy(maps.source);
	return result;
}

static doca_error_t copy(const struct config *config, struct doca_dev *dev, struct memory *from, struct memory *to)
{
	struct maps maps;
	double duration_s = 0;
	doca_error_t result = map_both(dev, from, to, &maps);

	if (result != DOCA_SUCCESS)
		return result;
	result = copier_run(
		&(struct copier_cfg){
			.dev = dev,
			.source = { maps.source, from->addr, config->source_pieces },
			.target = { maps.target, to->addr, config->target_pieces },
			.len_bytes = from->len_bytes,
			.chunk_bytes = config->chunk_bytes,
			.depth = config->depth,
			.step = 1,
		},
		&duration_s);
	app_check(doca_mmap_destroy(maps.target), "unmap the target");
	app_check(doca_mmap_destroy(maps.source), "unmap the source");
	if (result == DOCA_SUCCESS)
		app_print_throughput(from->len_bytes, duration_s);
	return result;
}

static doca_error_t copy_on_device(const struct config *config, struct memory *from, struct memory *to)
{
	struct doca_dev *dev;
	doca_error_t result = device_open(config->pci_addr, &dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = copy(config, dev, from, to);
	app_check(doca_dev_close(dev), "close the device");
	return result;
}

static doca_error_t run(void *arg)
{
	const struct config *config = arg;
	struct memory from = { 0 }, to = { 0 };
	doca_error_t result = memory_of_file(config->input, MEMORY_PRIVATE, false, &from);

	if (result == DOCA_SUCCESS)
		result = memory_of_zeros(from.len_bytes, &to);
	if (result == DOCA_SUCCESS)
		result = copy_on_device(config, &from, &to);
	if (result == DOCA_SUCCESS)
		result = memory_to_file(&to, config->output);
	memory_release(&to);
	memory_release(&from);
	return result;
}

int main(int argc, char **argv)
{
	static const struct app app = { flags, sizeof(flags) / sizeof(flags[0]), run };
	struct config config = {
		.pci_addr = APP_PCI_ADDR, .chunk_bytes = 64 << 10, .depth = 8, .source_pieces = 1, .target_pieces = 1
	};

	return app_main(&app, &config, argc, argv);
}
