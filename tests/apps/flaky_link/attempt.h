/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt.h - one attempt at a copy: a context, a task, and an end to both.
 *
 *   copy_map --> attempt, attempt, ... --> copy_unmap
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

/* The state that all attempts at one copy share. */
struct copy {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_mmap *src_map, *dst_map;
	struct doca_buf_inventory *inventory;
	void *dst;
	const void *src;
	size_t len;
};

/* Map the memory of both ends for the device. Call copy_unmap() in any case. */
doca_error_t copy_map(struct doca_dev *dev, struct doca_pe *pe, void *dst, const void *src, size_t len,
		      struct copy *ret_copy);
void copy_unmap(struct copy *copy);

/* Try to copy. On return no task is in flight. Returns the task's status, or DOCA_ERROR_TIME_OUT when it was not
 * done by the deadline. */
doca_error_t attempt(const struct copy *copy, uint32_t deadline_ms);

#endif
