/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/file.h - read a whole file. */
#ifndef SIM_FILE_H
#define SIM_FILE_H

#include <stddef.h>

/* Read the file @path of up to @max bytes. The caller frees *ret_text with free().
 * Returns 0, -EFBIG (the file is larger), -ENOMEM or another -errno. */
int sim_file_read(const char *path, size_t max, char **ret_text, size_t *ret_len);

#endif
