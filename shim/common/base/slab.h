/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/slab.h - memory for many small handles at once (buffers, tasks).
 *
 * A slab is zeroed, and the kernel allocates its pages at the first access. Its addresses are reused for
 * slabs alone: a read of a freed slab finds zeros or the handles of another slab. So a stale buffer or
 * task is recognised (object.h) without an invalid access.
 */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <stdbool.h>
#include <stddef.h>

/* Create a slab of at least @bytes; NULL without memory. */
void *shim_slab_new(size_t bytes);

/* Free a slab that was created with @bytes. @is_written: otherwise it is zero still, and costs no system call. NULL is fine. */
void shim_slab_free(void *slab, size_t bytes, bool is_written);

#endif
