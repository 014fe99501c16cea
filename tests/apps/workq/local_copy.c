/* SPDX-License-Identifier: BSD-3-Clause */
/* local_copy IN OUT: a copy in this process's memory, in 2.2's order.
 *
 *   device --> two maps (set_memrange, dev_add, set_permissions, start), inventory, queue, context
 *     --> two buffers by their data --> a memcpy job --> its event --> everything back
 */
#include <stdbool.h>
#include <string.h>

#include <doca_buf.h>

#include "common.h"

static struct doca_mmap *map(struct doca_dev *dev, struct bytes bytes, uint32_t access)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(NULL, &mmap));
	MUST(doca_mmap_set_memrange(mmap, bytes.addr, bytes.len));
	MUST(doca_mmap_dev_add(mmap, dev));
	MUST(doca_mmap_set_permissions(mmap, access));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

static doca_error_t copy(struct engine *engine, struct bytes to, struct bytes from)
{
	struct doca_mmap *from_map = map(engine->dev, from, DOCA_ACCESS_LOCAL_READ_ONLY);
	struct doca_mmap *to_map = map(engine->dev, to, DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_buf *from_buf, *to_buf;
	doca_error_t result;

	MUST(doca_buf_inventory_buf_by_data(engine->inventory, from_map, from.addr, from.len, &from_buf));
	MUST(doca_buf_inventory_buf_by_data(engine->inventory, to_map, to.addr, to.len, &to_buf));
	result = engine_copy(engine, to_buf, from_buf);
	MUST(doca_buf_refcount_rm(from_buf, NULL));
	MUST(doca_buf_refcount_rm(to_buf, NULL));
	MUST(doca_mmap_destroy(from_map));
	MUST(doca_mmap_destroy(to_map));
	return result;
}

int main(int argc, char **argv)
{
	struct bytes from, to;
	struct engine engine;
	struct doca_dev *dev;
	doca_error_t result;

	if (argc != 3)
		return fprintf(stderr, "usage: local_copy IN OUT\n"), EXIT_FAILURE;
	from = bytes_of_file(argv[1]);
	to = bytes_of_zeros(from.len);
	dev = open_copying_device();
	engine = engine_start(dev);
	result = copy(&engine, to, from);
	engine_stop(&engine);
	MUST(doca_dev_close(dev));
	MUST(result);
	bytes_to_file(to, argv[2]);
	free(from.addr);
	free(to.addr);
	return EXIT_SUCCESS;
}
