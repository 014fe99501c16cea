/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side: its window holds the pieces, and the DPU does all copies. */
#include <stdlib.h>
#include <string.h>

#include <doca_mmap.h>

#include "failure.h"
#include "side.h"

#ifndef DOCA_ARCH_HOST
#error "host.c is for the host: build it against the host's SDK tree"
#endif

static const struct window_shape shape = { .slot_bytes = 1u << 20, .num_slots = 8 };

struct side {
	struct window window;
};

static doca_error_t export_window(const struct window *window, struct doca_dev *dev, struct message_window *message)
{
	const void *descriptor;
	size_t bytes;
	doca_error_t result = check(doca_mmap_export_pci(window->mmap, dev, &descriptor, &bytes), "export the window");

	if (result != DOCA_SUCCESS)
		return result;
	if (bytes > sizeof(message->descriptor))
		return failure_report(DOCA_ERROR_INVALID_VALUE,
				      "An export descriptor of %zu bytes doesn't go into one message", bytes);
	message->addr = (uintptr_t)window->memory;
	message->slot_bytes = window->shape.slot_bytes;
	message->num_slots = window->shape.num_slots;
	message->descriptor_bytes = (uint32_t)bytes;
	memcpy(message->descriptor, descriptor, bytes);
	return DOCA_SUCCESS;
}

static doca_error_t lend(struct side *side, struct doca_dev *dev, bool sending, struct channel *channel)
{
	uint32_t access = sending ? DOCA_ACCESS_FLAG_PCI_READ_ONLY : DOCA_ACCESS_FLAG_PCI_READ_WRITE;
	struct message message = { .type = MESSAGE_WINDOW };
	doca_error_t result = window_init(&side->window, dev, &shape, access);

	if (result == DOCA_SUCCESS)
		result = export_window(&side->window, dev, &message.window);
	if (result == DOCA_SUCCESS)
		result = channel_send(channel, &message);
	return result;
}

doca_error_t side_begin(struct doca_dev *dev, bool sending, struct transfer *transfer, struct side **ret_side)
{
	struct side *side = calloc(1, sizeof(*side));
	doca_error_t result;

	if (!side)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for the host's side");
	result = lend(side, dev, sending, transfer->channel);
	if (result != DOCA_SUCCESS) {
		side_end(side);
		return result;
	}
	transfer->window = &side->window;
	*ret_side = side;
	return DOCA_SUCCESS;
}

void side_end(struct side *side)
{
	if (!side)
		return;
	window_fini(&side->window);
	free(side);
}
