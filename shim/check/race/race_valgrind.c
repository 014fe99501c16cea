/* SPDX-License-Identifier: BSD-3-Clause */
/* Under valgrind's memcheck: the destination of a task in flight is not addressable, so that memcheck reports the access
 * itself, with its stack. */
#include "race_session.h"
#include "shim/common/pe/task_priv.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>

static bool is_live(void)
{
	return RUNNING_ON_VALGRIND > 0;
}

/* Not of tasks that the library keeps: memcheck would take the delivery of their bytes for an access of the program. */
static bool is_guarded(const struct race_record *record, const struct race_range *range)
{
	return range->node.is_write && !race_range_is_remote(range) && record->has_job;
}

static void forbid(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges && !record->overlaps; i++)
		if (is_guarded(record, &record->ranges[i]))
			VALGRIND_MAKE_MEM_NOACCESS(record->ranges[i].memory.cpu, record->ranges[i].memory.len_bytes);
}

static void permit(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (is_guarded(record, &record->ranges[i]))
			VALGRIND_MAKE_MEM_DEFINED(record->ranges[i].memory.cpu, record->ranges[i].memory.len_bytes);
}

static void guard(const struct race_foreign *foreign)
{
	if (race_foreign_is_guarded(foreign))
		VALGRIND_MAKE_MEM_NOACCESS(foreign->addr, foreign->len_bytes);
}

static void unguard(const struct race_foreign *foreign)
{
	if (race_foreign_is_guarded(foreign))
		VALGRIND_MAKE_MEM_DEFINED(foreign->addr, foreign->len_bytes);
}
#else
static bool is_live(void)
{
	return false;
}

static void forbid(struct race_record *record)
{
	(void)record;
}

static void permit(struct race_record *record)
{
	(void)record;
}

static void guard(const struct race_foreign *foreign)
{
	(void)foreign;
}

static void unguard(const struct race_foreign *foreign)
{
	(void)foreign;
}
#endif

static bool listens(void)
{
	return check_mode == SIM_CHECK_STRICT || race_sync_is_doca();
}

static void ended(struct race_record *record, bool has_failed)
{
	(void)has_failed;
	permit(record);
}

const struct race_detector race_valgrind = {
	.name = "valgrind",
	.is_live = is_live,
	.posted = forbid,
	.refused = permit,
	.begin_job = permit, /* the copy is the device's */
	.end_job = forbid,
	.ended = ended,
	.listens = listens,
	.guard = guard,
	.unguard = unguard,
};
