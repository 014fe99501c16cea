/* SPDX-License-Identifier: BSD-3-Clause */
/* map_import DESCRIPTOR INFO read OUT, map_import DESCRIPTOR INFO write IN: a copy from or to what
 * map_export exported, in 1.5's order.
 *
 *   own map: create, start --> dev_add --> populate        the other's map: create_from_export
 *     --> buffers by address, their data set --> a memcpy job --> its event
 *     --> dev_rm --> destroy
 *
 * The memory comes in two chunks, and so do buffers and jobs.
 */
#include <stdbool.h>
#include <string.h>

#include <doca_buf.h>

#include "common.h"

#define PAGE_BYTES 4096

struct ends {
	struct doca_mmap *own_map, *remote_map;
	struct bytes own, remote; /* the remote address is the exporter's */
};

static struct bytes remote_of_info(const char *path)
{
	struct bytes text = bytes_await(path), remote;
	char *end, copy[64] = { 0 };

	memcpy(copy, text.addr, text.len < sizeof(copy) ? text.len : sizeof(copy) - 1);
	remote.addr = (char *)(uintptr_t)strtoull(copy, &end, 10);
	remote.len = strtoull(end, NULL, 10);
	free(text.addr);
	return remote;
}

static struct doca_mmap *map_in_chunks(struct doca_dev *dev, struct bytes own)
{
	size_t half = own.len / 2;
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(NULL, &mmap));
	MUST(doca_mmap_start(mmap));
	MUST(doca_mmap_dev_add(mmap, dev));
	if (half > 0)
		MUST(doca_mmap_populate(mmap, own.addr, half, PAGE_BYTES, NULL, NULL));
	MUST(doca_mmap_populate(mmap, own.addr + half, own.len - half, PAGE_BYTES, NULL, NULL));
	return mmap;
}

static doca_error_t copy_part(struct engine *engine, const struct ends *ends, bool write, size_t at, size_t len)
{
	struct doca_buf *own, *remote;
	doca_error_t result;

	MUST(doca_buf_inventory_buf_by_addr(engine->inventory, ends->own_map, ends->own.addr + at, len, &own));
	MUST(doca_buf_inventory_buf_by_addr(engine->inventory, ends->remote_map, ends->remote.addr + at, len, &remote));
	MUST(doca_buf_set_data(write ? own : remote, (write ? ends->own.addr : ends->remote.addr) + at, len));
	result = engine_copy(engine, write ? remote : own, write ? own : remote);
	MUST(doca_buf_refcount_rm(own, NULL));
	MUST(doca_buf_refcount_rm(remote, NULL));
	return result;
}

static doca_error_t copy(struct engine *engine, const struct ends *ends, bool write)
{
	size_t half = ends->own.len / 2;
	doca_error_t result = DOCA_SUCCESS;

	if (half > 0)
		result = copy_part(engine, ends, write, 0, half);
	return result == DOCA_SUCCESS ? copy_part(engine, ends, write, half, ends->own.len - half) : result;
}

static void take_apart(struct ends *ends, struct doca_dev *dev)
{
	MUST(doca_mmap_destroy(ends->remote_map));
	MUST(doca_mmap_dev_rm(ends->own_map, dev));
	MUST(doca_mmap_destroy(ends->own_map));
}

int main(int argc, char **argv)
{
	bool write = argc == 5 && strcmp(argv[3], "write") == 0;
	struct bytes descriptor;
	struct engine engine;
	struct doca_dev *dev;
	doca_error_t result;
	struct ends ends;

	if (argc != 5 || (!write && strcmp(argv[3], "read") != 0))
		return fprintf(stderr, "usage: map_import DESCRIPTOR INFO read|write FILE\n"), EXIT_FAILURE;
	descriptor = bytes_await(argv[1]);
	ends.remote = remote_of_info(argv[2]);
	ends.own = write ? bytes_of_file(argv[4]) : bytes_of_zeros(ends.remote.len);
	dev = open_copying_device();
	engine = engine_start(dev);
	ends.own_map = map_in_chunks(dev, ends.own);
	MUST(doca_mmap_create_from_export(NULL, descriptor.addr, descriptor.len, dev, &ends.remote_map));
	free(descriptor.addr);
	result = copy(&engine, &ends, write);
	take_apart(&ends, dev);
	engine_stop(&engine);
	MUST(doca_dev_close(dev));
	MUST(result);
	if (!write)
		bytes_to_file(ends.own, argv[4]);
	free(ends.own.addr);
	return EXIT_SUCCESS;
}
