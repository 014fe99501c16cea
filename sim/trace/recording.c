/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying and checking a recording. */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/shm/segment.h"
#include "sim/base/printable.h"
#include "trace.h"

#define SLACK_NS UINT64_C(1000000000) /* records may be written after we read the clock */

struct source {
	const uint8_t *memory;
	struct sim_trace_head head;
	struct sim_trace_layout layout;
	struct sim_trace_clock clock;
	uint64_t latest_ns;            /* upper bound of times by CLOCK_MONOTONIC */
	uint32_t first_ring, end_ring; /* the rings to read */
};

/* ---- the head ---- */

static bool is_head_valid(const struct sim_trace_head *head)
{
	return head->magic == SIM_TRACE_MAGIC && head->num_names <= SIM_TRACE_MAX_NAMES &&
	       head->num_objects <= SIM_TRACE_MAX_OBJECTS && head->num_ops <= SIM_TRACE_MAX_OPS &&
	       head->num_threads <= SIM_TRACE_MAX_THREADS && head->num_rings <= SIM_TRACE_MAX_RINGS &&
	       head->num_records > 0 && (uint64_t)head->num_rings * head->num_records <= SIM_TRACE_MAX_RECORDS;
}

static int open_source(const void *memory, size_t bytes, const struct sim_trace_clock *clock, struct source *ret_source)
{
	struct source source = { .memory = memory, .clock = *clock, .latest_ns = sim_monotonic_ns() + SLACK_NS };

	if (bytes < sizeof(source.head) || (uintptr_t)memory % 64 != 0)
		return -EPROTO;
	memcpy(&source.head, memory, sizeof(source.head));
	if (!is_head_valid(&source.head))
		return -EPROTO;
	source.layout = sim_trace_layout_of(&source.head);
	if (source.layout.end > bytes)
		return -EPROTO;
	source.end_ring = source.head.num_rings;
	*ret_source = source;
	return 0;
}

/* ---- records ---- */

/* The upper bound of times. Virtual time may advance while we read. */
static uint64_t latest_ns(const struct source *source)
{
	const struct sim_trace_clock *clock = &source->clock;

	return clock->virtual_ns ? clock->zero_ns + atomic_load(clock->virtual_ns) : source->latest_ns;
}

/* Whether @time is valid and not before *@before, which then advances; 0 = unknown. */
static bool is_in_order(const struct source *source, uint64_t *before, uint64_t time)
{
	if (time == 0)
		return true;
	if (time < source->clock.zero_ns || time < *before || time > latest_ns(source))
		return false;
	*before = time;
	return true;
}

static bool has_valid_times(const struct source *source, struct sim_trace_event *event)
{
	uint64_t before = 0;

	if (!is_in_order(source, &before, event->time_ns))
		return false;
	if (event->kind != SIM_TRACE_TASK)
		return event->time_ns != 0;
	if (!is_in_order(source, &before, event->data.task.began_ns) ||
	    !is_in_order(source, &before, event->data.task.ended_ns) ||
	    !is_in_order(source, &before, event->data.task.reaped_ns))
		return false;
	if (event->time_ns == 0)
		event->time_ns = event->data.task.reaped_ns;
	return event->data.task.reaped_ns != 0;
}

/* Copy record @number of a ring. Returns whether it was complete before and after the copy. */
static bool copy_record(const struct sim_trace_ring *ring, uint32_t num_records, uint64_t number,
			struct sim_trace_event *ret_event)
{
	const struct sim_trace_record *record = &ring->records[number % num_records];

	if (atomic_load_explicit(&record->number, memory_order_acquire) != number + 1)
		return false;
	*ret_event = (struct sim_trace_event){ .time_ns = record->time_ns,
					       .kind = record->kind,
					       .direction = record->direction,
					       .in_flight = record->in_flight,
					       .thread = record->thread,
					       .subject = record->subject,
					       .reason = record->reason,
					       .data = record->data };
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&record->number, memory_order_relaxed) == number + 1;
}

/* Copy a log line's text, which continues in the next records. Returns the number of records used. */
static uint32_t copy_text(const struct source *source, const struct sim_trace_ring *ring, uint64_t number,
			  struct sim_trace_event *event)
{
	char text[SIM_TRACE_MAX_TEXT_RECORDS * SIM_TRACE_TEXT_BYTES + 1] = "";
	struct sim_trace_event more;
	uint32_t count = 1;

