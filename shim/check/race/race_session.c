/* SPDX-License-Identifier: BSD-3-Clause */
/* Enters tasks that use exported memory in the session's ledger, and reports those that overlap with another process's. */
#include "race_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/check/base/lock.h"
#include "shim/check/base/thread.h"
#include "shim/common/mem/mmap_priv.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"

#define NUM_SITES    64
#define MAX_REPLY_MS 1000 /* a process that is stopped, or overloaded, does not answer */

struct site {
	const void *caller;
	char text[SIM_LEDGER_SITE_SIZE];
};

static struct {
	struct check_lock lock; /* protects this process's lane, the number of tasks and the sites */
	uint64_t num_tasks;
	uint64_t silent_owner; /* did not answer; it is not waited for again */
	struct site sites[NUM_SITES];
} shared = { .lock = { ATOMIC_FLAG_INIT } };

bool race_sync_is_doca(void)
{
	static _Atomic int is_doca = -1;

	if (is_doca < 0) {
		const char *sync = getenv("BFSIM_CHECK_SYNC");

		is_doca = sync && strcmp(sync, "doca") == 0;
	}
	return is_doca;
}

/* ---- the description of a task ---- */

static bool find_site(const void *caller, char text[SIM_LEDGER_SITE_SIZE])
{
	const struct site *site = &shared.sites[(uintptr_t)caller / 4 % NUM_SITES];
	bool is_found;

	check_lock(&shared.lock);
	is_found = site->caller == caller;
	if (is_found)
		memcpy(text, site->text, SIM_LEDGER_SITE_SIZE);
	check_unlock(&shared.lock);
	return is_found;
}

/* Finding a line takes long: once for each caller, and without the lock. */
static void format_site(const void *caller, char text[SIM_LEDGER_SITE_SIZE])
{
	struct site *site = &shared.sites[(uintptr_t)caller / 4 % NUM_SITES];

	if (!caller || find_site(caller, text))
		return;
	check_stack_format_caller(caller, text, SIM_LEDGER_SITE_SIZE);
	check_lock(&shared.lock);
	site->caller = caller;
	memcpy(site->text, text, SIM_LEDGER_SITE_SIZE);
	check_unlock(&shared.lock);
}

/* Returns false if no other process can reach the memory. */
static bool describe(const struct race_record *record, const struct race_range *range,
		     struct sim_shared_range *ret_shared)
{
	const struct check_task_range *memory = &range->memory;
	const struct sim_remote *remote = memory->mmap->remote;

	if (memory->end == CHECK_RANGE_NEVER)
		return false;
	if (remote)
		*ret_shared = (struct sim_shared_range){
			.owner = remote->exporter_id,
			.begin = remote->region.cpu_addr + ((uintptr_t)memory->addr - remote->region.addr),
		};
	else if (shim_mmap_state(memory->mmap) == SHIM_MMAP_EXPORTED)
		*ret_shared = (struct sim_shared_range){ .owner = sim_session_process_id(shim_session()),
							 .begin = (uintptr_t)memory->cpu,
							 .is_own = true };
	else
		return false;
	ret_shared->end = ret_shared->begin + memory->len_bytes;
	ret_shared->is_write = range->node.is_write;
	ret_shared->is_atomic = memory->is_atomic;
	ret_shared->pid = getpid();
	ret_shared->tid = record->tid;
	ret_shared->pid_ns = sim_session_pid_ns(shim_session());
	snprintf(ret_shared->program, sizeof(ret_shared->program), "%s", program_invocation_short_name);
	format_site(record->caller, ret_shared->site);
	return true;
}

/* ---- overlaps ---- */

static void report_overlap(const struct race_record *record, const struct race_range *range,
			   const struct sim_shared_range *mine, const struct sim_shared_range *other)
{
	uint64_t begin = mine->begin > other->begin ? mine->begin : other->begin;
	uint64_t end = mine->end < other->end ? mine->end : other->end;
	struct check_stack stack = check_race_stack(record);
	struct check_hit *hit = check_hit_begin_at(
		BFC_TASKS_OVERLAP, record->caller ? &stack : NULL,
		"%s: the task %s %zu bytes at %p, of which a task of %s process %s %llu at the same time, from byte %llu on",
		record->function < SHIM_NUM_FUNCTIONS ? shim_function_names[record->function].name : "a graph",
		range->node.is_write ? "writes" : "reads", range->memory.len_bytes,
		(void *)(uintptr_t)range->memory.addr, other->pid == getpid() ? "the same" : "another",
		other->is_write ? "writes" : "reads", (unsigned long long)(end - begin),
		(unsigned long long)(begin - mine->begin));

	check_session_add_task(hit, other);
	if (hit) {
		check_hit_add_object(hit, "memory map", range->memory.mmap, NULL);
		check_hit_add_ctx(hit, record->task->ctx);
	}
	check_hit_end(hit);
}

