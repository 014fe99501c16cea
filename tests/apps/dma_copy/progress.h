/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - how far the copy is, on one line of a terminal; nothing if standard error is none. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t total_bytes, done_bytes;
	double begin_s, next_s; /* when it began, when to show it again */
	bool on_terminal;
};

void progress_begin(struct progress *progress, uint64_t total_bytes);

/* More bytes are done. Shown ten times a second at most. */
void progress_add(struct progress *progress, uint64_t bytes);

/* Show the final state and end the line. */
void progress_end(struct progress *progress);

/* Bytes a second, so far. */
double progress_rate(const struct progress *progress);

#endif
