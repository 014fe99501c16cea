/* SPDX-License-Identifier: BSD-3-Clause */
/* Export in the Trace Event Format. The mapping:
 *
 *   process, thread   metadata events
 *   context           a track "states", a track "submitted" with a short slice for each task, and a track "jobs" with a
 *                     slice for the job of each task
 *   task              an async slice from its submission to its end, a step of the counter of tasks in flight, and a
 *                     flow: from its slice on the track "submitted", through the slices of its job and its message (if
 *                     any), to a short slice on the thread that was told of its end
 *   connection        a track "states", and tracks "sent" and "received" with a short slice for each message
 *   message           a flow from the slice of its sending to that of its receipt
 *   fault, log line   instant events
 *
 * All events are in order of time. The thread that handles a task's end writes its record, which does not name the
 * submitting thread. So submissions have a track of the context.
 *
 * Tracks other than threads have numbers that no thread has. Slices of one track never overlap: a slice that would
 * overlap is left out, which happens only for invalid recordings. In virtual time, many slices have one time
 * and no length. The file has them one after the other, and each event of a flow belongs to the slice before it. */
#include <errno.h>
#include <inttypes.h>

#include "flows.h"
#include "json_text.h"
#include "perfetto_priv.h"
#include "sim/base/log.h"

/* ---- tasks ---- */

static void begin_task_args(struct perfetto_writer *writer, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];

	fprintf(writer->out, ",\"args\":{\"bytes\":%" PRIu64, event->data.task.bytes);
	sim_json_put_text(writer->out, "status", event->reason ? sim_trace_name_of(recording, event->reason) : "ok");
}

/* The context, if it is known. */
static void put_context(struct perfetto_writer *writer, uint32_t process, uint32_t number)
{
	const struct sim_trace_recording *recording = &writer->merged->recordings[process];

	if (number == 0)
		return;
	fputs(",\"context\":", writer->out);
	sim_perfetto_put_object_name(writer->out, recording, number, "");
	sim_json_put_text(writer->out, "device", sim_trace_device_of(recording, number));
}

/* All fields of a task. "ns", from submission to end, is for sampled tasks only. */
static void put_task_args(struct perfetto_writer *writer, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	begin_task_args(writer, event);
	put_context(writer, event->process, op->object);
	sim_json_put_text(writer->out, "operation", sim_trace_name_of(recording, op->name));
	if (sim_trace_direction_name(event->direction)[0])
		sim_json_put_text(writer->out, "way", sim_trace_direction_name(event->direction));
	if (event->in_flight)
		fprintf(writer->out, ",\"in_flight\":%u,\"ns\":%" PRIu64, event->in_flight,
			event->data.task.reaped_ns - event->time_ns);
	fputc('}', writer->out);
}

/* One end of a task's async slice. */
static void write_async_end(struct perfetto_writer *writer, const struct sim_timeline_entry *entry, char phase)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	sim_perfetto_begin_at(writer, phase, event->process, event->thread, entry->time_ns);
	fprintf(writer->out, ",\"cat\":\"task\",\"id\":\"0x%x\",\"name\":", entry->event);
	if (op->object)
		sim_perfetto_put_object_name(writer->out, recording, op->object,
					     sim_trace_name_of(recording, op->name));
	else
		sim_json_put_string(writer->out, sim_trace_name_of(recording, op->name));
	if (phase == 'b')
		put_task_args(writer, event);
	sim_perfetto_end(writer);
}

static void write_in_flight(struct perfetto_writer *writer, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	if (event->in_flight == 0 || op->object == 0)
		return;
	sim_perfetto_begin_at(writer, 'C', event->process, 0, event->time_ns);
	fputs(",\"name\":", writer->out);
	sim_perfetto_put_object_name(writer->out, recording, op->object, "in flight");
	fprintf(writer->out, ",\"args\":{\"tasks\":%u}", event->in_flight);
	sim_perfetto_end(writer);
}

/* ---- flows ---- */

