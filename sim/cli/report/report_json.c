/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a report as JSON, which the page contains for scripts. doc/report.md lists the members. */
#include "report.h"
#include "report_run.h"

#include "sim/check/rules.h"
#include "sim/cli/base/json.h"

static void add_pid(json_object *to, int64_t pid)
{
	json_object_object_add(to, "pid", json_object_new_int64(pid));
}

static json_object *u64_array(const uint64_t *values, size_t count)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(list, json_object_new_uint64(values[i]));
	return list;
}

static json_object *u32_array(const uint32_t *values, size_t count)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(list, json_object_new_uint64(values[i]));
	return list;
}

static json_object *latency_json(const struct cli_report_op *op)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "p50", op->p50_ns);
	cli_json_add_number(json, "p90", op->p90_ns);
	cli_json_add_number(json, "p99", op->p99_ns);
	cli_json_add_number(json, "p99.9", op->p999_ns);
	cli_json_add_number(json, "max", op->max_ns);
	return json;
}

static json_object *histogram_json(const struct cli_report_op *op)
{
	json_object *list = json_object_new_array();

	for (uint32_t i = op->first_bin; i < op->end_bin; i++) {
		json_object *bin = json_object_new_object();

		cli_json_add_number(bin, "from_ns", cli_report_bin_start_ns(i));
		cli_json_add_number(bin, "count", op->bins[i]);
		json_object_array_add(list, bin);
	}
	return list;
}

static json_object *op_json(const struct cli_report_op *op)
{
	json_object *json = json_object_new_object();

	add_pid(json, op->pid);
	cli_json_add_text(json, "context", op->context);
	cli_json_add_text(json, "device", op->device);
	cli_json_add_text(json, "operation", op->name);
	cli_json_add_number(json, "recorded", op->recorded);
	cli_json_add_number(json, "recorded_failed", op->recorded_failed);
	cli_json_add_number(json, "timed", op->timed);
	cli_json_add_number(json, "first_ns", op->first_ns);
	cli_json_add_number(json, "last_ns", op->last_ns);
	if (op->has_counts) {
		cli_json_add_number(json, "submitted", op->counts.submitted);
		cli_json_add_number(json, "completed", op->counts.completed);
		cli_json_add_number(json, "failed", op->counts.failed);
		cli_json_add_number(json, "bytes", op->counts.bytes);
	}
	if (op->timed)
		json_object_object_add(json, "latency_ns", latency_json(op));
	json_object_object_add(json, "histogram", histogram_json(op));
	json_object_object_add(json, "bytes_by_slice", u64_array(op->bytes, CLI_REPORT_SLICES));
	json_object_object_add(json, "ended_by_slice", u64_array(op->tasks, CLI_REPORT_SLICES));
	if (!op->is_messages)
		json_object_object_add(json, "in_flight_by_slice", u32_array(op->in_flight, CLI_REPORT_SLICES));
	return json;
}

static json_object *traffic_json(const struct cli_report_link_traffic *traffic)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "payload_bps", traffic->payload_bps);
	cli_json_add_number(json, "bytes", traffic->total_bytes);
	json_object_object_add(json, "bytes_by_slice", u64_array(traffic->bytes, CLI_REPORT_SLICES));
	return json;
}

static json_object *link_json(const struct cli_report_link *link)
{
	json_object *json = json_object_new_object();

	cli_json_add_text(json, "side", link->side);
	cli_json_add_text(json, "device", link->device);
	json_object_object_add(json, "to_card", traffic_json(&link->traffic[CLI_REPORT_TO_CARD]));
	json_object_object_add(json, "to_host", traffic_json(&link->traffic[CLI_REPORT_TO_HOST]));
	return json;
}

static json_object *fault_json(const struct cli_report_incident *fault)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "time_ns", fault->time_ns);
	add_pid(json, fault->pid);
	cli_json_add_number(json, "rule", fault->rule);
	cli_json_add_text(json, "operation", fault->operation);
	cli_json_add_text(json, "context", fault->context);
	cli_json_add_number(json, "match", fault->match);
	cli_json_add_number(json, "bytes", fault->bytes);
	cli_json_add_number(json, "delay_ns", fault->delay_ns);
	return json;
}

