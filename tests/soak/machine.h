/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/machine.h - the engines besides DMA's, each behind the same functions.
 *
 * A machine works in one step or two: the second undoes the first. After the last step the output is known:
 *
 *   SHA       hash                   the same digest for the same bytes
 *   code      create redundancy      the exclusive or of the source's halves (2 + 1 blocks, Vandermonde)
 *   deflate   compress, decompress   the source of the first step
 *   AES-GCM   encrypt, decrypt       likewise
 */
#ifndef TESTS_SOAK_MACHINE_H
#define TESTS_SOAK_MACHINE_H

#include <doca_buf.h>

#include "side.h"

#define MACHINE_MAX_TASKS 8
#define MACHINE_MAX_EXTRA 512 /* bytes of an output of the first step beyond its source */

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
	struct doca_ec_matrix *matrix;
	struct doca_aes_gcm_key *key;
};

struct machine_ops {
	uint32_t num_steps;
	void (*create)(struct machine *machine, struct doca_dev *dev);
	void (*destroy)(struct machine *machine);
	struct doca_task *(*alloc)(struct machine *machine, uint32_t step, const struct doca_buf *src,
				   struct doca_buf *dst, union doca_data job);
	/* Whether the last step's output for @text is right. */
	bool (*is_right)(const uint8_t *output, size_t output_bytes, const uint8_t *text, size_t text_bytes);
};

enum { MACHINE_SHA, MACHINE_CODE, MACHINE_DEFLATE, MACHINE_GCM, NUM_MACHINES };

extern const struct machine_ops machines[NUM_MACHINES];

/* Create and start a machine. */
void machine_open(struct machine *machine, struct side *side, int which, void (*on_end)(void *, struct doca_task *));

/* Stop and destroy it. */
void machine_close(struct machine *machine, struct side *side);

#endif
