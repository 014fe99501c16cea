/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/slab.h - memory for many small handles at once (buffers, tasks).
 *
 * A slab is zeroed, its pages come with first use, and its addresses are never
 * given to anything but slabs: what reads a freed one finds zeros, or another
 * slab's handles. So a buffer of a destroyed inventory and a task of a context
 * that went idle are recognised as dead (object.h), without touching foreign memory.
 */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <stddef.h>

/* A slab of at least @bytes, or NULL. */
void *shim_slab_new(size_t bytes);

/* Give it back; @bytes as it was asked for. NULL is fine. */
void shim_slab_free(void *slab, size_t bytes);

/* In a forked child: another thread of the parent may have held the lock. */
void shim_slabs_forked(void);

#endif
