/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/buf_util.h - the memory map that the tests of buffers share: one page over one device. */
#ifndef TESTS_API_BUF_UTIL_H
#define TESTS_API_BUF_UTIL_H

#include "api_util.h"

static uint8_t memory[4096];
static struct doca_dev *dev;
static struct doca_mmap *map;

static int open_all(void **state)
{
	dev = api_open("03:00.0");
	map = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return 0;
}

static int close_all(void **state)
{
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(dev));
	return 0;
}

#define BUF_WORLD(name, tests) API_ON_DPU(name, "memory.yaml", tests, open_all, close_all)

#endif
