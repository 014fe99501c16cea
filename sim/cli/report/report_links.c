/* SPDX-License-Identifier: BSD-3-Clause */
/* The utilization of each link over time.
 *
 *   task 1  submitted |===========| reaped
 *   task 2     submitted |........========| reaped     task 1 used the link first
 *   task 3          submitted |......---==| reaped     at the same time as task 2: its bytes crossed before
 *
 * A trace has the submission, the end and the direction of a task. A direction of a link carries one task's bytes
 * after the other's, at most at the link's bandwidth. So a task's bytes are spread evenly from the end of the
 * previous task to its own end. Tasks that are reaped at the same time (the program polled late) are placed one
 * before the other, backwards from that time. */
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/cli.h"
#include "report.h"

typedef unsigned __int128 u128;

uint64_t cli_report_link_utilization(const struct cli_report_link_traffic *traffic, uint64_t bytes, uint64_t ns)
{
	u128 capacity = (u128)traffic->payload_bps * ns;
	u128 share = capacity ? (u128)bytes * 8 * 1000 * 1000000000 / capacity : 0;

	return share < UINT64_MAX ? (uint64_t)share : UINT64_MAX;
}

/* The time in which a task's bytes crossed the link. */
struct transfer {
	uint64_t submitted_ns; /* earliest begin */
	uint64_t begin_ns, end_ns, bytes;
};

static int compare_transfers(const void *left, const void *right)
{
	const struct transfer *a = left, *b = right;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->submitted_ns < b->submitted_ns ? -1 : a->submitted_ns > b->submitted_ns;
}

static bool op_uses_link(const struct cli_report *report, const struct cli_report_op *op,
			 const struct cli_report_link *link)
{
	const struct cli_report_process *process = cli_report_find_process(report, op->pid);

	return strcmp(op->device, link->device) == 0 && process && strcmp(process->side, link->side) == 0;
}

/* Collect the transfers of the link in one direction, sorted by their end. */
static size_t collect_transfers(const struct cli_report *report, const bool *belongs,
				enum cli_report_direction direction, struct transfer *transfers)
{
	size_t count = 0;

	for (size_t i = 0; i < report->num_tasks; i++) {
		const struct cli_report_task *task = &report->tasks[i];

		if (belongs[task->op] && task->directions & 1u << direction)
			transfers[count++] = (struct transfer){ .submitted_ns = task->begin_ns,
								.bytes = task->bytes,
								.end_ns = task->begin_ns + task->latency_ns };
	}
	qsort(transfers, count, sizeof(*transfers), compare_transfers);
	return count;
}

/* The time that @bytes take at the bandwidth of the link. */
static uint64_t min_transfer_ns(const struct cli_report_link_traffic *traffic, uint64_t bytes)
{
	u128 ns = traffic->payload_bps ? (u128)bytes * 8 * 1000000000 / traffic->payload_bps : 0;

	return ns < UINT64_MAX ? (uint64_t)ns : UINT64_MAX;
}

/* Place transfers one after the other. First pass: each begins at the end of the previous one. Second pass, backwards:
 * none is faster than the link, and none overlaps the next. */
static void schedule_transfers(const struct cli_report_link_traffic *traffic, struct transfer *transfers, size_t count)
{
	uint64_t limit_ns = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		transfers[i].begin_ns = max_u64(transfers[i].submitted_ns, i > 0 ? transfers[i - 1].end_ns : 0);
	for (size_t i = count; i-- > 0;) {
		struct transfer *current = &transfers[i];
		uint64_t ns = min_transfer_ns(traffic, current->bytes);

		current->end_ns = min_u64(current->end_ns, limit_ns);
		current->begin_ns = min_u64(current->begin_ns, current->end_ns > ns ? current->end_ns - ns : 0);
		current->begin_ns = min_u64(max_u64(current->begin_ns, current->submitted_ns), current->end_ns);
		limit_ns = current->begin_ns;
	}
}

static void count_link(const struct cli_report *report, struct cli_report_link *link, bool *belongs,
		       struct transfer *transfers)
{
	for (size_t i = 0; i < report->num_ops; i++)
		belongs[i] = op_uses_link(report, &report->ops[i], link);
	for (enum cli_report_direction direction = 0; direction < CLI_REPORT_NUM_DIRECTIONS; direction++) {
		size_t count = collect_transfers(report, belongs, direction, transfers);

		schedule_transfers(&link->traffic[direction], transfers, count);
		for (size_t i = 0; i < count; i++) {
			cli_report_spread(report, transfers[i].begin_ns, transfers[i].end_ns, transfers[i].bytes,
					  link->traffic[direction].bytes);
			link->traffic[direction].total_bytes += transfers[i].bytes;
		}
	}
}

static bool is_used(const struct cli_report_link *link)
{
	return link->traffic[CLI_REPORT_TO_CARD].total_bytes + link->traffic[CLI_REPORT_TO_HOST].total_bytes > 0;
}

int cli_report_compute_links(struct cli_report *report)
{
	struct transfer *transfers = calloc(report->num_tasks + 1, sizeof(*transfers));
	bool *belongs = calloc(report->num_ops + 1, sizeof(*belongs));
	size_t num_used = 0;

	for (size_t i = 0; transfers && belongs && i < report->num_links; i++) {
		struct cli_report_link *link = &report->links[num_used];

		*link = report->links[i];
		count_link(report, link, belongs, transfers);
		num_used += is_used(link);
	}
	report->num_links = num_used;
	free(belongs);
	free(transfers);
	return transfers && belongs ? 0 : -1;
}
