/* SPDX-License-Identifier: BSD-3-Clause */
/* The Trace Event Format. What becomes of what:
 *
 *   process, thread   metadata events
 *   context           a track "states", one "submitted" with a short slice for each task, and one "jobs" with a slice
 *                     for each task while its job ran
 *   task              an async slice from its submission to its end, a step of the counter of tasks in flight, and a
 *                     flow: from the slice on the track "submitted", by that of its job and that of its message, if it
 *                     has them, to a short slice on the thread that was told its end
 *   connection        a track "states", and tracks "sent" and "received" with a short slice for each message
 *   message           a flow from the one slice to the other
 *   fault, log line   instant events
 *
 * All in the order of time. A record is of the thread that wrote it, at the task's end; who submitted
 * the task it does not say, which is why its context has a track for that.
 *
 * Tracks other than threads have numbers that no thread has. Slices of one track
 * never overlap: what would is left out (only a recording that lies has such).
 * In virtual time much happens at one moment: slices of no length, one behind the other in
 * the file, and each end or step of a flow belongs to the slice that stands before it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "flows.h"
#include "perfetto_priv.h"
#include "sim/base/log.h"

#define MORE_PROCESSES 10000000 /* added to a process's number that another has, too */

/* ---- tasks ---- */

static void begin_task_args(struct perfetto *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];

	fprintf(teller->out, ",\"args\":{\"bytes\":%" PRIu64, event->args[3]);
	sim_perfetto_put_key(teller->out, "status", event->why ? sim_trace_name_of(recording, event->why) : "ok");
}

/* Its context, if that is known. */
static void put_context(struct perfetto *teller, uint32_t process, uint32_t number)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[process];

	if (number == 0)
		return;
	fputs(",\"context\":", teller->out);
	sim_perfetto_put_object_name(teller->out, recording, number, "");
	sim_perfetto_put_key(teller->out, "device", sim_trace_name_of(recording, recording->objects[number - 1].place));
}

/* All that is known of it in one place; "ns", from submission to end, is of those that were timed. */
static void put_whole_task(struct perfetto *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	begin_task_args(teller, event);
	put_context(teller, event->process, op->object);
	sim_perfetto_put_key(teller->out, "operation", sim_trace_name_of(recording, op->name));
	if (sim_trace_way_name(event->way)[0])
		sim_perfetto_put_key(teller->out, "way", sim_trace_way_name(event->way));
	if (event->detail)
		fprintf(teller->out, ",\"in_flight\":%u,\"ns\":%" PRIu64, event->detail, event->args[2] - event->time_ns);
	fputc('}', teller->out);
}

/* One end of its async slice. */
static void tell_task_end(struct perfetto *teller, const struct sim_trace_moment *moment, char phase)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	sim_perfetto_begin_at(teller, phase, event->process, event->thread, moment->time_ns);
	fprintf(teller->out, ",\"cat\":\"task\",\"id\":\"0x%x\",\"name\":", moment->event);
	if (op->object)
		sim_perfetto_put_object_name(teller->out, recording, op->object, sim_trace_name_of(recording, op->name));
	else
		sim_trace_put_text(teller->out, sim_trace_name_of(recording, op->name));
	if (phase == 'b')
		put_whole_task(teller, event);
	sim_perfetto_end(teller);
}

static void tell_depth(struct perfetto *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	if (event->detail == 0 || op->object == 0)
		return;
	sim_perfetto_begin_at(teller, 'C', event->process, 0, event->time_ns);
	fputs(",\"name\":", teller->out);
	sim_perfetto_put_object_name(teller->out, recording, op->object, "in flight");
	fprintf(teller->out, ",\"args\":{\"tasks\":%u}", event->detail);
	sim_perfetto_end(teller);
}

/* ---- flows ---- */

/* What a flow does in the slice that was told last. */
static void tell_flow(struct perfetto *teller, const struct sim_trace_moment *moment, uint32_t tid, char phase,
		      const char *category, uint32_t id)
{
	sim_perfetto_begin_at(teller, phase, teller->story->events[moment->event].process, tid, moment->time_ns);
	sim_perfetto_put_key(teller->out, "name", category);
	sim_perfetto_put_key(teller->out, "cat", category);
	fprintf(teller->out, ",\"id\":%u%s", id, phase == 's' ? "" : ",\"bp\":\"e\"");
	sim_perfetto_end(teller);
}

static void tell_task_flow(struct perfetto *teller, const struct sim_trace_moment *moment, uint32_t tid, char phase,
			   uint32_t task)
{
	if (sim_trace_task_is_whole(teller->story, &teller->story->events[task]))
		tell_flow(teller, moment, tid, phase, "task", teller->num_flows + task + 1);
}

