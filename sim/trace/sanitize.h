/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/sanitize.h - makes untrusted text printable. */
#ifndef SIM_TRACE_SANITIZE_H
#define SIM_TRACE_SANITIZE_H

#include <stddef.h>

/* Terminate @text within its @size bytes, and replace each byte that is a control character or not
 * part of valid UTF-8 by '?'. */
void sim_trace_sanitize_text(char *text, size_t size);

#endif
