/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of each link was used, and when.
 *
 *   task 1  submitted |===========| back
 *   task 2     submitted |........========| back     while task 1 had the link, task 2 had not
 *   task 3          submitted |......---==| back     at the same time: its bytes came before, or there was no room for them
 *
 * A trace says of a task when it was submitted, when it was back, and which way its bytes
 * went. A direction of a link carries one task's bytes after the other's, no faster than it can: so a
 * task's have crossed it after those of the one that was back before, evenly as far as is known,
 * and when several are found to be back at once (who polls may come late), one behind the other before that. */
#include <stdlib.h>
#include <string.h>

#include "sim/cli/base/cli.h"
#include "report.h"

typedef unsigned __int128 u128;

uint64_t cli_report_share(const struct cli_report_way *way, uint64_t bytes, uint64_t ns)
{
	u128 could = (u128)way->payload_bps * ns;
	u128 share = could ? (u128)bytes * 8 * 1000 * 1000000000 / could : 0;

	return share < UINT64_MAX ? (uint64_t)share : UINT64_MAX;
}

/* When a task's bytes crossed. */
struct crossing {
	uint64_t submitted_ns; /* not before */
	uint64_t begin_ns, end_ns, bytes;
};

static int compare(const void *left, const void *right)
{
	const struct crossing *a = left, *b = right;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->submitted_ns < b->submitted_ns ? -1 : a->submitted_ns > b->submitted_ns;
}

/* So many of @bytes, evenly in a time @all_ns, are over after @ns of it. */
static uint64_t part(uint64_t bytes, uint64_t ns, uint64_t all_ns)
{
	return ns < all_ns ? (uint64_t)((u128)bytes * ns / all_ns) : bytes;
}

static void spread(const struct cli_report *report, const struct crossing *crossing, struct cli_report_way *way)
{
	uint64_t all_ns = crossing->end_ns - crossing->begin_ns, over = 0;
	uint32_t slice = cli_report_slice_of(report, crossing->begin_ns);

	while (over < crossing->bytes) {
		uint64_t end_ns = report->first_ns + (slice + UINT64_C(1)) * report->slice_ns;
		uint64_t by_then = slice + 1 < CLI_REPORT_SLICES ? part(crossing->bytes, end_ns - crossing->begin_ns, all_ns) :
								   crossing->bytes;

		way->bytes[slice++] += by_then - over;
		over = by_then;
	}
	way->total_bytes += crossing->bytes;
}

static bool uses(const struct cli_report *report, const struct cli_report_op *op, const struct cli_report_link *link)
{
	return op->device && strcmp(op->device, link->device) == 0 &&
	       strcmp(cli_json_text(cli_report_process(report, op->pid), "side"), link->side) == 0;
}

/* Those of the link's that went that way, as they ended. */
static size_t choose(const struct cli_report *report, const bool *is_its, enum cli_report_ways way,
		     struct crossing *crossings)
{
	size_t count = 0;

	for (size_t i = 0; i < report->num_tasks; i++) {
		const struct cli_report_task *task = &report->tasks[i];

		if (is_its[task->op] && task->ways & 1u << way)
			crossings[count++] = (struct crossing){.submitted_ns = task->begin_ns, .bytes = task->bytes,
							       .end_ns = task->begin_ns + task->latency_ns};
	}
	qsort(crossings, count, sizeof(*crossings), compare);
	return count;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How long @bytes take at least. */
static uint64_t least_ns(const struct cli_report_way *way, uint64_t bytes)
{
	u128 ns = way->payload_bps ? (u128)bytes * 8 * 1000000000 / way->payload_bps : 0;

	return ns < UINT64_MAX ? (uint64_t)ns : UINT64_MAX;
}

/* One after the other: from where the one before is over; then from the last to the first, not too fast. */
static void arrange(const struct cli_report_way *way, struct crossing *crossings, size_t count)
{
	uint64_t limit_ns = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		crossings[i].begin_ns = later(crossings[i].submitted_ns, i > 0 ? crossings[i - 1].end_ns : 0);
	for (size_t i = count; i-- > 0;) {
		struct crossing *its = &crossings[i];
		uint64_t ns = least_ns(way, its->bytes);

		its->end_ns = earlier(its->end_ns, limit_ns);
		its->begin_ns = earlier(its->begin_ns, its->end_ns > ns ? its->end_ns - ns : 0);
		its->begin_ns = earlier(later(its->begin_ns, its->submitted_ns), its->end_ns);
		limit_ns = its->begin_ns;
	}
}

static void count_link(const struct cli_report *report, struct cli_report_link *link, bool *is_its,
		       struct crossing *crossings)
{
	for (size_t i = 0; i < report->num_ops; i++)
		is_its[i] = uses(report, &report->ops[i], link);
	for (enum cli_report_ways way = 0; way < CLI_REPORT_NUM_WAYS; way++) {
		size_t count = choose(report, is_its, way, crossings);

		arrange(&link->ways[way], crossings, count);
		for (size_t i = 0; i < count; i++)
			spread(report, &crossings[i], &link->ways[way]);
	}
}

static bool is_used(const struct cli_report_link *link)
{
	return link->ways[CLI_REPORT_TO_CARD].total_bytes + link->ways[CLI_REPORT_TO_HOST].total_bytes > 0;
}

int cli_report_count_links(struct cli_report *report)
{
	json_object *list = cli_json_list(report->sum, "links");
	struct crossing *crossings = calloc(report->num_tasks + 1, sizeof(*crossings));
	bool *is_its = calloc(report->num_ops + 1, sizeof(*is_its));

	report->links = calloc(cli_json_len(list) + 1, sizeof(*report->links));
	for (size_t i = 0; crossings && is_its && report->links && i < cli_json_len(list); i++) {
		json_object *entry = json_object_array_get_idx(list, i);
		struct cli_report_link *link = &report->links[report->num_links];

		*link = (struct cli_report_link){.side = cli_json_text(entry, "side"), .device = cli_json_text(entry, "device")};
		link->ways[CLI_REPORT_TO_CARD].payload_bps = cli_json_number(entry, "to_card_bps");
		link->ways[CLI_REPORT_TO_HOST].payload_bps = cli_json_number(entry, "to_host_bps");
		count_link(report, link, is_its, crossings);
		report->num_links += is_used(link);
	}
	free(is_its);
	free(crossings);
	return crossings && is_its && report->links ? 0 : -1;
}
