/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/huffman.h - Huffman codes of deflate (RFC 1951, 3.2.2): the lengths of symbols, and the codes that follow from
 * them. */
#ifndef SHIM_COMPRESS_HUFFMAN_H
#define SHIM_COMPRESS_HUFFMAN_H

#include <stdint.h>

#define HUFFMAN_MAX_SYMBOLS 288 /* the literals, the end of a block, and lengths of matches */

struct huffman {
	uint8_t len[HUFFMAN_MAX_SYMBOLS];   /* in bits; 0 = the symbol does not occur */
	uint16_t code[HUFFMAN_MAX_SYMBOLS]; /* as it is written, its first bit lowest */
};

/* Compute the shortest code for @num symbols that occur @counts times, of which two or more are not 0. Lengths above @max_len
 * are avoided at the cost of the best code. */
void huffman_build(struct huffman *huffman, const uint32_t *counts, uint32_t num, uint32_t max_len);

/* Compute the codes of @num symbols from their lengths. */
void huffman_assign(struct huffman *huffman, uint32_t num);

#endif
