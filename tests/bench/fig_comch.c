/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: Comch and Comm Channel against a socket, shared memory and libfabric. */
#include "comch.h"
#include "comm_channel.h"
#include "fig.h"
#include "means.h"
#include "memory.h"

#define ROUNDS     151
#define BIG_ROUNDS 61
#define DEPTH      64 /* small messages under way */
#define BIG_DEPTH  32 /* of 1 MiB: enough for a consumer that is off its CPU for a while */

static const char *const provider_pingpong[] = { "shm", "pingpong", NULL };
static const char *const provider_stream[] = { "shm", "stream", NULL };

static int compare(const struct bench_report *report, struct bench_pair *ours, struct bench_way baseline,
		   enum bench_measure measure, const struct bench_row *row)
{
	const struct bench_cfg cfg = { .ours = { bench_pair_run, ours },
				       .baseline = baseline,
				       .warm_up = 256,
				       .rounds = measure == BENCH_BANDWIDTH ? BIG_ROUNDS : ROUNDS };
	struct bench_result result;

	if (bench_measure(&cfg, &result) < 0)
		return -1;
	return bench_report_result(report, row, &result, measure, ours->bytes);
}

static int start_fabric(const char *const *args, struct bench_pair *ret_pair)
{
#ifdef BENCH_LIBFABRIC
	return bench_pair_exec("bfsim_bench_messages", args, ret_pair);
#else
	*ret_pair = (struct bench_pair){ 0 };
	return 1;
#endif
}

/* Measure @ours against a pair that was just started, unless the pair is not available (@rc). */
static int against(int rc, bool polls, const struct bench_report *report, struct bench_pair *ours,
		   struct bench_pair *baseline, enum bench_measure measure, const struct bench_row *row)
{
	if (rc > 0)
		rc = bench_report_skipped(report, row->name, "not possible on this machine, or in this build");
	else if (rc == 0) {
		baseline->bytes = ours->bytes;
		baseline->depth = ours->depth;
		baseline->apart = polls;
		rc = compare(report, ours, (struct bench_way){ bench_pair_run, baseline }, measure, row);
	}
	return bench_pair_end(baseline) < 0 ? -1 : rc;
}

/* ---- the control path ---- */

static int compare_pings(const struct bench_report *report, struct bench_pair *ours)
{
	static const struct bench_row rows[] = {
		{ .name = "Comch ping-pong 64 B",
		  .baseline_name = "fi_inject/fi_recv over shm",
		  .goal = BENCH_RATIO_AT_MOST,
		  .limit = 1.5 },
		{ .name = "Comch ping-pong 64 B", .baseline_name = "Unix socket" },
		{ .name = "Comch ping-pong 64 B", .baseline_name = "a flag that both poll" },
	};
	struct bench_pair other;
	int rc;

	rc = against(start_fabric(provider_pingpong, &other), true, report, ours, &other, BENCH_LATENCY, &rows[0]);
	if (rc == 0)
		rc = against(bench_means_socket(&other), false, report, ours, &other, BENCH_LATENCY, &rows[1]);
	if (rc == 0)
		rc = against(bench_means_flag(&other), true, report, ours, &other, BENCH_LATENCY, &rows[2]);
	return rc;
}

static int compare_blocking(const struct bench_card *card, const struct bench_report *report, struct bench_pair *ours)
{
	static const struct bench_row row = { .name = "Comch ping-pong 64 B, polling",
					      .baseline_name = "the same, both in epoll_wait",
					      .goal = BENCH_RATIO_AT_MOST,
					      .limit = 2 };
	const struct bench_comch_cfg cfg = { .card = card, .name = "blocks", .blocks = true };
	struct bench_pair other;
	int rc = bench_comch_ping_pong(&cfg, &other);

	return against(rc, false, report, ours, &other, BENCH_LATENCY, &row);
}

static int measure_comm_channel(const struct bench_card *card, const struct bench_report *report)
{
	static const struct bench_row row = { .name = "Comm Channel ping-pong 64 B",
					      .baseline_name = "the same by Comch",
					      .goal = BENCH_RATIO_AT_MOST,
					      .limit = 1.1 };
	const struct bench_comch_cfg cfg = { .card = card, .name = "channel" },
				     comch = { .card = card, .name = "comch" };
	struct bench_pair ours, other;
	int rc = bench_comm_channel_ping_pong(&cfg, &ours);

	ours.bytes = BENCH_SMALL_BYTES;
	ours.apart = true;
	if (rc == 0)
		rc = against(bench_comch_ping_pong(&comch, &other), true, report, &ours, &other, BENCH_LATENCY, &row);
	return bench_pair_end(&ours) < 0 ? -1 : rc;
}

