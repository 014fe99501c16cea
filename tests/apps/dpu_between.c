/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu_between: the DPU moves bytes from one host process's memory to another's.
 *
 *   host process A --DMA--> host process B
 *                     ^ none of them passes through this process's memory
 */
#include <limits.h>

#include <doca_dev.h>
#include <doca_log.h>

#include "common/app.h"
#include "common/copier.h"
#include "common/desc_file.h"
#include "common/device.h"

#ifndef DOCA_ARCH_DPU
#error "dpu_between runs on the DPU: build it against the DPU's SDK tree"
#endif

DOCA_LOG_REGISTER(DPU_BETWEEN);

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char from[PATH_MAX];
	char to[PATH_MAX];
	uint32_t chunk_bytes, depth, source_pieces, target_pieces, timeout_s;
};

APP_TAKE_STRING(pci_addr)
APP_TAKE_STRING(from)
APP_TAKE_STRING(to)
APP_TAKE_COUNT(chunk_bytes)
APP_TAKE_COUNT(depth)
APP_TAKE_COUNT(source_pieces)
APP_TAKE_COUNT(target_pieces)
APP_TAKE_COUNT(timeout_s)

static const struct app_flag flags[] = {
	APP_STRING("p", "pci-addr", "<address>", "The device (default " APP_PCI_ADDR ")", pci_addr),
	APP_MANDATORY_STRING(NULL, "from", "<file>", "Descriptor of the memory to read; waited for", from),
	APP_MANDATORY_STRING(NULL, "to", "<file>", "Descriptor of the memory to write; waited for", to),
	APP_COUNT("c", "chunk", "<bytes>", "Copied by one task (default 64 KiB)", chunk_bytes),
	APP_COUNT("n", "depth", "<tasks>", "In flight at once (default 8)", depth),
	APP_COUNT("ns", "source-pieces", "<count>", "Chained buffers to a task's source (default 1)", source_pieces),
	APP_COUNT("nt", "target-pieces", "<count>", "Chained buffers to a task's target (default 1)", target_pieces),
	APP_COUNT("t", "timeout", "<seconds>", "Wait this long for a descriptor (default 30)", timeout_s),
};

static doca_error_t copy(const struct config *config, struct doca_dev *dev, const struct remote *from,
			 const struct remote *to)
{
	double duration_s = 0;
	doca_error_t result;

	if (from->len_bytes > to->len_bytes) {
		DOCA_LOG_ERR("%zu bytes do not fit into memory of %zu", from->len_bytes, to->len_bytes);
		return DOCA_ERROR_TOO_BIG;
	}
	result = copier_run(
		&(struct copier_cfg){
			.dev = dev,
			.source = { from->mmap, from->addr, config->source_pieces },
			.target = { to->mmap, to->addr, config->target_pieces },
			.len_bytes = from->len_bytes,
			.chunk_bytes = config->chunk_bytes,
			.depth = config->depth,
			.step = 1,
		},
		&duration_s);
	if (result == DOCA_SUCCESS)
		app_print_throughput(from->len_bytes, duration_s);
	return result;
}

static doca_error_t run(void *arg)
{
	const struct config *config = arg;
	struct remote from = { 0 }, to = { 0 };
	struct doca_dev *dev;
	doca_error_t result = device_open(config->pci_addr, &dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = desc_file_import(config->from, config->timeout_s, dev, &from);
	if (result == DOCA_SUCCESS)
		result = desc_file_import(config->to, config->timeout_s, dev, &to);
	if (result == DOCA_SUCCESS)
		result = copy(config, dev, &from, &to);
	remote_release(&to);
	remote_release(&from);
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
