/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/erasure_coding/galois.h - the field GF(2^8) over 0x11d: numbers, and products of a matrix with blocks.
 *
 * ISA-L does the work. Everything but galois_find_lack() needs it.
 */
#ifndef SHIM_GALOIS_H
#define SHIM_GALOIS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of tables for each coefficient of a matrix. */
#define GALOIS_TABLE_BYTES 32

/* Return what this machine lacks for the work, as a sentence, or NULL. */
const char *galois_find_lack(void);

uint8_t galois_mul(uint8_t a, uint8_t b);

/* 1 / @a; 0 for 0. */
uint8_t galois_inverse(uint8_t a);

/* Invert the @size x @size matrix @in, whose contents are lost. 0, or -EDOM if it is singular. */
int galois_invert(uint8_t *in, uint8_t *ret_out, size_t size);

/* Write the tables of a matrix with a row for each output. */
void galois_init_tables(uint8_t *coefficients, size_t num_in, size_t num_out, uint8_t *ret_tables);

/* Multiply the matrix with @num_in blocks of @len bytes. */
void galois_multiply(const uint8_t *tables, size_t len, size_t num_in, size_t num_out, const uint8_t **in,
		     uint8_t **out);

#endif
