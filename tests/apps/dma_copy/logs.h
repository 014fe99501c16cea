/* SPDX-License-Identifier: BSD-3-Clause */
/* logs.h - where log records go. */
#ifndef LOGS_H
#define LOGS_H

#include <doca_error.h>

/* The program's own records, and from the libraries what a user has to know, go
 * to standard error: standard output is for the result alone. */
doca_error_t logs_start(void);

#endif
