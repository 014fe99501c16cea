/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a run: programs, and what their recordings say. */
#include "run_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "process_wait.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/trace/recordings.h"

#define NUM_LAST  3 /* records of each process */
#define MAX_LINES 8 /* of one sort, of each process */
#define TIME_SIZE 32

#define CONTEXT_SIZE (SIM_TRACE_LABEL_SIZE + SIM_TRACE_NAME_SIZE + TIME_SIZE + 32)

/* One process of a program. */
struct account {
	const struct sim_merged_trace *merged;
	const struct sim_trace_recording *recording;
	uint32_t process;  /* number of the recording */
	const char *label; /* of the program */
};

/* Session time as "0.001234 s". */
static const char *format_time(const struct sim_merged_trace *merged, uint64_t time_ns, char text[TIME_SIZE])
{
	uint64_t us = (time_ns > merged->zero_ns ? time_ns - merged->zero_ns : 0) / 1000;

	snprintf(text, TIME_SIZE, "%" PRIu64 ".%06" PRIu64 " s", us / 1000000, us % 1000000);
	return text;
}

static const struct sim_trace_event *event_of(const struct account *account, size_t i)
{
	const struct sim_trace_event *event = &account->merged->events[i];

	return event->process == account->process ? event : NULL;
}

/* ---- what is unfinished ---- */

static bool is_open(const struct sim_trace_object *object)
{
	return !object->ended_ns &&
	       (object->kind == SIM_TRACE_CONNECTION ? object->state == 1 :
						       strcmp(sim_trace_state_name(object->state), "idle") != 0);
}

/* Whether the process has a context that is not idle, or an open connection. */
static bool is_unfinished(const struct sim_trace_recording *recording)
{
	for (uint32_t i = 0; i < recording->num_objects; i++)
		if (is_open(&recording->objects[i]))
			return true;
	return false;
}

/* When a context came into its state; 0 = not recorded. */
static uint64_t state_since_ns(const struct account *account, uint32_t object)
{
	uint64_t since_ns = 0;

	for (size_t i = 0; i < account->merged->num_events; i++) {
		const struct sim_trace_event *event = event_of(account, i);

		if (event && event->kind == SIM_TRACE_STATE && event->subject == object)
			since_ns = event->time_ns;
	}
	return since_ns;
}

/* Write ", the last at TIME", as far as it is known: not each task is recorded. */
static void describe_last_end(const struct account *account, uint32_t op, uint64_t ended, char *text, size_t size)
{
	uint64_t last_ns = 0, count = 0;
	char time[TIME_SIZE];

	for (size_t i = 0; i < account->merged->num_events; i++) {
		const struct sim_trace_event *event = event_of(account, i);

		if (!event || event->kind != SIM_TRACE_TASK || event->subject != op)
			continue;
		count++;
		last_ns = event->data.task.reaped_ns > last_ns ? event->data.task.reaped_ns : last_ns;
	}
	text[0] = '\0';
	if (count)
		snprintf(text, size, ", the last %sat %s", count < ended ? "recorded " : "",
			 format_time(account->merged, last_ns, time));
}

static bool is_in_flight(const struct sim_trace_op *op)
{
	return op->submitted > op->completed + op->failed;
}

/* Write the context's name, device and state: "dma #1 on mlx5_0 (running since 0.001234 s)". */
static void describe_context(const struct account *account, uint32_t number, char *text, size_t size)
{
	const struct sim_trace_recording *recording = account->recording;
	uint64_t since_ns = state_since_ns(account, number);
	char label[SIM_TRACE_LABEL_SIZE], since[TIME_SIZE];

	sim_trace_label_object(recording, number, label);
	snprintf(text, size, "%s on %s (%s%s%s)", label, sim_trace_device_of(recording, number),
		 number ? sim_trace_state_name(recording->objects[number - 1].state) : "unknown",
		 since_ns ? " since " : "", since_ns ? format_time(account->merged, since_ns, since) : "");
}

