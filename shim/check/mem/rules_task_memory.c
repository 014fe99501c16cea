/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that the memory of a task is still there. Unmapped memory is known of the kernel; memory on the heap that was
 * freed is known of the address sanitizer, in programs that are built with it. */
#include "shim/check/accel/task_rules.h"
#include "shim/check/base/probe.h"
#include "shim/check/history/mmap_history.h"
#include "shim/check/history/releases.h"
#include "pcie_model/arith.h"
#include "rules_task_memory.h"
#include "shim/check/history/task_ranges.h"

#define MAX_RANGES 16 /* of a task; of longer lists, the first */

void *__asan_region_is_poisoned(void *begin, size_t size) __attribute__((weak));
size_t __asan_get_free_stack(void *addr, void **trace, size_t size, int *thread_id) __attribute__((weak));

/* Of the task that this thread posted last. */
static __thread bool is_gone_now __attribute__((tls_model("initial-exec")));

bool check_task_memory_is_gone(void)
{
	return is_gone_now;
}

/* Where the memory was freed; no frames if it was not, or that is not known. */
static void find_free(const uint8_t *begin, size_t len_bytes, struct check_stack *ret_stack)
{
	void *trace[CHECK_STACK_FRAMES], *addr = NULL;
	int thread;

	ret_stack->num_frames = 0;
	if (__asan_region_is_poisoned && __asan_get_free_stack)
		addr = __asan_region_is_poisoned((void *)(uintptr_t)begin, len_bytes);
	if (!addr)
		return;
	ret_stack->num_frames = (uint32_t)__asan_get_free_stack(addr, trace, CHECK_STACK_FRAMES, &thread);
	for (uint32_t i = 0; i < ret_stack->num_frames; i++)
		ret_stack->frames[i] = trace[i];
}

bool check_memory_is_gone(const uint8_t *addr, size_t len_bytes, struct check_stack *ret_freed)
{
	ret_freed->num_frames = 0;
	if (check_is_unmapped(addr, len_bytes))
		return true;
	find_free(addr, len_bytes, ret_freed);
	return ret_freed->num_frames > 0;
}

static void report(const struct doca_task *task, const struct check_task_range *range, const struct check_stack *freed)
{
	struct check_hit *hit = CHECK_HIT_HERE(
		BFC_TASK_MEMORY_GONE, "%s: the %s of the task, %zu bytes at offset %td of its memory map, %s",
		check_current_name("doca_task_submit"), range->is_write ? "destination" : "source", range->len_bytes,
		range->addr - range->mmap->addr, freed->num_frames ? "was freed" : "is not mapped any more");

	if (freed->num_frames)
		check_hit_add_party(hit, 0, freed, "the memory was freed");
	else
		check_release_add_party(hit, (uintptr_t)range->cpu, range->len_bytes);
	check_mmap_add_call(hit, range->mmap, CHECK_MMAP_START, "started the memory map");
	check_mmap_add_object(hit, range->mmap);
	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void task_posted(struct doca_task *task)
{
	struct check_task_range ranges[MAX_RANGES];
	size_t count = min_size(check_task_get_ranges(task, ranges, MAX_RANGES), MAX_RANGES);

	is_gone_now = false;
	for (size_t i = 0; i < count; i++) {
		struct check_stack freed;

		if (!ranges[i].cpu || !check_memory_is_gone(ranges[i].cpu, ranges[i].len_bytes, &freed))
			continue;
		report(task, &ranges[i], &freed);
		is_gone_now = true;
	}
}

const struct check_part check_task_memory = {
	.mode = SIM_CHECK_RACES,
	.task_posted = task_posted,
};