	memcpy(text, event->data.text, SIM_TRACE_TEXT_BYTES);
	while (count < SIM_TRACE_MAX_TEXT_RECORDS &&
	       copy_record(ring, source->head.num_records, number + count, &more) && more.kind == SIM_TRACE_TEXT) {
		memcpy(text + count * SIM_TRACE_TEXT_BYTES, more.data.text, SIM_TRACE_TEXT_BYTES);
		count++;
	}
	sim_make_printable_array(text, sizeof(text));
	event->text = strdup(text);
	return count;
}

static void copy_ring(const struct source *source, const struct sim_trace_ring *ring, struct sim_trace_recording *to)
{
	uint64_t end = atomic_load_explicit(&ring->num_written, memory_order_acquire);
	uint64_t number = end > source->head.num_records ? end - source->head.num_records : 0;

	to->num_lost += number;
	while (number != end) {
		struct sim_trace_event *event = &to->events[to->num_events];
		uint64_t count = 1;

		if (!copy_record(ring, source->head.num_records, number, event)) {
			to->num_lost++;
		} else if (event->kind != SIM_TRACE_TEXT && !has_valid_times(source, event)) {
			to->num_bad++;
		} else if (event->kind != SIM_TRACE_TEXT) { /* the begin of a text may be overwritten */
			if (event->kind == SIM_TRACE_LOG || event->kind == SIM_TRACE_HIT)
				count = copy_text(source, ring, number, event);
			to->num_events++;
		}
		number += min_u64(count, end - number); /* a text may continue in a record that is begun just now */
	}
}

static uint64_t num_records_held(const struct source *source, const struct sim_trace_ring *ring)
{
	uint64_t written = atomic_load_explicit(&ring->num_written, memory_order_acquire);

	return written < source->head.num_records ? written : source->head.num_records;
}

static const struct sim_trace_ring *ring_at(const struct source *source, uint32_t number)
{
	return (const void *)(source->memory + source->layout.rings + number * source->layout.ring_bytes);
}

/* Rings may fill while we read, so each ring that is in use gets room for all its records. */
static int copy_rings(const struct source *source, struct sim_trace_recording *to)
{
	struct sim_trace_event *events;
	size_t capacity = 1;

	for (uint32_t i = source->first_ring; i < source->end_ring; i++)
		capacity += num_records_held(source, ring_at(source, i)) > 0 ? source->head.num_records : 0;
	to->events = calloc(capacity, sizeof(*to->events));
	if (!to->events)
		return -ENOMEM;
	for (uint32_t i = source->first_ring;
	     i < source->end_ring && to->num_events + source->head.num_records < capacity + 1; i++)
		copy_ring(source, ring_at(source, i), to);
	events = realloc(to->events, (to->num_events + 1) * sizeof(*events));
	if (events)
		to->events = events;
	return 0;
}

/* ---- tables ---- */

/* A copy of @count entries of @size bytes, with room for one more. */
static void *copy_table(const struct source *source, size_t offset, uint32_t count, size_t size)
{
	void *copy = calloc(count + (size_t)1, size);

	if (copy)
		memcpy(copy, source->memory + offset, count * size);
	return copy;
}

static int copy_tables(const struct source *source, struct sim_trace_recording *to)
{
	const struct sim_trace_head *head = (const void *)source->memory;

	to->num_names = min_u32(atomic_load(&head->used_names), source->head.num_names);
	to->num_objects = min_u32(atomic_load(&head->used_objects), source->head.num_objects);
	to->num_ops = min_u32(atomic_load(&head->used_ops), source->head.num_ops);
	to->num_threads = min_u32(atomic_load(&head->used_threads), source->head.num_threads);
	for (int what = 0; what < SIM_TRACE_NUM_OPEN; what++)
		to->num_open[what] = atomic_load(&head->num_open[what]);
	to->paths = atomic_load(&head->paths);
	to->names = copy_table(source, source->layout.names, to->num_names, sizeof(*to->names));
	to->objects = copy_table(source, source->layout.objects, to->num_objects, sizeof(*to->objects));
	/* the type is aligned to cache lines */
	to->ops = aligned_alloc(64, ((size_t)to->num_ops + 1) * sizeof(*to->ops));
	to->threads = copy_table(source, source->layout.threads, to->num_threads, sizeof(*to->threads));
	if (to->ops)
		memcpy(to->ops, source->memory + source->layout.ops, to->num_ops * sizeof(*to->ops));
	return to->names && to->objects && to->ops && to->threads ? 0 : -ENOMEM;
}

