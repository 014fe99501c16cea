/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about memory that the program takes away while a task in flight uses it: reported where the program does so, or, if
 * that was not seen, where the engine met it. */
#include <inttypes.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "release_calls.h"
#include "shim/check/base/check.h"
#include "shim/check/history/mmap_history.h"
#include "shim/check/history/releases.h"
#include "shim/check/history/task_ranges.h"
#include "shim/check/history/task_sites.h"
#include "shim/check/history/tasks_in_flight.h"
#include "shim/common/pe/task_memory.h"

#define MAX_RANGES 16 /* of a task; of longer lists, the first */

/* ---- tasks that use the memory ---- */

struct users {
	const struct check_release *release;
	enum check_release_kind kind;
	uint32_t count;
	const struct doca_task *first;
	struct check_task_range range; /* of the first */
};

static bool is_taken(const struct users *users, const struct check_task_range *range)
{
	uintptr_t begin = (uintptr_t)range->cpu;

	return range->cpu && begin < users->release->end && users->release->begin < begin + range->len_bytes &&
	       (range->is_write || users->kind != CHECK_NO_WRITE);
}

static bool see_task(const struct doca_task *task, void *arg)
{
	struct check_task_range ranges[MAX_RANGES];
	size_t count = min_size(check_task_get_ranges(task, ranges, MAX_RANGES), MAX_RANGES), i = 0;
	struct users *users = arg;

	while (i < count && !is_taken(users, &ranges[i]))
		i++;
	if (i < count && users->count++ == 0) {
		users->first = task;
		users->range = ranges[i];
	}
	return true;
}

/* ---- reports ---- */

static void add_task(struct check_hit *hit, const struct doca_task *task)
{
	const void *site = check_task_site(task);
	struct check_stack stack = check_stack_of(site);

	if (site)
		check_hit_add_party(hit, 0, &stack, "the %s task %p was allocated", task->pool->type->name,
				    (const void *)task);
	check_hit_add_ctx(hit, task->ctx);
}

static void report_release(const struct users *users)
{
	const struct check_release *release = users->release;
	const struct check_task_range *range = &users->range;
	struct check_hit *hit = check_hit_begin_at(
		release->is_protection ? BFC_MEMORY_PROTECTED_IN_FLIGHT : BFC_MEMORY_RELEASED_IN_FLIGHT,
		&release->stack,
		"%s of %zu bytes at %p: %" PRIu32
		" task%s in flight use%s the memory; of the first, the %s, %zu bytes at %p",
		release->function, release->end - release->begin, (void *)release->begin, users->count,
		users->count > 1 ? "s" : "", users->count > 1 ? "" : "s", range->is_write ? "destination" : "source",
		range->len_bytes, (const void *)range->addr);

	if (!hit)
		return;
	check_mmap_add_object(hit, range->mmap);
	add_task(hit, users->first);
	check_hit_end(hit);
}

static void see_release(const char *function, enum check_release_kind kind, uintptr_t addr, size_t len_bytes,
			const void *caller)
{
	struct check_release release = { .function = function,
					 .begin = addr,
					 .end = addr + len_bytes,
					 .is_protection = kind != CHECK_RELEASED,
					 .tid = gettid() };
	struct users users = { .release = &release, .kind = kind };

	if (!check_may_be_in_started_map(release.begin, release.end))
		return;
	check_stack_take(caller, &release.stack);
	check_posted_tasks(see_task, &users);
	release.is_reported = users.count > 0;
	check_release_add(&release);
	if (release.is_reported)
		report_release(&users);
}

/* ---- what the engine met ---- */

static const char *describe(enum sim_memory_fault fault)
{
	switch (fault) {
	case SIM_MEMORY_UNMAPPED:
		return "was not mapped";
	case SIM_MEMORY_TRUNCATED:
		return "had no object behind it (it was truncated)";
	default:
		return "was protected";
	}
}

/* Where it was taken away is not known, or that was before the submission. In the mode races, the submission was reported
 * then (rules_task_memory.c). Any thread may have run the job: the site is the task's. */
static void memory_faulted(const struct doca_task *task, const struct shim_memory *memory,
			   const struct sim_guard *guard)
{
	const void *site = task ? check_task_site(task) : NULL;
	const struct check_stack stack = check_stack_of(site);
	struct check_release release;
	struct check_hit *hit;

	if (check_release_find(guard->addr, 1, &release) && (release.is_reported || check_mode >= SIM_CHECK_RACES))
		return;
	hit = check_hit_begin_at(guard->is_lost ? BFC_MEMORY_RELEASED_IN_FLIGHT : BFC_MEMORY_PROTECTED_IN_FLIGHT,
				 site ? &stack : NULL,
				 "%s%s: the %s, %zu bytes at %#" PRIx64 ", %s when it was accessed",
				 task ? task->pool->type->name : "sync event", site ? " task, allocated here" : "",
				 memory->role, memory->len_bytes, memory->addr, describe(guard->fault));
	if (!hit)
		return;
	check_release_add_party(hit, guard->addr, 1);
	if (memory->mmap)
		check_mmap_add_object(hit, memory->mmap);
	if (task)
		check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void start(void)
{
	check_release_calls_follow(see_release);
}

/* Libraries may have been loaded meanwhile. */
static void leave_start(struct shim_call *call)
{
	(void)call;
	check_release_calls_follow(see_release);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_start, NULL, leave_start },
};

const struct check_part check_release = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.start = start,
	.memory_faulted = memory_faulted,
};
