/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/inventory_util.h - an inventory over the map of buf_util.h, for each test. */
#ifndef TESTS_API_INVENTORY_UTIL_H
#define TESTS_API_INVENTORY_UTIL_H

#include "buf_util.h"

enum { NUM_ELEMENTS = 4 };

/* A started inventory for each test; the test returns the buffers that it takes. */
static int setup(void **state)
{
	*state = api_inventory(NUM_ELEMENTS);
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_buf_inventory_destroy(*state));
	return 0;
}

static inline struct doca_buf *take(struct doca_buf_inventory *inventory)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, sizeof(memory), &buf));
	return buf;
}

static void give_back(struct doca_buf *buf)
{
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

#endif
