/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/compat.h - what the libraries of another generation of the API do otherwise.
 *
 * These sources are compiled once for each generation. The current one has no differences: all members are zero. The
 * libraries of another generation set a table of their own, in a constructor that runs before all others.
 */
#ifndef SHIM_COMPAT_H
#define SHIM_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

#include "object.h"

struct shim_log_location;
struct shim_log_stream;

struct shim_compat {
	/* Log. A program that makes no backend sees its records, down to the global level. */
	bool shows_app_records;
	/* A line has neither thread nor function, and a colon behind its location. */
	bool has_short_lines;
	/* Deliver a record of the SDK, one line, in the words of the generation. NULL: as it is. */
	void (*put_sdk_record)(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
			       const char *text);
	/* A sanitizer or valgrind does not load the checker by itself. */
	bool keeps_checker_out;
	/* Data outside of a buffer is an invalid value; else the buffer follows its data. */
	bool pins_buffers;
	/* Jobs of accelerators have the limits of the generation (workq_max_buf_bytes). */
	bool has_own_limits;
	/* The data of a destination is replaced if the room behind it is too small. */
	bool replaces_full_data;
};

extern SHIM_INTERNAL_API const struct shim_compat *shim_compat;

#endif
