/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/erasure_coding/code.h - what a matrix computes: a row of coefficients for each block of output.
 *
 *   coding     @num_in data blocks                                          --> @num_out redundancy blocks
 *   recover    the first blocks that are left, data before redundancy       --> the missing blocks, in the order of their indices
 *   update     old and new block of each data block that changes, then
 *              all old redundancy blocks                                    --> all new redundancy blocks
 *
 * A code never changes. The matrix has a reference, and so has each task that was submitted with it: a program
 * may destroy a matrix whose tasks are in flight.
 */
#ifndef SHIM_EC_CODE_H
#define SHIM_EC_CODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the blocks of a code: the vendor's samples and their comments. */
#define EC_MAX_DATA_BLOCKS 128
#define EC_MAX_RDNC_BLOCKS 32

/* A task has at most so many blocks in its source: old and new of each data block, and all redundancy. */
#define EC_MAX_IN_BLOCKS (2 * EC_MAX_DATA_BLOCKS + EC_MAX_RDNC_BLOCKS)

struct ec_code {
	_Atomic uint32_t references;
	bool is_coding; /* not made of another one */
	size_t num_in, num_out;
	uint8_t *tables;        /* of galois_init_tables() */
	uint8_t coefficients[]; /* num_out rows of num_in; then the tables */
};

/* Coding matrices of the reference: 1 / (i + j + num_in), and (i + 1)^j, for data block i and redundancy block j; or from a
 * matrix of the program, with a row for each data block. NULL without memory. */
struct ec_code *ec_code_new_cauchy(size_t num_in, size_t num_out);
struct ec_code *ec_code_new_vandermonde(size_t num_in, size_t num_out);
struct ec_code *ec_code_new_from_raw(const uint8_t *raw, size_t num_in, size_t num_out);

/* Codes of a coding matrix; indices are valid and differ. 0, -ENOMEM, or -EDOM: what is left does not determine the missing
 * blocks. */
int ec_code_new_recover(const struct ec_code *coding, const uint32_t *missing, size_t num_missing,
			struct ec_code **ret_code);
int ec_code_new_update(const struct ec_code *coding, const uint32_t *changed, size_t num_changed,
		       struct ec_code **ret_code);

struct ec_code *ec_code_ref(struct ec_code *code);

/* NULL is fine. */
void ec_code_unref(struct ec_code *code);

#endif
