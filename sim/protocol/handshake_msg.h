/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/handshake_msg.h - what one end of a channel sends the other: some bytes and descriptors. */
#ifndef SIM_SESSION_LETTER_H
#define SIM_SESSION_LETTER_H

#include <stdint.h>

#define SIM_LETTER_SIZE 192
#define SIM_LETTER_FDS 3

struct sim_letter {
	uint32_t len_bytes;      /* at most SIM_LETTER_SIZE */
	uint32_t num_fds;        /* at most SIM_LETTER_FDS */
	int fds[SIM_LETTER_FDS]; /* sent: stay the sender's; taken: the taker's, closed by an exec */
	uint8_t body[SIM_LETTER_SIZE];
};

#endif
