/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h - the program's job, from the file's name to the result. */
#ifndef COPY_H
#define COPY_H

#include <doca_error.h>

#include "args.h"

/* Find the other side, agree on who sends, copy, say so on standard output.
 * Whatever happens, no half file is left. */
doca_error_t copy_run(const struct args *args);

#endif
