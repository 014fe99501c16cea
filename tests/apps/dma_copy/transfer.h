/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h - a whole file, piece by piece, after the sides agreed on the sender.
 *
 *   sender     file --read--> [slot] --carried--> FULL ---.        a ring of slots keeps
 *                                ^--------- EMPTY <-----. |        several pieces under way
 *   receiver   file <-written-- [slot] <-carried------- | v
 *
 * Pieces are counted through: those below each of these numbers have come so far,
 *
 *   sender    num_empty <= num_full <= carried <= num_read     <= num_empty + slots
 *   receiver  num_empty <= carried  <= num_full                <= num_empty + slots
 *
 * The DPU carries: it moves pieces between its window and the
 * host's by DMA. On the host a piece is in the shared window when it has been
 * read, and can be written to the file when the DPU reports it.
 *
 * It ends with a digest that the receiver compares with its own, and the
 * receiver's answer, which comes when the file has its name.
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdint.h>

#include <doca_error.h>

#include "channel.h"
#include "file.h"
#include "loop.h"
#include "progress.h"
#include "window.h"

/* What brings pieces from one side's window to the other's, in the background. */
struct carrier {
	/* Begin with piece @index, of @len bytes. As many may be under way as there are slots. */
	void (*begin)(void *self, uint64_t index, uint32_t len);
	/* The number of pieces that are there, counted from the first without a gap; or an error if one failed.
	 * The carrier has not reported it. */
	doca_error_t (*count)(void *self, uint64_t *ret_num_carried);
	void *self;
};

/* Loop, channel and window are borrowed. */
struct transfer {
	struct loop *loop;
	struct channel *channel;
	const struct window *window;   /* this side's */
	const struct carrier *carrier; /* NULL = there is no way to go */
	uint64_t size_bytes;           /* of the file */
	uint32_t mode;                 /* its permission bits */
	struct progress progress;
	uint8_t digest[DIGEST_BYTES]; /* of the file, when the transfer was a success */
};

/* How many of the @num pieces at the beginning are carried. If the carrier has failed, find out whether the other
 * side is the cause, and report it. */
doca_error_t transfer_count_carried(struct transfer *transfer, uint64_t num, uint64_t *ret_num_carried);

/* Send all of @source, which has transfer->size_bytes. On success the other side has it. */
doca_error_t transfer_send(struct transfer *transfer, struct source *source);

/* Receive into @target, which is committed on success and not otherwise. */
doca_error_t transfer_receive(struct transfer *transfer, struct target *target);

#endif