/* A begin, step or end of a flow in the slice that was written last. */
static void write_flow(struct perfetto_writer *writer, const struct sim_timeline_entry *entry, uint32_t tid, char phase,
		       const char *category, uint32_t id)
{
	sim_perfetto_begin_at(writer, phase, writer->merged->events[entry->event].process, tid, entry->time_ns);
	sim_json_put_text(writer->out, "name", category);
	sim_json_put_text(writer->out, "cat", category);
	fprintf(writer->out, ",\"id\":%u%s", id, phase == 's' ? "" : ",\"bp\":\"e\"");
	sim_perfetto_end(writer);
}

static void write_task_flow(struct perfetto_writer *writer, const struct sim_timeline_entry *entry, uint32_t tid,
			    char phase, uint32_t task)
{
	if (sim_trace_task_is_complete(writer->merged, &writer->merged->events[task]))
		write_flow(writer, entry, tid, phase, "task", writer->num_flows + task + 1);
}

/* ---- entries of tasks ---- */

/* The slice at the begin or end of a task's flow. */
static void write_flow_slice(struct perfetto_writer *writer, const struct sim_timeline_entry *entry, uint32_t tid,
			     const char *what, char flow)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];
	char name[SIM_TRACE_NAME_SIZE + 16];

	snprintf(name, sizeof(name), "%s %s", what,
		 sim_trace_name_of(recording, sim_trace_op_of(recording, event)->name));
	sim_perfetto_begin_at(writer, 'X', event->process, tid, entry->time_ns);
	sim_json_put_us(writer->out, "dur", entry->slice_ns);
	sim_json_put_text(writer->out, "name", name);
	sim_json_put_text(writer->out, "cat", "turn");
	sim_perfetto_end(writer);
	write_task_flow(writer, entry, tid, flow, entry->event);
}

static void write_submit(struct perfetto_writer *writer, const struct sim_timeline_entry *entry)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];
	uint32_t object = sim_trace_object_of(&writer->merged->recordings[event->process], event);
	uint32_t tid = sim_perfetto_track_id(writer, event->process, object, TRACK_SUBMITTED);

	write_async_end(writer, entry, 'b');
	write_in_flight(writer, event);
	if (sim_trace_task_is_complete(writer->merged, event))
		write_flow_slice(writer, entry, tid, "submit", 's');
}

/* Reserve the track of jobs until the job's end. Returns false if another job overlaps. */
static bool claim_jobs(struct perfetto_object *object, const struct sim_trace_event *event)
{
	if (event->data.task.began_ns < object->jobs_free_ns)
		return false;
	object->jobs_free_ns = event->data.task.ended_ns;
	return true;
}

static void write_job(struct perfetto_writer *writer, const struct sim_timeline_entry *entry)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);
	uint32_t tid = sim_perfetto_track_id(writer, event->process, op->object, TRACK_JOBS);

	if (op->object == 0 || !claim_jobs(sim_perfetto_object_at(writer, event->process, op->object), event))
		return;
	sim_perfetto_begin_at(writer, 'X', event->process, tid, entry->time_ns);
	sim_json_put_us(writer->out, "dur", event->data.task.ended_ns - event->data.task.began_ns);
	sim_json_put_text(writer->out, "name", sim_trace_name_of(recording, op->name));
	sim_json_put_text(writer->out, "cat", "job");
	begin_task_args(writer, event);
	fputc('}', writer->out);
	sim_perfetto_end(writer);
	write_task_flow(writer, entry, tid, 't', entry->event);
}

static void write_done(struct perfetto_writer *writer, const struct sim_timeline_entry *entry)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];

	if (sim_trace_task_is_complete(writer->merged, event))
		write_flow_slice(writer, entry, event->thread, event->reason ? "failed" : "done", 'f');
	write_async_end(writer, entry, 'e');
}

/* ---- messages ---- */

