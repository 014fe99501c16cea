/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h - the memory through which the file is copied: a ring of slots, one piece of the file in each.
 *
 *        slot 0   slot 1   slot 2   slot 3
 *      +--------+--------+--------+--------+
 *      | piece 4| piece 5| piece 2| piece 3|      piece i lives in slot i % num_slots
 *      +--------+--------+--------+--------+
 *
 * Both sides have a window of one shape. The host exports its own; the DPU moves
 * pieces between the two by DMA. So files of any size need little memory.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

struct doca_dev;
struct doca_mmap;

struct window_shape {
	uint32_t slot_bytes; /* the size of a piece; the file's last may be shorter */
	uint32_t num_slots;
};

/* Which shapes one side accepts from the other. */
#define WINDOW_MAX_SLOTS 64
#define WINDOW_MAX_BYTES (256u << 20)

struct window {
	struct window_shape shape;
	uint8_t *memory;
	struct doca_mmap *mmap;
};

/* Memory in a started map on @dev; @access is a mask of enum doca_access_flag.
 * @dev outlives the window. fini accepts a window that is all zero, and makes
 * sure that the other side can't reach the memory before it is given back. */
doca_error_t window_init(struct window *window, struct doca_dev *dev, const struct window_shape *shape,
			 uint32_t access);
void window_fini(struct window *window);

/* Whether it has an accepted shape. */
doca_error_t window_shape_check(const struct window_shape *shape);

/* Where piece @index begins, counted from the start of the window. */
size_t window_offset(const struct window_shape *shape, uint64_t index);

/* How many pieces a file has, and how long one of them is. */
uint64_t window_num_pieces(const struct window_shape *shape, uint64_t file_bytes);
uint32_t window_piece_len(const struct window_shape *shape, uint64_t file_bytes, uint64_t index);

#endif
