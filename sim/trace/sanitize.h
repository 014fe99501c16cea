/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/sanitize.h - text of others: made printable. */
#ifndef SIM_TRACE_SANITIZE_H
#define SIM_TRACE_SANITIZE_H

#include <stddef.h>

/* End @text within its @size bytes, and put a '?' for each byte that is a control
 * character or no UTF-8. */
void sim_trace_sanitize_text(char *text, size_t size);

#endif
