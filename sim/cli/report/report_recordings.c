/* SPDX-License-Identifier: BSD-3-Clause */
/* The recordings of a session, or of a file, as a report. */
#include "report_recordings.h"

#include <stdlib.h>

#include "report_add.h"
#include "sim/base/log.h"
#include "sim/cli/trace/recording_file.h"
#include "sim/trace/export/flows.h"
#include "sim/trace/trace.h"

/* A message that was sent, of one flow. */
struct sent {
	size_t op, event;
};

struct source {
	const struct sim_merged_trace *merged;
	struct cli_report *report;
	int64_t *pids;     /* of each process */
	uint32_t *flows;   /* of each event: the flow of a message, or 0 */
	struct sent *sent; /* of each flow */
};

static uint32_t directions_of(uint8_t direction)
{
	static const uint8_t bits[SIM_TRACE_NUM_DIRECTIONS] = {
		[SIM_TRACE_DIRECTION_TO_CARD] = 1 << CLI_REPORT_TO_CARD,
		[SIM_TRACE_DIRECTION_TO_HOST] = 1 << CLI_REPORT_TO_HOST,
		[SIM_TRACE_DIRECTION_HOST_TO_HOST] = 1 << CLI_REPORT_TO_CARD | 1 << CLI_REPORT_TO_HOST,
	};

	return direction < SIM_TRACE_NUM_DIRECTIONS ? bits[direction] : 0;
}

static uint64_t session_ns(const struct source *source, uint64_t time_ns)
{
	return time_ns - source->merged->zero_ns;
}

static const struct sim_trace_recording *recording_of(const struct source *source, const struct sim_trace_event *event)
{
	return &source->merged->recordings[event->process];
}

/* ---- events ---- */

static size_t add_op(struct source *source, uint32_t process, const struct sim_trace_op *op)
{
	const struct sim_trace_recording *recording = &source->merged->recordings[process];
	char context[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording, op->object, context);
	return cli_report_add_op(source->report, source->pids[process], context,
				 sim_trace_device_of(recording, op->object), sim_trace_name_of(recording, op->name));
}

static void add_task(struct source *source, const struct sim_trace_event *event)
{
	size_t op = add_op(source, event->process, sim_trace_op_of(recording_of(source, event), event));
	struct cli_report_task task = { .op = (uint32_t)op,
					.begin_ns = session_ns(source, event->time_ns),
					.bytes = event->data.task.bytes,
					.in_flight = event->in_flight,
					.directions = directions_of(event->direction),
					.is_timed = event->in_flight != 0 };

	if (task.is_timed)
		task.latency_ns = event->data.task.reaped_ns - event->time_ns;
	cli_report_add_time(source->report, session_ns(source, event->data.task.reaped_ns));
	if (op == SIZE_MAX)
		return;
	source->report->ops[op].recorded_failed += event->reason != 0;
	cli_report_add_task(source->report, &task);
}

static void add_sent(struct source *source, size_t number)
{
	const struct sim_trace_event *event = &source->merged->events[number];
	char connection[SIM_TRACE_LABEL_SIZE];
	size_t op;

	if (source->flows[number] == 0)
		return;
	sim_trace_label_object(recording_of(source, event), event->subject, connection);
	op = cli_report_add_op(source->report, source->pids[event->process], connection, "", "message");
	if (op == SIZE_MAX)
		return;
	source->report->ops[op].is_messages = true;
	source->sent[source->flows[number]] = (struct sent){ .op = op, .event = number };
}

/* A message is known when it was received. */
static void add_received(struct source *source, size_t number)
{
	const struct sent *sent = &source->sent[source->flows[number]];
	const struct sim_trace_event *event = &source->merged->events[number],
				     *sent_event = &source->merged->events[sent->event];

	if (source->flows[number] == 0)
		return;
	cli_report_add_task(source->report,
			    &(struct cli_report_task){ .op = (uint32_t)sent->op,
						       .is_timed = true,
						       .begin_ns = session_ns(source, sent_event->time_ns),
						       .latency_ns = event->time_ns - sent_event->time_ns,
						       .bytes = sent_event->data.message.bytes });
}

static void add_fault(struct source *source, const struct sim_trace_event *event)
{
	char context[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording_of(source, event), event->subject, context);
	cli_report_add_incident(source->report, &source->report->faults,
				&(struct cli_report_incident){
					.time_ns = session_ns(source, event->time_ns),
					.pid = source->pids[event->process],
					.rule = event->data.fault.rule,
					.match = event->data.fault.match,
					.bytes = event->data.fault.bytes,
					.delay_ns = event->data.fault.delay_ns,
					.text = sim_merged_trace_rule_text(source->merged, event),
					.operation = sim_trace_name_of(recording_of(source, event), event->reason),
					.context = context });
}

static void add_log_line(struct source *source, const struct sim_trace_event *event)
{
	cli_report_add_incident(source->report, &source->report->warnings,
				&(struct cli_report_incident){ .time_ns = session_ns(source, event->time_ns),
							       .pid = source->pids[event->process],
							       .is_error = event->log_level <= SIM_LOG_ERROR,
							       .text = event->text ? event->text : "",
							       .operation = "",
							       .context = "" });
}

static void add_hit(struct source *source, const struct sim_trace_event *event)
{
	cli_report_add_incident(source->report, &source->report->findings,
				&(struct cli_report_incident){
					.time_ns = session_ns(source, event->time_ns),
					.pid = source->pids[event->process],
					.severity = event->severity,
					.text = event->text ? event->text : "",
					.operation = sim_trace_name_of(recording_of(source, event), event->reason),
					.context = "" });
}

