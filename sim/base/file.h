/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/file.h - a file's text. */
#ifndef SIM_FILE_H
#define SIM_FILE_H

#include <stddef.h>

/* Read all of @path, up to @max bytes. *ret_text is the caller's (free()). Returns
 * 0, -EFBIG (it has more), -ENOMEM or another -errno. */
int sim_file_read(const char *path, size_t max, char **ret_text, size_t *ret_len);

#endif
