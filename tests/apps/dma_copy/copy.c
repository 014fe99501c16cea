/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one copy: exchange of offers, transfer, result. */
#include "copy.h"

#include <inttypes.h>
#include <stdio.h>

#include <doca_dev.h>
#include <doca_log.h>

#include "channel.h"
#include "failure.h"
#include "device.h"
#include "file.h"
#include "loop.h"
#include "side.h"
#include "transfer.h"

DOCA_LOG_REGISTER(DMA_COPY::COPY);

struct copy {
	const struct args *args;
	struct source source;
	struct message_hello ours, theirs; /* has this side the file, has the other */
	struct loop loop;
	struct doca_dev *dev;
	struct channel *channel;
};

/* Each side sends its offer before it receives the other's. */
static doca_error_t negotiate(struct copy *copy)
{
	struct message message = { .type = MESSAGE_HELLO };
	doca_error_t result;

	message.hello = copy->ours;
	result = channel_send(copy->channel, &message);
	if (result == DOCA_SUCCESS)
		result = channel_await(copy->channel, MESSAGE_HELLO, &message);
	if (result != DOCA_SUCCESS)
		return result;
	copy->theirs = message.hello;
	if (copy->ours.has_file && copy->theirs.has_file)
		return failure_report(DOCA_ERROR_ALREADY_EXIST,
				      "Both sides have the file, %s is ours: name one that the receiver hasn't got",
				      copy->args->file);
	if (!copy->ours.has_file && !copy->theirs.has_file)
		return failure_report(DOCA_ERROR_NOT_FOUND, "Neither side has the file; here it would be %s",
				      copy->args->file);
	return DOCA_SUCCESS;
}

static void print_result(const struct copy *copy, const struct transfer *transfer)
{
	char digest[DIGEST_TEXT_SIZE];

	digest_text(transfer->digest, digest);
	printf("%s %s: %" PRIu64 " bytes, %.1f MB/s, SHA-256 %s\n", copy->ours.has_file ? "sent" : "received",
	       copy->args->file, transfer->size_bytes, progress_rate(&transfer->progress) / 1e6, digest);
	fflush(stdout);
}

static doca_error_t receive(struct copy *copy, struct transfer *transfer)
{
	struct target target;
	doca_error_t result = target_create(copy->args->file, &target);

	if (result != DOCA_SUCCESS)
		return result;
	result = transfer_receive(transfer, &target);
	target_discard(&target);
	return result;
}

static doca_error_t transfer_file(struct copy *copy)
{
	bool sending = copy->ours.has_file;
	const struct message_hello *file = sending ? &copy->ours : &copy->theirs;
	struct transfer transfer = {
		.loop = &copy->loop,
		.channel = copy->channel,
		.size_bytes = file->size_bytes,
		.mode = file->mode,
	};
	struct side *side = NULL;
	doca_error_t result = side_begin(copy->dev, sending, &transfer, &side);

	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("%s %" PRIu64 " bytes", sending ? "Sending" : "Receiving", file->size_bytes);
	result = sending ? transfer_send(&transfer, &copy->source) : receive(copy, &transfer);
	if (result != DOCA_SUCCESS)
		channel_give_up(copy->channel); /* before the window is gone */
	side_end(side);
	if (result == DOCA_SUCCESS)
		print_result(copy, &transfer);
	return result;
}

static doca_error_t run_on_channel(struct copy *copy)
{
	struct channel_cfg cfg = {
		.loop = &copy->loop,
		.dev = copy->dev,
		.pci_addr = copy->args->pci_addr,
		.rep_pci_addr = copy->args->rep_pci_addr,
	};
	doca_error_t result = channel_open(&cfg, &copy->channel);

	if (result != DOCA_SUCCESS)
		return result;
	result = negotiate(copy);
	if (result == DOCA_SUCCESS)
		result = transfer_file(copy);
	channel_close(copy->channel, result);
	return result;
}

static doca_error_t run_on_device(struct copy *copy)
{
	doca_error_t result = device_open(copy->args->pci_addr, &copy->dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = loop_init(&copy->loop);
	if (result == DOCA_SUCCESS)
		result = run_on_channel(copy);
	loop_fini(&copy->loop);
	check(doca_dev_close(copy->dev), "close the device");
	return result;
}

doca_error_t copy_run(const struct args *args)
{
	struct copy copy = { .args = args };
	doca_error_t result = source_open(args->file, &copy.source, &copy.ours);

	if (result != DOCA_SUCCESS)
		return result;
	result = run_on_device(&copy);
	source_close(&copy.source);
	return result;
}
