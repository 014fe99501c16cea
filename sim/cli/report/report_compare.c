/* SPDX-License-Identifier: BSD-3-Clause */
/* Two reports side by side: differences of the runs, and the figures of both. */
#include "report_compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "report_add.h"
#include "sim/cli/base/cli.h"

#define TEXT_SIZE 1024

/* ---- differences of the runs ---- */

static const char *or_none(const char *text)
{
	return text && text[0] ? text : "none";
}

/* @of may be formatted by the caller: all texts are copied. */
static void differ(struct cli_report_comparison *comparison, const char *of, const char *before, const char *now)
{
	struct cli_report_difference *difference = &comparison->differences[comparison->num_differences];

	if (strcmp(before, now) == 0)
		return;
	comparison->num_differences++;
	difference->of = cli_report_copy_text(comparison->now, of);
	difference->before = cli_report_copy_text(comparison->now, or_none(before));
	difference->now = cli_report_copy_text(comparison->now, or_none(now));
}

static void differ_in_number(struct cli_report_comparison *comparison, const char *of, uint64_t before, uint64_t now)
{
	char texts[2][24];

	snprintf(texts[0], sizeof(texts[0]), "%" PRIu64, before);
	snprintf(texts[1], sizeof(texts[1]), "%" PRIu64, now);
	differ(comparison, of, texts[0], texts[1]);
}

static void format_card(const struct cli_report *report, size_t number, char text[TEXT_SIZE])
{
	const struct cli_report_card *card = number < report->num_cards ? &report->cards[number] : NULL;

	text[0] = '\0';
	if (card)
		snprintf(text, TEXT_SIZE, "%s: %s, %s, mode %s", card->name, card->model, card->link, card->mode);
}

static void compare_cards(struct cli_report_comparison *comparison)
{
	size_t count = comparison->before->num_cards > comparison->now->num_cards ? comparison->before->num_cards :
										    comparison->now->num_cards;
	char before[TEXT_SIZE], now[TEXT_SIZE];

	for (size_t i = 0; i < count; i++) {
		format_card(comparison->before, i, before);
		format_card(comparison->now, i, now);
		differ(comparison, "card", before, now);
	}
}

/* At most four differences. */
static void compare_processes(struct cli_report_comparison *comparison, const struct cli_report_process_pair *pair)
{
	const struct cli_report_process *before = pair->before, *now = pair->now;
	char of[TEXT_SIZE];

	if (!before || !now)
		return;
	snprintf(of, sizeof(of), "program of %s", now->side);
	differ(comparison, of, before->program, now->program);
	snprintf(of, sizeof(of), "data paths of %s: %s", now->side, now->program);
	differ(comparison, of, before->paths, now->paths);
	snprintf(of, sizeof(of), "trace level of %s: %s", now->side, now->program);
	differ(comparison, of, before->level, now->level);
	snprintf(of, sizeof(of), "overwritten records of %s: %s", now->side, now->program);
	differ_in_number(comparison, of, before->num_lost, now->num_lost);
}

/* At most two. */
static void compare_ops(struct cli_report_comparison *comparison, const struct cli_report_op_pair *pair)
{
	const struct cli_report_process *process;
	char of[TEXT_SIZE];

	if (!pair->before || !pair->now)
		return;
	process = cli_report_find_process(comparison->now, pair->now->pid);
	snprintf(of, sizeof(of), "context of %s, %s: %s", pair->now->name, process ? process->side : "",
		 process ? process->program : "");
	differ(comparison, of, pair->before->context, pair->now->context);
	snprintf(of, sizeof(of), "device of %s, %s, %s: %s", pair->now->context, pair->now->name,
		 process ? process->side : "", process ? process->program : "");
	differ(comparison, of, pair->before->device, pair->now->device);
}

static int compare_runs(struct cli_report_comparison *comparison)
{
	const struct cli_report *before = comparison->before, *now = comparison->now;
	size_t room = 2 + before->num_cards + now->num_cards + 4 * comparison->num_processes + 2 * comparison->num_ops +
		      comparison->num_faults;

	comparison->differences = calloc(room, sizeof(*comparison->differences));
	if (!comparison->differences)
		return -1;
	differ(comparison, "clock", or_none(before->clock), or_none(now->clock));
	differ_in_number(comparison, "tasks that the machine made late", before->num_late, now->num_late);
	compare_cards(comparison);
	for (size_t i = 0; i < comparison->num_processes; i++)
		compare_processes(comparison, &comparison->processes[i]);
	for (size_t i = 0; i < comparison->num_ops; i++)
		compare_ops(comparison, &comparison->ops[i]);
	for (size_t i = 0; i < comparison->num_faults; i++)
		differ(comparison, "fault rule", comparison->faults[i].has_before ? comparison->faults[i].rule : "",
		       comparison->faults[i].has_now ? comparison->faults[i].rule : "");
	return comparison->now->has_failed ? -1 : 0;
}

int cli_report_compare(struct cli_report *before, struct cli_report *now, struct cli_report_comparison *ret_comparison)
{
	struct cli_report_comparison comparison = { .before = before, .now = now };

	if (cli_report_pair(&comparison) < 0 || compare_runs(&comparison) < 0) {
		cli_report_comparison_fini(&comparison);
		return cli_error("out of memory: the traces have too many records");
	}
	*ret_comparison = comparison;
	return 0;
}

