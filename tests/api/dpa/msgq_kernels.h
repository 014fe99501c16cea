/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/dpa/msgq_kernels.h - what host and device code of the tests of MsgQs share. */
#ifndef TESTS_DPA_MSGQ_KERNELS_H
#define TESTS_DPA_MSGQ_KERNELS_H

#include <stdint.h>

struct echo_args {
	uint64_t consumer_completion, consumer, producer_completion, producer;
	uint32_t consumer_id; /* of the CPU */
	uint32_t reserved;
	uint64_t activations, messages, rests; /* as often as it was activated, it waits for a message */
};

struct copy_args {
	uint64_t dst, src, len;
	uint32_t dst_map, src_map;
};

#endif
