/* SPDX-License-Identifier: BSD-3-Clause */
/* many_ctx: many DMA contexts on one progress engine share a copy.
 *
 * The range's chunks are dealt round robin: of n contexts, context i copies the
 * chunks i, i + n, i + 2n, ... Afterwards every byte is compared, and every
 * context must have copied exactly the chunks that are its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "common/app.h"
#include "common/copier.h"
#include "common/device.h"
#include "common/memory.h"

DOCA_LOG_REGISTER(MANY_CTX);

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint32_t contexts, size_bytes, chunk_bytes, depth;
};

APP_TAKE_STRING(pci_addr)
APP_TAKE_COUNT(contexts)
APP_TAKE_COUNT(size_bytes)
APP_TAKE_COUNT(chunk_bytes)
APP_TAKE_COUNT(depth)

static const struct app_flag flags[] = {
	APP_STRING("p", "pci-addr", "<address>", "The device (default " APP_PCI_ADDR ")", pci_addr),
	APP_COUNT("x", "contexts", "<count>", "DMA contexts (default 16)", contexts),
	APP_COUNT("s", "size", "<bytes>", "Copied by all of them together (default 4 MiB)", size_bytes),
	APP_COUNT("c", "chunk", "<bytes>", "Copied by one task (default 16 KiB)", chunk_bytes),
	APP_COUNT("n", "depth", "<tasks>", "In flight at once on each context (default 4)", depth),
};

/* Bytes that reveal a misplaced chunk. */
static void fill(struct memory *memory)
{
	uint32_t word = 2463534242u;

	for (size_t i = 0; i < memory->len_bytes; i++) {
		word ^= word << 13;
		word ^= word >> 17;
		word ^= word << 5;
		memory->addr[i] = (uint8_t)word;
	}
}

static void destroy_all(struct copier **copiers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		copier_destroy(copiers[i]);
}

static doca_error_t create_all(const struct copier_cfg *cfg, struct copier **copiers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct copier_cfg share = *cfg;
		doca_error_t result;

		share.first = i;
		share.step = count;
		result = copier_create(&share, &copiers[i]);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static bool all_done(struct copier **copiers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!copier_is_done(copiers[i]))
			return false;
	}
	return true;
}

/* Whether each context copied all its chunks, and no others. */
static doca_error_t check_shares(const struct copier_cfg *cfg, struct copier **copiers, uint32_t count)
{
	size_t chunks = (cfg->len_bytes + cfg->chunk_bytes - 1) / cfg->chunk_bytes;

	for (uint32_t i = 0; i < count; i++) {
		size_t share = chunks > i ? (chunks - i + count - 1) / count : 0;

		if (copier_result(copiers[i]) != DOCA_SUCCESS)
			return copier_result(copiers[i]);
		if (copier_chunks_copied(copiers[i]) != share) {
			DOCA_LOG_ERR("Context %u copied %zu chunks, but its share is %zu", i,
				     copier_chunks_copied(copiers[i]), share);
			return DOCA_ERROR_UNEXPECTED;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t share_copy(const struct copier_cfg *cfg, struct copier **copiers, uint32_t count)
{
	doca_error_t result = create_all(cfg, copiers, count);
	double begin_s = app_now_s();

	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < count; i++)
		copier_start(copiers[i]);
	while (!all_done(copiers, count))
		doca_pe_progress(cfg->pe);
	result = check_shares(cfg, copiers, count);
	if (result == DOCA_SUCCESS)
		app_print_throughput(cfg->len_bytes, app_now_s() - begin_s);
	return result;
}

static doca_error_t copy(const struct config *config, struct copier_cfg *cfg)
{
	struct copier **copiers = calloc(config->contexts, sizeof(*copiers));
	doca_error_t result;

	if (!copiers)
		return app_check(DOCA_ERROR_NO_MEMORY, "create contexts");
	result = app_check(doca_pe_create(&cfg->pe), "create a progress engine");
	if (result == DOCA_SUCCESS) {
		result = share_copy(cfg, copiers, config->contexts);
		destroy_all(copiers, config->contexts);
		app_check(doca_pe_destroy(cfg->pe), "destroy the progress engine");
	}
	free(copiers);
	return result;
}

static doca_error_t verify(const struct memory *from, const struct memory *to, uint32_t contexts)
{
	for (size_t i = 0; i < from->len_bytes; i++) {
		if (from->addr[i] != to->addr[i]) {
			DOCA_LOG_ERR("Byte %zu is 0x%02x, not 0x%02x", i, to->addr[i], from->addr[i]);
			return DOCA_ERROR_UNEXPECTED;
		}
	}
	printf("all bytes are right after %u contexts\n", contexts);
	return DOCA_SUCCESS;
}

static doca_error_t map_and_copy(const struct config *config, struct doca_dev *dev, const struct memory *from,
				 const struct memory *to)
{
	struct copier_cfg cfg = {
		.dev = dev,
		.source = { NULL, from->addr, 1 },
		.target = { NULL, to->addr, 1 },
		.len_bytes = from->len_bytes,
		.chunk_bytes = config->chunk_bytes,
		.depth = config->depth,
	};
	doca_error_t result =
		device_map(dev, from->addr, from->len_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &cfg.source.mmap);

	if (result == DOCA_SUCCESS)
		result = device_map(dev, to->addr, to->len_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &cfg.target.mmap);
	if (result == DOCA_SUCCESS)
		result = copy(config, &cfg);
	if (cfg.target.mmap)
		app_check(doca_mmap_destroy(cfg.target.mmap), "unmap the target");
	if (cfg.source.mmap)
		app_check(doca_mmap_destroy(cfg.source.mmap), "unmap the source");
	return result;
}

static doca_error_t copy_and_verify(const struct config *config, struct doca_dev *dev)
{
	struct memory from = { 0 }, to = { 0 };
	doca_error_t result = memory_of_zeros(config->size_bytes, &from);

	if (result == DOCA_SUCCESS)
		result = memory_of_zeros(config->size_bytes, &to);
	if (result == DOCA_SUCCESS) {
		fill(&from);
		result = map_and_copy(config, dev, &from, &to);
	}
	if (result == DOCA_SUCCESS)
		result = verify(&from, &to, config->contexts);
	memory_release(&to);
	memory_release(&from);
	return result;
}

static doca_error_t run(void *arg)
{
	const struct config *config = arg;
	struct doca_dev *dev;
	doca_error_t result = device_open(config->pci_addr, &dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = copy_and_verify(config, dev);
	app_check(doca_dev_close(dev), "close the device");
	return result;
}

int main(int argc, char **argv)
{
	static const struct app app = { flags, sizeof(flags) / sizeof(flags[0]), run };
	struct config config = {
		.pci_addr = APP_PCI_ADDR, .contexts = 16, .size_bytes = 4 << 20, .chunk_bytes = 16 << 10, .depth = 4
	};

	return app_main(&app, &config, argc, argv);
}
