/* SPDX-License-Identifier: BSD-3-Clause */
/* random_copies.h - what a generation does for random_copies.c: copies inside one piece of memory.
 *
 *   copies_start --> copies_submit, up to COPIES_DEPTH at once --> copies_await for each that was taken --> copies_stop
 *
 * random_copies_workq.c has jobs on a work queue, random_copies_task.c tasks of a
 * progress engine. Codes are told by their names, which both have.
 */
#ifndef RANDOM_COPIES_H
#define RANDOM_COPIES_H

#include <stddef.h>

#define COPIES_DEPTH      8
#define COPIES_MAX_PIECES 3

/* A place in the memory, and its length. */
struct piece {
	size_t at, len;
};

struct copy {
	struct piece from[COPIES_MAX_PIECES], to[COPIES_MAX_PIECES]; /* lists of data, and of room */
	unsigned int num_from, num_to;                               /* 0 = no buffer at all */
};

/* The result of a copy: its code, and the length of its destination's data then. */
struct end {
	unsigned int id;
	const char *code;
	size_t filled;
};

struct copies;

/* Devices may read all of the memory, and write to its first @writable bytes. */
struct copies *copies_start(char *memory, size_t len, size_t writable);
void copies_stop(struct copies *copies);

/* What making the buffers and submitting said: "DOCA_SUCCESS", or why not. */
const char *copies_submit(struct copies *copies, const struct copy *copy, unsigned int id);

struct end copies_await(struct copies *copies);

#endif
