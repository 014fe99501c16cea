/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps, exports, inventories and descriptors that come and go. */
#include "side.h"

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#define MAX_BUFS 32

static void use_bufs(struct side *side, struct random *random)
{
	struct doca_buf_inventory *inventory;
	struct doca_buf *bufs[MAX_BUFS];
	struct side_memory memory;
	uint32_t count = (uint32_t)random_in(random, 1, MAX_BUFS);

	side_memory_open(side, 4096 * MAX_BUFS, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, random_bool(random), &memory);
	MUST(doca_buf_inventory_create(count, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	for (uint32_t i = 0; i < count; i++)
		MUST(doca_buf_inventory_buf_get_by_addr(inventory, memory.mmap, memory.addr + 4096 * i, 4096,
							&bufs[i]));
	for (uint32_t i = 0; i < count; i++)
		MUST(doca_buf_dec_refcount(bufs[i], NULL));
	MUST(doca_buf_inventory_destroy(inventory));
	side_memory_close(&memory);
}

/* The DPU imports the host's exports: once as they are, once with a wrong bit, which must be refused. */
static void use_export(struct side *side, struct random *random)
{
	uint64_t bit = random_in(random, 0, 511);
	bool shared = random_bool(random); /* drawn on both sides */
	uint8_t bytes[1024];
	uint64_t len;

	if (side->which == HOST) {
		struct side_memory memory;
		const void *desc;
		size_t desc_len;

		side_memory_open(side, 65536, DOCA_ACCESS_FLAG_PCI_READ_ONLY, shared, &memory);
		MUST(doca_mmap_export_pci(memory.mmap, side->dev, &desc, &desc_len));
		len = desc_len;
		NEED(len <= sizeof(bytes));
		side_send(side, &len, sizeof(len));
		side_send(side, desc, len);
		side_meet(side);
		side_memory_close(&memory);
	} else {
		struct doca_mmap *mmap;

		if (!side_recv(side, &len, sizeof(len)))
			return;
		NEED(len <= sizeof(bytes));
		if (!side_recv(side, bytes, len))
			return;
		if (!MUST_UNLESS_ALONE(side, doca_mmap_create_from_export(NULL, bytes, len, side->dev, &mmap)))
			return;
		MUST(doca_mmap_destroy(mmap));
		bytes[bit / 8 % len] ^= (uint8_t)(1 << bit % 8);
		NEED(doca_mmap_create_from_export(NULL, bytes, len, side->dev, &mmap) != DOCA_SUCCESS);
		side_meet(side);
	}
}

void round_maps(struct side *side)
{
	struct random random = side_random(side, 'm');
	uint64_t count = random_in(&random, 1, 8);

	for (uint64_t i = 0; i < count; i++) {
		use_bufs(side, &random);
		use_export(side, &random);
	}
}
