/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/handshake_msg.h - a message between the two ends of a channel: some bytes and descriptors. */
#ifndef SIM_HANDSHAKE_MSG_H
#define SIM_HANDSHAKE_MSG_H

#include <stdint.h>

#define SIM_HANDSHAKE_MSG_SIZE 192
#define SIM_HANDSHAKE_MSG_FDS  3

struct sim_handshake_msg {
	uint32_t len_bytes;             /* at most SIM_HANDSHAKE_MSG_SIZE */
	uint32_t num_fds;               /* at most SIM_HANDSHAKE_MSG_FDS */
	int fds[SIM_HANDSHAKE_MSG_FDS]; /* the sender keeps its own; the receiver owns close-on-exec copies */
	uint8_t body[SIM_HANDSHAKE_MSG_SIZE];
};

#endif
