/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/tls.h - thread-local variables, which a DPA lacks. */
#ifndef SIM_CLI_DPACC_TLS_H
#define SIM_CLI_DPACC_TLS_H

#include <stdbool.h>

/* Whether the object has thread-local variables. An error on standard error names each one. */
bool tls_refuse(const char *object, const char *source);

#endif
