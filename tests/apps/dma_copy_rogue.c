/* SPDX-License-Identifier: BSD-3-Clause */
/* dma_copy_rogue: a host that violates DMA Copy's protocol in one way.
 *
 *   dma_copy_rogue PCI_ADDRESS MISDEED
 *
 * Exits with 0 if the DPU detected that: it aborted or disconnected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "dma_copy/channel_priv.h"
#include "dma_copy/failure.h"
#include "dma_copy/device.h"
#include "dma_copy/window.h"

#define FILE_BYTES 10000

static const struct window_shape shape = { .slot_bytes = 4096, .num_slots = 2 };

struct rogue {
	const char *misdeed;
	struct loop loop;
	struct doca_dev *dev;
	struct channel *channel;
	struct window window;
};

static bool will(const struct rogue *rogue, const char *misdeed)
{
	return strcmp(rogue->misdeed, misdeed) == 0;
}

static void tell(struct rogue *rogue, const struct message *message)
{
	channel_send(rogue->channel, message); /* the DPU may be gone by now */
}

/* Bytes that are no message. */
static void send_garbage(struct rogue *rogue)
{
	uint8_t bytes[100];

	memset(bytes, 0xa5, sizeof(bytes));
	rogue->channel->num_sending++;
	if (channel_end_send(rogue->channel, bytes, sizeof(bytes)) != DOCA_SUCCESS)
		abort();
}

static void send_hello(struct rogue *rogue)
{
	struct message message = { .type = MESSAGE_HELLO };

	message.hello = (struct message_hello){ .has_file = true, .mode = 0644, .size_bytes = FILE_BYTES };
	if (will(rogue, "enormous"))
		message.hello.size_bytes = INT64_MAX;
	tell(rogue, &message);
}

static void send_window(struct rogue *rogue)
{
	struct message message = { .type = MESSAGE_WINDOW };
	const void *descriptor;
	size_t bytes;

	if (doca_mmap_export_pci(rogue->window.mmap, rogue->dev, &descriptor, &bytes) != DOCA_SUCCESS)
		abort();
	message.window.addr = (uintptr_t)rogue->window.memory;
	message.window.slot_bytes = will(rogue, "huge-window") ? UINT32_MAX : shape.slot_bytes;
	message.window.num_slots = will(rogue, "empty-window") ? 0 : shape.num_slots;
	message.window.descriptor_bytes = (uint32_t)bytes;
	memcpy(message.window.descriptor, descriptor, bytes);
	if (will(rogue, "bad-descriptor"))
		message.window.descriptor[bytes / 2] ^= 1;
	if (will(rogue, "bad-address"))
		message.window.addr += 1u << 30;
	tell(rogue, &message);
}

static void send_full(struct rogue *rogue, uint64_t index, uint32_t len_bytes)
{
	struct message message = { .type = MESSAGE_FULL };

	message.piece = (struct message_piece){ .index = index, .len_bytes = len_bytes };
	tell(rogue, &message);
}

static void send_pieces(struct rogue *rogue)
{
	if (will(rogue, "wrong-index"))
		send_full(rogue, 1, 4096);
	else if (will(rogue, "wrong-length"))
		send_full(rogue, 0, 4095);
	else
		send_full(rogue, 0, 4096);
	send_full(rogue, 1, 4096);
	for (unsigned int i = 0; will(rogue, "flood") && i < CHANNEL_MAX_SENDING - 10; i++)
		send_full(rogue, 2, FILE_BYTES - 2 * 4096);
}

/* Wait until the slots are empty again, so that the last piece is valid. */
static void await_empty(struct rogue *rogue)
{
	struct message message;

	for (int i = 0; i < 2; i++) {
		if (channel_await(rogue->channel, MESSAGE_EMPTY, &message) != DOCA_SUCCESS)
			return;
	}
}

static void send_end(struct rogue *rogue)
{
	struct message message = { .type = MESSAGE_END };

	memset(message.digest, 0x5a, DIGEST_BYTES);
	tell(rogue, &message);
}

static void misbehave(struct rogue *rogue)
{
	static const struct message done = { .type = MESSAGE_DONE };
	struct message message;

	if (will(rogue, "garbage"))
		send_garbage(rogue);
	send_hello(rogue);
	if (will(rogue, "out-of-order"))
		tell(rogue, &done);
	if (channel_await(rogue->channel, MESSAGE_HELLO, &message) != DOCA_SUCCESS)
		return;
	send_window(rogue);
	send_pieces(rogue);
	if (will(rogue, "wrong-digest")) {
		await_empty(rogue);
		send_full(rogue, 2, FILE_BYTES - 2 * 4096);
	}
	send_end(rogue); /* too early, but for "wrong-digest" */
}

/* Receive anything until the DPU has aborted or gone. */
static bool is_noticed(struct rogue *rogue)
{
	struct message message;
	bool taken;
	doca_error_t result = DOCA_SUCCESS;
	double end_s = now_s() + 20;

	while (result == DOCA_SUCCESS && now_s() < end_s) {
		if (loop_turn(&rogue->loop, false) != DOCA_SUCCESS)
			return false;
		result = channel_take(rogue->channel, &message, &taken);
		if (result == DOCA_SUCCESS && taken && message.type == MESSAGE_DONE)
			return false;
	}
	return result == DOCA_ERROR_SHUTDOWN || result == DOCA_ERROR_CONNECTION_RESET;
}

static bool run(struct rogue *rogue, const char *pci_addr)
{
	struct channel_cfg cfg = { .loop = &rogue->loop, .dev = rogue->dev, .pci_addr = pci_addr };
	bool noticed;

	if (window_init(&rogue->window, rogue->dev, &shape, DOCA_ACCESS_FLAG_PCI_READ_WRITE) != DOCA_SUCCESS ||
	    channel_open(&cfg, &rogue->channel) != DOCA_SUCCESS)
		return false;
	misbehave(rogue);
	noticed = is_noticed(rogue);
	channel_close(rogue->channel, DOCA_SUCCESS);
	window_fini(&rogue->window);
	return noticed;
}

int main(int argc, char **argv)
{
	struct rogue rogue = { .misdeed = argc == 3 ? argv[2] : "" };
	bool noticed;

	if (argc != 3 || device_open(argv[1], &rogue.dev) != DOCA_SUCCESS || loop_init(&rogue.loop) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	noticed = run(&rogue, argv[1]);
	loop_fini(&rogue.loop);
	doca_dev_close(rogue.dev);
	printf("%s: %s\n", rogue.misdeed, noticed ? "noticed" : "not noticed");
	return noticed ? EXIT_SUCCESS : EXIT_FAILURE;
}
