/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/held.h - copies of frames that wait, in their order. */
#ifndef SIM_GATEWAY_HELD_H
#define SIM_GATEWAY_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "frame.h"

struct gateway;

#define HELD_MAX_BYTES (16u << 20)

struct held;

struct held_frames {
	STAILQ_HEAD(, held) list;
	size_t num_bytes;
};

void held_init(struct held_frames *held);

/* Returns whether there was room for the frame. */
bool held_add(struct held_frames *held, const struct gateway_frame *frame);

/* Send all of them. */
void held_send(struct held_frames *held, void (*send)(struct gateway *gateway, const struct gateway_frame *frame),
	       struct gateway *gateway);

void held_drop(struct held_frames *held);

#endif