static void print_in_flight(const struct account *account)
{
	const struct sim_trace_recording *recording = account->recording;
	uint32_t count = 0;

	for (uint32_t i = 0; i < recording->num_ops; i++) {
		const struct sim_trace_op *op = &recording->ops[i];
		uint64_t ended = op->completed + op->failed;
		char context[CONTEXT_SIZE], last[64];

		if (!is_in_flight(op) || count++ >= MAX_LINES)
			continue;
		describe_context(account, op->object, context, sizeof(context));
		describe_last_end(account, i + 1, ended, last, sizeof(last));
		cli_fail("  %s: in flight: %" PRIu64 " of %s, in %s; %" PRIu64 " ha%s ended%s", account->label,
			 op->submitted - ended, sim_trace_name_of(recording, op->name), context, ended,
			 ended == 1 ? "s" : "ve", last);
	}
	if (count > MAX_LINES)
		cli_fail("  %s: and %u kinds of tasks more", account->label, count - MAX_LINES);
}

static bool has_tasks_in_flight(const struct sim_trace_recording *recording, uint32_t context)
{
	for (uint32_t i = 0; i < recording->num_ops; i++)
		if (recording->ops[i].object == context && is_in_flight(&recording->ops[i]))
			return true;
	return false;
}

/* Contexts that are not idle and wait for something else than tasks: a peer, the end of a stop. */
static void print_other_contexts(const struct account *account)
{
	const struct sim_trace_recording *recording = account->recording;
	uint32_t count = 0;

	for (uint32_t number = 1; number <= recording->num_objects; number++) {
		const struct sim_trace_object *object = &recording->objects[number - 1];
		char context[CONTEXT_SIZE];

		if (object->kind != SIM_TRACE_CONTEXT || !is_open(object) || has_tasks_in_flight(recording, number) ||
		    count++ >= MAX_LINES)
			continue;
		describe_context(account, number, context, sizeof(context));
		cli_fail("  %s: without tasks in flight: %s", account->label, context);
	}
	if (count > MAX_LINES)
		cli_fail("  %s: and %u contexts more", account->label, count - MAX_LINES);
}

static void print_connections(const struct account *account)
{
	uint32_t count = 0;

	for (uint32_t number = 1; number <= account->recording->num_objects; number++) {
		const struct sim_trace_object *object = &account->recording->objects[number - 1];
		char label[SIM_TRACE_LABEL_SIZE], since[TIME_SIZE];

		if (object->kind != SIM_TRACE_CONNECTION || !is_open(object) || count++ >= MAX_LINES)
			continue;
		sim_trace_label_object(account->recording, number, label);
		cli_fail("  %s: connection %s is open since %s: %" PRIu64 " sent, %" PRIu64 " received", account->label,
			 label, format_time(account->merged, object->began_ns, since), (uint64_t)object->sent,
			 (uint64_t)object->received);
	}
	if (count > MAX_LINES)
		cli_fail("  %s: and %u connections more", account->label, count - MAX_LINES);
}

/* ---- records ---- */

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

static void print_last(const struct account *account)
{
	const struct sim_trace_event *last[NUM_LAST];
	size_t count = 0;

	for (size_t i = 0; i < account->merged->num_events; i++)
		if (event_of(account, i))
			last[count++ % NUM_LAST] = event_of(account, i);
	for (size_t i = count > NUM_LAST ? count - NUM_LAST : 0; i < count; i++) {
		const struct sim_trace_event *event = last[i % NUM_LAST];
		char text[256], time[TIME_SIZE];

		describe(account->merged, event, text, sizeof(text));
		cli_fail("  %s: at %s: %s", account->label, format_time(account->merged, event->time_ns, time), text);
	}
}

/* When the process recorded something last; 0 = never. */
static uint64_t last_step_ns(const struct account *account)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < account->merged->num_events; i++) {
		const struct sim_trace_event *event = event_of(account, i);
		uint64_t end_ns = !event                        ? 0 :
				  event->kind == SIM_TRACE_TASK ? event->data.task.reaped_ns :
								  event->time_ns;

		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	return last_ns;
}

/* Where its main thread is, and since when nothing was recorded. */
static void print_wait(const struct account *account)
{
	const struct sim_merged_trace *merged = account->merged;
	uint64_t last_ns = last_step_ns(account);
	char wait[CLI_PROCESS_WAIT_SIZE], last[TIME_SIZE], now[TIME_SIZE];

	if (cli_process_wait(account->recording->owner.pid, wait) < 0)
		return;
	format_time(merged, merged->zero_ns + merged->session_ns, now);
	if (last_ns)
		cli_fail("  %s: %s %s; nothing recorded since %s, and it is %s now", account->label,
			 account->recording->owner.program, wait, format_time(merged, last_ns, last), now);
	else
		cli_fail("  %s: %s %s; nothing recorded until %s", account->label, account->recording->owner.program,
			 wait, now);
}