/* ---- a task's moments ---- */

/* Where a flow begins or ends: a slice that says what happened to the task. */
static void tell_turn(struct perfetto *teller, const struct sim_trace_moment *moment, uint32_t tid, const char *what,
		      char flow)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	char name[SIM_TRACE_NAME_SIZE + 16];

	snprintf(name, sizeof(name), "%s %s", what, sim_trace_name_of(recording, sim_trace_op_of(recording, event)->name));
	sim_perfetto_begin_at(teller, 'X', event->process, tid, moment->time_ns);
	sim_perfetto_put_us(teller->out, "dur", moment->short_ns);
	sim_perfetto_put_key(teller->out, "name", name);
	sim_perfetto_put_key(teller->out, "cat", "turn");
	sim_perfetto_end(teller);
	tell_task_flow(teller, moment, tid, flow, moment->event);
}

static void tell_submit(struct perfetto *teller, const struct sim_trace_moment *moment)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];
	uint32_t object = sim_trace_object_of(&teller->story->recordings[event->process], event);
	uint32_t tid = sim_perfetto_track_of(teller, event->process, object, TRACK_SUBMITTED);

	tell_task_end(teller, moment, 'b');
	tell_depth(teller, event);
	if (sim_trace_task_is_whole(teller->story, event))
		tell_turn(teller, moment, tid, "submit", 's');
}

/* Whether no other is on the track, which it takes until its end. */
static bool claim_jobs(struct perfetto_object *object, const struct sim_trace_event *event)
{
	if (event->args[0] < object->jobs_free_ns)
		return false;
	object->jobs_free_ns = event->args[1];
	return true;
}

static void tell_job(struct perfetto *teller, const struct sim_trace_moment *moment)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);
	uint32_t tid = sim_perfetto_track_of(teller, event->process, op->object, TRACK_JOBS);

	if (op->object == 0 || !claim_jobs(sim_perfetto_object_at(teller, event->process, op->object), event))
		return;
	sim_perfetto_begin_at(teller, 'X', event->process, tid, moment->time_ns);
	sim_perfetto_put_us(teller->out, "dur", event->args[1] - event->args[0]);
	sim_perfetto_put_key(teller->out, "name", sim_trace_name_of(recording, op->name));
	sim_perfetto_put_key(teller->out, "cat", "job");
	begin_task_args(teller, event);
	fputc('}', teller->out);
	sim_perfetto_end(teller);
	tell_task_flow(teller, moment, tid, 't', moment->event);
}

static void tell_done(struct perfetto *teller, const struct sim_trace_moment *moment)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];

	if (sim_trace_task_is_whole(teller->story, event))
		tell_turn(teller, moment, event->thread, event->why ? "failed" : "done", 'f');
	tell_task_end(teller, moment, 'e');
}

/* ---- messages ---- */

static void tell_message(struct perfetto *teller, const struct sim_trace_moment *moment)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];
	bool is_sent = event->kind == SIM_TRACE_SENT;
	uint32_t tid = sim_perfetto_track_of(teller, event->process, event->subject, is_sent ? TRACK_SENT : TRACK_RECEIVED);

	sim_perfetto_begin_at(teller, 'X', event->process, tid, moment->time_ns);
	sim_perfetto_put_us(teller->out, "dur", moment->short_ns);
	sim_perfetto_put_key(teller->out, "name", is_sent ? "send" : "receive");
	sim_perfetto_put_key(teller->out, "cat", "message");
	fprintf(teller->out, ",\"args\":{\"bytes\":%" PRIu64 ",\"number\":%" PRIu64 "}", event->args[2], event->args[1]);
	sim_perfetto_end(teller);
	if (teller->flows[moment->event])
		tell_flow(teller, moment, tid, is_sent ? 's' : 'f', "message", teller->flows[moment->event]);
	if (teller->tasks[moment->event])
		tell_task_flow(teller, moment, tid, 't', teller->tasks[moment->event] - 1);
}

/* ---- states ---- */

/* What the object is in from now on; 0 = nothing to show. */
static uint64_t state_of(const struct sim_trace_event *event)
{
	if (event->kind == SIM_TRACE_STATE)
		return event->args[1];
	return event->kind == SIM_TRACE_OPENED;
}

