/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures as JSON, which stands in the page for scripts. doc/report.md has the members. */
#include "report.h"

static void add_text(json_object *to, const char *name, const char *value)
{
	json_object_object_add(to, name, json_object_new_string(value ? value : ""));
}

static void add_number(json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

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

	add_number(json, "p50", op->p50_ns);
	add_number(json, "p90", op->p90_ns);
	add_number(json, "p99", op->p99_ns);
	add_number(json, "p99.9", op->p999_ns);
	add_number(json, "max", op->max_ns);
	return json;
}

static json_object *histogram_json(const struct cli_report_op *op)
{
	json_object *list = json_object_new_array();

	for (uint32_t i = op->first_bin; i < op->end_bin; i++) {
		json_object *bin = json_object_new_object();

		add_number(bin, "from_ns", i ? cli_report_bin_start_ns(i) : 0);
		add_number(bin, "count", op->bins[i]);
		json_object_array_add(list, bin);
	}
	return list;
}

static json_object *op_json(const struct cli_report_op *op)
{
	json_object *json = json_object_new_object();

	add_pid(json, op->pid);
	add_text(json, "context", op->context);
	add_text(json, "device", op->device);
	add_text(json, "operation", op->name);
	add_number(json, "recorded", op->recorded);
	add_number(json, "recorded_failed", op->recorded_failed);
	add_number(json, "timed", op->timed);
	if (op->has_counts) {
		add_number(json, "submitted", op->submitted);
		add_number(json, "completed", op->completed);
		add_number(json, "failed", op->failed);
		add_number(json, "bytes", op->sum_bytes);
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

	add_number(json, "payload_bps", traffic->payload_bps);
	add_number(json, "bytes", traffic->total_bytes);
	json_object_object_add(json, "bytes_by_slice", u64_array(traffic->bytes, CLI_REPORT_SLICES));
	return json;
}

static json_object *link_json(const struct cli_report_link *link)
{
	json_object *json = json_object_new_object();

	add_text(json, "side", link->side);
	add_text(json, "device", link->device);
	json_object_object_add(json, "to_card", traffic_json(&link->traffic[CLI_REPORT_TO_CARD]));
	json_object_object_add(json, "to_host", traffic_json(&link->traffic[CLI_REPORT_TO_HOST]));
	return json;
}

static json_object *fault_json(const struct cli_report_incident *fault)
{
	json_object *json = json_object_new_object();

	add_number(json, "time_ns", fault->time_ns);
	add_pid(json, fault->pid);
	add_number(json, "rule", fault->rule);
	add_text(json, "operation", fault->operation);
	add_text(json, "context", fault->context);
	add_number(json, "match", fault->match);
	add_number(json, "bytes", fault->bytes);
	add_number(json, "delay_ns", fault->delay_ns);
	return json;
}

static json_object *warning_json(const struct cli_report_incident *warning)
{
	json_object *json = json_object_new_object();

	add_number(json, "time_ns", warning->time_ns);
	add_pid(json, warning->pid);
	add_text(json, "level", warning->is_error ? "error" : "warning");
	add_text(json, "text", warning->text);
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

static void copy_member(json_object *to, json_object *from, const char *name)
{
	json_object *value;

	if (json_object_object_get_ex(from, name, &value))
		json_object_object_add(to, name, json_object_get(value));
}

json_object *cli_report_json(const struct cli_report *report)
{
	json_object *json = json_object_new_object();
	json_object *ops = json_object_new_array(), *links = json_object_new_array();

	for (size_t i = 0; i < report->num_ops; i++)
		json_object_array_add(ops, op_json(&report->ops[i]));
	for (size_t i = 0; i < report->num_links; i++)
		json_object_array_add(links, link_json(&report->links[i]));
	copy_member(json, report->summary, "clock");
	copy_member(json, report->summary, "session_ns");
	add_number(json, "first_ns", report->first_ns);
	add_number(json, "last_ns", report->last_ns);
	add_number(json, "slice_ns", report->slice_ns);
	copy_member(json, report->summary, "processes");
	json_object_object_add(json, "operations", ops);
	json_object_object_add(json, "links", links);
	copy_member(json, report->summary, "rules");
	json_object_object_add(json, "faults", incidents_json(&report->faults, fault_json));
	json_object_object_add(json, "warnings", incidents_json(&report->warnings, warning_json));
	return json;
}
