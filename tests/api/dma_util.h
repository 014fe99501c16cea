/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/dma_util.h - the rig that the tests of contexts, progress engines, tasks and DMA share.
 *
 * A rig is all that a program needs for its first copy: a device, memory in a
 * memory map, an inventory, a progress engine and a DMA context connected to it.
 * All callbacks write lines into its trace, and then react as the test says:
 *
 *	idle -> running
 *	task 7 done
 *	task 8 failed: DOCA_ERROR_IO_FAILED
 *
 * Tasks are numbered by the test (the task's user data). By default a callback
 * frees its task. Several rigs can share one engine and one trace.
 *
 * What the rig itself calls must succeed: otherwise the process ends, so that
 * the rig can be used in threads and callbacks too, where cmocka's assertions
 * can't be. Include it after cmocka.h.
 */
#ifndef TESTS_API_DMA_UTIL_H
#define TESTS_API_DMA_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "doca_check.h"

#define RIG_ARENA_BYTES 65536
#define RIG_TASKS       16
#define RIG_BUFS        512
#define RIG_DEADLINE_S  60 /* deadline of waits: long, as machines are busy */

struct rig;

struct rig_trace {
	char text[8192];
};

/* Zero means the default. */
struct rig_cfg {
	size_t arena_bytes; /* RIG_ARENA_BYTES */
	uint32_t num_tasks; /* RIG_TASKS */
	struct rig *beside; /* share this one's engine and trace; NULL: its own */
};

struct rig {
	struct doca_dev *dev;
	struct doca_mmap *mmap;               /* over the arena, local read and write */
	struct doca_buf_inventory *inventory; /* RIG_BUFS */
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	uint8_t *arena; /* filled with rig_byte() */
	size_t arena_bytes;
	struct rig *beside;
	struct rig_trace own_trace, *trace;
	struct doca_buf *bufs[RIG_BUFS]; /* taken through the rig; returned when it closes */
	size_t num_bufs;
	/* What callbacks do after they have added their line to the trace; NULL: free the task, do nothing. */
	void (*on_task)(struct rig *rig, struct doca_dma_task_memcpy *task);
	void (*on_state)(struct rig *rig, enum doca_ctx_states state);
	void *arg; /* the test's */
};

/* Compare the lines traced since the last call, and clear the trace. */
#define assert_trace(rig, expected)                                  \
	do {                                                         \
		assert_string_equal((rig)->trace->text, (expected)); \
		(rig)->trace->text[0] = '\0';                        \
	} while (0)

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* ---- life ---- */

/* Everything up to the connected, idle context. @cfg NULL: all defaults. */
struct rig *rig_open(const struct rig_cfg *cfg);

/* Start the context and clear the trace of the start. */
struct rig *rig_start(struct rig *rig);

/* End everything: stop, progress until idle, destroy. The test has freed the tasks that it keeps. */
void rig_close(struct rig *rig);

/* For cmocka: a test whose *state is a rig that is idle, or running. */
int rig_setup_idle(void **state);
int rig_setup_running(void **state);
int rig_teardown(void **state);

#define RIG_IDLE(test)    cmocka_unit_test_setup_teardown(test, rig_setup_idle, rig_teardown)
#define RIG_RUNNING(test) cmocka_unit_test_setup_teardown(test, rig_setup_running, rig_teardown)

/* Open the n-th device of this side. */
struct doca_dev *rig_open_dev(uint32_t index);

/* A started map of the rig's device over @len bytes at @addr. */
struct doca_mmap *rig_make_mmap(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions);

/* ---- buffers ---- */

/* The initial value of byte @offset of the arena. */
uint8_t rig_byte(size_t offset);

/* The arena's bytes [@offset, @offset + @len) as a source, and as an empty destination. */
struct doca_buf *rig_src(struct rig *rig, size_t offset, size_t len);
struct doca_buf *rig_dst(struct rig *rig, size_t offset, size_t len);

/* A piece of any map, with a data segment of @data_len bytes from @data_offset in it. */
struct doca_buf *rig_buf(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len, size_t data_offset,
			 size_t data_len);

size_t rig_data_len(const struct doca_buf *buf);

/* Whether the arena at @to holds the initial bytes of @from. */
bool rig_was_copied(const struct rig *rig, size_t to, size_t from, size_t len);

/* Whether the arena has its initial bytes. */
bool rig_is_untouched(const struct rig *rig, size_t offset, size_t len);

/* ---- tasks ---- */

struct doca_dma_task_memcpy *rig_memcpy(struct rig *rig, uint64_t number, const struct doca_buf *src,
					struct doca_buf *dst);

/* The same as a doca_task. */
struct doca_task *rig_task(struct rig *rig, uint64_t number, const struct doca_buf *src, struct doca_buf *dst);

/* A task that copies 64 bytes from place @number of the arena's first half to the same place of its second half;
 * after the copy, the destination has its data. */
struct doca_task *rig_small_task(struct rig *rig, uint64_t number);

/* The destination of such a task. */
size_t rig_small_to(const struct rig *rig, uint64_t number);

/* The destination has the data. */
bool rig_small_is_done(const struct rig *rig, uint64_t number);

/* rig_small_task(), submitted. */
void rig_submit_small(struct rig *rig, uint64_t number);

/* Add a line to the trace. */
void rig_note(struct rig *rig, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- progress ---- */

enum doca_ctx_states rig_state(const struct rig *rig);
size_t rig_in_flight(const struct rig *rig); /* of its context */
size_t rig_pe_in_flight(const struct rig *rig);

/* Progress until nothing is in flight in the engine. */
void rig_drain(struct rig *rig);

/* Progress until the context has the state. */
void rig_progress_to(struct rig *rig, enum doca_ctx_states state);

/* The deadline of a wait as a monotonic time, and whether it has passed. */
struct rig_deadline {
	uint64_t at_ns;
};
struct rig_deadline rig_deadline(void);
struct rig_deadline rig_deadline_in(uint64_t ms);
bool rig_is_over(struct rig_deadline deadline);

/* Wait without polling the engine until the small task's data is in memory; false at the deadline. */
bool rig_wait_in_memory(const struct rig *rig, uint64_t number);

/* Whether the descriptor becomes readable before the deadline; rig_is_readable() does not wait. */
bool rig_wait_readable(int fd);
bool rig_is_readable(int fd);

#endif