static void write_message(struct perfetto_writer *writer, const struct sim_timeline_entry *entry)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];
	bool is_sent = event->kind == SIM_TRACE_SENT;
	uint32_t tid =
		sim_perfetto_track_id(writer, event->process, event->subject, is_sent ? TRACK_SENT : TRACK_RECEIVED);

	sim_perfetto_begin_at(writer, 'X', event->process, tid, entry->time_ns);
	sim_json_put_us(writer->out, "dur", entry->slice_ns);
	sim_json_put_text(writer->out, "name", is_sent ? "send" : "receive");
	sim_json_put_text(writer->out, "cat", "message");
	fprintf(writer->out, ",\"args\":{\"bytes\":%" PRIu64 ",\"number\":%" PRIu64 "}", event->data.message.bytes,
		event->data.message.number);
	sim_perfetto_end(writer);
	if (writer->flows[entry->event])
		write_flow(writer, entry, tid, is_sent ? 's' : 'f', "message", writer->flows[entry->event]);
	if (writer->tasks[entry->event])
		write_task_flow(writer, entry, tid, 't', writer->tasks[entry->event] - 1);
}

/* ---- states ---- */

/* The state after the event; 0 = idle or closed, which is not drawn. */
static uint64_t new_state(const struct sim_trace_event *event)
{
	if (event->kind == SIM_TRACE_STATE)
		return event->data.state.to;
	return event->kind == SIM_TRACE_OPENED;
}

/* The last state of an object lasts until the trace's end. */
static void write_state(struct perfetto_writer *writer, const struct sim_timeline_entry *entry)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];
	bool is_context = recording->objects[event->subject - 1].kind == SIM_TRACE_CONTEXT;
	uint32_t tid = sim_perfetto_track_id(writer, event->process, event->subject, TRACK_STATES);

	if (new_state(event) == 0)
		return;
	sim_perfetto_begin_at(writer, 'X', event->process, tid, entry->time_ns);
	sim_json_put_us(writer->out, "dur", writer->until_ns[entry->event] - entry->time_ns);
	sim_json_put_text(writer->out, "name", is_context ? sim_trace_state_name(new_state(event)) : "open");
	sim_json_put_text(writer->out, "cat", "state");
	sim_perfetto_end(writer);
}

/* ---- instants ---- */

/* An instant event; its arguments stay open. */
static void begin_instant(struct perfetto_writer *writer, const struct sim_trace_event *event, uint32_t tid,
			  const char *category, const char *name, const char *text)
{
	sim_perfetto_begin_at(writer, 'i', event->process, tid, event->time_ns);
	sim_json_put_text(writer->out, "s", "t");
	sim_json_put_text(writer->out, "cat", category);
	sim_json_put_text(writer->out, "name", name);
	fputs(",\"args\":{\"text\":", writer->out);
	sim_json_put_string(writer->out, text);
}

static void write_instant(struct perfetto_writer *writer, const struct sim_trace_event *event, uint32_t tid,
			  const char *category, const char *name, const char *text)
{
	begin_instant(writer, event, tid, category, name, text);
	fputc('}', writer->out);
	sim_perfetto_end(writer);
}

static void write_fault(struct perfetto_writer *writer, const struct sim_trace_event *event)
{
	uint32_t tid = event->subject ? sim_perfetto_track_id(writer, event->process, event->subject, TRACK_JOBS) :
					event->thread;

	begin_instant(writer, event, tid, "fault", "fault", sim_merged_trace_rule_text(writer->merged, event));
	sim_json_put_number(writer->out, "rule", event->data.fault.rule);
	sim_json_put_number(writer->out, "match", event->data.fault.match);
	sim_json_put_number(writer->out, "bytes", event->data.fault.bytes);
	sim_json_put_number(writer->out, "delay_ns", event->data.fault.delay_ns);
	sim_json_put_text(writer->out, "operation",
			  sim_trace_name_of(&writer->merged->recordings[event->process], event->reason));
	put_context(writer, event->process, event->subject);
	fputc('}', writer->out);
	sim_perfetto_end(writer);
}

static void write_log(struct perfetto_writer *writer, const struct sim_trace_event *event)
{
	write_instant(writer, event, event->thread, "log", event->log_level <= SIM_LOG_ERROR ? "error" : "warning",
		      event->text ? event->text : "");
}

