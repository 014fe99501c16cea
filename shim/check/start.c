/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the checker, and passes each event on to the parts that watch it. */
#include <doca_common_defines.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/check/base/check.h"
#include "shim/check/base/sampling.h"
#include "shim/check/base/thread.h"
#include "shim/check/race/race.h"
#include "shim/check/report/hit.h"
#include "shim/check/report/hit_output.h"
#include "shim/check/report/stack.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/fork.h"
#include "sim/base/log.h"
#include "sim/base/process_check.h"

#define MAX_WATCHES 16 /* of one function */

/* Programs of the work-queue generation: their calls have no entries, but for two. */
#ifdef SHIM_WORKQ_BUILD
#define HAS_RULES_OF_CALLS false
#else
#define HAS_RULES_OF_CALLS true
#endif

static const struct check_part *const parts[] = {
#define CHECK_PART(name) &name,
#include "shim/check/base/parts.h"
#undef CHECK_PART
};

#define NUM_PARTS (sizeof(parts) / sizeof(parts[0]))

/* What is called for each event, in the order of @parts; NULL ends a list. Most parts watch few events. */
typedef void call_handler(struct shim_call *call);
static call_handler *enters[SHIM_NUM_FUNCTIONS][MAX_WATCHES + 1], *leaves[SHIM_NUM_FUNCTIONS][MAX_WATCHES + 1];
typedef void posting_handler(const struct doca_task *task);
static posting_handler *posting_plain[NUM_PARTS + 1], *posting_bufs[NUM_PARTS + 1];
static void (*posted[NUM_PARTS + 1])(struct doca_task *task);
static void (*ended[NUM_PARTS + 1])(struct doca_task *task, doca_error_t status);
static void (*access_begun[NUM_PARTS + 1])(struct doca_task *task),
	(*access_done[NUM_PARTS + 1])(struct doca_task *task);

static void enter(struct shim_call *call)
{
	check_begin_call(call);
	for (call_handler **handler = enters[call->function]; *handler; handler++)
		(*handler)(call);
}

#define FOR_EACH_PART(slot, ...)                                              \
	do {                                                                  \
		for (size_t i_ = 0; i_ < NUM_PARTS; i_++)                     \
			if (parts[i_]->slot && parts[i_]->mode <= check_mode) \
				parts[i_]->slot(__VA_ARGS__);                 \
	} while (0)

static void leave(struct shim_call *call)
{
	for (call_handler **handler = leaves[call->function]; *handler; handler++)
		(*handler)(call);
	if (doca_unlikely(call->result != 0) && shim_function_names[call->function].returns_error)
		FOR_EACH_PART(call_failed, call);
	check_end_call(call);
	if (HAS_RULES_OF_CALLS && check_sampling_count_call())
		FOR_EACH_PART(hooks_paused);
}

static void submit_failed(struct shim_call *call)
{
	const struct shim_call *current = check_current_call();

	if (current && current->function == call->function)
		return; /* leave() comes */
	check_begin_call(call);
	leave(call);
}

static inline void call_posting(posting_handler *const *handler, const struct doca_task *task)
{
	for (; *handler; handler++)
		(*handler)(task);
}

static void task_posted(struct doca_task *task)
{
	if (doca_unlikely(task->pool->type->form == SHIM_TASK_PLAIN))
		call_posting(posting_plain, task);
	else
		call_posting(posting_bufs, task);
	if (doca_likely(shim_hooks_are_paused()))
		return;
	for (size_t i = 0; posted[i]; i++)
		posted[i](task);
}

static void access_begins(struct doca_task *task)
{
	for (size_t i = 0; access_begun[i]; i++)
		access_begun[i](task);
}

static void access_ended(struct doca_task *task)
{
	for (size_t i = 0; access_done[i]; i++)
		access_done[i](task);
}

static void task_refused(struct doca_task *task)
{
	FOR_EACH_PART(task_refused, task);
}

static void task_ended(struct doca_task *task, doca_error_t status)
{
	for (size_t i = 0; ended[i]; i++)
		ended[i](task, status);
	if (doca_unlikely(status != DOCA_SUCCESS))
		FOR_EACH_PART(task_failed, task, status);
}

static void ctx_changed(struct doca_ctx *ctx, enum doca_ctx_states from)
{
	FOR_EACH_PART(ctx_changed, ctx, from);
}

static void memory_faulted(const struct doca_task *task, const struct shim_memory *memory,
			   const struct sim_guard *guard)
{
	FOR_EACH_PART(memory_faulted, task, memory, guard);
}

static void message_received(void)
{
	FOR_EACH_PART(message_received);
}

static void queue_opened(const struct doca_ctx *ctx)
{
	FOR_EACH_PART(queue_opened, ctx);
}

static void queue_closing(const struct doca_ctx *ctx)
{
	FOR_EACH_PART(queue_closing, ctx);
}

static void add_handler(call_handler **list, call_handler *handler)
{
	size_t count = 0;

	while (list[count])
		count++;
	if (count == MAX_WATCHES)
		abort(); /* raise it */
	list[count] = handler;
}

