/* SPDX-License-Identifier: BSD-3-Clause */
/* logs.h - destinations of log records. */
#ifndef LOGS_H
#define LOGS_H

#include <doca_error.h>

/* Send records of the program, and errors of the libraries, to standard error: standard output is for the result
 * alone. */
doca_error_t logs_start(void);

#endif
