/* SPDX-License-Identifier: BSD-3-Clause */
/* The Trace Event Format. What becomes of what:
 *
 *   process, thread   metadata events
 *   context           a track "states", and one "jobs" with a slice for each task while its job ran
 *   task              an async slice from its submission to its end, and a step of the counter of tasks in flight
 *   connection        a track "states", and tracks "sent" and "received" with a short slice for each message
 *   message           a flow from the one slice to the other
 *   fault, log line   instant events
 *
 * Tracks other than threads have numbers that no thread has. Slices of one track
 * never overlap: what would is left out (only a recording that lies has such).
 * In virtual time much happens at one moment: slices of no length, one behind the other in
 * the file, and a flow's end belongs to the slice that stands before it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "flows.h"
#include "perfetto_priv.h"
#include "sim/log.h"

#define FIRST_TRACK UINT32_C(0x40000000) /* above all numbers of threads */
#define MESSAGE_NS 1000                  /* how long a message's slice is, unless another follows, or is at the same time */
#define MORE_PROCESSES 10000000          /* added to a process's number that another has, too */

enum track { TRACK_JOBS, TRACK_STATES, TRACK_SENT, TRACK_RECEIVED, NUM_TRACKS };

struct object {
	uint64_t free_from_ns[NUM_TRACKS]; /* where a next slice of the track may begin */
	uint32_t used;                     /* bit of each track that has something */
	uint64_t since_ns;                 /* of the state; 0 = unknown */
	uint64_t state;
	size_t next[2];                    /* message sent, and received: the number of its event; 0 = none */
};

struct teller {
	const struct sim_trace_story *story;
	FILE *out;
	bool has_begun;
	int64_t *pids;          /* of each process; no two are the same */
	uint32_t *first_object; /* of each process, in @objects */
	struct object *objects; /* of all processes */
	uint32_t *flows;        /* of events */
	uint64_t *until_ns;     /* of messages: where the slice ends at the latest; UINT64_MAX = anywhere */
	uint64_t num_tasks;
};

/* ---- JSON ---- */

/* In microseconds, as the format wants it. */
static void put_us(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

/* What every event begins with. */
static void begin(struct teller *teller, char phase, uint32_t process, uint32_t tid)
{
	fprintf(teller->out, "%s\n{\"ph\":\"%c\",\"pid\":%" PRId64 ",\"tid\":%u", teller->has_begun ? "," : "", phase,
		teller->pids[process], tid);
	teller->has_begun = true;
}

static void begin_at(struct teller *teller, char phase, uint32_t process, uint32_t tid, uint64_t time_ns)
{
	begin(teller, phase, process, tid);
	put_us(teller->out, "ts", time_ns - teller->story->zero_ns);
}

static void put_key(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	sim_trace_put_text(out, text);
}

static void end(struct teller *teller)
{
	fputc('}', teller->out);
}

/* ---- tracks ---- */

static uint32_t track_of(const struct teller *teller, uint32_t process, uint32_t object, enum track track)
{
	return FIRST_TRACK + (teller->first_object[process] + object) * NUM_TRACKS + track;
}

static struct object *object_at(const struct teller *teller, uint32_t process, uint32_t object)
{
	return &teller->objects[teller->first_object[process] + object];
}

/* "dma #3", or of what else. */
static void put_object_name(FILE *out, const struct sim_trace_recording *recording, uint32_t number, const char *more)
{
	char text[2 * SIM_TRACE_NAME_SIZE + 32];

	snprintf(text, sizeof(text), "%s #%u%s%s", sim_trace_name_of(recording, recording->objects[number - 1].name), number,
		 more[0] ? " " : "", more);
	sim_trace_put_text(out, text);
}

/* Claim a track until @end_ns; whether it is free from @begin_ns on. */
static bool claim(struct object *object, enum track track, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns < object->free_from_ns[track])
		return false;
	object->free_from_ns[track] = end_ns;
	return true;
}

/* ---- metadata ---- */

static void name_process(struct teller *teller, uint32_t process)
{
	const struct sim_trace_who *who = &teller->story->recordings[process].who;
	char text[sizeof(who->side) + sizeof(who->program) + 4];

	snprintf(text, sizeof(text), "%s: %s", who->side, who->program);
	begin(teller, 'M', process, 0);
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", teller->out);
	sim_trace_put_text(teller->out, text);
	fputc('}', teller->out);
	end(teller);
	begin(teller, 'M', process, 0);
	fprintf(teller->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}", process);
	end(teller);
}