static void add_watch(const struct check_watch *watch)
{
	if (watch->enter)
		add_handler(enters[watch->function], watch->enter);
	if (watch->leave)
		add_handler(leaves[watch->function], watch->leave);
}

static void add_infallible(call_handler *handler)
{
	for (uint32_t i = 0; i < SHIM_NUM_FUNCTIONS; i++)
		if (!shim_function_names[i].returns_error && shim_function_names[i].handles & 1)
			add_handler(enters[i], handler);
}

static void add_part(const struct check_part *part)
{
	static size_t num_plain, num_bufs, num_posted, num_ended, num_begun, num_done;

	if (part->enter_infallible)
		add_infallible(part->enter_infallible);
	for (size_t i = 0; i < part->num_watches; i++)
		add_watch(&part->watches[i]);
	if (part->task_posting)
		posting_plain[num_plain++] = part->task_posting;
	if (part->task_posting && !part->wants_plain)
		posting_bufs[num_bufs++] = part->task_posting;
	if (part->task_posted)
		posted[num_posted++] = part->task_posted;
	if (part->task_ended)
		ended[num_ended++] = part->task_ended;
	if (part->access_begins)
		access_begun[num_begun++] = part->access_begins;
	if (part->access_ended)
		access_done[num_done++] = part->access_ended;
}

/* A call of exit() in a handler goes on with the other handlers, with its status. */
static void at_exit(int status, void *unused)
{
	(void)unused;
	FOR_EACH_PART(exit);
	check_hits_write_counts();
	if (check_output_end() && status == 0)
		exit(SIM_CHECK_EXIT_STATUS);
}

/* Once: children have the list of their parents. */
static void watch_all(call_handler *handler)
{
	for (uint32_t i = 0; i < SHIM_NUM_FUNCTIONS; i++)
		add_handler(enters[i], handler);
}

static void become_child(void)
{
	static bool is_child;

	for (size_t i = 0; i < NUM_PARTS && !is_child; i++)
		if (parts[i]->enter_in_child && parts[i]->mode <= check_mode)
			watch_all(parts[i]->enter_in_child);
	is_child = true;
}

/* The thread that forked is the child's only one. */
static void forked(void)
{
	become_child();
	check_thread_forked();
	check_hits_forked();
	check_stack_forked();
	for (size_t i = 0; i < NUM_PARTS; i++)
		if (parts[i]->lock)
			pthread_mutex_init(parts[i]->lock, NULL);
	FOR_EACH_PART(forked);
}

static struct sim_fork_handler at_fork = { .rank = SIM_FORK_CHECKER, .child = forked };

/* For bfsim ps: "api", "races: plain", or the detector alone. */
static void publish_mode(void)
{
	const char *detectors = check_race_detectors();
	char text[SIM_PROCESS_CHECK_SIZE];

	snprintf(text, sizeof(text), "%s%s%s", check_mode == SIM_CHECK_OFF ? "" : sim_check_mode_name(check_mode),
		 check_mode != SIM_CHECK_OFF && detectors[0] ? ": " : "", detectors);
	sim_set_process_check(text);
}

/* The one function that the library exports: the hooks of a checker in the mode that @mode_text names; NULL = none. */
__attribute__((visibility("default"))) const struct shim_call_hooks *shim_check_start(const char *mode_text)
{
	static const struct shim_call_hooks hooks = { .enter = enter,
						      .leave = leave,
						      .submit_failed = submit_failed,
						      .task_posted = task_posted,
						      .task_refused = task_refused,
						      .task_ended = task_ended,
						      .access_begins = access_begins,
						      .access_ended = access_ended,
						      .ctx_changed = ctx_changed,
						      .memory_faulted = memory_faulted,
						      .message_received = message_received,
						      .queue_opened = queue_opened,
						      .queue_closing = queue_closing };

	if (strcmp(mode_text, "sanitizer") == 0) {
		check_mode = SIM_CHECK_OFF; /* what has no least mode: the detectors of races */
	} else if (sim_check_mode_parse(mode_text, &check_mode) < 0) {
		sim_err("BFSIM_CHECK=%s: write " SIM_CHECK_MODES "; nothing is checked", mode_text);
		return NULL;
	} else if (check_mode == SIM_CHECK_OFF) {
		check_race_stay_off();
		return NULL;
	} else if (check_mode == SIM_CHECK_API && !HAS_RULES_OF_CALLS) {
		sim_warn(
			"BFSIM_CHECK=%s: of programs of the work-queue generation, only the memory of jobs is checked; give --check=races",
			mode_text);
		check_output_refuse();
		return NULL;
	}
	check_output_open();
	for (size_t i = 0; i < NUM_PARTS; i++)
		if (parts[i]->mode <= check_mode)
			add_part(parts[i]);
	FOR_EACH_PART(start);
	if (check_mode == SIM_CHECK_API && !check_race_detectors()[0])
		check_sampling_allow(&hooks);
	publish_mode();
	sim_fork_add(&at_fork);
	on_exit(at_exit, NULL);
	return &hooks;
}
