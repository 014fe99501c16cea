/* SPDX-License-Identifier: BSD-3-Clause */
/* Two reports side by side, as JSON. doc/report.md lists the members. */
#include "report_compare.h"
#include "sim/cli/base/json.h"

/* Add an optional number; null if it is not known. */
static void add_number(json_object *json, const char *key, bool is_known, uint64_t value)
{
	json_object_object_add(json, key, is_known ? json_object_new_uint64(value) : NULL);
}

static void add_sides(json_object *json, const struct cli_report_figure *figure)
{
	double ratio;

	add_number(json, "before", figure->has_before, figure->before);
	add_number(json, "now", figure->has_now, figure->now);
	json_object_object_add(json, "difference",
			       cli_report_figure_is_paired(figure) ?
				       json_object_new_int64((int64_t)(figure->now - figure->before)) :
				       NULL);
	json_object_object_add(json, "ratio",
			       cli_report_figure_ratio(figure, &ratio) ? json_object_new_double(ratio) : NULL);
}

/* An object with a member for each figure. */
static json_object *figures_json(const struct cli_report_figure *figures, size_t count)
{
	json_object *json = json_object_new_object();

	for (size_t i = 0; i < count; i++) {
		json_object *figure = json_object_new_object();

		add_sides(figure, &figures[i]);
		json_object_object_add(json, figures[i].key, figure);
	}
	return json;
}

static json_object *process_side_json(const struct cli_report_process *process)
{
	static const struct cli_field fields[] = { CLI_FIELD(struct cli_report_process, pid, "pid", NULL),
						   CLI_FIELD(struct cli_report_process, side, "side", NULL),
						   CLI_FIELD(struct cli_report_process, program, "program", NULL),
						   CLI_FIELD(struct cli_report_process, paths, "paths", NULL),
						   CLI_FIELD(struct cli_report_process, level, "level", NULL),
						   { 0 } };

	return process ? cli_json_of_fields(fields, process) : NULL;
}

static json_object *op_side_json(const struct cli_report *report, const struct cli_report_op *op)
{
	const struct cli_report_process *process = op ? cli_report_find_process(report, op->pid) : NULL;
	json_object *json = op ? json_object_new_object() : NULL;

	if (!op)
		return NULL;
	json_object_object_add(json, "pid", json_object_new_int64(op->pid));
	cli_json_add_text(json, "side", process ? process->side : "");
	cli_json_add_text(json, "program", process ? process->program : "");
	cli_json_add_text(json, "context", op->context);
	cli_json_add_text(json, "device", op->device);
	return json;
}

static void add_bins(json_object *list, const struct cli_report_op_pair *pair)
{
	for (uint32_t i = 0; i < CLI_REPORT_BINS; i++) {
		json_object *bin;

		if ((!pair->before || pair->before->bins[i] == 0) && (!pair->now || pair->now->bins[i] == 0))
			continue;
		bin = json_object_new_object();
		cli_json_add_number(bin, "from_ns", cli_report_bin_start_ns(i));
		cli_json_add_number(bin, "before", pair->before ? pair->before->bins[i] : 0);
		cli_json_add_number(bin, "now", pair->now ? pair->now->bins[i] : 0);
		json_object_array_add(list, bin);
	}
}

static json_object *op_json(const struct cli_report_comparison *comparison, const struct cli_report_op_pair *pair)
{
	json_object *json = json_object_new_object(), *histogram = json_object_new_array();
	struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES];
	size_t count = cli_report_op_figures(pair, figures);

	cli_json_add_text(json, "operation", pair->now ? pair->now->name : pair->before->name);
	json_object_object_add(json, "before", op_side_json(comparison->before, pair->before));
	json_object_object_add(json, "now", op_side_json(comparison->now, pair->now));
	json_object_object_add(json, "figures", figures_json(figures, count));
	add_bins(histogram, pair);
	json_object_object_add(json, "histogram", histogram);
	return json;
}

static json_object *hits_json(const struct cli_report_rule_pair *pairs, size_t count)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < count; i++) {
		const struct cli_report_figure figure = { .has_before = pairs[i].has_before,
							  .has_now = pairs[i].has_now,
							  .before = pairs[i].before,
							  .now = pairs[i].now };
		json_object *json = json_object_new_object();

		cli_json_add_text(json, "rule", pairs[i].rule);
		add_sides(json, &figure);
		json_object_array_add(list, json);
	}
	return list;
}

const struct cli_field cli_report_difference_fields[] = {
	CLI_FIELD(struct cli_report_difference, of, "of", "Difference in"),
	CLI_FIELD(struct cli_report_difference, before, "before", "Before"),
	CLI_FIELD(struct cli_report_difference, now, "now", "Now"),
	{ 0 },
};

json_object *cli_report_comparison_json(const struct cli_report_comparison *comparison)
{
	json_object *json = json_object_new_object();
	json_object *processes = json_object_new_array(), *ops = json_object_new_array();
	struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES];
	size_t count = cli_report_run_figures(comparison, figures);

	for (size_t i = 0; i < comparison->num_processes; i++) {
		json_object *pair = json_object_new_object();

		json_object_object_add(pair, "before", process_side_json(comparison->processes[i].before));
		json_object_object_add(pair, "now", process_side_json(comparison->processes[i].now));
		json_object_array_add(processes, pair);
	}
	for (size_t i = 0; i < comparison->num_ops; i++)
		json_object_array_add(ops, op_json(comparison, &comparison->ops[i]));
	cli_json_add_text(json, "before", comparison->before_name);
	cli_json_add_text(json, "now", comparison->now_name);
	json_object_object_add(json, "differences",
			       cli_json_list_of_fields(cli_report_difference_fields, comparison->differences,
						       comparison->num_differences, sizeof(*comparison->differences)));
	json_object_object_add(json, "run", figures_json(figures, count));
	json_object_object_add(json, "operations", ops);
	json_object_object_add(json, "faults", hits_json(comparison->faults, comparison->num_faults));
	json_object_object_add(json, "findings", hits_json(comparison->findings, comparison->num_findings));
	json_object_object_add(json, "processes", processes);
	return json;
}