static uint32_t index_or_none(uint32_t number, uint32_t count)
{
	return number <= count ? number : 0;
}

static void check_tables(struct sim_trace_recording *recording)
{
	for (uint32_t i = 0; i < recording->num_names; i++)
		sim_make_printable_array(recording->names[i], sizeof(recording->names[i]));
	for (uint32_t i = 0; i < recording->num_threads; i++)
		sim_make_printable_array(recording->threads[i].name, sizeof(recording->threads[i].name));
	for (uint32_t i = 0; i < recording->num_objects; i++) {
		struct sim_trace_object *object = &recording->objects[i];

		object->parent = object->parent <= i ? object->parent : 0; /* a parent is older */
		object->name = index_or_none(object->name, recording->num_names);
		object->device = index_or_none(object->device, recording->num_names);
	}
	for (uint32_t i = 0; i < recording->num_ops; i++) {
		recording->ops[i].object = index_or_none(recording->ops[i].object, recording->num_objects);
		recording->ops[i].name = index_or_none(recording->ops[i].name, recording->num_names);
	}
}

/* Whether the event's subject exists. */
static bool has_valid_subject(const struct sim_trace_recording *recording, const struct sim_trace_event *event)
{
	switch ((enum sim_trace_kind)event->kind) {
	case SIM_TRACE_TASK:
		return event->subject > 0 && event->subject <= recording->num_ops;
	case SIM_TRACE_STATE:
	case SIM_TRACE_SENT:
	case SIM_TRACE_RECEIVED:
	case SIM_TRACE_OPENED:
	case SIM_TRACE_CLOSED:
		return event->subject > 0 && event->subject <= recording->num_objects;
	case SIM_TRACE_FAULT:
	case SIM_TRACE_LOG:
	case SIM_TRACE_HIT:
		return event->subject <= recording->num_objects;
	case SIM_TRACE_TEXT:
	case SIM_TRACE_NUM_KINDS:
		break;
	}
	return false;
}

static void check_events(struct sim_trace_recording *recording)
{
	size_t kept = 0;

	for (size_t i = 0; i < recording->num_events; i++) {
		struct sim_trace_event *event = &recording->events[i];

		event->reason = index_or_none(event->reason, recording->num_names);
		if (has_valid_subject(recording, event)) {
			recording->events[kept++] = *event;
		} else {
			recording->num_bad++;
			free(event->text);
		}
	}
	recording->num_events = kept;
}

/* ---- the whole ---- */

static int read_source(const struct source *source, struct sim_trace_recording *ret_recording)
{
	struct sim_trace_recording recording = { .level = source->head.level,
						 .began_ns = source->head.began_ns,
						 .command = source->head.command };
	int rc = copy_rings(source, &recording);

	if (rc == 0)
		rc = copy_tables(source, &recording);
	if (rc < 0) {
		sim_trace_recording_free(&recording);
		return rc;
	}
	check_tables(&recording);
	check_events(&recording);
	*ret_recording = recording;
	return 0;
}

int sim_trace_recording_read(const void *memory, size_t bytes, const struct sim_trace_clock *clock,
			     struct sim_trace_recording *ret_recording)
{
	struct source source;
	int rc = open_source(memory, bytes, clock, &source);

	return rc < 0 ? rc : read_source(&source, ret_recording);
}

void sim_trace_recording_check(struct sim_trace_recording *recording, const struct sim_trace_clock *clock)
{
	const struct source source = { .clock = *clock, .latest_ns = sim_monotonic_ns() + SLACK_NS };

	for (size_t i = 0; i < recording->num_events; i++) {
		struct sim_trace_event *event = &recording->events[i];

		if (event->kind == SIM_TRACE_TASK && event->in_flight == 0 &&
		    event->time_ns == event->data.task.reaped_ns)
			event->time_ns = 0; /* the submission is unknown */
		if (!has_valid_times(&source, event))
			event->kind = SIM_TRACE_NUM_KINDS;
		if (event->text)
			sim_make_printable(event->text);
	}
	check_tables(recording);
	check_events(recording);
}

static int read_counts(const void *memory, size_t bytes, const struct sim_trace_clock *clock,
		       struct sim_trace_recording *ret_recording)
{
	struct source source;
	int rc = open_source(memory, bytes, clock, &source);

