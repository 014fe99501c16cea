/* SPDX-License-Identifier: BSD-3-Clause */
/* What each event of a trace begins with, the tracks that they are on, and their names. */
#include <inttypes.h>

#include "perfetto_priv.h"

/* ---- JSON ---- */

/* In microseconds, as the format wants it. */
void sim_perfetto_put_us(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

void sim_perfetto_begin(struct perfetto *teller, char phase, uint32_t process, uint32_t tid)
{
	fprintf(teller->out, "%s\n{\"ph\":\"%c\",\"pid\":%" PRId64 ",\"tid\":%u", teller->has_begun ? "," : "", phase,
		teller->pids[process], tid);
	teller->has_begun = true;
}

void sim_perfetto_begin_at(struct perfetto *teller, char phase, uint32_t process, uint32_t tid, uint64_t time_ns)
{
	sim_perfetto_begin(teller, phase, process, tid);
	sim_perfetto_put_us(teller->out, "ts", time_ns - teller->story->zero_ns);
}

void sim_perfetto_put_key(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	sim_trace_put_text(out, text);
}

void sim_perfetto_end(struct perfetto *teller)
{
	fputc('}', teller->out);
}

/* ---- tracks ---- */

uint32_t sim_perfetto_track_of(const struct perfetto *teller, uint32_t process, uint32_t object,
			       enum perfetto_track track)
{
	return SIM_TRACE_THREADS_BELOW + (teller->first_object[process] + object) * NUM_TRACKS + track;
}

struct perfetto_object *sim_perfetto_object_at(const struct perfetto *teller, uint32_t process, uint32_t object)
{
	return &teller->objects[teller->first_object[process] + object];
}

void sim_perfetto_put_object_name(FILE *out, const struct sim_trace_recording *recording, uint32_t number,
				  const char *more)
{
	char text[2 * SIM_TRACE_NAME_SIZE + 32];

	snprintf(text, sizeof(text), "%s #%u%s%s", sim_trace_name_of(recording, recording->objects[number - 1].name), number,
		 more[0] ? " " : "", more);
	sim_trace_put_text(out, text);
}

/* ---- names ---- */

static void name_process(struct perfetto *teller, uint32_t process)
{
	const struct sim_trace_who *who = &teller->story->recordings[process].who;
	char text[sizeof(who->side) + sizeof(who->program) + 4];

	snprintf(text, sizeof(text), "%s: %s", who->side, who->program);
	sim_perfetto_begin(teller, 'M', process, 0);
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", teller->out);
	sim_trace_put_text(teller->out, text);
	fputc('}', teller->out);
	sim_perfetto_end(teller);
	sim_perfetto_begin(teller, 'M', process, 0);
	fprintf(teller->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}", process);
	sim_perfetto_end(teller);
}

static void name_track(struct perfetto *teller, uint32_t process, uint32_t object, enum perfetto_track track,
		       const char *name)
{
	sim_perfetto_begin(teller, 'M', process, sim_perfetto_track_of(teller, process, object, track));
	fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", teller->out);
	sim_perfetto_put_object_name(teller->out, &teller->story->recordings[process], object, name);
	fputc('}', teller->out);
	sim_perfetto_end(teller);
}

static void name_object(struct perfetto *teller, uint32_t process, uint32_t object)
{
	static const char *const names[NUM_TRACKS] = {
		[TRACK_STATES] = "states", [TRACK_JOBS] = "jobs", [TRACK_SENT] = "sent", [TRACK_RECEIVED] = "received",
		[TRACK_SUBMITTED] = "submitted"};

	for (int i = 0; i < NUM_TRACKS; i++)
		if (sim_perfetto_object_at(teller, process, object)->used & UINT32_C(1) << i)
			name_track(teller, process, object, (enum perfetto_track)i, names[i]);
}

static void name_thread(struct perfetto *teller, uint32_t process, const struct sim_trace_thread *thread)
{
	if (thread->id == 0 || thread->id >= SIM_TRACE_THREADS_BELOW)
		return;
	sim_perfetto_begin(teller, 'M', process, thread->id);
	fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", teller->out);
	sim_trace_put_text(teller->out, thread->name);
	fputc('}', teller->out);
	sim_perfetto_end(teller);
}

void sim_perfetto_name_all(struct perfetto *teller)
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
