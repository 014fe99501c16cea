/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA between two contexts of one process, which one thread progresses: no end polls in vain for long. */
#include <stdio.h>
#include <stdlib.h>

#include "count.h"
#include "measure.h"
#include "memory.h"
#include "rdma.h"

struct ends {
	struct bench_card card;
	struct bench_rdma_cfg cfg;
	struct bench_rdma sender, receiver;
};

static int open_ends(struct ends *ends)
{
	*ends = (struct ends){ .cfg = { .card = &ends->card,
					.memfd = -1,
					.block_bytes = BENCH_SMALL_BYTES,
					.num_blocks = BENCH_COUNT_BATCH,
					.depth = 1 } };
	snprintf(ends->card.dir, sizeof(ends->card.dir), "%s", getenv("BFSIM_SESSION"));
	if (bench_rdma_open(&ends->cfg, "dpu", &ends->sender) < 0 ||
	    bench_rdma_open(&ends->cfg, "dpu", &ends->receiver) < 0)
		return -1;
	return bench_rdma_connect_to(&ends->sender, &ends->receiver);
}

static int close_ends(struct ends *ends, int rc)
{
	if (bench_rdma_close(&ends->sender) < 0)
		rc = -1;
	return bench_rdma_close(&ends->receiver) < 0 ? -1 : rc;
}

/* From the post of the receive to the end of the send. */
static int exchange(struct ends *ends, uint32_t number)
{
	uint32_t block = number % BENCH_COUNT_BATCH;
	uint64_t received = ends->receiver.received + 1, sent = ends->sender.sent + 1;

	if (bench_rdma_receive(&ends->receiver, block) < 0 || bench_rdma_send(&ends->sender, block) < 0)
		return -1;
	bench_rdma_wait(&ends->receiver, &ends->receiver.received, received);
	doca_pe_progress(ends->receiver.pe);
	bench_rdma_wait(&ends->sender, &ends->sender.sent, sent);
	return ends->sender.failed + ends->receiver.failed > 0 ? -1 : 0;
}

int bench_count_rdma_messages(uint32_t count)
{
	struct ends ends;
	int rc = open_ends(&ends);

	if (rc == 0)
		rc = bench_rdma_make_messages(&ends.sender);
	if (rc == 0)
		rc = bench_rdma_make_messages(&ends.receiver);
	for (uint32_t i = 0; i < BENCH_COUNT_BATCH && rc == 0; i++)
		rc = exchange(&ends, i);
	bench_count_toggle();
	for (uint32_t i = 0; i < count && rc == 0; i++)
		rc = exchange(&ends, i);
	bench_count_toggle();
	return close_ends(&ends, rc);
}

int bench_count_rdma_writes(uint32_t count)
{
	struct ends ends;
	int rc = open_ends(&ends);

	if (rc == 0)
		rc = bench_rdma_make_writes(&ends.sender);
	if (rc == 0)
		rc = bench_rdma_write(&ends.sender, 0, BENCH_COUNT_BATCH);
	bench_count_toggle();
	if (rc == 0)
		rc = bench_rdma_write(&ends.sender, 0, count);
	bench_count_toggle();
	return close_ends(&ends, rc);
}