static void name_track(struct teller *teller, uint32_t process, uint32_t object, enum track track, const char *name)
{
	begin(teller, 'M', process, track_of(teller, process, object, track));
	fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", teller->out);
	put_object_name(teller->out, &teller->story->recordings[process], object, name);
	fputc('}', teller->out);
	end(teller);
}

static void name_object(struct teller *teller, uint32_t process, uint32_t object)
{
	static const char *const names[NUM_TRACKS] = {[TRACK_STATES] = "states", [TRACK_JOBS] = "jobs",
						      [TRACK_SENT] = "sent", [TRACK_RECEIVED] = "received"};

	for (int i = 0; i < NUM_TRACKS; i++)
		if (object_at(teller, process, object)->used & UINT32_C(1) << i)
			name_track(teller, process, object, (enum track)i, names[i]);
}

static void name_thread(struct teller *teller, uint32_t process, const struct sim_trace_thread *thread)
{
	if (thread->id == 0 || thread->id >= FIRST_TRACK)
		return;
	begin(teller, 'M', process, thread->id);
	fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", teller->out);
	sim_trace_put_text(teller->out, thread->name);
	fputc('}', teller->out);
	end(teller);
}

static void name_all(struct teller *teller)
{
	for (uint32_t i = 0; i < teller->story->num_recordings; i++) {
		const struct sim_trace_recording *recording = &teller->story->recordings[i];

		name_process(teller, i);
		for (uint32_t j = 0; j < recording->num_threads; j++)
			name_thread(teller, i, &recording->threads[j]);
		for (uint32_t j = 1; j <= recording->num_objects; j++)
			name_object(teller, i, j);
	}
}

/* ---- tasks ---- */

static void begin_task_args(struct teller *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];

	fprintf(teller->out, ",\"args\":{\"bytes\":%" PRIu64, event->args[3]);
	put_key(teller->out, "status", event->why ? sim_trace_name_of(recording, event->why) : "ok");
}

/* Its context, if that is known. */
static void put_context(struct teller *teller, uint32_t process, uint32_t number)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[process];

	if (number == 0)
		return;
	fputs(",\"context\":", teller->out);
	put_object_name(teller->out, recording, number, "");
	put_key(teller->out, "device", sim_trace_name_of(recording, recording->objects[number - 1].place));
}

/* All that is known of it in one place; "ns", from submission to end, is of those that were timed. */
static void put_whole_task(struct teller *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	begin_task_args(teller, event);
	put_context(teller, event->process, op->object);
	put_key(teller->out, "operation", sim_trace_name_of(recording, op->name));
	if (sim_trace_way_name(event->way)[0])
		put_key(teller->out, "way", sim_trace_way_name(event->way));
	if (event->detail)
		fprintf(teller->out, ",\"in_flight\":%u,\"ns\":%" PRIu64, event->detail, event->args[2] - event->time_ns);
	fputc('}', teller->out);
}

/* One end of its async slice. */
static void tell_task_end(struct teller *teller, const struct sim_trace_event *event, char phase, uint64_t time_ns)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	begin_at(teller, phase, event->process, event->thread, time_ns);
	fprintf(teller->out, ",\"cat\":\"task\",\"id\":\"0x%" PRIx64 "\",\"name\":", teller->num_tasks);
	if (op->object)
		put_object_name(teller->out, recording, op->object, sim_trace_name_of(recording, op->name));
	else
		sim_trace_put_text(teller->out, sim_trace_name_of(recording, op->name));
	if (phase == 'b')
		put_whole_task(teller, event);
	end(teller);
}

static void tell_depth(struct teller *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	if (event->detail == 0 || op->object == 0)
		return;
	begin_at(teller, 'C', event->process, 0, event->time_ns);
	fputs(",\"name\":", teller->out);
	put_object_name(teller->out, recording, op->object, "in flight");
	fprintf(teller->out, ",\"args\":{\"tasks\":%u}", event->detail);
	end(teller);
}

static void tell_job(struct teller *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);
	uint64_t began_ns = event->args[0], ended_ns = event->args[1];

	if (began_ns == 0 || ended_ns == 0 ||
	    !claim(object_at(teller, event->process, op->object), TRACK_JOBS, began_ns, ended_ns))
		return;
	begin_at(teller, 'X', event->process, track_of(teller, event->process, op->object, TRACK_JOBS), began_ns);
	put_us(teller->out, "dur", ended_ns - began_ns);
	put_key(teller->out, "name", sim_trace_name_of(recording, op->name));
	put_key(teller->out, "cat", "job");
	begin_task_args(teller, event);
	fputc('}', teller->out);
	end(teller);
}

