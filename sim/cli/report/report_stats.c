/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a report: percentiles, histograms, and sums over slices of time. */
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/cli.h"
#include "report.h"

/* The first bin begins at 0, the last has no end. */
uint64_t cli_report_bin_start_ns(uint32_t number)
{
	static const uint64_t steps[CLI_REPORT_DECADE] = { 10, 13, 18, 24, 32, 42, 56, 75 };
	uint64_t ns = number ? steps[(number - 1) % CLI_REPORT_DECADE] : 0;

	for (uint32_t i = 0; number && i < (number - 1) / CLI_REPORT_DECADE; i++)
		ns *= 10;
	return ns;
}

static uint32_t bin_index(uint64_t ns)
{
	uint32_t bin = 0;

	for (uint64_t rest = ns; rest >= 100 && bin + CLI_REPORT_DECADE < CLI_REPORT_BINS; rest /= 10)
		bin += CLI_REPORT_DECADE;
	while (bin + 1 < CLI_REPORT_BINS && ns >= cli_report_bin_start_ns(bin + 1))
		bin++;
	return bin;
}

static int compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* The nearest-rank percentile of @count (> 0) sorted values. */
static uint64_t percentile(const uint64_t *sorted, uint64_t count, uint64_t thousandths)
{
	uint64_t rank = (count * thousandths + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static void set_percentiles(struct cli_report_op *op, uint64_t *latencies)
{
	qsort(latencies, op->timed, sizeof(*latencies), compare_u64);
	op->p50_ns = percentile(latencies, op->timed, 500);
	op->p90_ns = percentile(latencies, op->timed, 900);
	op->p99_ns = percentile(latencies, op->timed, 990);
	op->p999_ns = percentile(latencies, op->timed, 999);
	op->max_ns = latencies[op->timed - 1];
}

/* Collect all latencies in one array, grouped by operation, and rank them. */
static int set_all_percentiles(struct cli_report *report)
{
	uint64_t *latencies = calloc(report->num_tasks + 1, sizeof(*latencies));
	size_t *ends = calloc(report->num_ops + 1, sizeof(*ends));
	size_t first = 0;

	if (!latencies || !ends) {
		free(latencies);
		free(ends);
		return -1;
	}
	for (size_t i = 0; i < report->num_ops; i++) {
		ends[i] = first;
		first += report->ops[i].timed;
	}
	for (size_t i = 0; i < report->num_tasks; i++)
		if (report->tasks[i].is_timed)
			latencies[ends[report->tasks[i].op]++] = report->tasks[i].latency_ns;
	for (size_t i = 0; i < report->num_ops; i++)
		if (report->ops[i].timed)
			set_percentiles(&report->ops[i], latencies + ends[i] - report->ops[i].timed);
	free(latencies);
	free(ends);
	return 0;
}

static void count_latency(struct cli_report_op *op, uint64_t ns)
{
	uint32_t bin = bin_index(ns);

	op->first_bin = op->timed == 0 || bin < op->first_bin ? bin : op->first_bin;
	op->end_bin = bin + 1 > op->end_bin ? bin + 1 : op->end_bin;
	op->bins[bin]++;
	op->timed++;
}

static void count_task(struct cli_report *report, const struct cli_report_task *task)
{
	struct cli_report_op *op = &report->ops[task->op];
	uint32_t begin = cli_report_slice_index(report, task->begin_ns),
		 end = cli_report_slice_index(report, task->begin_ns + task->latency_ns);

	op->first_ns = op->recorded == 0 ? task->begin_ns : min_u64(op->first_ns, task->begin_ns);
	op->last_ns = max_u64(op->last_ns, task->begin_ns + task->latency_ns);
	op->recorded++;
	op->tasks[end]++;
	if (task->in_flight > op->in_flight[begin])
		op->in_flight[begin] = task->in_flight;
	if (task->is_timed)
		count_latency(op, task->latency_ns);
}

uint64_t cli_report_op_ended(const struct cli_report_op *op)
{
	return op->has_counts ? op->counts.completed + op->counts.failed : op->recorded;
}

uint64_t cli_report_op_bytes(const struct cli_report_op *op)
{
	uint64_t bytes = 0;

	for (int i = 0; i < CLI_REPORT_SLICES; i++)
		bytes += op->bytes[i];
	return op->has_counts ? op->counts.bytes : bytes;
}

struct cli_report_totals cli_report_count_totals(const struct cli_report *report)
{
	struct cli_report_totals totals = { 0 };

	for (size_t i = 0; i < report->num_ops; i++) {
		const struct cli_report_op *op = &report->ops[i];

		totals.messages += op->is_messages ? op->recorded : 0;
		totals.completed += op->has_counts  ? op->counts.completed :
				    op->is_messages ? 0 :
						      op->recorded - op->recorded_failed;
		totals.failed += op->has_counts ? op->counts.failed : op->recorded_failed;
	}
	return totals;
}

int cli_report_compute_stats(struct cli_report *report)
{
	for (size_t i = 0; i < report->num_tasks; i++) {
		uint64_t end_ns = report->tasks[i].begin_ns + report->tasks[i].latency_ns;

		report->last_ns = max_u64(report->last_ns, end_ns);
	}
	report->slice_ns = (report->last_ns - report->first_ns) / CLI_REPORT_SLICES + 1;
	for (size_t i = 0; i < report->num_tasks; i++)
		count_task(report, &report->tasks[i]);
	if (set_all_percentiles(report) == 0 && cli_report_compute_flows(report) == 0 &&
	    cli_report_compute_links(report) == 0)
		return 0;
	return cli_error("out of memory: the trace has too many records");
}
