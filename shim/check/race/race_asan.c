/* SPDX-License-Identifier: BSD-3-Clause */
/* In programs that are built with the address sanitizer: the destination of a task in flight is poisoned, so that the
 * sanitizer reports the access itself, with its stack. The report says which task owns the bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "shim/check/base/lock.h"
#include "shim/check/report/hit.h"
#include "race_session.h"

void __asan_poison_memory_region(void const volatile *addr, size_t size) __attribute__((weak));
void __asan_unpoison_memory_region(void const volatile *addr, size_t size) __attribute__((weak));
void __asan_set_error_report_callback(void (*callback)(const char *)) __attribute__((weak));
void *__asan_get_report_address(void) __attribute__((weak));
int __asan_get_report_access_type(void) __attribute__((weak));

/* Neighbours of 8 bytes share a byte of the sanitizer's shadow, which each of them reads and writes. */
static struct check_lock shadow;

static void poison_bytes(const void *addr, size_t len)
{
	check_lock(&shadow);
	__asan_poison_memory_region(addr, len);
	check_unlock(&shadow);
}

static void unpoison_bytes(const void *addr, size_t len)
{
	check_lock(&shadow);
	__asan_unpoison_memory_region(addr, len);
	check_unlock(&shadow);
}

/* Of another process's task. */
static void explain_foreign(const void *addr)
{
	struct race_foreign foreign;
	struct check_hit *hit;

	if (!race_listener_find(addr, &foreign))
		return;
	hit = check_hit_begin_at(
		foreign.is_write ? BFC_DESTINATION_TOUCHED : BFC_SOURCE_MODIFIED, NULL,
		"the program %s byte %zu of the %zu at %p, the %s of a task of another process, in flight; the access is in the address sanitizer's report",
		__asan_get_report_access_type() ? "wrote" : "read", (size_t)((uintptr_t)addr - (uintptr_t)foreign.addr),
		foreign.len_bytes, (void *)foreign.addr, foreign.is_write ? "destination" : "source");
	check_session_add_task(hit, &foreign.range);
	check_hit_end(hit);
}

/* The access is in the sanitizer's report: this one says what owned the bytes. */
static void explain(const char *report)
{
	const void *addr = __asan_get_report_address();
	const struct race_range *range = check_race_find_owner(addr, 1, true);
	const struct race_record *record;
	struct check_stack stack;
	struct check_hit *hit;

	(void)report;
	if (!range) {
		explain_foreign(addr);
		return;
	}
	record = range->node.owner;
	stack = check_race_stack(record);
	hit = check_hit_begin_at(
		range->node.is_write ? BFC_DESTINATION_TOUCHED : BFC_SOURCE_MODIFIED, &stack,
		"the program %s byte %zu of the %zu at %p, the %s of a task in flight; the access is in the address sanitizer's report",
		__asan_get_report_access_type() ? "wrote" : "read", (size_t)((uintptr_t)addr - range->node.begin),
		range->memory.len_bytes, (void *)(uintptr_t)range->memory.addr,
		range->node.is_write ? "destination" : "source");
	check_race_add_task(hit, record);
	check_hit_end(hit);
	check_race_release();
}

static bool is_live(void)
{
	static bool has_callback;

	if (!__asan_poison_memory_region || !__asan_unpoison_memory_region)
		return false;
	if (!has_callback && __asan_set_error_report_callback && __asan_get_report_address &&
	    __asan_get_report_access_type)
		__asan_set_error_report_callback(explain);
	has_callback = true;
	return true;
}

/* Reads of sources are legal, and the sanitizer does not tell reads from writes: strict mode reports both. */
static bool is_guarded(const struct race_range *range)
{
	return !race_range_is_remote(range) && (range->node.is_write || check_mode == SIM_CHECK_STRICT);
}

static void poison(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges && !record->overlaps; i++)
		if (is_guarded(&record->ranges[i]))
			poison_bytes(record->ranges[i].memory.cpu, record->ranges[i].memory.len_bytes);
}

static void unpoison(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (is_guarded(&record->ranges[i]))
			unpoison_bytes(record->ranges[i].memory.cpu, record->ranges[i].memory.len_bytes);
}

static void ended(struct race_record *record, bool has_failed)
{
	(void)has_failed;
	unpoison(record);
}

/* Freed memory is searched for in any mode. */
static bool listens(void)
{
	return true;
}

static void guard(const struct race_foreign *foreign)
{
	if (race_foreign_is_guarded(foreign))
		poison_bytes(foreign->addr, foreign->len_bytes);
}

static void unguard(const struct race_foreign *foreign)
{
	if (race_foreign_is_guarded(foreign))
		unpoison_bytes(foreign->addr, foreign->len_bytes);
}

const struct race_detector race_asan = {
	.name = "asan",
	.lock = &shadow,
	.is_live = is_live,
	.posted = poison,
	.refused = unpoison,
	.begin_job = unpoison, /* the copy is the device's */
	.end_job = poison,
	.ended = ended,
	.listens = listens,
	.guard = guard,
	.unguard = unguard,
};