static void tell_task(struct teller *teller, const struct sim_trace_event *event)
{
	teller->num_tasks++;
	tell_task_end(teller, event, 'b', event->time_ns);
	tell_depth(teller, event);
	tell_job(teller, event);
	tell_task_end(teller, event, 'e', event->args[2]);
}

/* ---- messages ---- */

static void tell_message(struct teller *teller, size_t number)
{
	const struct sim_trace_event *event = &teller->story->events[number];
	enum track track = event->kind == SIM_TRACE_SENT ? TRACK_SENT : TRACK_RECEIVED;
	uint32_t tid = track_of(teller, event->process, event->subject, track);
	uint64_t dur_ns = teller->until_ns[number] - event->time_ns;

	begin_at(teller, 'X', event->process, tid, event->time_ns);
	put_us(teller->out, "dur", dur_ns < MESSAGE_NS ? dur_ns : MESSAGE_NS);
	put_key(teller->out, "name", track == TRACK_SENT ? "send" : "receive");
	put_key(teller->out, "cat", "message");
	fprintf(teller->out, ",\"args\":{\"bytes\":%" PRIu64 ",\"number\":%" PRIu64 "}", event->args[2], event->args[1]);
	end(teller);
	if (teller->flows[number] == 0)
		return;
	begin_at(teller, track == TRACK_SENT ? 's' : 'f', event->process, tid, event->time_ns);
	put_key(teller->out, "name", "message");
	put_key(teller->out, "cat", "message");
	fprintf(teller->out, ",\"id\":%u%s", teller->flows[number], track == TRACK_SENT ? "" : ",\"bp\":\"e\"");
	end(teller);
}

/* ---- states ---- */

/* The slice of the state that @object was in until now. */
static void tell_state(struct teller *teller, uint32_t process, uint32_t number, uint64_t until_ns)
{
	struct object *object = object_at(teller, process, number);
	bool is_context = teller->story->recordings[process].objects[number - 1].kind == SIM_TRACE_CONTEXT;

	if (object->since_ns == 0 || object->state == 0 || !claim(object, TRACK_STATES, object->since_ns, until_ns))
		return;
	begin_at(teller, 'X', process, track_of(teller, process, number, TRACK_STATES), object->since_ns);
	put_us(teller->out, "dur", until_ns - object->since_ns);
	put_key(teller->out, "name", is_context ? sim_trace_state_name(object->state) : "open");
	put_key(teller->out, "cat", "state");
	end(teller);
}

static void take_state(struct teller *teller, const struct sim_trace_event *event, uint64_t state)
{
	struct object *object = object_at(teller, event->process, event->subject);

	tell_state(teller, event->process, event->subject, event->time_ns);
	object->since_ns = event->time_ns;
	object->state = state;
}

/* Those that last: until the story's end. */
static void tell_last_states(struct teller *teller)
{
	const struct sim_trace_story *story = teller->story;
	uint64_t last_ns = story->num_events ? story->events[story->num_events - 1].time_ns : 0;

	for (uint32_t i = 0; i < story->num_recordings; i++)
		for (uint32_t j = 1; j <= story->recordings[i].num_objects; j++)
			tell_state(teller, i, j, last_ns);
}

/* ---- instants ---- */

/* Up to its arguments, which are open. */
static void begin_instant(struct teller *teller, const struct sim_trace_event *event, uint32_t tid, const char *category,
			  const char *name, const char *text)
{
	begin_at(teller, 'i', event->process, tid, event->time_ns);
	put_key(teller->out, "s", "t");
	put_key(teller->out, "cat", category);
	put_key(teller->out, "name", name);
	fputs(",\"args\":{\"text\":", teller->out);
	sim_trace_put_text(teller->out, text);
}

static void tell_instant(struct teller *teller, const struct sim_trace_event *event, uint32_t tid, const char *category,
			 const char *name, const char *text)
{
	begin_instant(teller, event, tid, category, name, text);
	fputc('}', teller->out);
	end(teller);
}

static void tell_fault(struct teller *teller, const struct sim_trace_event *event)
{
	uint32_t tid = event->subject ? track_of(teller, event->process, event->subject, TRACK_JOBS) : event->thread;

	begin_instant(teller, event, tid, "fault", "fault", sim_trace_rule_of(teller->story, event));
	fprintf(teller->out, ",\"rule\":%" PRIu64 ",\"match\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"delay_ns\":%" PRIu64,
		event->args[0], event->args[1], event->args[2], event->args[3]);
	put_key(teller->out, "operation", sim_trace_name_of(&teller->story->recordings[event->process], event->why));
	put_context(teller, event->process, event->subject);
	fputc('}', teller->out);
	end(teller);
}

