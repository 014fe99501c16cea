/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/probe.h - is memory of the program still mapped? Asked at each task, so without a system call.
 *
 * The checker reads a byte of each page, with a hook of the handlers that stand before the program's
 * (sim/base/memory_signals.h). Where the program has just put another handler in their place, or a sanitizer or valgrind watches what is read, the kernel is asked. A fault of the
 * program goes the way that it went without the checker.
 */
#ifndef SHIM_CHECK_PROBE_H
#define SHIM_CHECK_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before threads start: set the hook; @may_read: nothing watches reads. */
void check_probe_start(bool may_read);

/* Call @handler for each other fault, with its address and the handler's third argument (a ucontext_t). It returns whether the
 * access may be tried again. */
void check_probe_on_fault(bool (*handler)(const void *addr, void *context));

/* Whether faults come to the checker: the program has not put another handler in place. */
bool check_probe_sees_faults(void);

/* Copy bytes of the program. Returns false if they are not there. */
bool check_read_bytes(void *to, const void *from, size_t len_bytes);

/* Returns whether a part of the range is not mapped, or has no object behind it. */
bool check_is_unmapped(const uint8_t *addr, size_t len_bytes);

#endif
