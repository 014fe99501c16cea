/* SPDX-License-Identifier: BSD-3-Clause */
/* desc_file.h - an export descriptor on its way from one process to another, as a file.
 *
 *   the owner: write PATH.new, rename it to PATH
 *   the peer:  wait until there is a PATH, read it, import
 *
 * The file appears by a rename, so that a peer never reads a part of it. It holds
 * the memory's address in the owner, its length, and the
 * descriptor. On a real machine it would travel over a socket or a Comch channel.
 */
#ifndef DESC_FILE_H
#define DESC_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

struct doca_dev;
struct doca_mmap;

/* Memory of another process, imported. */
struct remote {
	struct doca_mmap *mmap; /* NULL = none */
	uint8_t *addr;          /* the owner's; never dereferenced here */
	size_t len_bytes;
};

/* Export @mmap, which is started, and write the file. */
doca_error_t desc_file_export(const char *path, struct doca_mmap *mmap, struct doca_dev *dev);

/* Wait at most @timeout_s seconds for the file, then import the memory that it describes. The caller releases it
 * before closing @dev. */
doca_error_t desc_file_import(const char *path, uint32_t timeout_s, struct doca_dev *dev, struct remote *ret_remote);

/* Release the import; no effect if it is all zero. */
void remote_release(struct remote *remote);

#endif
