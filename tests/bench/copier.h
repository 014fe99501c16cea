/* SPDX-License-Identifier: BSD-3-Clause */
/* A process on a card that copies 64-byte tasks in batches of 32 on command: for figures that compare tasks under
 * one condition with the same tasks under another. */
#ifndef BENCH_COPIER_H
#define BENCH_COPIER_H

#include "card.h"
#include "measure.h"
#include "process.h"
#include "report.h"

struct bench_copier {
	const struct bench_card *card;
	const char *trace_level; /* trace level; NULL = the card's */
	struct bench_process process;
};

/* Start it. Returns 0 or -1; end it (bench_process_end()) in both cases. */
int bench_copier_start(struct bench_copier *copier);

/* Measure one that was started against another, by the rate of their tasks. Returns 0 or -1. */
int bench_copier_compare(const struct bench_report *report, struct bench_copier *ours, struct bench_copier *baseline,
			 const struct bench_row *row);

#endif
