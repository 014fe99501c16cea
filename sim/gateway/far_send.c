/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for far memory, as frames. */
#include <string.h>

#include "far.h"

int far_send(const struct far *far, enum sim_served_kind kind, uint64_t offset, uint32_t len, const uint8_t *bytes,
	     uint64_t id)
{
	struct gateway_frame frame = { .id = id, .a = far->handle, .b = far->imported.region.addr + offset };
	uint8_t body[GATEWAY_OPERANDS_BYTES];
	struct sim_far_operands operands;

	switch (kind) {
	case SIM_SERVED_READ:
		frame.kind = GATEWAY_READ;
		gateway_put(body, len, 4);
		frame.body = body;
		frame.len_bytes = 4;
		break;
	case SIM_SERVED_WRITE:
		frame.kind = GATEWAY_WRITE;
		frame.body = bytes;
		frame.len_bytes = len;
		frame.is_stable = id >> GATEWAY_STREAM_SHIFT > 0; /* a slot of a queue */
		break;
	case SIM_SERVED_FAR_OP:
		memcpy(&operands, bytes, sizeof(operands));
		frame.kind = GATEWAY_OPERATE;
		gateway_operands_write(&operands, body);
		frame.body = body;
		frame.len_bytes = sizeof(body);
		break;
	}
	return gateway_send(far->gateway, far->machine, &frame);
}

uint32_t far_answer_bytes(enum sim_served_kind kind, uint32_t len)
{
	switch (kind) {
	case SIM_SERVED_READ:
		return len;
	case SIM_SERVED_FAR_OP:
		return sizeof(uint64_t);
	default:
		return 0;
	}
}
