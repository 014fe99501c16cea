/* SPDX-License-Identifier: BSD-3-Clause */
/* The sending end of a transfer: reads pieces of the file into empty slots. */
#include <string.h>

#include "failure.h"
#include "transfer.h"

struct sender {
	struct transfer *transfer;
	struct source *source;
	struct digest *digest;
	uint64_t num_pieces;
	uint64_t num_read, num_full, num_empty; /* see transfer.h */
	bool has_ended;                         /* END was sent */
	bool is_confirmed;                      /* and DONE came */
};

static uint32_t piece_len(const struct sender *sender, uint64_t index)
{
	return window_piece_len(&sender->transfer->window->shape, sender->transfer->size_bytes, index);
}

static bool can_read(const struct sender *sender)
{
	return sender->num_read < sender->num_pieces &&
	       sender->num_read - sender->num_empty < sender->transfer->window->shape.num_slots;
}

static doca_error_t read_piece(struct sender *sender)
{
	const struct window *window = sender->transfer->window;
	const struct carrier *carrier = sender->transfer->carrier;
	uint8_t *slot = window->memory + window_offset(&window->shape, sender->num_read);
	uint32_t len = piece_len(sender, sender->num_read);
	doca_error_t result = source_read(sender->source, slot, len);

	if (result == DOCA_SUCCESS)
		result = digest_add(sender->digest, slot, len);
	if (result == DOCA_SUCCESS && carrier)
		carrier->begin(carrier->self, sender->num_read, len);
	sender->num_read++;
	return result;
}

static doca_error_t send_full(struct sender *sender)
{
	struct message message = { .type = MESSAGE_FULL };

	message.piece.index = sender->num_full;
	message.piece.len_bytes = piece_len(sender, sender->num_full);
	sender->num_full++;
	return channel_send(sender->transfer->channel, &message);
}

static doca_error_t send_carried(struct sender *sender)
{
	uint64_t num_carried;
	doca_error_t result = transfer_count_carried(sender->transfer, sender->num_read, &num_carried);

	while (result == DOCA_SUCCESS && sender->num_full < num_carried)
		result = send_full(sender);
	return result;
}

static doca_error_t send_end(struct sender *sender)
{
	struct message message = { .type = MESSAGE_END };
	doca_error_t result = digest_end(sender->digest, sender->transfer->digest);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(message.digest, sender->transfer->digest, DIGEST_BYTES);
	sender->has_ended = true;
	return channel_send(sender->transfer->channel, &message);
}

static doca_error_t on_empty(struct sender *sender, const struct message *message)
{
	const struct message_piece *piece = &message->piece;

	if (sender->num_empty == sender->num_full || piece->index != sender->num_empty ||
	    piece->len_bytes != piece_len(sender, piece->index))
		return channel_report_unexpected(message);
	sender->num_empty++;
	progress_add(&sender->transfer->progress, piece->len_bytes);
	return DOCA_SUCCESS;
}

static doca_error_t on_done(struct sender *sender, const struct message *message)
{
	static const struct message bye = { .type = MESSAGE_BYE };

	if (!sender->has_ended || sender->num_empty < sender->num_pieces)
		return channel_report_unexpected(message);
	if (memcmp(message->digest, sender->transfer->digest, DIGEST_BYTES) != 0)
		return failure_report(DOCA_ERROR_IO_FAILED, "The other side has made a file with another SHA-256");
	sender->is_confirmed = true;
	return channel_send(sender->transfer->channel, &bye);
}

static doca_error_t answer(struct sender *sender)
{
	struct message message;
	bool taken;
	doca_error_t result = channel_take(sender->transfer->channel, &message, &taken);

	if (result != DOCA_SUCCESS || !taken)
		return result;
	if (message.type == MESSAGE_EMPTY)
		return on_empty(sender, &message);
	if (message.type == MESSAGE_DONE)
		return on_done(sender, &message);
	return channel_report_unexpected(&message);
}

static doca_error_t step(struct sender *sender)
{
	bool reads = can_read(sender);
	doca_error_t result = reads ? read_piece(sender) : DOCA_SUCCESS;

	if (result == DOCA_SUCCESS)
		result = send_carried(sender);
	if (result == DOCA_SUCCESS && sender->num_full == sender->num_pieces && !sender->has_ended)
		result = send_end(sender);
	if (result == DOCA_SUCCESS)
		result = loop_turn(sender->transfer->loop, reads);
	if (result == DOCA_SUCCESS)
		result = answer(sender);
	return result;
}

doca_error_t transfer_send(struct transfer *transfer, struct source *source)
{
	struct sender sender = {
		.transfer = transfer,
		.source = source,
		.num_pieces = window_num_pieces(&transfer->window->shape, transfer->size_bytes),
	};
	doca_error_t result = digest_create(&sender.digest);

	progress_begin(&transfer->progress, transfer->size_bytes);
	while (result == DOCA_SUCCESS && !sender.is_confirmed)
		result = step(&sender);
	progress_end(&transfer->progress);
	digest_destroy(sender.digest);
	return result;
}