/* A trace shows nothing of an idle context, so the report's time does not include that either. */
static bool is_shown(const struct sim_trace_event *event)
{
	return event->kind != SIM_TRACE_TEXT && (event->kind != SIM_TRACE_STATE || event->data.state.to != 0);
}

static void add_event(struct source *source, size_t number)
{
	const struct sim_trace_event *event = &source->merged->events[number];

	if (is_shown(event))
		cli_report_add_time(source->report, session_ns(source, event->time_ns));
	if (event->kind == SIM_TRACE_TASK)
		add_task(source, event);
	else if (event->kind == SIM_TRACE_SENT)
		add_sent(source, number);
	else if (event->kind == SIM_TRACE_RECEIVED)
		add_received(source, number);
	else if (event->kind == SIM_TRACE_FAULT)
		add_fault(source, event);
	else if (event->kind == SIM_TRACE_LOG)
		add_log_line(source, event);
	else if (event->kind == SIM_TRACE_HIT)
		add_hit(source, event);
}

/* ---- the session ---- */

static void add_process(struct source *source, uint32_t process)
{
	const struct sim_trace_recording *recording = &source->merged->recordings[process];
	char paths[SIM_TRACE_PATHS_SIZE];

	sim_trace_paths_text(recording->paths, paths);
	cli_report_add_process(source->report, &(struct cli_report_process){
						       .pid = source->pids[process],
						       .side = recording->owner.side,
						       .program = recording->owner.program,
						       .level = sim_trace_level_name(recording->level),
						       .paths = paths,
						       .first_ns = sim_merged_trace_first_ns(source->merged, process),
						       .num_records = recording->num_events,
						       .num_lost = recording->num_lost,
						       .num_bad = recording->num_bad });
}

static void add_counts(struct source *source, uint32_t process, const struct sim_trace_op *op)
{
	const struct sim_trace_recording *recording = &source->merged->recordings[process];
	char context[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording, op->object, context);
	cli_report_add_counts(source->report, source->pids[process], context,
			      sim_trace_device_of(recording, op->object), sim_trace_name_of(recording, op->name),
			      &(struct cli_report_counts){ op->submitted, op->completed, op->failed, op->bytes });
}

static void add_session(struct source *source)
{
	const struct sim_merged_trace *merged = source->merged;

	if (merged->clock)
		source->report->clock = cli_report_copy_text(source->report, merged->clock);
	source->report->session_ns = merged->session_ns;
	sim_merged_trace_count_late(merged, &source->report->num_late, &source->report->max_late_ns);
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		add_process(source, i);
		for (uint32_t j = 0; j < merged->recordings[i].num_ops; j++)
			add_counts(source, i, &merged->recordings[i].ops[j]);
	}
	for (uint32_t i = 0; i < merged->num_cards; i++)
		cli_report_add_card(source->report, &(struct cli_report_card){ .name = merged->cards[i].name,
									       .model = merged->cards[i].model,
									       .link = merged->cards[i].link,
									       .mode = merged->cards[i].mode });
	for (uint32_t i = 0; i < merged->num_machines; i++)
		cli_report_add_machine(source->report, &(struct cli_report_machine){
							       .name = merged->machines[i].name,
							       .clock_ahead_ns = merged->machines[i].offset_ns,
							       .clock_error_ns = merged->machines[i].error_ns,
							       .due_error_ns = merged->machines[i].due_error_ns });
	for (uint32_t i = 0; i < merged->num_links; i++)
		cli_report_add_link(source->report, merged->links[i].side, merged->links[i].device,
				    merged->links[i].to_card_bps, merged->links[i].to_host_bps);
	for (uint32_t i = 0; i < merged->num_rules; i++)
		cli_report_add_rule(source->report,
				    &(struct cli_report_rule){ .id = merged->rules[i].id,
							       .text = merged->rules[i].text,
							       .fired = merged->rules[i].fired,
							       .added_ns = merged->rules[i].added_ns,
							       .is_removed = merged->rules[i].removed });
}

int cli_report_from_recordings(const struct sim_merged_trace *merged, const char *name, struct cli_report *ret_report)
{
	struct cli_report report;
	struct source source = { .merged = merged,
				 .report = &report,
				 .pids = sim_merged_trace_pids(merged),
				 .flows = sim_flows_match_messages(merged),
				 .sent = calloc(merged->num_events + 1, sizeof(*source.sent)) };
	int rc;

	cli_report_init(&report);
	report.has_failed = !source.pids || !source.flows || !source.sent;
	for (size_t i = 0; !report.has_failed && i < merged->num_events; i++)
		add_event(&source, i);
	if (!report.has_failed)
		add_session(&source);
	free(source.pids);
	free(source.flows);
	free(source.sent);
	rc = cli_report_finish(&report, name);
	if (rc < 0)
		cli_report_fini(&report);
	else
		*ret_report = report;
	return rc;
}

static int from_file(int rc, struct sim_merged_trace *merged, const char *name, struct cli_report *ret_report)
{
	if (rc == 0)
		rc = cli_report_from_recordings(merged, name, ret_report);
	sim_merged_trace_free(merged);
	return rc;
}

int cli_report_from_file(FILE *in, const char *name, struct cli_report *ret_report)
{
	struct sim_merged_trace merged = { 0 };

	return from_file(cli_recording_read(in, name, &merged), &merged, name, ret_report);
}

int cli_report_open_file(const char *path, struct cli_report *ret_report)
{
	struct sim_merged_trace merged = { 0 };

	return from_file(cli_recording_open(path, &merged), &merged, path, ret_report);
}