void cli_report_comparison_fini(struct cli_report_comparison *comparison)
{
	free(comparison->processes);
	free(comparison->ops);
	free(comparison->faults);
	free(comparison->findings);
	free(comparison->differences);
	*comparison = (struct cli_report_comparison){ 0 };
}

/* ---- figures ---- */

bool cli_report_figure_is_paired(const struct cli_report_figure *figure)
{
	return figure->has_before && figure->has_now;
}

bool cli_report_figure_ratio(const struct cli_report_figure *figure, double *ret_ratio)
{
	if (!cli_report_figure_is_paired(figure) || figure->before == 0)
		return false;
	*ret_ratio = (double)figure->now / (double)figure->before;
	return true;
}

size_t cli_report_run_figures(const struct cli_report_comparison *comparison,
			      struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES])
{
	const struct cli_report *before = comparison->before, *now = comparison->now;
	const struct cli_report_totals b = cli_report_count_totals(before), n = cli_report_count_totals(now);
	const struct cli_report_figure list[] = {
		{ "duration_ns", "Duration", CLI_REPORT_NS, true, true, before->last_ns - before->first_ns,
		  now->last_ns - now->first_ns },
		{ "processes", "Processes", CLI_REPORT_COUNT, true, true, before->num_processes, now->num_processes },
		{ "completed", "Tasks completed", CLI_REPORT_COUNT, true, true, b.completed, n.completed },
		{ "failed", "Tasks failed", CLI_REPORT_COUNT, true, true, b.failed, n.failed },
		{ "messages", "Messages recorded", CLI_REPORT_COUNT, true, true, b.messages, n.messages },
		{ "faults", "Faults injected", CLI_REPORT_COUNT, true, true, before->faults.count, now->faults.count },
		{ "findings", "Findings of the checker", CLI_REPORT_COUNT, true, true, before->findings.count,
		  now->findings.count },
		{ "warnings", "Warnings and errors", CLI_REPORT_COUNT, true, true, before->warnings.count,
		  now->warnings.count },
	};

	memcpy(figures, list, sizeof(list));
	return sizeof(list) / sizeof(list[0]);
}

/* The figures of one operation, in the order of op_figures[]. */
struct op_values {
	bool is_known[CLI_REPORT_MAX_FIGURES];
	uint64_t values[CLI_REPORT_MAX_FIGURES];
};

static const struct {
	const char *key, *title;
	enum cli_report_unit unit;
} op_figures[] = {
	{ "ended", "Ended", CLI_REPORT_COUNT },
	{ "failed", "Failed", CLI_REPORT_COUNT },
	{ "timed", "Timed", CLI_REPORT_COUNT },
	{ "bytes", "Bytes", CLI_REPORT_BYTES },
	{ "throughput_bytes_per_s", "Throughput", CLI_REPORT_BYTE_RATE },
	{ "rate_per_s", "Rate, a second", CLI_REPORT_RATE },
	{ "max_in_flight", "Most in flight", CLI_REPORT_COUNT },
	{ "p50_ns", "Latency, p50", CLI_REPORT_NS },
	{ "p90_ns", "Latency, p90", CLI_REPORT_NS },
	{ "p99_ns", "Latency, p99", CLI_REPORT_NS },
	{ "p99.9_ns", "Latency, p99.9", CLI_REPORT_NS },
	{ "max_ns", "Latency, max", CLI_REPORT_NS },
};
#define NUM_OP_FIGURES (sizeof(op_figures) / sizeof(op_figures[0]))

static uint64_t most_in_flight(const struct cli_report_op *op)
{
	uint64_t most = 0;

	for (int i = 0; i < CLI_REPORT_SLICES; i++)
		most = max_u64(most, op->in_flight[i]);
	return most;
}

static struct op_values values_of(const struct cli_report_op *op)
{
	uint64_t bytes, ended, ns;
	bool is_timed;

	if (!op)
		return (struct op_values){ 0 };
	bytes = cli_report_op_bytes(op);
	ended = cli_report_op_ended(op);
	ns = op->last_ns - op->first_ns;
	is_timed = op->timed > 0;
	return (struct op_values){
		.is_known = { true, true, true, bytes > 0, bytes > 0 && ns > 0, ns > 0, most_in_flight(op) > 0,
			      is_timed, is_timed, is_timed, is_timed, is_timed },
		.values = { ended, op->has_counts ? op->counts.failed : op->recorded_failed, op->timed, bytes,
			    cli_per_second(bytes, ns), cli_per_second(ended, ns), most_in_flight(op), op->p50_ns,
			    op->p90_ns, op->p99_ns, op->p999_ns, op->max_ns },
	};
}

size_t cli_report_op_figures(const struct cli_report_op_pair *pair,
			     struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES])
{
	const struct op_values before = values_of(pair->before), now = values_of(pair->now);
	size_t count = 0;

	for (size_t i = 0; i < NUM_OP_FIGURES; i++)
		if (before.is_known[i] || now.is_known[i])
			figures[count++] =
				(struct cli_report_figure){ op_figures[i].key,  op_figures[i].title, op_figures[i].unit,
							    before.is_known[i], now.is_known[i],     before.values[i],
							    now.values[i] };
	return count;
}
