/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/literals.h - a block of deflate that codes bytes one by one, without matches (RFC 1951, 3.2.6 and 3.2.7). */
#ifndef SHIM_COMPRESS_LITERALS_H
#define SHIM_COMPRESS_LITERALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bit_writer.h"

/* The largest block of @len bytes: fixed codes of nine bits, the header and the end. */
#define LITERALS_MAX_BITS(len) ((uint64_t)9 * (len) + 3 + 7)

/* Write a block of @len bytes (65535 at most), with the codes, fixed or of its own, that make it shorter. */
void literals_write(struct bit_writer *writer, const uint8_t *bytes, size_t len, bool is_final);

#endif
