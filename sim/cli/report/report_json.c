/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a report as JSON, which the page contains for scripts. doc/report.md lists the members. */
#include "report.h"
#include "report_run.h"

#include "sim/check/rules.h"
#include "sim/cli/base/human_format.h"
#include "sim/cli/base/json.h"

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

#define OP(member, key) CLI_FIELD(struct cli_report_op, member, key, NULL)

static const struct cli_field op_fields[] = { OP(pid, "pid"),           OP(context, "context"),
					      OP(device, "device"),     OP(name, "operation"),
					      OP(recorded, "recorded"), OP(recorded_failed, "recorded_failed"),
					      OP(timed, "timed"),       OP(first_ns, "first_ns"),
					      OP(last_ns, "last_ns"),   { 0 } };

static const struct cli_field count_fields[] = { OP(counts.submitted, "submitted"),
						 OP(counts.completed, "completed"),
						 OP(counts.failed, "failed"),
						 OP(counts.bytes, "bytes"),
						 { 0 } };

static const struct cli_field latency_fields[] = { OP(p50_ns, "p50"),    OP(p90_ns, "p90"), OP(p99_ns, "p99"),
						   OP(p999_ns, "p99.9"), OP(max_ns, "max"), { 0 } };

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
	json_object *json = cli_json_of_fields(op_fields, op);

	if (op->has_counts)
		cli_json_add_fields(json, count_fields, op);
	if (op->timed)
		json_object_object_add(json, "latency_ns", cli_json_of_fields(latency_fields, op));
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

#define INCIDENT(member, key) CLI_FIELD(struct cli_report_incident, member, key, NULL)

static const struct cli_field incident_fields[] = { INCIDENT(time_ns, "time_ns"), INCIDENT(pid, "pid"), { 0 } };

static const struct cli_field fault_fields[] = {
	INCIDENT(time_ns, "time_ns"),     INCIDENT(pid, "pid"),           INCIDENT(rule, "rule"),
	INCIDENT(operation, "operation"), INCIDENT(context, "context"),   INCIDENT(match, "match"),
	INCIDENT(bytes, "bytes"),         INCIDENT(delay_ns, "delay_ns"), { 0 }
};

static const struct cli_field finding_fields[] = {
	INCIDENT(operation, "rule"), INCIDENT(text, "text"), INCIDENT(place, "place"), { 0 }
};

static json_object *warning_json(const struct cli_report_incident *warning)
{
	json_object *json = cli_json_of_fields(incident_fields, warning);

	cli_json_add_text(json, "level", warning->is_error ? "error" : "warning");
	cli_json_add_text(json, "text", warning->text);
	return json;
}

static json_object *finding_json(const struct cli_report_incident *finding)
{
	json_object *json = cli_json_of_fields(incident_fields, finding);

	if (finding->severity < SIM_CHECK_NUM_SEVERITIES)
		cli_json_add_text(json, "severity",
				  sim_check_severity_name((enum sim_check_severity)finding->severity));
	cli_json_add_fields(json, finding_fields, finding);
	cli_json_add_text(json, "remedy", cli_report_finding_remedy(finding));
	cli_json_add_number(json, "count", finding->count);
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

static const struct cli_field rule_fields[] = { CLI_FIELD(struct cli_report_rule, id, "id", NULL),
						CLI_FIELD(struct cli_report_rule, text, "text", NULL),
						CLI_FIELD(struct cli_report_rule, fired, "fired", NULL),
						CLI_FIELD(struct cli_report_rule, added_ns, "added_ns", NULL),
						{ 0 } };

static json_object *rule_json(const struct cli_report_rule *rule)
{
	json_object *json = cli_json_of_fields(rule_fields, rule);

	cli_json_add_number(json, "taken_out", rule->is_removed);
	return json;
}

const struct cli_field cli_report_process_fields[] = {
	CLI_FIELD(struct cli_report_process, pid, "pid", ">Process"),
	CLI_FIELD(struct cli_report_process, side, "side", "Side"),
	CLI_FIELD(struct cli_report_process, program, "program", "Program"),
	CLI_FIELD(struct cli_report_process, level, "level", "Recorded"),
	CLI_FIELD(struct cli_report_process, paths, "paths", "Data paths"),
	CLI_FIELD(struct cli_report_process, first_ns, "first_ns", NULL),
	CLI_FIELD(struct cli_report_process, num_records, "records", ">Records"),
	CLI_FIELD(struct cli_report_process, num_lost, "lost_records", ">Overwritten"),
	CLI_FIELD(struct cli_report_process, num_bad, "bad_records", NULL),
	{ 0 },
};

const struct cli_field cli_report_card_fields[] = {
	CLI_FIELD(struct cli_report_card, name, "name", "Name"),
	CLI_FIELD(struct cli_report_card, model, "model", "Model"),
	CLI_FIELD(struct cli_report_card, link, "link", "Link to the host"),
	CLI_FIELD(struct cli_report_card, mode, "mode", "Mode"),
	{ 0 },
};

const struct cli_field cli_report_machine_fields[] = {
	CLI_FIELD(struct cli_report_machine, name, "name", "Machine"),
	CLI_FIELD(struct cli_report_machine, clock_ahead_ns, "clock_ahead_ns", NULL),
	CLI_SHOWN(struct cli_report_machine, clock_error_ns, "clock_error_ns", ">Error of its times, at most",
		  cli_human_time),
	CLI_SHOWN(struct cli_report_machine, due_error_ns, "due_error_ns", ">Error of due times, at most",
		  cli_human_time),
	{ 0 },
};

json_object *cli_report_json(const struct cli_report *report)
{
	json_object *json = json_object_new_object();
	json_object *rules = json_object_new_array(), *ops = json_object_new_array(), *links = json_object_new_array();

	for (size_t i = 0; i < report->num_rules; i++)
		json_object_array_add(rules, rule_json(&report->rules[i]));
	for (size_t i = 0; i < report->num_ops; i++)
		json_object_array_add(ops, op_json(&report->ops[i]));
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
	json_object_object_add(json, "processes",
			       cli_json_list_of_fields(cli_report_process_fields, report->processes,
						       report->num_processes, sizeof(*report->processes)));
	json_object_object_add(json, "operations", ops);
	json_object_object_add(json, "cards",
			       cli_json_list_of_fields(cli_report_card_fields, report->cards, report->num_cards,
						       sizeof(*report->cards)));
	if (report->num_machines > 0)
		json_object_object_add(json, "machines",
				       cli_json_list_of_fields(cli_report_machine_fields, report->machines,
							       report->num_machines, sizeof(*report->machines)));
	json_object_object_add(json, "links", links);
	json_object_object_add(json, "rules", rules);
	json_object_object_add(json, "faults",
			       cli_json_list_of_fields(fault_fields, report->faults.list, report->faults.count,
						       sizeof(*report->faults.list)));
	json_object_object_add(json, "warnings", incidents_json(&report->warnings, warning_json));
	json_object_object_add(json, "hits", incidents_json(&report->findings, finding_json));
	return json;
}