/* Those that last, until the story's end. */
static void tell_state(struct perfetto *teller, const struct sim_trace_moment *moment)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	bool is_context = recording->objects[event->subject - 1].kind == SIM_TRACE_CONTEXT;
	uint32_t tid = sim_perfetto_track_of(teller, event->process, event->subject, TRACK_STATES);

	if (state_of(event) == 0)
		return;
	sim_perfetto_begin_at(teller, 'X', event->process, tid, moment->time_ns);
	sim_perfetto_put_us(teller->out, "dur", teller->until_ns[moment->event] - moment->time_ns);
	sim_perfetto_put_key(teller->out, "name", is_context ? sim_trace_state_name(state_of(event)) : "open");
	sim_perfetto_put_key(teller->out, "cat", "state");
	sim_perfetto_end(teller);
}

/* ---- instants ---- */

/* Up to its arguments, which are open. */
static void begin_instant(struct perfetto *teller, const struct sim_trace_event *event, uint32_t tid, const char *category,
			  const char *name, const char *text)
{
	sim_perfetto_begin_at(teller, 'i', event->process, tid, event->time_ns);
	sim_perfetto_put_key(teller->out, "s", "t");
	sim_perfetto_put_key(teller->out, "cat", category);
	sim_perfetto_put_key(teller->out, "name", name);
	fputs(",\"args\":{\"text\":", teller->out);
	sim_trace_put_text(teller->out, text);
}

static void tell_instant(struct perfetto *teller, const struct sim_trace_event *event, uint32_t tid, const char *category,
			 const char *name, const char *text)
{
	begin_instant(teller, event, tid, category, name, text);
	fputc('}', teller->out);
	sim_perfetto_end(teller);
}

static void tell_fault(struct perfetto *teller, const struct sim_trace_event *event)
{
	uint32_t tid = event->subject ? sim_perfetto_track_of(teller, event->process, event->subject, TRACK_JOBS) :
					event->thread;

	begin_instant(teller, event, tid, "fault", "fault", sim_trace_rule_of(teller->story, event));
	fprintf(teller->out, ",\"rule\":%" PRIu64 ",\"match\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"delay_ns\":%" PRIu64,
		event->args[0], event->args[1], event->args[2], event->args[3]);
	sim_perfetto_put_key(teller->out, "operation",
			     sim_trace_name_of(&teller->story->recordings[event->process], event->why));
	put_context(teller, event->process, event->subject);
	fputc('}', teller->out);
	sim_perfetto_end(teller);
}

static void tell_log(struct perfetto *teller, const struct sim_trace_event *event)
{
	tell_instant(teller, event, event->thread, "log", event->detail <= SIM_LOG_ERROR ? "error" : "warning",
		     event->text ? event->text : "");
}

static void tell_close(struct perfetto *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	uint32_t tid = sim_perfetto_track_of(teller, event->process, event->subject, TRACK_STATES);

	tell_instant(teller, event, tid, "connection", "closed",
		     event->why ? sim_trace_name_of(recording, event->why) : "in order");
}

static void tell_moment(struct perfetto *teller, const struct sim_trace_moment *moment)
{
	const struct sim_trace_event *event = &teller->story->events[moment->event];

	switch ((enum sim_trace_part)moment->part) {
	case SIM_TRACE_PART_STATE:
		tell_state(teller, moment);
		if (event->kind == SIM_TRACE_CLOSED)
			tell_close(teller, event);
		break;
	case SIM_TRACE_PART_SUBMIT:
		tell_submit(teller, moment);
		break;
	case SIM_TRACE_PART_JOB:
		tell_job(teller, moment);
		break;
	case SIM_TRACE_PART_SENT:
	case SIM_TRACE_PART_RECEIVED:
		tell_message(teller, moment);
		break;
	case SIM_TRACE_PART_DONE:
		tell_done(teller, moment);
		break;
	case SIM_TRACE_PART_FAULT:
		tell_fault(teller, event);
		break;
	case SIM_TRACE_PART_LOG:
		tell_log(teller, event);
		break;
	}
}

/* ---- the whole ---- */

/* The tracks that an event has a part in, as bits. */
static uint32_t use_of(const struct sim_trace_event *event)
{
	switch ((enum sim_trace_kind)event->kind) {
	case SIM_TRACE_SENT:
		return 1 << TRACK_SENT;
	case SIM_TRACE_RECEIVED:
		return 1 << TRACK_RECEIVED;
	case SIM_TRACE_STATE:
	case SIM_TRACE_OPENED:
	case SIM_TRACE_CLOSED:
		return 1 << TRACK_STATES;
	case SIM_TRACE_TASK:
		return (event->args[0] ? 1 << TRACK_JOBS : 0) | (event->detail ? 1 << TRACK_SUBMITTED : 0);
	case SIM_TRACE_FAULT:
		return 1 << TRACK_JOBS;
	case SIM_TRACE_LOG:
	case SIM_TRACE_TEXT:
	case SIM_TRACE_NUM_KINDS:
		break;
	}
	return 0;
}