static void write_hit(struct perfetto_writer *writer, const struct sim_trace_event *event)
{
	begin_instant(writer, event, event->thread, "check",
		      sim_trace_name_of(&writer->merged->recordings[event->process], event->reason),
		      event->text ? event->text : "");
	sim_json_put_number(writer->out, "severity", event->severity);
	fputc('}', writer->out);
	sim_perfetto_end(writer);
}

static void write_close(struct perfetto_writer *writer, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &writer->merged->recordings[event->process];
	uint32_t tid = sim_perfetto_track_id(writer, event->process, event->subject, TRACK_STATES);

	write_instant(writer, event, tid, "connection", "closed",
		      event->reason ? sim_trace_name_of(recording, event->reason) : "in order");
}

static void write_entry(struct perfetto_writer *writer, const struct sim_timeline_entry *entry)
{
	const struct sim_trace_event *event = &writer->merged->events[entry->event];

	switch ((enum sim_timeline_kind)entry->kind) {
	case SIM_TIMELINE_STATE:
		write_state(writer, entry);
		if (event->kind == SIM_TRACE_CLOSED)
			write_close(writer, event);
		break;
	case SIM_TIMELINE_SUBMIT:
		write_submit(writer, entry);
		break;
	case SIM_TIMELINE_JOB:
		write_job(writer, entry);
		break;
	case SIM_TIMELINE_SENT:
	case SIM_TIMELINE_RECEIVED:
		write_message(writer, entry);
		break;
	case SIM_TIMELINE_DONE:
		write_done(writer, entry);
		break;
	case SIM_TIMELINE_FAULT:
		write_fault(writer, event);
		break;
	case SIM_TIMELINE_LOG:
		write_log(writer, event);
		break;
	case SIM_TIMELINE_HIT:
		write_hit(writer, event);
		break;
	}
}

/* ---- the session, and the whole ---- */

/* Write how far the clocks of other machines were ahead of that of the time axis, which is corrected by it, and the error of that. */
static void put_machines(FILE *out, const struct sim_merged_trace *merged)
{
	fputs(",\"machines\":[", out);
	for (uint32_t i = 0; i < merged->num_machines; i++) {
		fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
		sim_json_put_string(out, merged->machines[i].name);
		fprintf(out, ",\"clock_ahead_ns\":%" PRId64, merged->machines[i].offset_ns);
		sim_json_put_number(out, "clock_error_ns", merged->machines[i].error_ns);
		fputc('}', out);
	}
	fputc(']', out);
}

/* Write what is known of the session besides its events. */
static void put_session(FILE *out, const struct sim_merged_trace *merged)
{
	uint64_t num_lost = 0, num_bad = 0;

	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		num_lost += merged->recordings[i].num_lost;
		num_bad += merged->recordings[i].num_bad;
	}
	fputs("{\"recorder\":\"bfsim\"", out);
	sim_json_put_number(out, "lost_records", num_lost);
	sim_json_put_number(out, "bad_records", num_bad);
	if (merged->clock) {
		sim_json_put_text(out, "clock", merged->clock);
		sim_json_put_number(out, "session_ns", merged->session_ns);
	}
	if (merged->num_machines > 0)
		put_machines(out, merged);
	fputc('}', out);
}

int sim_trace_export_perfetto(const struct sim_merged_trace *merged, FILE *out)
{
	struct perfetto_writer writer = { .merged = merged, .out = out };
	int rc = sim_perfetto_prepare(&writer);

	if (rc == 0) {
		fputs("{\"traceEvents\":[", out);
		sim_perfetto_put_names(&writer);
		for (size_t i = 0; i < writer.num_entries; i++)
			write_entry(&writer, &writer.entries[i]);
		fputs("\n],\"displayTimeUnit\":\"ns\",\"otherData\":", out);
		put_session(out, merged);
		fputs("}\n", out);
	}
	sim_perfetto_free(&writer);
	return rc;
}