/* ---- programs ---- */

static void print_account(const struct account *account, bool runs)
{
	print_in_flight(account);
	print_other_contexts(account);
	print_connections(account);
	if (runs)
		print_wait(account);
	print_last(account);
}

static uint32_t count_processes(const struct sim_merged_trace *merged, uint32_t command)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < merged->num_recordings; i++)
		count += merged->recordings[i].command == command;
	return count;
}

/* The processes of a program for which the card did something at its end. Returns their number. */
static uint32_t print_unfinished(const struct sim_merged_trace *merged, const char *label, uint32_t command, bool runs)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		const struct sim_trace_recording *recording = &merged->recordings[i];
		const struct account account = {
			.merged = merged, .recording = recording, .process = i, .label = label
		};

		if (recording->command != command || !(is_unfinished(recording) || (runs && recording->owner.is_alive)))
			continue;
		print_account(&account, runs);
		count++;
	}
	return count;
}

static void print_running(const struct sim_merged_trace *merged, const struct cli_program *program, uint32_t command)
{
	cli_fail("%s runs, as process %d", program->label, program->pid);
	if (!merged)
		return;
	if (count_processes(merged, command) == 0)
		cli_fail("  %s: has not attached to the session", program->label);
	else if (print_unfinished(merged, program->label, command, true) == 0)
		cli_fail("  %s: its processes that had attached to the session have ended", program->label);
}

/* The caller has said how it ended. */
static void print_failed(const struct sim_merged_trace *merged, const struct cli_program *program, uint32_t command,
			 bool was_killed)
{
	if (!merged || print_unfinished(merged, program->label, command, false) > 0 || !was_killed)
		return;
	if (count_processes(merged, command) == 0)
		cli_fail("  %s: had not attached to the session: the card did nothing for it", program->label);
	else
		cli_fail("  %s: nothing was in flight, and its contexts were idle", program->label);
}

/* Its last steps may be what a program that runs waits for. */
static void print_ended(const struct sim_merged_trace *merged, const struct cli_program *program, uint32_t command)
{
	cli_fail("%s %s", program->label, program->was_started ? "has ended" : "was not started");
	for (uint32_t i = 0; merged && i < merged->num_recordings; i++)
		if (merged->recordings[i].command == command)
			print_last(&(struct account){ .merged = merged,
						      .recording = &merged->recordings[i],
						      .process = i,
						      .label = program->label });
}

static void print_program(const struct cli_run_state_cfg *cfg, const struct sim_merged_trace *merged, size_t i)
{
	const struct cli_program *program = &cfg->programs[i];
	uint32_t command = (uint32_t)i + 1;

	if (program->pid > 0)
		print_running(merged, program, command);
	else if (program == cfg->failed)
		print_failed(merged, program, command, cfg->was_killed);
	else
		print_ended(merged, program, command);
}

/* After a failure, programs that have ended are named only beside those that run. */
static bool is_shown(const struct cli_run_state_cfg *cfg, size_t i)
{
	bool runs = false;

	for (size_t j = 0; j < cfg->num_programs; j++)
		runs |= cfg->programs[j].pid > 0;
	return runs || !cfg->failed || &cfg->programs[i] == cfg->failed;
}

void cli_run_state_print(const struct cli_run_state_cfg *cfg)
{
	struct sim_merged_trace merged;
	bool has_trace = cfg->is_recorded && cli_recordings_fetch(cfg->dir, &merged) == 0;

	if (cfg->failed) /* its lines follow that of its end */
		print_program(cfg, has_trace ? &merged : NULL, (size_t)(cfg->failed - cfg->programs));
	for (size_t i = 0; i < cfg->num_programs; i++)
		if (&cfg->programs[i] != cfg->failed && is_shown(cfg, i))
			print_program(cfg, has_trace ? &merged : NULL, i);
	if (has_trace)
		sim_merged_trace_free(&merged);
}
