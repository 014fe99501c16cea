/* SPDX-License-Identifier: BSD-3-Clause */
/* In programs that are built with the thread sanitizer: the device is a fiber (a thread, to the sanitizer). Its accesses
 * happen between the submission and the completion of the task, as the sanitizer understands it:
 *
 *   program: ... submit, release(submitted)                               acquire(done), callback ...
 *   fiber:                       acquire(submitted), reads source, writes destination, release(done)
 *
 * The fiber does them at the submission, at the program's line. The copy itself, in another thread, is ignored. */

#include <stdlib.h>

#include "shim/check/base/lock.h"
#include "race_order.h"
#include "race_session.h"
#include "shim/common/pe/task_priv.h"

void *__tsan_get_current_fiber(void) __attribute__((weak));
void *__tsan_create_fiber(unsigned int flags) __attribute__((weak));
void __tsan_switch_to_fiber(void *fiber, unsigned int flags) __attribute__((weak));
void __tsan_set_fiber_name(void *fiber, const char *name) __attribute__((weak));
void __tsan_acquire(void *addr) __attribute__((weak));
void __tsan_release(void *addr) __attribute__((weak));
void __tsan_func_entry(void *caller) __attribute__((weak));
void __tsan_func_exit(void) __attribute__((weak));
void __tsan_read_range_pc(void *addr, size_t size, void *pc) __attribute__((weak));
void __tsan_write_range_pc(void *addr, size_t size, void *pc) __attribute__((weak));
void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));

/* For what runs in a fiber: where this library is built with the sanitizer, its own accesses are no accesses of the device. */
#define IN_FIBER __attribute__((no_sanitize("thread")))

#define SWITCH_ORDERS_NOTHING 1
#define NUM_FIBERS            64
#define MAX_TRACKED_BYTES     (64 << 10) /* of a range: larger ones take the sanitizer milliseconds */

/* The sanitizer knows events by addresses. A mark is the end of a task; it is one task's at a time, and stays with its
 * device: what the device has done before the mark's last task, it has done before the next one. */
struct tsan_mark {
	struct tsan_mark *next; /* in the device's list */
	struct device *device;
	uint64_t done;
};

/* Devices are for life: contexts share them by their address. */
struct device {
	void *fiber;
	uint64_t submitted;
	struct tsan_mark *marks; /* that are free */
};

static struct {
	struct check_lock lock;
	struct device devices[NUM_FIBERS];
	void *foreign_fibers[NUM_FIBERS]; /* of tasks of other processes */
} devices = { .lock = { ATOMIC_FLAG_INIT } };

static bool is_live(void)
{
	return __tsan_create_fiber && __tsan_switch_to_fiber && __tsan_get_current_fiber && __tsan_acquire &&
	       __tsan_release && __tsan_read_range_pc && __tsan_write_range_pc && AnnotateIgnoreReadsBegin;
}

static void *get_fiber(void **slot, const char *name)
{
	if (!*slot) {
		*slot = __tsan_create_fiber(0);
		if (__tsan_set_fiber_name)
			__tsan_set_fiber_name(*slot, name);
	}
	return *slot;
}

/* With the lock. */
static struct device *device_of(const struct doca_ctx *ctx)
{
	struct device *device = &devices.devices[(uintptr_t)ctx / 64 % NUM_FIBERS];

	get_fiber(&device->fiber, "DMA engine");
	return device;
}

/* With the lock. NULL without memory. */
static struct tsan_mark *take_mark(struct device *device)
{
	struct tsan_mark *mark = device->marks;

	if (mark) {
		device->marks = mark->next;
		return mark;
	}
	mark = calloc(1, sizeof(*mark));
	if (mark)
		mark->device = device;
	return mark;
}

/* Begin and end of a large range: an access of the program in between is not noticed. */
static IN_FIBER void access_part(uint8_t *addr, size_t len, bool is_write, void *pc)
{
	if (is_write)
		__tsan_write_range_pc(addr, len, pc);
	else
		__tsan_read_range_pc(addr, len, pc);
}

static IN_FIBER void access_range(uint8_t *addr, size_t len, bool is_write, void *pc)
{
	size_t half = MAX_TRACKED_BYTES / 2;

	if (len <= MAX_TRACKED_BYTES) {
		access_part(addr, len, is_write, pc);
		return;
	}
	access_part(addr, half, is_write, pc);
	access_part(addr + len - half, half, is_write, pc);
}

