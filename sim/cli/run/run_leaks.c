/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts and other objects that programs of a run left open. */
#include "run_leaks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/trace/recordings.h"

static bool is_left_open(const struct sim_trace_object *object)
{
	return object->kind == SIM_TRACE_CONTEXT && object->ended_ns == 0 &&
	       strcmp(sim_trace_state_name(object->state), "idle") != 0;
}

/* Tasks of contexts that were left open; of a context that was stopped, none is in flight. */
static void print_in_flight(const struct sim_trace_recording *recording, const char *label)
{
	for (uint32_t i = 0; i < recording->num_ops; i++) {
		const struct sim_trace_op *op = &recording->ops[i];
		uint64_t ended = op->completed + op->failed;
		char object[SIM_TRACE_LABEL_SIZE];

		if (op->submitted <= ended || !op->object || !is_left_open(&recording->objects[op->object - 1]))
			continue;
		sim_trace_label_object(recording, op->object, object);
		cli_fail("%s: %s ended with %" PRIu64 " of %s in flight, in %s", label, recording->owner.program,
			 op->submitted - ended, sim_trace_name_of(recording, op->name), object);
	}
}

/* The contexts of one process, in one line. */
static void print_recording(const struct sim_trace_recording *recording, const char *label)
{
	char object[SIM_TRACE_LABEL_SIZE];
	uint32_t first = 0, count = 0;

	for (uint32_t number = 1; number <= recording->num_objects; number++) {
		if (!is_left_open(&recording->objects[number - 1]))
			continue;
		first = count++ ? first : number;
	}
	if (count == 0)
		return;
	sim_trace_label_object(recording, first, object);
	cli_fail("%s: %s ended with %s on %s%s that it had neither stopped nor destroyed", label,
		 recording->owner.program, object, sim_trace_device_of(recording, first),
		 count > 1 ? ", and further contexts," : "");
	print_in_flight(recording, label);
}

/* What else the process left, in one line: "2 memory maps and 1 device". */
static void print_open(const struct sim_trace_recording *recording, const char *label)
{
	static const char *const names[] = {
		[SIM_TRACE_OPEN_MAPS] = "memory map",
		[SIM_TRACE_OPEN_INVENTORIES] = "buffer inventor",
		[SIM_TRACE_OPEN_ENGINES] = "progress engine",
		[SIM_TRACE_OPEN_DEVICES] = "device",
	};
	char text[160] = "";
	size_t len = 0;

	for (int what = 0; what < SIM_TRACE_NUM_OPEN; what++) {
		uint32_t count = recording->num_open[what];
		const char *end = what == SIM_TRACE_OPEN_INVENTORIES ? (count == 1 ? "y" : "ies") :
				  count == 1                         ? "" :
								       "s";

		if (count)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u %s%s", len ? ", " : "", count,
						names[what], end);
	}
	if (len)
		cli_fail("%s: %s ended and left open: %s", label, recording->owner.program, text);
}

void cli_run_leaks_print(const char *dir, const struct cli_program *programs, size_t num_programs)
{
	struct sim_merged_trace merged;

	if (cli_recordings_fetch(dir, &merged) < 0)
		return;
	for (uint32_t i = 0; i < merged.num_recordings; i++) {
		uint32_t command = merged.recordings[i].command;

		if (command == 0 || command > num_programs || programs[command - 1].status != 0)
			continue;
		print_recording(&merged.recordings[i], programs[command - 1].label);
		print_open(&merged.recordings[i], programs[command - 1].label);
	}
	sim_merged_trace_free(&merged);
}
