/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a run: programs, tasks in flight, last records. */
#include "run_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/trace/recordings.h"

#define NUM_LAST 3 /* records of each program */

static void print_in_flight(const struct sim_trace_recording *recording, const char *label)
{
	for (uint32_t i = 0; i < recording->num_ops; i++) {
		const struct sim_trace_op *op = &recording->ops[i];
		uint64_t ended = op->completed + op->failed;
		char object[SIM_TRACE_LABEL_SIZE];

		if (op->submitted <= ended)
			continue;
		sim_trace_label_object(recording, op->object, object);
		cli_fail("  %s: in flight: %" PRIu64 " of %s, in %s on %s; %" PRIu64 " have ended", label,
			 op->submitted - ended, sim_trace_name_of(recording, op->name), object,
			 sim_trace_device_of(recording, op->object), ended);
	}
}

/* What a record says, without its time. */
static void describe(const struct sim_merged_trace *merged, const struct sim_trace_event *event, char *text,
		     size_t size)
{
	const struct sim_trace_recording *recording = &merged->recordings[event->process];
	char object[SIM_TRACE_LABEL_SIZE];

	sim_trace_label_object(recording, sim_trace_object_of(recording, event), object);
	switch (event->kind) {
	case SIM_TRACE_TASK:
		snprintf(text, size, "%s of %" PRIu64 " bytes in %s: %s",
			 sim_trace_name_of(recording, recording->ops[event->subject - 1].name), event->data.task.bytes,
			 object, event->reason ? sim_trace_name_of(recording, event->reason) : "ok");
		break;
	case SIM_TRACE_STATE:
		snprintf(text, size, "%s is %s", object, sim_trace_state_name(event->data.state.to));
		break;
	case SIM_TRACE_SENT:
	case SIM_TRACE_RECEIVED:
		snprintf(text, size, "%s %s a message of %" PRIu64 " bytes", object,
			 event->kind == SIM_TRACE_SENT ? "sent" : "received", event->data.message.bytes);
		break;
	case SIM_TRACE_OPENED:
	case SIM_TRACE_CLOSED:
		snprintf(text, size, "%s was %s", object, event->kind == SIM_TRACE_OPENED ? "opened" : "closed");
		break;
	case SIM_TRACE_FAULT:
		snprintf(text, size, "fault: %s", sim_merged_trace_rule_text(merged, event));
		break;
	default:
		snprintf(text, size, "%s", event->text ? event->text : "");
		break;
	}
}

static void print_last(const struct sim_merged_trace *merged, uint32_t process, const char *label)
{
	const struct sim_trace_event *last[NUM_LAST];
	size_t count = 0;

	for (size_t i = 0; i < merged->num_events; i++)
		if (merged->events[i].process == process)
			last[count++ % NUM_LAST] = &merged->events[i];
	for (size_t i = count > NUM_LAST ? count - NUM_LAST : 0; i < count; i++) {
		const struct sim_trace_event *event = last[i % NUM_LAST];
		uint64_t us = (event->time_ns - merged->zero_ns) / 1000;
		char text[256];

		describe(merged, event, text, sizeof(text));
		cli_fail("  %s: at %" PRIu64 ".%06" PRIu64 " s: %s", label, us / 1000000, us % 1000000, text);
	}
}

static void print_program(const struct sim_merged_trace *merged, const struct cli_program *program, uint32_t command)
{
	bool was_attached = false;

	for (uint32_t i = 0; merged && i < merged->num_recordings; i++) {
		if (merged->recordings[i].command != command)
			continue;
		was_attached = true;
		print_in_flight(&merged->recordings[i], program->label);
		print_last(merged, i, program->label);
	}
	if (merged && !was_attached && program->pid > 0)
		cli_fail("  %s: has not attached to the session", program->label);
}

void cli_run_state_print(const char *dir, const struct cli_program *programs, size_t num_programs)
{
	int dir_fd = cli_session_open(dir);
	struct sim_merged_trace merged;
	uint64_t num_dropped;
	int rc = dir_fd < 0 ? -1 : cli_recordings_fetch(dir_fd, dir, &merged, &num_dropped);

	for (size_t i = 0; i < num_programs; i++) {
		const struct cli_program *program = &programs[i];

		if (program->pid > 0)
			cli_fail("%s runs, as process %d", program->label, program->pid);
		else
			cli_fail("%s %s", program->label, program->was_started ? "has ended" : "was not started");
		print_program(rc == 0 ? &merged : NULL, program, (uint32_t)i + 1);
	}
	if (rc == 0)
		sim_merged_trace_free(&merged);
	if (dir_fd >= 0)
		close(dir_fd);
}
