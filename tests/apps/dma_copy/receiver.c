/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving end of a transfer: takes full slots, writes pieces to the file. */
#include <inttypes.h>
#include <string.h>

#include <doca_log.h>

#include "failure.h"
#include "transfer.h"

DOCA_LOG_REGISTER(DMA_COPY::RECEIVER);

struct receiver {
	struct transfer *transfer;
	struct target *target;
	struct digest *digest;
	uint64_t num_pieces;
	uint64_t num_full, num_empty; /* see transfer.h */
	bool has_ended;               /* END came, with */
	uint8_t theirs[DIGEST_BYTES];
	bool is_done; /* the file has its name */
};

static uint32_t piece_len(const struct receiver *receiver, uint64_t index)
{
	return window_piece_len(&receiver->transfer->window->shape, receiver->transfer->size_bytes, index);
}

static doca_error_t on_full(struct receiver *receiver, const struct message *message)
{
	const struct message_piece *piece = &message->piece;
	const struct carrier *carrier = receiver->transfer->carrier;

	if (receiver->num_full == receiver->num_pieces || piece->index != receiver->num_full ||
	    piece->len_bytes != piece_len(receiver, piece->index) ||
	    receiver->num_full - receiver->num_empty >= receiver->transfer->window->shape.num_slots)
		return channel_report_unexpected(message);
	receiver->num_full++;
	if (carrier)
		carrier->begin(carrier->self, piece->index, piece->len_bytes);
	return DOCA_SUCCESS;
}

static doca_error_t on_end(struct receiver *receiver, const struct message *message)
{
	if (receiver->has_ended || receiver->num_full < receiver->num_pieces)
		return channel_report_unexpected(message);
	memcpy(receiver->theirs, message->digest, DIGEST_BYTES);
	receiver->has_ended = true;
	return DOCA_SUCCESS;
}

static doca_error_t answer(struct receiver *receiver)
{
	struct message message;
	bool taken;
	doca_error_t result = channel_take(receiver->transfer->channel, &message, &taken);

	if (result != DOCA_SUCCESS || !taken)
		return result;
	if (message.type == MESSAGE_FULL)
		return on_full(receiver, &message);
	if (message.type == MESSAGE_END)
		return on_end(receiver, &message);
	return channel_report_unexpected(&message);
}

static doca_error_t write_piece(struct receiver *receiver)
{
	const struct window *window = receiver->transfer->window;
	const uint8_t *slot = window->memory + window_offset(&window->shape, receiver->num_empty);
	struct message message = { .type = MESSAGE_EMPTY };
	doca_error_t result;

	message.piece.index = receiver->num_empty;
	message.piece.len_bytes = piece_len(receiver, receiver->num_empty);
	result = target_write(receiver->target, slot, message.piece.len_bytes);
	if (result == DOCA_SUCCESS)
		result = digest_add(receiver->digest, slot, message.piece.len_bytes);
	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_DBG("Piece %" PRIu64 " is in the file", message.piece.index);
	receiver->num_empty++;
	progress_add(&receiver->transfer->progress, message.piece.len_bytes);
	return channel_send(receiver->transfer->channel, &message);
}

static doca_error_t write_carried(struct receiver *receiver, bool *ret_wrote)
{
	uint64_t num_carried;
	doca_error_t result = transfer_count_carried(receiver->transfer, receiver->num_full, &num_carried);

	*ret_wrote = result == DOCA_SUCCESS && receiver->num_empty < num_carried;
	return *ret_wrote ? write_piece(receiver) : result;
}

static doca_error_t finish(struct receiver *receiver)
{
	struct message message = { .type = MESSAGE_DONE };
	uint8_t *digest = receiver->transfer->digest;
	doca_error_t result = digest_end(receiver->digest, digest);

	if (result == DOCA_SUCCESS && memcmp(digest, receiver->theirs, DIGEST_BYTES) != 0)
		result = failure_report(DOCA_ERROR_IO_FAILED,
					"What has arrived for %s has another SHA-256 than what was sent",
					receiver->target->path);
	if (result == DOCA_SUCCESS)
		result = target_commit(receiver->target, receiver->transfer->mode);
	if (result != DOCA_SUCCESS)
		return result;
	receiver->is_done = true;
	memcpy(message.digest, digest, DIGEST_BYTES);
	return channel_send(receiver->transfer->channel, &message);
}

static doca_error_t step(struct receiver *receiver)
{
	bool wrote = false;
	doca_error_t result = write_carried(receiver, &wrote);

	if (result == DOCA_SUCCESS)
		result = loop_turn(receiver->transfer->loop, wrote);
	if (result == DOCA_SUCCESS)
		result = answer(receiver);
	if (result == DOCA_SUCCESS && receiver->has_ended && receiver->num_empty == receiver->num_pieces)
		result = finish(receiver);
	return result;
}

/* The file is complete; a missing BYE of the other side does not change that. */
static void await_bye(struct receiver *receiver)
{
	struct message message;

	if (channel_await(receiver->transfer->channel, MESSAGE_BYE, &message) != DOCA_SUCCESS)
		DOCA_LOG_WARN("%s is complete, but the other side may not know it", receiver->target->path);
}

doca_error_t transfer_receive(struct transfer *transfer, struct target *target)
{
	struct receiver receiver = {
		.transfer = transfer,
		.target = target,
		.num_pieces = window_num_pieces(&transfer->window->shape, transfer->size_bytes),
	};
	doca_error_t result = digest_create(&receiver.digest);

	progress_begin(&transfer->progress, transfer->size_bytes);
	while (result == DOCA_SUCCESS && !receiver.is_done)
		result = step(&receiver);
	progress_end(&transfer->progress);
	if (receiver.is_done)
		await_bye(&receiver);
	digest_destroy(receiver.digest);
	return receiver.is_done ? DOCA_SUCCESS : result;
}
