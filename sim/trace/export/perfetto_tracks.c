/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin of events, tracks and their names. */
#include <inttypes.h>

#include "json_text.h"
#include "perfetto_priv.h"

static void begin(struct perfetto_writer *writer, char phase, uint32_t process, uint32_t tid)
{
	fprintf(writer->out, "%s\n{\"ph\":\"%c\",\"pid\":%" PRId64 ",\"tid\":%u", writer->has_begun ? "," : "", phase,
		writer->pids[process], tid);
	writer->has_begun = true;
}

void sim_perfetto_begin_at(struct perfetto_writer *writer, char phase, uint32_t process, uint32_t tid, uint64_t time_ns)
{
	begin(writer, phase, process, tid);
	sim_json_put_us(writer->out, "ts", time_ns - writer->merged->zero_ns);
}

void sim_perfetto_end(struct perfetto_writer *writer)
{
	fputc('}', writer->out);
}

uint32_t sim_perfetto_track_id(const struct perfetto_writer *writer, uint32_t process, uint32_t object,
			       enum perfetto_track track)
{
	return SIM_TRACE_THREAD_ID_LIMIT + (writer->first_object[process] + object) * NUM_TRACKS + track;
}

struct perfetto_object *sim_perfetto_object_at(const struct perfetto_writer *writer, uint32_t process, uint32_t object)
{
	return &writer->objects[writer->first_object[process] + object];
}

void sim_perfetto_put_object_name(FILE *out, const struct sim_trace_recording *recording, uint32_t number,
				  const char *more)
{
	char text[SIM_TRACE_LABEL_SIZE + SIM_TRACE_NAME_SIZE + 1], label[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording, number, label);
	snprintf(text, sizeof(text), "%s%s%s", label, more[0] ? " " : "", more);
	sim_json_put_string(out, text);
}

static void name_process(struct perfetto_writer *writer, uint32_t process)
{
	const struct sim_trace_process *owner = &writer->merged->recordings[process].owner;
	char text[sizeof(owner->side) + sizeof(owner->program) + 4];

	snprintf(text, sizeof(text), "%s: %s", owner->side, owner->program);
	begin(writer, 'M', process, 0);
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", writer->out);
	sim_json_put_string(writer->out, text);
	fputc('}', writer->out);
	sim_perfetto_end(writer);
	begin(writer, 'M', process, 0);
	fprintf(writer->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}", process);
	sim_perfetto_end(writer);
}

static void name_track(struct perfetto_writer *writer, uint32_t process, uint32_t object, enum perfetto_track track,
		       const char *name)
{
	begin(writer, 'M', process, sim_perfetto_track_id(writer, process, object, track));
	fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", writer->out);
	sim_perfetto_put_object_name(writer->out, &writer->merged->recordings[process], object, name);
	fputc('}', writer->out);
	sim_perfetto_end(writer);
}

static void name_object(struct perfetto_writer *writer, uint32_t process, uint32_t object)
{
	static const char *const names[NUM_TRACKS] = { [TRACK_STATES] = "states",
						       [TRACK_JOBS] = "jobs",
						       [TRACK_SENT] = "sent",
						       [TRACK_RECEIVED] = "received",
						       [TRACK_SUBMITTED] = "submitted" };

	for (int i = 0; i < NUM_TRACKS; i++)
		if (sim_perfetto_object_at(writer, process, object)->used & UINT32_C(1) << i)
			name_track(writer, process, object, (enum perfetto_track)i, names[i]);
}

static void name_thread(struct perfetto_writer *writer, uint32_t process, const struct sim_trace_thread *thread)
{
	if (thread->id == 0 || thread->id >= SIM_TRACE_THREAD_ID_LIMIT)
		return;
	begin(writer, 'M', process, thread->id);
	fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", writer->out);
	sim_json_put_string(writer->out, thread->name);
	fputc('}', writer->out);
	sim_perfetto_end(writer);
}

void sim_perfetto_put_names(struct perfetto_writer *writer)
{
	for (uint32_t i = 0; i < writer->merged->num_recordings; i++) {
		const struct sim_trace_recording *recording = &writer->merged->recordings[i];

		name_process(writer, i);
		for (uint32_t j = 0; j < recording->num_threads; j++)
			name_thread(writer, i, &recording->threads[j]);
		for (uint32_t j = 1; j <= recording->num_objects; j++)
			name_object(writer, i, j);
	}
}