static int measure_pings(const struct bench_card *card, const struct bench_report *report)
{
	const struct bench_comch_cfg cfg = { .card = card, .name = "polls" };
	struct bench_pair ours;
	int rc = bench_comch_ping_pong(&cfg, &ours);

	ours.bytes = BENCH_SMALL_BYTES;
	ours.apart = true;
	if (rc == 0)
		rc = compare_pings(report, &ours);
	if (rc == 0)
		rc = compare_blocking(card, report, &ours);
	return bench_pair_end(&ours) < 0 ? -1 : rc;
}

/* ---- the fast path ---- */

/* Wait until the receiver has all messages. */
static int check(struct bench_pair *ours)
{
	uint64_t ns;

	return bench_pair_order(ours, BENCH_REF_CHECK, 0, &ns) == 0 ? 0 : bench_fail("messages arrived wrong");
}

static int measure_rate(const struct bench_card *card, const struct bench_report *report)
{
	static const struct bench_row row = { .name = "Comch fast path 64 B",
					      .baseline_name = "fi_send over shm, same depth",
					      .goal = BENCH_RATIO_AT_LEAST,
					      .limit = 0.8 };
	struct bench_fast_cfg cfg = { .comch = { .card = card, .name = "rate" },
				      .block_bytes = BENCH_SMALL_BYTES,
				      .num_blocks = BENCH_NUM_SMALL,
				      .depth = DEPTH };
	struct bench_pair ours, other;
	int rc = bench_comch_fast(&cfg, &ours);

	ours.bytes = BENCH_SMALL_BYTES;
	ours.apart = true;
	ours.depth = DEPTH;
	if (rc == 0)
		rc = against(start_fabric(provider_stream, &other), true, report, &ours, &other, BENCH_RATE, &row);
	if (rc == 0)
		rc = check(&ours);
	return bench_pair_end(&ours) < 0 ? -1 : rc;
}

static int measure_bandwidth(const struct bench_card *card, const struct bench_report *report)
{
	static const struct bench_row row = { .name = "Comch fast path 1 MiB",
					      .baseline_name = "process_vm_readv",
					      .goal = BENCH_RATIO_AT_LEAST,
					      .limit = 0.95 };
	struct bench_fast_cfg cfg = { .comch = { .card = card, .name = "bandwidth" },
				      .block_bytes = BENCH_BLOCK_BYTES,
				      .num_blocks = BENCH_NUM_BLOCKS,
				      .depth = BIG_DEPTH };
	struct bench_pair ours;
	uint64_t ns;
	int rc = bench_comch_fast(&cfg, &ours);

	ours.bytes = BENCH_BLOCK_BYTES;
	ours.apart = true;
	ours.depth = BIG_DEPTH;
	if (rc == 0)
		rc = bench_pair_run(&ours, BENCH_NUM_BLOCKS, &ns);
	if (rc == 0)
		rc = check(&ours);
	if (rc == 0 && bench_pair_order(&ours, BENCH_REF_READ, 1, &ns) < 0)
		rc = bench_report_skipped(report, row.name, "the kernel forbids process_vm_readv here");
	else if (rc == 0)
		rc = compare(report, &ours, (struct bench_way){ bench_comch_fast_readv, &ours }, BENCH_BANDWIDTH, &row);
	return bench_pair_end(&ours) < 0 ? -1 : rc;
}

static int on_card(const struct bench_report *report,
		   int (*measure)(const struct bench_card *card, const struct bench_report *report))
{
	struct bench_card card;
	int rc;

	if (bench_card_up(&card) < 0)
		return -1;
	rc = measure(&card, report);
	return bench_card_down(&card) < 0 ? -1 : rc;
}

int bench_fig_comch(const struct bench_report *report)
{
	return on_card(report, measure_pings);
}

int bench_fig_comm_channel(const struct bench_report *report)
{
	return on_card(report, measure_comm_channel);
}

int bench_fig_comch_fast(const struct bench_report *report)
{
	int rc = on_card(report, measure_rate);

	return rc == 0 ? on_card(report, measure_bandwidth) : rc;
}
