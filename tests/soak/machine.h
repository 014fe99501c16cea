/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/machine.h - the engines besides DMA's, each behind the same functions.
 *
 * A machine works in one step or two: the second undoes the first. After the last step the output is known:
 *
 *   SHA          hash                     the same digest for the same bytes
 *   pieces       partial hash             likewise, of a text in pieces of 4 KiB and of one in one piece
 *   code         create redundancy        the exclusive or of the source's halves (2 + 1 blocks, Vandermonde)
 *   update       update redundancy        each redundancy block changed as the data block (2 + 2 blocks, Vandermonde)
 *   deflate      compress, decompress     the source of the first step
 *   LZ4 stream   decompress               the text that the source was made of
 *   LZ4 block    decompress               likewise
 *   AES-GCM      encrypt, decrypt         the source of the first step
 */
#ifndef TESTS_SOAK_MACHINE_H
#define TESTS_SOAK_MACHINE_H

#include <doca_buf.h>

#include "side.h"

#define MACHINE_MAX_TASKS   8
#define MACHINE_PIECE_BYTES 4096
#define MACHINE_TEXT_UNIT   256 /* texts are multiples of it */
#define MACHINE_MAX_EXTRA   512 /* bytes of an output of the first step beyond its source */

struct machine {
	const struct machine_ops *ops;
	struct doca_ctx *ctx;
	/* Called at the end of a task, with the task's user data; frees the task. */
	void (*on_end)(void *job, struct doca_task *task);
	union {
		struct doca_sha *sha;
		struct doca_ec *ec;
		struct doca_compress *compress;
		struct doca_aes_gcm *gcm;
	};
	struct doca_ec_matrix *matrix, *update_matrix;
	struct doca_aes_gcm_key *key;
};

struct machine_ops {
	uint32_t num_steps;
	/* Make the source of the first step of @text: not more bytes than those. Returns how many. NULL: it is the text. */
	size_t (*encode)(const uint8_t *text, size_t text_bytes, uint8_t *source);
	void (*create)(struct machine *machine, struct doca_dev *dev);
	void (*destroy)(struct machine *machine);
	struct doca_task *(*alloc)(struct machine *machine, uint32_t step, const struct doca_buf *src,
				   struct doca_buf *dst, union doca_data job);
	/* Tell the task that its source is the last of its pieces, which have MACHINE_PIECE_BYTES. NULL: it takes all at once. */
	void (*set_last_piece)(struct doca_task *task);
	/* Whether the last step's output for @text is right. */
	bool (*is_right)(const uint8_t *output, size_t output_bytes, const uint8_t *text, size_t text_bytes);
};

enum {
	MACHINE_SHA,
	MACHINE_PIECES,
	MACHINE_CODE,
	MACHINE_UPDATE,
	MACHINE_DEFLATE,
	MACHINE_LZ4_STREAM,
	MACHINE_LZ4_BLOCK,
	MACHINE_GCM,
	NUM_MACHINES,
};

extern const struct machine_ops machines[NUM_MACHINES];

/* Create and start a machine. */
void machine_open(struct machine *machine, struct side *side, int which, void (*on_end)(void *, struct doca_task *));

/* Stop and destroy it. */
void machine_close(struct machine *machine, struct side *side);

#endif
