/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/bench/probe_rdma.h - RDMA between a requester, which measures, and a responder.
 *
 *   responder: export memory, listen --file--> requester: connect each thread's context to the address
 *   block i of the requester's memory <--writes, reads--> block i of the responder's
 *                                     ---sends--------->  the oldest receive
 *
 * The bytes of a block tell its number, so each side knows what must have arrived when all is done.
 */
#ifndef SHIM_BENCH_PROBE_RDMA_H
#define SHIM_BENCH_PROBE_RDMA_H

#include "probe.h"

#define PROBE_RDMA_PORT 18515 /* of the simulated network */

/* What a requester has to know of its responder. */
struct probe_rdma_place {
	char address[16];
	size_t descriptor_len;
	uint8_t descriptor[1024];
};

/* The function of the requester is the first of its side, and that of the responder too, unless @is_last. */
struct doca_dev *probe_rdma_open(bool is_last, char ret_address[16]);

/* Fill block @number, and compare @memory with that block. */
void probe_rdma_fill(uint8_t *memory, size_t size, uint64_t number);
bool probe_rdma_is_block(const uint8_t *memory, size_t size, uint64_t number);

/* The number that the bytes of a block tell: of small blocks, the low bits alone. */
uint64_t probe_rdma_number_of(const uint8_t *memory, size_t size);

/* End the program with a message. */
__attribute__((noreturn)) void probe_rdma_fail_wrong(enum probe_rdma_op op);

#endif
