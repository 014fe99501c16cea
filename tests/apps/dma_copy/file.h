/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - the file that is sent, and the one that is made of what arrives.
 *
 *   source   open --> read, in order --> close
 *   target   create --> write, in order --> commit --> discard
 *                              '--- whatever fails --------^
 *
 * Until it is committed, a target has no name where the file system can do that
 * (O_TMPFILE), so that not even SIGKILL leaves it behind; elsewhere its name is
 * .dma_copy.XXXXXX in the same directory, and discard removes it. Commit puts it
 * under its name, whole, and never over another file.
 */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "message.h"

struct source {
	int fd; /* -1 = there is no such file */
	const char *path;
};

/* Look for a regular file at @path, which is borrowed. A missing file is no error: ret_offer->has_file is false. */
doca_error_t source_open(const char *path, struct source *ret_source, struct message_hello *ret_offer);

/* The next @len bytes. The file must not have become shorter. */
doca_error_t source_read(struct source *source, void *bytes, size_t len);

void source_close(struct source *source);

struct target {
	int fd; /* -1 = none */
	const char *path;
	char *temporary; /* its name until then; NULL = none */
};

/* An empty file beside @path, which is borrowed. The caller discards it. */
doca_error_t target_create(const char *path, struct target *ret_target);

doca_error_t target_write(struct target *target, const void *bytes, size_t len);

/* Give it its name, with @mode's permission bits. */
doca_error_t target_commit(struct target *target, uint32_t mode);

/* Close; unless it was committed, nothing of it is left. */
void target_discard(struct target *target);

#endif