static void find_used_tracks(struct perfetto *teller)
{
	const struct sim_trace_story *story = teller->story;

	for (size_t i = 0; i < story->num_events; i++) {
		const struct sim_trace_event *event = &story->events[i];
		uint32_t object = sim_trace_object_of(&story->recordings[event->process], event);

		sim_perfetto_object_at(teller, event->process, object)->used |= use_of(event);
	}
}

/* From the last to the first: when each state's next one began. */
static void find_next_states(struct perfetto *teller)
{
	const struct sim_trace_story *story = teller->story;
	uint64_t last_ns = teller->num_moments ? teller->moments[teller->num_moments - 1].time_ns : 0;

	for (size_t i = story->num_events; i-- > 0;) {
		const struct sim_trace_event *event = &story->events[i];
		struct perfetto_object *object;

		if (event->kind != SIM_TRACE_STATE && event->kind != SIM_TRACE_OPENED && event->kind != SIM_TRACE_CLOSED)
			continue;
		object = sim_perfetto_object_at(teller, event->process, event->subject);
		teller->until_ns[i] = object->next_state ? story->events[object->next_state].time_ns : last_ns;
		object->next_state = i;
	}
}

static uint32_t last_of(const uint32_t *flows, size_t count)
{
	uint32_t last = 0;

	for (size_t i = 0; i < count; i++)
		last = flows[i] > last ? flows[i] : last;
	return last;
}

/* Processes in several namespaces, or one that attached again, may have the same number. */
static int64_t *choose_pids(const struct sim_trace_story *story)
{
	int64_t *pids = calloc(story->num_recordings + 1, sizeof(*pids));

	for (uint32_t i = 0; pids && i < story->num_recordings; i++) {
		pids[i] = story->recordings[i].who.pid;
		for (uint32_t j = 0; j < i; j++)
			if (story->recordings[j].who.pid == story->recordings[i].who.pid)
				pids[i] += MORE_PROCESSES;
	}
	return pids;
}

static int make_objects(struct perfetto *teller)
{
	const struct sim_trace_story *story = teller->story;
	uint32_t num_objects = 0;

	teller->first_object = calloc(story->num_recordings + 1, sizeof(*teller->first_object));
	if (!teller->first_object)
		return -ENOMEM;
	for (uint32_t i = 0; i < story->num_recordings; i++) {
		teller->first_object[i] = num_objects;
		num_objects += story->recordings[i].num_objects + 1; /* 0 is none's */
	}
	teller->objects = calloc(num_objects + 1, sizeof(*teller->objects));
	return teller->objects ? 0 : -ENOMEM;
}

static int prepare(struct perfetto *teller)
{
	const struct sim_trace_story *story = teller->story;

	teller->pids = choose_pids(story);
	teller->until_ns = calloc(story->num_events + 1, sizeof(*teller->until_ns));
	teller->flows = sim_trace_flows(story);
	teller->tasks = sim_trace_tasks_of_messages(story);
	teller->moments = sim_trace_moments(story, &teller->num_moments);
	if (make_objects(teller) < 0 || !teller->pids || !teller->until_ns || !teller->flows || !teller->tasks ||
	    !teller->moments)
		return -ENOMEM;
	teller->num_flows = last_of(teller->flows, story->num_events);
	find_used_tracks(teller);
	find_next_states(teller);
	return 0;
}

static void fini(struct perfetto *teller)
{
	free(teller->first_object);
	free(teller->pids);
	free(teller->objects);
	free(teller->until_ns);
	free(teller->flows);
	free(teller->tasks);
	free(teller->moments);
}

int sim_trace_tell_perfetto(const struct sim_trace_story *story, FILE *out)
{
	struct perfetto teller = {.story = story, .out = out};
	int rc = prepare(&teller);

	if (rc == 0) {
		fputs("{\"traceEvents\":[", out);
		sim_perfetto_name_all(&teller);
		for (size_t i = 0; i < teller.num_moments; i++)
			tell_moment(&teller, &teller.moments[i]);
		fputs("\n],\"displayTimeUnit\":\"ns\",\"otherData\":", out);
		sim_trace_put_sum(out, story, teller.pids);
		fputs("}\n", out);
	}
	fini(&teller);
	return rc;
}
