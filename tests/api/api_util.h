/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/api_util.h - what the tests of devices, memory, contexts and tasks share.
 *
 * A process takes its place on a card once. So each card (topology) and side
 * that a test program wants is a world: a process of its own, forked by
 * api_run() before anything of DOCA was called, with a private card in it.
 *
 *   static const struct CMUnitTest on_dpu[] = { cmocka_unit_test(test_...), ... };
 *
 *   int main(void)
 *   {
 *           return API_RUN({.name = "dpu", .topology = "memory.yaml", .side = "dpu", API_WITH(on_dpu)});
 *   }
 *
 * Link with api_util.c (and api_memory.c, for memory) and define API_DATA_DIR, the folder of the topology files.
 */
#ifndef TESTS_API_UTIL_H
#define TESTS_API_UTIL_H

#include <stdbool.h>
#include <sys/types.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

#include "cmocka_test.h"
#include "doca_check.h"

#define API_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define API_WITH(array)  .tests = (array), .num_tests = API_COUNT(array)

struct api_world {
	const char *name;
	const char *topology; /* a file of tests/api/data, or YAML (begins with "cards:"); NULL = the built-in card */
	const char *side;
	const struct CMUnitTest *tests;
	size_t num_tests;
	struct doca_dev **dev;             /* 03:00.0 is open here during the tests; NULL = not */
	CMFixtureFunction setup, teardown; /* of the group; NULL = none */
};

/* A world whose set-up is more than a device. */
#define API_ON_DPU(name_, topology_, tests_, setup_, teardown_)                                         \
	{                                                                                               \
		.name = name_, .topology = topology_, .side = "dpu", API_WITH(tests_), .setup = setup_, \
		.teardown = teardown_                                                                   \
	}

/* Run each world in a process of its own. The result is main()'s. */
int api_run(const struct api_world *worlds, size_t num_worlds);

/* The same for the worlds that are its arguments. */
#define API_RUN(...) \
	api_run((const struct api_world[]){ __VA_ARGS__ }, API_COUNT(((const struct api_world[]){ __VA_ARGS__ })))

/* The device that the world opened for the tests. */
struct doca_dev *api_dev(void);

/* fork() in a test. The child reports by its exit status, with _exit(): cmocka's
 * assertions don't work there, and its handlers are off, so that a crash is seen. */
pid_t api_fork(void);

/* Wait for the child; the test fails unless its status is 0. */
void api_join(pid_t child);

/* --- Devices --- */

/* Open the local device with this PCI address ("03:00.0"); it fails the test if there is none. */
struct doca_dev *api_open(const char *pci_addr);

/* The same for the @index-th device of the list (SFs share their PF's address). */
struct doca_dev *api_open_nth(uint32_t index);

/* The info of the @index-th device; it lives as long as the process stays on its card. */
struct doca_devinfo *api_devinfo_nth(uint32_t index);

/* --- Memory: api_memory.c --- */

/* A started memory map of one device. */
struct doca_mmap *api_map(struct doca_dev *dev, void *addr, size_t len, uint32_t access);

/* A started inventory. */
struct doca_buf_inventory *api_inventory(size_t num_elements);

/* Compare the buffer's head and length, and its data segment. */
void api_assert_place(struct doca_buf *buf, void *head, size_t len, void *data, size_t data_len);

/* Have the device's DMA engine append the data of @src to that of @dst. Returns the task's status. */
doca_error_t api_copy(struct doca_dev *dev, struct doca_buf *dst, const struct doca_buf *src);

/* --- Memory that runs out --- */

/* Let @step fail at its first allocation, its second, and so on until it has as
 * many as it wants: DOCA_ERROR_NO_MEMORY each time, and at last DOCA_SUCCESS. A
 * step that can do without an allocation has an @undo, which takes back what it did
 * then; else it is NULL. A step that never ends with DOCA_ERROR_NO_MEMORY fails the
 * test: objects come from pools, so it must be the first of its kind in its world.
 * The test is skipped where another allocator stands before ours (valgrind, the
 * thread sanitizer). */
void api_fail_each_allocation(doca_error_t (*step)(void), void (*undo)(void));

/* Skip the test for that reason, before it makes objects. */
void api_need_allocator(void);

#endif
