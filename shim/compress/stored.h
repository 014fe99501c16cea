/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/stored.h - deflate streams without stored blocks, which the cards' compression does not write (DPDK, guide of the
 * mlx5 compress driver, limitations: "Non-compressed block is not supported in compress").
 *
 *   a library's    | codes   | stored: length, its complement, bytes | codes   |
 *   a card's       | codes   | literals in Huffman codes             | codes   |      some 0.4 % longer, for noise
 */
#ifndef SHIM_COMPRESS_STORED_H
#define SHIM_COMPRESS_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether a valid stream can have a stored block. Is seldom wrong about one that has none: takes a fraction of what a
 * decoder does. */
bool stored_may_occur(const uint8_t *stream, size_t len);

/* The most bytes that stored_recode() writes, besides BIT_WRITER_SLACK_BYTES. */
size_t stored_max_recoded(size_t len);

/* Write a valid stream to @to, with the bytes of its stored blocks as literals. Returns 0, -ENOMEM, or -EIO: the
 * stream is invalid. */
int stored_recode(const uint8_t *stream, size_t len, uint8_t *to, size_t *ret_written);

#endif