static void tell_close(struct teller *teller, const struct sim_trace_event *event)
{
	const struct sim_trace_recording *recording = &teller->story->recordings[event->process];

	take_state(teller, event, 0);
	tell_instant(teller, event, track_of(teller, event->process, event->subject, TRACK_STATES), "connection", "closed",
		     event->why ? sim_trace_name_of(recording, event->why) : "in order");
}

static void tell_event(struct teller *teller, size_t number)
{
	const struct sim_trace_event *event = &teller->story->events[number];

	switch ((enum sim_trace_kind)event->kind) {
	case SIM_TRACE_STATE:
		take_state(teller, event, event->args[1]);
		break;
	case SIM_TRACE_TASK:
		tell_task(teller, event);
		break;
	case SIM_TRACE_SENT:
	case SIM_TRACE_RECEIVED:
		tell_message(teller, number);
		break;
	case SIM_TRACE_OPENED:
		take_state(teller, event, 1);
		break;
	case SIM_TRACE_CLOSED:
		tell_close(teller, event);
		break;
	case SIM_TRACE_FAULT:
		tell_fault(teller, event);
		break;
	case SIM_TRACE_LOG:
		tell_instant(teller, event, event->thread, "log", event->detail <= SIM_LOG_ERROR ? "error" : "warning",
			     event->text ? event->text : "");
		break;
	case SIM_TRACE_TEXT:
	case SIM_TRACE_NUM_KINDS:
		break;
	}
}

/* ---- the whole ---- */

/* The track that an event has a part in, as a bit; 0 = none. */
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
		return event->args[0] ? 1 << TRACK_JOBS : 0;
	case SIM_TRACE_FAULT:
		return 1 << TRACK_JOBS;
	case SIM_TRACE_LOG:
	case SIM_TRACE_TEXT:
	case SIM_TRACE_NUM_KINDS:
		break;
	}
	return 0;
}

static void find_used_tracks(struct teller *teller)
{
	const struct sim_trace_story *story = teller->story;

	for (size_t i = 0; i < story->num_events; i++) {
		const struct sim_trace_event *event = &story->events[i];
		uint32_t object = sim_trace_object_of(&story->recordings[event->process], event);

		object_at(teller, event->process, object)->used |= use_of(event);
	}
}

/* From the last to the first: where each message's next is. Those of one moment have no length, the last one neither. */
static void find_next_messages(struct teller *teller)
{
	const struct sim_trace_story *story = teller->story;

	for (size_t i = story->num_events; i-- > 0;) {
		const struct sim_trace_event *event = &story->events[i];
		size_t *next;

		if (event->kind != SIM_TRACE_SENT && event->kind != SIM_TRACE_RECEIVED)
			continue;
		next = &object_at(teller, event->process, event->subject)->next[event->kind == SIM_TRACE_RECEIVED];
		teller->until_ns[i] = *next ? story->events[*next].time_ns : UINT64_MAX;
		if (teller->until_ns[i] == event->time_ns)
			teller->until_ns[*next] = event->time_ns;
		*next = i;
	}
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

static int prepare(struct teller *teller)
{
	const struct sim_trace_story *story = teller->story;
	uint32_t num_objects = 0;

	teller->first_object = calloc(story->num_recordings + 1, sizeof(*teller->first_object));
	teller->pids = choose_pids(story);
	if (!teller->first_object || !teller->pids)
		return -ENOMEM;
	for (uint32_t i = 0; i < story->num_recordings; i++) {
		teller->first_object[i] = num_objects;
		num_objects += story->recordings[i].num_objects + 1; /* 0 is none's */
	}
	teller->objects = calloc(num_objects + 1, sizeof(*teller->objects));
	teller->until_ns = calloc(story->num_events + 1, sizeof(*teller->until_ns));
	teller->flows = sim_trace_flows(story);
	if (!teller->objects || !teller->until_ns || !teller->flows)
		return -ENOMEM;
	find_used_tracks(teller);
	find_next_messages(teller);
	return 0;
}

int sim_trace_tell_perfetto(const struct sim_trace_story *story, FILE *out)
{
	struct teller teller = {.story = story, .out = out};
	int rc = prepare(&teller);

	if (rc == 0) {
		fputs("{\"traceEvents\":[", out);
		name_all(&teller);
		for (size_t i = 0; i < story->num_events; i++)
			tell_event(&teller, i);
		tell_last_states(&teller);
		fputs("\n],\"displayTimeUnit\":\"ns\",\"otherData\":", out);
		sim_trace_put_sum(out, story, teller.pids);
		fputs("}\n", out);
	}
	free(teller.first_object);
	free(teller.pids);
	free(teller.objects);
	free(teller.until_ns);
	free(teller.flows);
	return rc;
}
