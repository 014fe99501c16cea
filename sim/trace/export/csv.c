/* SPDX-License-Identifier: BSD-3-Clause */
/* Export as comma-separated values: a line for each event; columns that an event does not use are empty.
 * doc/trace.md lists the columns. */
#include <inttypes.h>
#include <string.h>

#include "merged_trace.h"

static const char *const kinds[] = {
	[SIM_TRACE_STATE] = "state",       [SIM_TRACE_TASK] = "task",     [SIM_TRACE_SENT] = "sent",
	[SIM_TRACE_RECEIVED] = "received", [SIM_TRACE_OPENED] = "opened", [SIM_TRACE_CLOSED] = "closed",
	[SIM_TRACE_FAULT] = "fault",       [SIM_TRACE_LOG] = "log",       [SIM_TRACE_HIT] = "hit"
};

/* Quoted if necessary. */
static void put_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void put_time(FILE *out, const struct sim_merged_trace *merged, uint64_t time_ns)
{
	fputc(',', out);
	if (time_ns)
		fprintf(out, "%" PRIu64, time_ns - merged->zero_ns);
}

/* ,operation,status,bytes,in_flight,began_ns,ended_ns,reaped_ns,,,,way */
static void put_task(FILE *out, const struct sim_merged_trace *merged, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &merged->recordings[event->process];

	put_text(out, sim_trace_name_of(recording, recording->ops[event->subject - 1].name));
	fputc(',', out);
	put_text(out, event->reason ? sim_trace_name_of(recording, event->reason) : "ok");
	fprintf(out, ",%" PRIu64 ",", event->data.task.bytes);
	if (event->in_flight)
		fprintf(out, "%u", event->in_flight);
	put_time(out, merged, event->data.task.began_ns);
	put_time(out, merged, event->data.task.ended_ns);
	put_time(out, merged, event->data.task.reaped_ns);
	fprintf(out, ",,,,%s", sim_trace_direction_name(event->direction));
}

static void put_message(FILE *out, const struct sim_trace_event *event)
{
	fprintf(out, ",,%" PRIu64 ",,,,,%016" PRIx64 ",%" PRIu64 ",,", event->data.message.bytes,
		event->data.message.stream, event->data.message.number);
}

static void put_other(FILE *out, const struct sim_merged_trace *merged, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &merged->recordings[event->process];

	fputc(',', out);
	if ((event->kind == SIM_TRACE_CLOSED || event->kind == SIM_TRACE_HIT) && event->reason)
		put_text(out, sim_trace_name_of(recording, event->reason));
	fputs(",,,,,,,,", out);
	if (event->kind == SIM_TRACE_STATE)
		fprintf(out, "%s", sim_trace_state_name(event->data.state.to));
	else if (event->kind == SIM_TRACE_FAULT)
		put_text(out, sim_merged_trace_rule_text(merged, event));
	else if (event->kind == SIM_TRACE_LOG || event->kind == SIM_TRACE_HIT)
		put_text(out, event->text ? event->text : "");
	fputc(',', out);
}

static void put_object(FILE *out, const struct sim_trace_recording *recording, uint32_t number)
{
	if (number)
		put_text(out, sim_trace_name_of(recording, recording->objects[number - 1].name));
	fputc(',', out);
	if (number)
		fprintf(out, "%u", number);
	fputc(',', out);
	if (number)
		put_text(out, sim_trace_name_of(recording, recording->objects[number - 1].device));
}

static void put_event(FILE *out, const struct sim_merged_trace *merged, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &merged->recordings[event->process];

	fprintf(out, "%" PRIu64 ",%d,", event->time_ns - merged->zero_ns, recording->owner.pid);
	put_text(out, recording->owner.side);
	fputc(',', out);
	put_text(out, recording->owner.program);
	fprintf(out, ",%u,%s,", event->thread, kinds[event->kind]);
	put_object(out, recording, sim_trace_object_of(recording, event));
	fputc(',', out);
	if (event->kind == SIM_TRACE_TASK)
		put_task(out, merged, event);
	else if (event->kind == SIM_TRACE_SENT || event->kind == SIM_TRACE_RECEIVED)
		put_message(out, event);
	else
		put_other(out, merged, event);
	fputc('\n', out);
}

int sim_trace_export_csv(const struct sim_merged_trace *merged, FILE *out)
{
	fputs("time_ns,pid,side,program,thread,event,object,object_number,device,operation,status,bytes,in_flight,"
	      "began_ns,ended_ns,reaped_ns,stream,number,text,way\n",
	      out);
	for (size_t i = 0; i < merged->num_events; i++)
		put_event(out, merged, &merged->events[i]);
	return 0;
}
