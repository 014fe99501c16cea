/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/exporter.h - a host process that exports memory, and sleeps. */
#ifndef TESTS_BENCH_EXPORTER_H
#define TESTS_BENCH_EXPORTER_H

#include "card.h"
#include "dma.h"

struct bench_exporter {
	const struct bench_card *card;
	size_t len;
	uint64_t seed; /* of the pattern in the memory */
	int memfd;     /* export a mapping of this object; -1 = private memory */
	/* Filled by start. */
	struct bench_process process;
	struct bench_export export;
};

/* Start it and receive what it exports. Returns 0 or -1. */
int bench_exporter_start(struct bench_exporter *exporter);

/* Returns 0, or -1 when it ended badly. */
int bench_exporter_end(struct bench_exporter *exporter);

#endif
