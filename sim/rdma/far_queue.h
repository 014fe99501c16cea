/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/far_queue.h - the memory by which the queue pairs of a group send requests to the gateway of their machine.
 *
 *   requester (the program)    creates the queue and exports it; fills slots, and posts their numbers
 *   gateway                    imports it; takes the posted slots in order, and returns them in the order of their answers
 *
 *   slot: free --post--> the gateway's --return--> free
 *
 * A slot has a request and its data: what is written, or then what was read. The requests of a stream are executed in the order of
 * their posts. After one that failed, those behind it fail with -ECANCELED, up to one that says that it is the first.
 *
 * Order of accesses:
 *
 *   request  the requester: slot, @posts --> @num_posted     the gateway: @num_posted (acquire) --> @posts, slot
 *   answer   the gateway: slot, @returns --> @num_returned   the requester: @num_returned (acquire) --> @returns, slot
 *   sleep    either side: its @.._asleep = 1, then the other's number; the other: its number, then @.._asleep   all seq_cst
 *
 * Neither side trusts the other: a number that is none of a slot which the other side holds is ignored.
 */
#ifndef SIM_RDMA_FAR_QUEUE_H
#define SIM_RDMA_FAR_QUEUE_H

#include <stdatomic.h>
#include <stdint.h>

#include "sim/fabric/served/served.h"

#define SIM_FAR_SLOTS      64
#define SIM_FAR_SLOT_BYTES 65536

struct sim_far_slot {
	struct sim_grant grant; /* of the memory */
	uint64_t offset;
	uint32_t len_bytes;
	uint16_t
		kind; /* enum sim_served_kind; the data of an operation is a struct sim_far_operands, and then the value before */
	uint16_t is_first; /* no request of the stream before it is unanswered, and none has failed */
	uint16_t stream;
	uint16_t reserved;
	int32_t status; /* 0 or -errno, of the gateway */
	uint64_t unused;
};

struct sim_far_queue_shared {
	/* The requester. */
	_Alignas(64) _Atomic uint32_t num_posted;
	_Atomic uint32_t requester_asleep;
	uint32_t posts[SIM_FAR_SLOTS];
	/* The gateway. */
	_Alignas(64) _Atomic uint32_t num_returned;
	_Atomic uint32_t gateway_asleep;
	uint32_t returns[SIM_FAR_SLOTS];
	/* Who holds the slot. */
	_Alignas(64) struct sim_far_slot slots[SIM_FAR_SLOTS];
	_Alignas(4096) uint8_t data[SIM_FAR_SLOTS][SIM_FAR_SLOT_BYTES];
};

#endif
