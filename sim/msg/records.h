/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/records.h - what the two ends of a pipe write to each other.
 *
 *   address, announcements   handshake messages, with descriptors (sim/protocol/handshake_msg.h)
 *   records                  in the ring that their receiver owns (sim/shm/ring.h)
 *
 * The other process may send anything: its receiver copies a message first, and checks the copy.
 */
#ifndef SIM_MSG_RECORDS_H
#define SIM_MSG_RECORDS_H

#include <stdint.h>

#include "sim/protocol/descriptor.h"

/* ---- the address of an end: where it is written to ---- */

#define SIM_PIPE_VERSION 9

/* Memory of an end that is connected to one other end alone: its doorbells, and at this offset its ring. */
#define SIM_PIPE_RING_OFFSET 576

enum sim_pipe_fd {
	SIM_PIPE_FD_RING, /* or the one memory of both */
	SIM_PIPE_FD_WAKE,
	SIM_PIPE_FD_DOORBELL, /* not if there is one memory */
	SIM_PIPE_MAX_FDS
};

struct sim_pipe_address {
	uint32_t version;
	uint32_t max_msg_bytes;
	uint32_t recv_queue_size;
	uint32_t slot;   /* to ring in the doorbells */
	uint32_t engine; /* of virtual time: messages to the end are posted to it */
	uint32_t has_one_memory;
	uint64_t stream_id; /* in recordings: the client's */
};

/* ---- an announcement of a consumer: its descriptors are its memory and its wake-up socket (sim/shm/wake.h) ---- */

struct sim_consumer_info {
	uint32_t id;
	uint32_t num_slots, max_imm_bytes;
	uint32_t has_memory; /* @key is set */
	uint32_t engine;     /* of virtual time */
	uint32_t reserved;
	uint64_t stream_id; /* in recordings: of messages to it */
	struct sim_key key;
};

/* ---- records ---- */

enum sim_pipe_record {
	SIM_PIPE_MESSAGE = 1,
	SIM_PIPE_ANNOUNCED,        /* struct sim_pipe_object: it is there; a handshake message says more */
	SIM_PIPE_WITHDRAWN,        /* struct sim_pipe_object: it is gone */
	SIM_PIPE_RECORDED_MESSAGE, /* a message whose receipt is recorded (sim/trace/trace.h) */
	SIM_PIPE_MESSAGE_WITH_HDR, /* struct sim_pipe_hdr, then a message */
};

/* When and how the receiver delivers a message. The sender computes it from the model and from faults. */
struct sim_pipe_hdr {
	uint64_t due_ns;      /* deliver the message, and those behind it, then; 0 = now */
	uint64_t modelled_ns; /* the model's part of @due_ns: it applies even if the other end is gone */
	uint32_t reorder_by;  /* deliver so many later messages first */
	uint16_t duplicate;   /* deliver it twice */
	uint16_t is_recorded; /* as SIM_PIPE_RECORDED_MESSAGE */
};

/* An object of the sender's end that an announcement is about. Every announcement's body begins with its id. */
struct sim_pipe_object {
	uint32_t id;
};

#endif
