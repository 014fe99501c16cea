/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's side: it imports the host's window, and moves pieces between that and its own. */
#include <stdlib.h>

#include <doca_mmap.h>

#include "failure.h"
#include "mover.h"
#include "side.h"

#ifndef DOCA_ARCH_DPU
#error "dpu.c is for the DPU: build it against the DPU's SDK tree"
#endif

struct side {
	struct doca_mmap *remote_mmap; /* the host's window */
	struct window window;          /* ours */
	struct mover *mover;
	struct carrier carrier;
};

static doca_error_t borrow(struct side *side, struct doca_dev *dev, const struct message_window *remote)
{
	struct window_shape shape = { .slot_bytes = remote->slot_bytes, .num_slots = remote->num_slots };
	doca_error_t result = window_shape_check(&shape);

	if (result == DOCA_SUCCESS)
		result = check(doca_mmap_create_from_export(NULL, remote->descriptor, remote->descriptor_bytes, dev,
							    &side->remote_mmap),
			       "import the host's window");
	if (result == DOCA_SUCCESS)
		result = window_init(&side->window, dev, &shape, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return result;
}

static doca_error_t prepare(struct side *side, struct doca_dev *dev, bool sending, struct transfer *transfer)
{
	struct mover_cfg cfg = { .loop = transfer->loop, .dev = dev, .to_remote = sending };
	struct message message;
	doca_error_t result = channel_await(transfer->channel, MESSAGE_WINDOW, &message);

	if (result == DOCA_SUCCESS)
		result = borrow(side, dev, &message.window);
	if (result != DOCA_SUCCESS)
		return result;
	cfg.local = &side->window;
	cfg.remote_mmap = side->remote_mmap;
	cfg.remote_addr = (uint8_t *)(uintptr_t)message.window.addr;
	return mover_create(&cfg, &side->mover);
}

doca_error_t side_begin(struct doca_dev *dev, bool sending, struct transfer *transfer, struct side **ret_side)
{
	struct side *side = calloc(1, sizeof(*side));
	doca_error_t result;

	if (!side)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for the DPU's side");
	result = prepare(side, dev, sending, transfer);
	if (result != DOCA_SUCCESS) {
		side_end(side);
		return result;
	}
	side->carrier = (struct carrier){ .begin = mover_begin, .count = mover_count, .self = side->mover };
	transfer->window = &side->window;
	transfer->carrier = &side->carrier;
	*ret_side = side;
	return DOCA_SUCCESS;
}

void side_end(struct side *side)
{
	if (!side)
		return;
	mover_destroy(side->mover);
	window_fini(&side->window);
	if (side->remote_mmap)
		check(doca_mmap_destroy(side->remote_mmap), "forget the host's window");
	free(side);
}
