/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/peer_msgs.h - what the two ends of a connection send each other.
 *
 *   handshake, announcements   handshake messages of the session, with descriptors (sim/session/channel.h)
 *   records                    in the ring that their receiver owns (sim/shm/ring.h)
 *
 * The other process may send anything: its receiver copies a message first, and checks the copy.
 */
#ifndef SHIM_COMCH_PEER_MSGS_H
#define SHIM_COMCH_PEER_MSGS_H

#include <stdint.h>

#include "sim/protocol/descriptor.h"

/* ---- handshake: where the sender's end is written to ---- */

#define COMCH_PROTOCOL_VERSION 7

enum comch_handshake_fd { COMCH_FD_RING, COMCH_FD_DOORBELL, COMCH_FD_WAKE, COMCH_NUM_HANDSHAKE_FDS };

struct comch_handshake {
	uint32_t version;
	uint32_t max_msg_bytes;
	uint32_t recv_queue_size;
	uint32_t slot;      /* to ring in the doorbells */
	uint32_t engine;    /* shim_pe_vclock_engine() */
	uint64_t stream_id; /* in recordings: the client's */
};

/* ---- an announcement: its descriptors are a consumer's memory and its wake-up socket (sim/shm/wake.h) ---- */

struct comch_consumer_info {
	uint32_t id;
	uint32_t num_slots, max_imm_bytes;
	uint32_t has_memory; /* @key is set */
	uint32_t engine;     /* shim_pe_vclock_engine() */
	uint64_t stream_id;  /* in recordings: of messages to it */
	struct sim_key key;
};

/* ---- records ---- */

enum comch_record {
	COMCH_MESSAGE = 1,
	COMCH_CONSUMER_NEW,     /* struct comch_consumer_record; the session carries its announcement */
	COMCH_CONSUMER_EXPIRED, /* struct comch_consumer_record */
	COMCH_RECORDED_MESSAGE, /* a message whose receipt is recorded (sim/trace/trace.h) */
	COMCH_MESSAGE_WITH_HDR, /* struct comch_msg_hdr, then a message */
};

/* When and how the receiver delivers a message. The sender computes it from the model and from faults. */
struct comch_msg_hdr {
	uint64_t due_ns;      /* deliver the message, and those behind it, then; 0 = now */
	uint64_t modelled_ns; /* the model's part of @due_ns: it applies even if the other end is gone */
	uint32_t reorder_by;  /* deliver so many later messages first */
	uint16_t duplicate;   /* deliver it twice */
	uint16_t is_recorded; /* as COMCH_RECORDED_MESSAGE */
};

struct comch_consumer_record {
	uint32_t id;
};

#endif