static void find_overlap(struct race_record *record, const struct race_range *range,
			 const struct sim_shared_ledger *ledger, const struct sim_ledger_lane *lane,
			 const struct sim_shared_range *mine)
{
	struct sim_shared_range other;

	if (!sim_shared_ledger_find_conflict(ledger, lane, mine, &other) || check_session_is_gone(&other))
		return;
	record->overlaps = true;
	if (check_mode >= SIM_CHECK_RACES)
		report_overlap(record, range, mine, &other);
}

/* ---- memory that its owner unmapped ---- */

/* What is seen from here; the owner's listener sees more. */
static void check_memory(const struct race_record *record, const struct race_range *range)
{
	struct check_stack stack = check_race_stack(record);
	struct sim_remote *remote = range->memory.mmap->remote;
	struct check_hit *hit;

	if (!sim_remote_is_unmapped(remote, (uintptr_t)range->memory.addr, range->memory.len_bytes))
		return;
	hit = check_hit_begin_at(
		BFC_TASK_MEMORY_GONE, record->caller ? &stack : NULL,
		"the %s of a task in flight, %zu bytes at %p of process %d (%s), is not mapped any more there: its owner freed it before the task ended",
		range->node.is_write ? "destination" : "source", range->memory.len_bytes,
		(void *)(uintptr_t)range->memory.addr, (int)remote->exporter_pid, remote->program);
	if (hit)
		check_hit_add_object(hit, "memory map", range->memory.mmap, NULL);
	check_hit_end(hit);
}

/* ---- events ---- */

#define ORDERED (UINT64_C(1) << 63) /* requests of a connection count as one task: they are executed in order */

static void ask_owner(struct sim_shared_ledger *ledger, struct sim_ledger_lane *lane, const struct race_range *range,
		      bool arms)
{
	uint64_t owner = range->memory.mmap->remote->exporter_id;
	uint32_t max_ms = owner == shared.silent_owner ? 0 : MAX_REPLY_MS;

	if (sim_shared_ledger_request(ledger, lane, range->shared - 1, arms, max_ms) || max_ms == 0)
		return;
	shared.silent_owner = owner;
	sim_warn(
		"process %d, whose memory a task uses, did not answer the checker within %d ms (is it stopped?): its detectors may miss races for that memory, or report what is none",
		(int)range->memory.mmap->remote->exporter_pid, MAX_REPLY_MS);
}

static bool is_live(void)
{
	return true; /* race.c asks when another detector is live */
}

static void posted(struct race_record *record)
{
	struct sim_shared_ledger *ledger;
	struct sim_ledger_lane *lane = NULL;
	struct sim_shared_range mine;
	uint64_t number = record->order ? record->order | ORDERED : 0;

	for (uint32_t i = 0; i < record->num_ranges; i++) {
		struct race_range *range = &record->ranges[i];

		if (!describe(record, range, &mine) || !(lane = lane ? lane : check_session_lane(&ledger)))
			continue;
		check_lock(&shared.lock);
		number = mine.task = number ? number : ++shared.num_tasks;
		range->shared = sim_ledger_lane_add(lane, &mine) + 1; /* none: 0 */
		check_unlock(&shared.lock);
		find_overlap(record, range, ledger, lane, &mine);
		if (range->shared && race_range_is_remote(range))
			ask_owner(ledger, lane, range, true);
	}
}

static void remove_range(struct race_range *range)
{
	struct sim_shared_ledger *ledger;
	struct sim_ledger_lane *lane = range->shared ? check_session_lane(&ledger) : NULL;

	if (!lane)
		return;
	if (race_range_is_remote(range))
		ask_owner(ledger, lane, range, false);
	check_lock(&shared.lock);
	sim_ledger_lane_remove(lane, range->shared - 1);
	check_unlock(&shared.lock);
	range->shared = 0;
}

/* Ranges with that end. */
static void end_ranges(struct race_record *record, enum check_range_end end)
{
	for (uint32_t i = 0; i < record->num_ranges; i++) {
		struct race_range *range = &record->ranges[i];

		if (range->memory.end != end)
			continue;
		if (race_range_is_remote(range) && check_mode >= SIM_CHECK_RACES)
			check_memory(record, range);
		remove_range(range);
	}
}

static void end_job(struct race_record *record)
{
	end_ranges(record, CHECK_RANGE_TO_ACCESS);
}

static void remove_ranges(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		remove_range(&record->ranges[i]);
}

/* A request that was flushed has made no access. */
static void ended(struct race_record *record, bool has_failed)
{
	(void)has_failed;
	end_ranges(record, CHECK_RANGE_TO_COMPLETION);
	remove_ranges(record);
}

const struct race_detector race_session = {
	.name = "session",
	.lock = &shared.lock,
	.is_live = is_live,
	.posted = posted,
	.refused = remove_ranges,
	.end_job = end_job,
	.ended = ended,
};
