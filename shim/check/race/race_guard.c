/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict mode, in programs without a sanitizer: the pages that lie in the memory of a task are protected while the program
 * must not touch them, a destination's from all accesses and a source's from writes. The access faults; its stack is reported,
 * the pages are released, and the program goes on.
 *
 *   posted --protect--> [guarded] --the job begins or the task ends | a fault--> [open]
 *
 * Pages that have other bytes as well are not protected. Nor is memory that the map does not permit to write, as its pages
 * may be read-only, and exported memory, which other processes access. System calls of the program on a destination fail
 * with EFAULT. */
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "race.h"
#include "shim/check/base/probe.h"
#include "shim/check/history/releases.h"
#include "shim/check/report/hit.h"
#include "shim/common/mem/mmap_priv.h"
#include "shim/common/pe/task_priv.h"

static bool is_live(void)
{
	return check_mode == SIM_CHECK_STRICT && race_plain_is_alone();
}

/* The whole pages in the range. Returns false if there is none. */
static bool find_pages(const struct race_range *range, uintptr_t *ret_begin, size_t *ret_bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t end = (uintptr_t)range->memory.cpu + range->memory.len_bytes;

	*ret_begin = ((uintptr_t)range->memory.cpu + page - 1) / page * page;
	end = end / page * page;
	*ret_bytes = end > *ret_begin ? end - *ret_begin : 0;
	return *ret_bytes > 0;
}

static bool may_guard(const struct race_record *record, const struct race_range *range)
{
	const struct doca_mmap *mmap = range->memory.mmap;

	return check_probe_sees_faults() && !record->overlaps && (record->has_job || race_range_is_message(range)) &&
	       !race_range_is_remote(range) && shim_mmap_state(mmap) == SHIM_MMAP_STARTED &&
	       mmap->access & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
}

/* From now on, the protection is the program's own. */
static bool was_protected(const struct race_range *range, uintptr_t begin, size_t bytes)
{
	return check_was_protected(range->num_releases, begin, begin + bytes);
}

static void protect(struct race_record *record)
{
	uintptr_t begin;
	size_t bytes;

	for (uint32_t i = 0; i < record->num_ranges; i++) {
		struct race_range *range = &record->ranges[i];

		if (may_guard(record, range) && find_pages(range, &begin, &bytes) &&
		    !was_protected(range, begin, bytes))
			range->is_guarded =
				mprotect((void *)begin, bytes, range->node.is_write ? PROT_NONE : PROT_READ) == 0;
	}
}

static void armed(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		record->ranges[i].num_releases = check_release_count();
	protect(record);
}

static void open_range(struct race_range *range)
{
	uintptr_t begin;
	size_t bytes;

	if (range->is_guarded && find_pages(range, &begin, &bytes) && !was_protected(range, begin, bytes))
		mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE);
	range->is_guarded = false;
}

static void open_record(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		open_range(&record->ranges[i]);
}

static void ended(struct race_record *record, bool has_failed)
{
	(void)has_failed;
	open_record(record);
}

/* ---- faults ---- */

static void report(const struct race_range *range, const void *addr, const ucontext_t *context)
{
	struct check_stack stack = { 0 };
	struct check_hit *hit;
	const char *verb = range->node.is_write ? "touched" : "wrote";

#ifdef __x86_64__
	/* A return address is behind its call: so is this one behind the access. */
	check_stack_take((const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP], &stack);
	stack.frames[0] = (const uint8_t *)stack.frames[0] + 1;
	verb = context->uc_mcontext.gregs[REG_ERR] & 2 ? "wrote" : "read";
#else
	(void)context;
#endif
	hit = check_hit_begin_at(
		range->node.is_write ? BFC_DESTINATION_TOUCHED : BFC_SOURCE_MODIFIED, stack.num_frames ? &stack : NULL,
		"the program %s byte %zu of the %zu at %p, the %s of a task in flight", verb,
		(size_t)((uintptr_t)addr - range->node.begin), range->memory.len_bytes,
		(void *)(uintptr_t)range->memory.addr, range->node.is_write ? "destination" : "source");
	check_race_add_task(hit, range->node.owner);
	check_hit_end(hit);
}

/* In the handler of a fault, of an access in the program: returns whether it may be tried again. */
static bool on_fault(const void *addr, void *context)
{
	const struct race_range *found = check_race_find_owner(addr, 1, true);
	struct race_range *range = (struct race_range *)(uintptr_t)found;
	bool is_guarded;

	if (!range)
		return false;
	is_guarded = range->is_guarded;
	if (is_guarded) {
		open_range(range);
		report(range, addr, context);
	}
	check_race_release();
	return is_guarded;
}

static void start(void)
{
	check_probe_on_fault(on_fault);
}

const struct race_detector race_guard = {
	.name = "guard",
	.is_live = is_live,
	.start = start,
	.armed = armed,
	.refused = open_record,
	.begin_job = open_record,
	.end_job = protect,
	.ended = ended,
	.forked = open_record,
};