/* The fiber's stack is that of the submission: the sanitizer prints it. */
static IN_FIBER void enter_frames(const struct race_record *record)
{
	const struct check_stack *stack = record->stack;

	for (uint32_t i = stack ? stack->num_frames : 0; i-- > 1;)
		__tsan_func_entry((void *)(uintptr_t)stack->frames[i]);
	__tsan_func_entry((void *)(uintptr_t)record->caller);
}

static IN_FIBER void leave_frames(const struct race_record *record)
{
	for (uint32_t i = record->stack ? record->stack->num_frames : 1; i-- > 0;)
		__tsan_func_exit();
}

static IN_FIBER void access_all(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges && !record->overlaps; i++)
		if (!race_range_is_remote(&record->ranges[i]))
			access_range(record->ranges[i].memory.cpu, record->ranges[i].memory.len_bytes,
				     record->ranges[i].node.is_write, (void *)(uintptr_t)record->caller);
}

static IN_FIBER void posted(struct race_record *record)
{
	void *program = __tsan_get_current_fiber();
	struct device *device;

	check_lock(&devices.lock); /* a fiber runs in one thread at a time */
	device = device_of(record->task->ctx);
	record->tsan = take_mark(device);
	if (record->tsan) {
		__tsan_release(&device->submitted);
		__tsan_switch_to_fiber(device->fiber, SWITCH_ORDERS_NOTHING);
		__tsan_acquire(&device->submitted);
		enter_frames(record);
		access_all(record);
		leave_frames(record);
		__tsan_release(&record->tsan->done);
		__tsan_switch_to_fiber(program, SWITCH_ORDERS_NOTHING);
	}
	check_unlock(&devices.lock);
}

/* To the sanitizer, reads and writes are ignored alike, and each call costs a walk of its tables. */
static void ignore(struct race_record *record)
{
	(void)record;
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
}

static void no_longer_ignore(struct race_record *record)
{
	(void)record;
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

static void refused(struct race_record *record)
{
	struct tsan_mark *mark = record->tsan;

	if (!mark)
		return;
	__tsan_acquire(&mark->done);
	check_lock(&devices.lock);
	mark->next = mark->device->marks;
	mark->device->marks = mark;
	check_unlock(&devices.lock);
}

static void ended(struct race_record *record, bool has_failed)
{
	(void)has_failed;
	refused(record);
}

/* ---- tasks of other processes ---- */

/* Stands for the submission, which is in another process: its name is in the sanitizer's report. */
static __attribute__((noinline)) IN_FIBER void task_of_another_process(const struct race_foreign *foreign)
{
	void *here = __builtin_return_address(0);

	__tsan_func_entry(here);
	access_range(foreign->addr, foreign->len_bytes, foreign->is_write, (uint8_t *)task_of_another_process + 1);
	__tsan_func_exit();
}

static bool listens(void)
{
	return race_sync_is_doca();
}

static void *foreign_fiber(const struct race_foreign *foreign)
{
	return get_fiber(&devices.foreign_fibers[foreign->number % NUM_FIBERS], "DMA engine of another process");
}

/* The task happens after all that this process sent, and after the tasks that ended. */
static IN_FIBER void guard(const struct race_foreign *foreign)
{
	void *listener = __tsan_get_current_fiber();

	if (!race_sync_is_doca())
		return;
	check_lock(&devices.lock);
	__tsan_switch_to_fiber(foreign_fiber(foreign), SWITCH_ORDERS_NOTHING);
	race_order_begin_foreign();
	task_of_another_process(foreign);
	__tsan_switch_to_fiber(listener, SWITCH_ORDERS_NOTHING);
	check_unlock(&devices.lock);
}

static IN_FIBER void unguard(const struct race_foreign *foreign)
{
	void *listener = __tsan_get_current_fiber();

	if (!race_sync_is_doca())
		return;
	check_lock(&devices.lock);
	__tsan_switch_to_fiber(foreign_fiber(foreign), SWITCH_ORDERS_NOTHING);
	race_order_end_foreign();
	__tsan_switch_to_fiber(listener, SWITCH_ORDERS_NOTHING);
	check_unlock(&devices.lock);
}

const struct race_detector race_tsan = {
	.name = "tsan",
	.lock = &devices.lock,
	.is_live = is_live,
	.posted = posted,
	.refused = refused,
	.begin_job = ignore,
	.end_job = no_longer_ignore,
	.ended = ended,
	.listens = listens,
	.guard = guard,
	.unguard = unguard,
};
