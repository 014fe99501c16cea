/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes: coefficients of coding, recover and update matrices. */
#include "code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "galois.h"
#include "shim/common/base/alloc.h"

/* A code whose coefficients are 0. NULL without memory. */
static struct ec_code *new_code(size_t num_in, size_t num_out, bool is_coding)
{
	size_t num = num_in * num_out;
	struct ec_code *code = shim_calloc(1, sizeof(*code) + num + num * GALOIS_TABLE_BYTES);

	if (!code)
		return NULL;
	atomic_init(&code->references, 1);
	code->is_coding = is_coding;
	code->num_in = num_in;
	code->num_out = num_out;
	code->tables = code->coefficients + num;
	return code;
}

/* The coefficients are set: make the tables. Returns @code. */
static struct ec_code *finish(struct ec_code *code)
{
	if (code)
		galois_init_tables(code->coefficients, code->num_in, code->num_out, code->tables);
	return code;
}

struct ec_code *ec_code_ref(struct ec_code *code)
{
	atomic_fetch_add_explicit(&code->references, 1, memory_order_relaxed);
	return code;
}

void ec_code_unref(struct ec_code *code)
{
	if (code && atomic_fetch_sub_explicit(&code->references, 1, memory_order_acq_rel) == 1)
		free(code);
}

/* ---- coding matrices ---- */

static uint8_t *row_of(struct ec_code *code, size_t out)
{
	return code->coefficients + out * code->num_in;
}

static const uint8_t *const_row_of(const struct ec_code *code, size_t out)
{
	return code->coefficients + out * code->num_in;
}

struct ec_code *ec_code_new_cauchy(size_t num_in, size_t num_out)
{
	struct ec_code *code = new_code(num_in, num_out, true);

	for (size_t out = 0; code && out < num_out; out++)
		for (size_t in = 0; in < num_in; in++)
			row_of(code, out)[in] = galois_inverse((uint8_t)(in ^ (num_in + out)));
	return finish(code);
}

struct ec_code *ec_code_new_vandermonde(size_t num_in, size_t num_out)
{
	struct ec_code *code = new_code(num_in, num_out, true);

	for (size_t out = 0; code && out < num_out; out++)
		for (size_t in = 0; in < num_in; in++)
			row_of(code, out)[in] = out == 0 ? 1 : galois_mul(row_of(code, out - 1)[in], (uint8_t)(in + 1));
	return finish(code);
}

struct ec_code *ec_code_new_from_raw(const uint8_t *raw, size_t num_in, size_t num_out)
{
	struct ec_code *code = new_code(num_in, num_out, true);

	for (size_t out = 0; code && out < num_out; out++)
		for (size_t in = 0; in < num_in; in++)
			row_of(code, out)[in] = raw[in * num_out + out];
	return finish(code);
}

/* ---- recover matrices ---- */

static bool is_among(size_t index, const uint32_t *indices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (indices[i] == index)
			return true;
	return false;
}

/* Write how the first blocks that are left come from the data blocks: a row of num_in coefficients for each. */
static void write_left(const struct ec_code *coding, const uint32_t *missing, size_t num_missing, uint8_t *left)
{
	size_t num = coding->num_in;

	for (size_t block = 0, written = 0; written < num; block++) {
		if (is_among(block, missing, num_missing))
			continue;
		if (block < num)
			left[written * num + block] = 1;
		else
			memcpy(left + written * num, const_row_of(coding, block - num), num);
		written++;
	}
}

/* Write the row of a missing block; @inverse gives the data blocks. */
static void write_recover_row(const struct ec_code *coding, const uint8_t *inverse, size_t block, uint8_t *row)
{
	size_t num = coding->num_in;

	if (block < num) {
		memcpy(row, inverse + block * num, num);
		return;
	}
	for (size_t in = 0; in < num; in++)
		for (size_t data = 0; data < num; data++)
			row[in] ^= galois_mul(const_row_of(coding, block - num)[data], inverse[data * num + in]);
}

int ec_code_new_recover(const struct ec_code *coding, const uint32_t *missing, size_t num_missing,
			struct ec_code **ret_code)
{
	size_t num = coding->num_in;
	struct ec_code *code = new_code(num, num_missing, false);
	uint8_t *left = shim_calloc(2, num * num), *inverse = left + num * num;
	int rc = code && left ? 0 : -ENOMEM;

	if (rc == 0) {
		write_left(coding, missing, num_missing, left);
		rc = galois_invert(left, inverse, num);
	}
	for (size_t i = 0; rc == 0 && i < num_missing; i++)
		write_recover_row(coding, inverse, missing[i], row_of(code, i));
	free(left);
	if (rc < 0)
		ec_code_unref(code);
	else
		*ret_code = finish(code);
	return rc;
}

/* ---- update matrices ---- */

/* The source has the changed blocks in ascending order, in whatever order the program named them. */
int ec_code_new_update(const struct ec_code *coding, const uint32_t *changed, size_t num_changed,
		       struct ec_code **ret_code)
{
	size_t num_out = coding->num_out;
	struct ec_code *code = new_code(2 * num_changed + num_out, num_out, false);

	if (!code)
		return -ENOMEM;
	for (size_t out = 0; out < num_out; out++) {
		uint8_t *row = row_of(code, out);
		size_t at = 0;

		for (size_t data = 0; data < coding->num_in; data++)
			if (is_among(data, changed, num_changed)) {
				row[at++] = const_row_of(coding, out)[data];
				row[at++] = const_row_of(coding, out)[data];
			}
		row[at + out] = 1;
	}
	*ret_code = finish(code);
	return 0;
}