static json_object *warning_json(const struct cli_report_incident *warning)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "time_ns", warning->time_ns);
	add_pid(json, warning->pid);
	cli_json_add_text(json, "level", warning->is_error ? "error" : "warning");
	cli_json_add_text(json, "text", warning->text);
	return json;
}

static json_object *hit_json(const struct cli_report_incident *hit)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "time_ns", hit->time_ns);
	add_pid(json, hit->pid);
	if (hit->severity < SIM_CHECK_NUM_SEVERITIES)
		cli_json_add_text(json, "severity", sim_check_severity_name((enum sim_check_severity)hit->severity));
	cli_json_add_text(json, "rule", hit->operation);
	cli_json_add_text(json, "text", hit->text);
	cli_json_add_text(json, "place", hit->place);
	cli_json_add_text(json, "remedy", cli_report_hit_remedy(hit));
	cli_json_add_number(json, "count", hit->count);
	return json;
}

static json_object *incidents_json(const struct cli_report_incidents *incidents,
				   json_object *to_json(const struct cli_report_incident *incident))
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < incidents->count; i++)
		json_object_array_add(list, to_json(&incidents->list[i]));
	return list;
}

static json_object *process_json(const struct cli_report_process *process)
{
	json_object *json = json_object_new_object();

	add_pid(json, process->pid);
	cli_json_add_text(json, "side", process->side);
	cli_json_add_text(json, "program", process->program);
	cli_json_add_text(json, "level", process->level);
	cli_json_add_text(json, "paths", process->paths);
	cli_json_add_number(json, "first_ns", process->first_ns);
	cli_json_add_number(json, "records", process->num_records);
	cli_json_add_number(json, "lost_records", process->num_lost);
	cli_json_add_number(json, "bad_records", process->num_bad);
	return json;
}

static json_object *rule_json(const struct cli_report_rule *rule)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "id", rule->id);
	cli_json_add_text(json, "text", rule->text);
	cli_json_add_number(json, "fired", rule->fired);
	cli_json_add_number(json, "added_ns", rule->added_ns);
	cli_json_add_number(json, "taken_out", rule->is_removed);
	return json;
}

static json_object *card_json(const struct cli_report_card *card)
{
	json_object *json = json_object_new_object();

	cli_json_add_text(json, "name", card->name);
	cli_json_add_text(json, "model", card->model);
	cli_json_add_text(json, "link", card->link);
	cli_json_add_text(json, "mode", card->mode);
	return json;
}

json_object *cli_report_json(const struct cli_report *report)
{
	json_object *json = json_object_new_object();
	json_object *processes = json_object_new_array(), *rules = json_object_new_array();
	json_object *ops = json_object_new_array(), *links = json_object_new_array(), *cards = json_object_new_array();

	for (size_t i = 0; i < report->num_processes; i++)
		json_object_array_add(processes, process_json(&report->processes[i]));
	for (size_t i = 0; i < report->num_rules; i++)
		json_object_array_add(rules, rule_json(&report->rules[i]));
	for (size_t i = 0; i < report->num_ops; i++)
		json_object_array_add(ops, op_json(&report->ops[i]));
	for (size_t i = 0; i < report->num_cards; i++)
		json_object_array_add(cards, card_json(&report->cards[i]));
	for (size_t i = 0; i < report->num_links; i++)
		json_object_array_add(links, link_json(&report->links[i]));
	if (report->run)
		json_object_object_add(json, "run", cli_report_run_json(report->run));
	if (report->clock) {
		cli_json_add_text(json, "clock", report->clock);
		cli_json_add_number(json, "session_ns", report->session_ns);
		cli_json_add_number(json, "late_tasks", report->num_late);
		cli_json_add_number(json, "max_late_ns", report->max_late_ns);
	}
	cli_json_add_number(json, "first_ns", report->first_ns);
	cli_json_add_number(json, "last_ns", report->last_ns);
	cli_json_add_number(json, "slice_ns", report->slice_ns);
	json_object_object_add(json, "processes", processes);
	json_object_object_add(json, "operations", ops);
	json_object_object_add(json, "cards", cards);
	json_object_object_add(json, "links", links);
	json_object_object_add(json, "rules", rules);
	json_object_object_add(json, "faults", incidents_json(&report->faults, fault_json));
	json_object_object_add(json, "warnings", incidents_json(&report->warnings, warning_json));
	json_object_object_add(json, "hits", incidents_json(&report->hits, hit_json));
	return json;
}
