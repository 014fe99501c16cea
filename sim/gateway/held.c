/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that wait. */
#include "held.h"

#include <stdlib.h>
#include <string.h>

struct held {
	STAILQ_ENTRY(held) entry;
	struct gateway_frame frame;
	uint8_t body[];
};

void held_init(struct held_frames *held)
{
	STAILQ_INIT(&held->list);
	held->num_bytes = 0;
}

bool held_add(struct held_frames *held, const struct gateway_frame *frame)
{
	struct held *one =
		held->num_bytes + frame->len_bytes <= HELD_MAX_BYTES ? malloc(sizeof(*one) + frame->len_bytes) : NULL;

	if (!one)
		return false;
	one->frame = *frame;
	one->frame.body = one->body;
	one->frame.is_stable = false;
	if (frame->len_bytes > 0)
		memcpy(one->body, frame->body, frame->len_bytes);
	held->num_bytes += sizeof(*one) + frame->len_bytes;
	STAILQ_INSERT_TAIL(&held->list, one, entry);
	return true;
}

void held_send(struct held_frames *held, void (*send)(struct gateway *gateway, const struct gateway_frame *frame),
	       struct gateway *gateway)
{
	struct held *one;

	while ((one = STAILQ_FIRST(&held->list))) {
		STAILQ_REMOVE_HEAD(&held->list, entry);
		send(gateway, &one->frame);
		free(one);
	}
	held->num_bytes = 0;
}

void held_drop(struct held_frames *held)
{
	struct held *one;

	while ((one = STAILQ_FIRST(&held->list))) {
		STAILQ_REMOVE_HEAD(&held->list, entry);
		free(one);
	}
	held->num_bytes = 0;
}
