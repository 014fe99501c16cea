/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/abi/old_names.h - functions that had another name in an earlier release.
 *
 * Source code gets the present name from a macro in the public header. A program
 * that was linked then asks the loader for the old symbol; this gives it one, at
 * the address of the present function. New programs can't link with it.
 *
 * Used at file scope in the source file that defines the function:
 *
 *   SHIM_OLD_NAME(doca_log_backend_create_with_buf, doca_log_backend_create_with_buffer);
 *
 * "old_names" in tests/abi/facts.json lists the pairs; a test there checks the
 * built libraries for them.
 */
#ifndef SHIM_OLD_NAMES_H
#define SHIM_OLD_NAMES_H

/* @now is a function of node EXPERIMENTAL, defined in this file. */
#ifdef SHIM_WORKQ_CORE /* another generation, which has none */
#define SHIM_OLD_NAME(now, old) _Static_assert(1, "")
#else
#define SHIM_OLD_NAME(now, old) __asm__(".symver " #now ", " #old "@EXPERIMENTAL")
#endif

#endif