	if (rc < 0)
		return rc;
	source.first_ring = min_u32(SIM_TRACE_RING_FAULTS, source.head.num_rings);
	source.end_ring = min_u32(SIM_TRACE_RING_FAULTS + 1, source.head.num_rings);
	return read_source(&source, ret_recording);
}

typedef int read_fn(const void *memory, size_t bytes, const struct sim_trace_clock *clock,
		    struct sim_trace_recording *ret_recording);

static int read_segment(int fd, const struct sim_trace_clock *clock, read_fn *read_memory,
			struct sim_trace_recording *ret_recording)
{
	struct sim_segment segment;
	int rc = sim_segment_map(fd, sizeof(struct sim_trace_head), &segment);

	if (rc < 0)
		return rc;
	rc = read_memory(segment.base, segment.len_bytes, clock, ret_recording);
	sim_segment_unmap(&segment);
	return rc;
}

int sim_trace_recording_read_fd(int fd, const struct sim_trace_clock *clock, struct sim_trace_recording *ret_recording)
{
	return read_segment(fd, clock, sim_trace_recording_read, ret_recording);
}

int sim_trace_recording_read_counts_fd(int fd, const struct sim_trace_clock *clock,
				       struct sim_trace_recording *ret_recording)
{
	return read_segment(fd, clock, read_counts, ret_recording);
}

void sim_trace_recording_free(struct sim_trace_recording *recording)
{
	for (size_t i = 0; i < recording->num_events; i++)
		free(recording->events[i].text);
	free(recording->events);
	free(recording->names);
	free(recording->objects);
	free(recording->ops);
	free(recording->threads);
	*recording = (struct sim_trace_recording){ 0 };
}

const char *sim_trace_name_of(const struct sim_trace_recording *recording, uint32_t number)
{
	return number > 0 && number <= recording->num_names ? recording->names[number - 1] : "";
}

void sim_trace_label_object(const struct sim_trace_recording *recording, uint32_t number,
			    char label[SIM_TRACE_LABEL_SIZE])
{
	label[0] = '\0';
	if (number)
		snprintf(label, SIM_TRACE_LABEL_SIZE, "%.63s #%u",
			 sim_trace_name_of(recording, recording->objects[number - 1].name), number);
}

const char *sim_trace_device_of(const struct sim_trace_recording *recording, uint32_t number)
{
	return number ? sim_trace_name_of(recording, recording->objects[number - 1].device) : "";
}

const struct sim_trace_op *sim_trace_op_of(const struct sim_trace_recording *recording,
					   const struct sim_trace_event *event)
{
	return event->kind == SIM_TRACE_TASK ? &recording->ops[event->subject - 1] : NULL;
}

uint32_t sim_trace_object_of(const struct sim_trace_recording *recording, const struct sim_trace_event *event)
{
	const struct sim_trace_op *op = sim_trace_op_of(recording, event);

	return op ? op->object : event->subject;
}

static const char *const path_names[SIM_TRACE_NUM_PATHS] = {
	[SIM_TRACE_PATH_IN_PLACE] = "in-place", [SIM_TRACE_PATH_MAPPED] = "mapped",
	[SIM_TRACE_PATH_CMA] = "cma",           [SIM_TRACE_PATH_SHM] = "shm",
	[SIM_TRACE_PATH_TCP] = "tcp",           [SIM_TRACE_PATH_PROCMEM] = "procmem",
};

void sim_trace_paths_text(uint32_t paths, char text[SIM_TRACE_PATHS_SIZE])
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < SIM_TRACE_NUM_PATHS; i++)
		if (paths >> i & 1)
			used += (size_t)snprintf(text + used, SIM_TRACE_PATHS_SIZE - used, "%s%s", used ? ", " : "",
						 path_names[i]);
}

enum sim_trace_path sim_trace_path_of_name(const char *name)
{
	enum sim_trace_path path = 0;

	while (path < SIM_TRACE_NUM_PATHS && strcmp(path_names[path], name) != 0)
		path++;
	return path;
}

const char *sim_trace_direction_name(uint32_t direction)
{
	static const char *const names[SIM_TRACE_NUM_DIRECTIONS] = { "", "to card", "to host", "there and back" };

	return direction < SIM_TRACE_NUM_DIRECTIONS ? names[direction] : "";
}

const char *sim_trace_state_name(uint64_t state)
{
	static const char *const names[] = { "idle", "starting", "running", "stopping" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}
