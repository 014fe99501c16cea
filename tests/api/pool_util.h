/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/pool_util.h - pools over the map of buf_util.h, and their buffers. */
#ifndef TESTS_API_POOL_UTIL_H
#define TESTS_API_POOL_UTIL_H

#include <stdlib.h>

#include <doca_buf_pool.h>

#include "buf_util.h"

/* A started pool; the test destroys it. */
static struct doca_buf_pool *pool_of(size_t num_elements, size_t element_size)
{
	struct doca_buf_pool *pool;

	assert_ok(doca_buf_pool_create(num_elements, element_size, map, &pool));
	assert_ok(doca_buf_pool_start(pool));
	return pool;
}

static struct doca_buf *pool_take(struct doca_buf_pool *pool)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_pool_buf_alloc(pool, &buf));
	return buf;
}

static void give_back(struct doca_buf *buf)
{
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

#endif
