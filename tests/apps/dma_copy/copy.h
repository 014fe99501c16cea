/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h - the program's job, from the file's name to the result. */
#ifndef COPY_H
#define COPY_H

#include <doca_error.h>

#include "args.h"

/* Connect to the other side, agree on the sender, copy, print the result on standard output. On any failure, no
 * partial file is left. */
doca_error_t copy_run(const struct args *args);

#endif
