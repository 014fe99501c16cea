/* SPDX-License-Identifier: BSD-3-Clause */
/* Arms the detectors of races around each task and its job. */
#include "race.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/check/base/lock.h"
#include "shim/check/base/probe.h"
#include "shim/check/mem/rules_task_memory.h"
#include "shim/check/race/race_live.h"
#include "shim/check/race/race_pool.h"
#include "shim/common/mem/mmap_priv.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/memory_guard.h"
#include "sim/base/move.h"
#include "sim/fabric/remote.h"

static char names[64];

/* ---- events ---- */

/* In the reverse order: what the thread sanitizer's detector hides from it includes the accesses of the others. */
static void end_job(struct race_record *record)
{
	for (size_t i = race_live.count; i-- > 0;)
		if (race_live.detectors[i]->end_job)
			race_live.detectors[i]->end_job(record);
}

/* Instead of the job's own. */
static int run_watched(struct sim_job *job)
{
	struct race_record *record = race_record_find(shim_task_from_job(job));
	int rc;

	FOR_EACH_DETECTOR(begin_job, record);
	rc = record->run(job);
	end_job(record);
	return rc;
}

/* The library's own access, to the memory of a task that it keeps. */
static void access_begins(struct doca_task *task)
{
	struct race_record *record = race_live.count ? race_record_find(task) : NULL;

	if (record)
		FOR_EACH_DETECTOR(begin_job, record);
}

static void access_ended(struct doca_task *task)
{
	struct race_record *record = race_live.count ? race_record_find(task) : NULL;

	if (record)
		end_job(record);
}

/* Outside of jobs, the detectors read memory that the program may have taken away, too. */
struct record_guard {
	struct sim_guard guard; /* first */
	const struct race_record *record;
};

static bool find_memory(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory)
{
	const struct race_record *record = ((const struct record_guard *)guard)->record;

	for (uint32_t i = 0; i < record->num_ranges; i++) {
		const struct check_task_range *range = &record->ranges[i].memory;
		struct sim_remote *remote = range->mmap->remote;
		uintptr_t begin = (uintptr_t)range->cpu;

		*ret_memory = (struct sim_guarded_memory){ .begin = begin, .end = begin + range->len_bytes };
		if (remote && sim_mapping_has(&remote->mapping, addr))
			ret_memory->mapping = &remote->mapping;
		if (ret_memory->mapping || (begin && addr - begin < range->len_bytes))
			return true;
	}
	return false;
}

static void begin_checks(struct record_guard *guard, const struct race_record *record)
{
	*guard = (struct record_guard){ .guard.find = find_memory, .record = record };
	sim_guard_begin(&guard->guard);
}

static void end_checks(struct record_guard *guard)
{
	sim_guard_end();
	if (guard->guard.has_faulted)
		sim_guard_settle(&guard->guard);
}

static void task_posted(struct doca_task *task)
{
	struct record_guard guard;
	struct race_record *record =
		race_live.count && !check_task_memory_is_gone() ? race_record_add(task, race_plain_room) : NULL;

	if (!record)
		return;
	begin_checks(&guard, record);
	FOR_EACH_DETECTOR(posted, record);
	FOR_EACH_DETECTOR(armed, record);
	end_checks(&guard);
	record->run = task->job.run;
	if (task->job.run)
		task->job.run = run_watched;
}

static void forget(struct doca_task *task, struct race_record *record)
{
	if (task->job.run)
		task->job.run = task->pool->type->run;
	race_record_free(record);
}

static void task_refused(struct doca_task *task)
{
	struct race_record *record = race_record_remove(task);
	struct record_guard guard;

	if (!record)
		return;
	begin_checks(&guard, record);
	FOR_EACH_DETECTOR(refused, record);
	end_checks(&guard);
	forget(task, record);
}

static void task_ended(struct doca_task *task, doca_error_t status)
{
	struct race_record *record = race_record_remove(task);
	struct record_guard guard;

	if (!record)
		return;
	begin_checks(&guard, record);
	FOR_EACH_DETECTOR(ended, record, status != DOCA_SUCCESS);
	end_checks(&guard);
	forget(task, record);
}

static void fork_record(struct race_record *record)
{
	FOR_EACH_DETECTOR(forked, record);
}

static void forked(void)
{
	race_pool_forked();
	for (size_t i = 0; i < race_live.count; i++)
		if (race_live.detectors[i]->lock)
			check_lock_init(race_live.detectors[i]->lock);
	race_records_forked(fork_record);
}

/* ---- start ---- */

static const struct race_detector *const detectors[] = { &race_tsan, &race_asan, &race_valgrind, &race_guard,
							 &race_plain };

const char *check_race_detectors(void)
{
	return names;
}

/* The C library's own memmove(), in place of a sanitizer's. */
static void move_past_sanitizers(void)
{
	void *libc = race_asan.is_live() || race_tsan.is_live() ? dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *own = libc ? dlsym(libc, "memmove") : NULL;

	if (own)
		*(void **)&sim_move = own;
}

void check_race_stay_off(void)
{
	if (race_tsan.is_live())
		move_past_sanitizers();
}

/* Tasks of other processes that overlap are known before a detector watches this one. */
static void add_session(void)
{
	memmove(&race_live.detectors[1], &race_live.detectors[0], race_live.count * sizeof(race_live.detectors[0]));
	race_live.detectors[0] = &race_session;
	race_live.count++;
}

static void start(void)
{
	move_past_sanitizers();
	for (size_t i = 0; i < sizeof(detectors) / sizeof(detectors[0]); i++) {
		size_t len = strlen(names);

		if (!detectors[i]->is_live())
			continue;
		race_live.detectors[race_live.count++] = detectors[i];
		snprintf(names + len, sizeof(names) - len, "%s%s", len ? "," : "", detectors[i]->name);
	}
	if (race_live.count > 0)
		add_session();
	if (check_mode >= SIM_CHECK_RACES)
		check_probe_start(race_plain_is_alone());
	race_pool_start(!race_asan.is_live() && !race_valgrind.is_live());
	FOR_EACH_DETECTOR(start, );
}

const struct check_part check_race = {
	.mode = SIM_CHECK_OFF, /* a sanitizer is enough */
	.start = start,
	.task_posted = task_posted,
	.task_refused = task_refused,
	.task_ended = task_ended,
	.access_begins = access_begins,
	.access_ended = access_ended,
	.forked = forked,
};
