/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/buf_records.h - where the program took and returned its buffers.
 *
 * A table of fixed size, by the buffer's address: of two buffers that share a place, the last one is known. Programs take
 * and return buffers often, so a record is a few plain stores, and has the caller alone, without its stack.
 */
#ifndef SHIM_CHECK_BUF_RECORDS_H
#define SHIM_CHECK_BUF_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

struct doca_buf;

struct check_buf_record {
	const struct doca_buf *buf;
	const void *origin;   /* the inventory or pool */
	const void *taken_at; /* return addresses in the program; NULL = not seen */
	const void *returned_at;
	uint64_t number; /* of the take, in the process */
};

/* Returns false if another buffer has the place, or the buffer was not seen. */
bool check_buf_record_find(const struct doca_buf *buf, struct check_buf_record *ret_record);

/* Call @see for the record of each buffer of @origin that was not returned. */
void check_buf_records_out(const void *origin, void (*see)(const struct check_buf_record *record, void *arg),
			   void *arg);

/* The number of takes so far. */
uint64_t check_buf_num_taken(void);

#endif
