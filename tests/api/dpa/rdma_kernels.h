/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/dpa/rdma_kernels.h - what kernels of the tests of RDMA on the DPA take, as host and device code have it. */
#ifndef TESTS_DPA_RDMA_KERNELS_H
#define TESTS_DPA_RDMA_KERNELS_H

#include <stdint.h>

enum request_op {
	REQUEST_SEND,
	REQUEST_SEND_IMM,
	REQUEST_WRITE,
	REQUEST_WRITE_IMM,
	REQUEST_READ,
	REQUEST_ADD,
	REQUEST_RECEIVE,
};

/* A request; a field that its operation does not have is ignored. */
struct request {
	uint64_t rdma;
	uint32_t op, connection;
	uint32_t dst_map, src_map;
	uint64_t dst, src, len, value;
	uint32_t flags, reserved;
};

/* What a completion says. */
struct completed {
	uint64_t type, connection, immediate, index;
};

#endif
