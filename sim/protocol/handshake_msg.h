/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/handshake_msg.h - what one end of a channel sends the other: some bytes and descriptors. */
#ifndef SIM_HANDSHAKE_MSG_H
#define SIM_HANDSHAKE_MSG_H

#include <stdint.h>

#define SIM_HANDSHAKE_MSG_SIZE 192
#define SIM_HANDSHAKE_MSG_FDS  3

struct sim_handshake_msg {
	uint32_t len_bytes;             /* at most SIM_HANDSHAKE_MSG_SIZE */
	uint32_t num_fds;               /* at most SIM_HANDSHAKE_MSG_FDS */
	int fds[SIM_HANDSHAKE_MSG_FDS]; /* sent: stay the sender's; taken: the taker's, closed by an exec */
	uint8_t body[SIM_HANDSHAKE_MSG_SIZE];
};

#endif
