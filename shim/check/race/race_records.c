/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the records of tasks in flight, and reports tasks that overlap. */
#include "race_records.h"

#include <string.h>

#include "race_pool.h"
#include "shim/check/report/hit.h"
#include "shim/check/report/stack_memo.h"
#include "shim/check/base/lock.h"
#include "shim/check/base/thread.h"
#include "shim/common/pe/task_priv.h"

#define NUM_BUCKETS 16384
#define MAX_RANGES  64 /* of a task between lists; a longer one is not watched */

static struct {
	struct check_lock lock; /* protects the others */
	struct sim_range_set owned;
	struct race_record *buckets[NUM_BUCKETS];
} records = { .lock = { ATOMIC_FLAG_INIT } };

static struct race_record **bucket(const struct doca_task *task)
{
	return &records.buckets[(uintptr_t)task / 64 % NUM_BUCKETS];
}

/* With the lock: the pointer to the task's record, which is NULL if it has none. */
static struct race_record **find(const struct doca_task *task)
{
	struct race_record **slot = bucket(task);

	while (*slot && (*slot)->task != task)
		slot = &(*slot)->next;
	return slot;
}

struct race_record *race_record_find(const struct doca_task *task)
{
	struct race_record *record;

	check_lock(&records.lock);
	record = *find(task);
	check_unlock(&records.lock);
	return record;
}

struct check_stack check_race_stack(const struct race_record *record)
{
	return record->stack ? *record->stack : check_stack_of(record->caller);
}

void race_record_free(struct race_record *record)
{
	race_pool_free(record);
}

/* ---- overlaps ---- */

void check_race_add_task(struct check_hit *hit, const struct race_record *record)
{
	struct check_stack stack = check_race_stack(record);

	if (record->caller)
		check_hit_add_party(hit, record->tid, &stack, "the task %p was submitted", (void *)record->task);
	else
		check_hit_add_party(hit, record->tid, &(struct check_stack){ 0 },
				    "the library submitted the task %p (of a graph)", (void *)record->task);
	check_hit_add_object(hit, "memory map", record->ranges[0].memory.mmap, NULL);
}

static const char *verb(const struct race_range *range)
{
	return range->node.is_write ? "writes" : "reads";
}

static void report_overlap(const struct race_record *record, const struct race_range *mine,
			   const struct race_range *other)
{
	const struct race_record *owner = other->node.owner;
	uint64_t begin = mine->node.begin > other->node.begin ? mine->node.begin : other->node.begin;
	uint64_t end = mine->node.end < other->node.end ? mine->node.end : other->node.end;
	const struct shim_call *call = check_current_call();
	struct check_hit *hit;

	if (!call)
		return;
	hit = check_hit_begin(BFC_TASKS_OVERLAP, call,
			      "%s: the task %s %zu bytes at %p, of which a task in flight %s %llu, from byte %llu on",
			      check_call_name(call), verb(mine), mine->memory.len_bytes,
			      (void *)(uintptr_t)mine->memory.addr, verb(other), (unsigned long long)(end - begin),
			      (unsigned long long)(begin - mine->node.begin));
	check_race_add_task(hit, owner);
	check_hit_add_ctx(hit, record->task->ctx);
	if (owner->task->ctx != record->task->ctx)
		check_hit_add_ctx(hit, owner->task->ctx);
	check_hit_end(hit);
}

/* An answer of a connection says that all requests before have been executed, and comes behind their answers. So what a
 * request writes here is in order; what it reads may be read before an answer that writes it. */
static bool are_ordered(const struct race_record *record, const struct race_range *mine, const struct race_range *other)
{
	return mine->node.is_write && record->order &&
	       record->order == ((const struct race_record *)other->node.owner)->order;
}

/* With the lock. */
static void find_overlaps(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++) {
		struct race_range *mine = &record->ranges[i];
		struct sim_owned_range *node = sim_range_set_find_conflict(&records.owned, mine->node.begin,
									   mine->node.end, mine->node.is_write, record);
		struct race_range *other = (struct race_range *)node;

		if (!node || race_range_is_remote(mine))
			continue;
		record->overlaps = true;
		((struct race_record *)(uintptr_t)node->owner)->overlaps = true;
		if (check_mode >= SIM_CHECK_RACES && !are_ordered(record, mine, other))
			report_overlap(record, mine, other);
	}
}

/* ---- records ---- */

static void add_range(struct race_record *record, const struct check_task_range *memory)
{
	uintptr_t begin = (uintptr_t)memory->cpu;

	record->ranges[record->num_ranges++] = (struct race_range){
		.node = { .begin = begin,
			  .end = begin + memory->len_bytes,
			  .is_write = memory->is_write,
			  .owner = record },
		.memory = *memory,
	};
}

/* A task may copy within one buffer. */
static bool uses_bytes_twice(const struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		for (uint32_t j = 0; j < i; j++)
			if (!race_range_is_remote(&record->ranges[i]) && !race_range_is_remote(&record->ranges[j]) &&
			    record->ranges[i].node.begin < record->ranges[j].node.end &&
			    record->ranges[j].node.begin < record->ranges[i].node.end)
				return true;
	return false;
}

static size_t size_of(const struct check_task_range *ranges, size_t count, size_t (*room)(size_t len_bytes))
{
	size_t bytes = sizeof(struct race_record) + count * sizeof(struct race_range);

	for (size_t i = 0; i < count; i++)
		bytes += room(ranges[i].len_bytes);
	return bytes;
}

static struct race_record *new_record(struct doca_task *task, size_t (*room)(size_t len_bytes))
{
	struct check_task_range ranges[MAX_RANGES];
	size_t count = check_task_get_ranges(task, ranges, MAX_RANGES);
	const struct shim_call *call = check_current_call();
	struct race_record *record;

	if (count == 0 || count > MAX_RANGES)
		return NULL;
	record = race_pool_alloc(size_of(ranges, count, room));
	if (!record)
		return NULL;
	memset(record, 0, sizeof(*record));
	record->task = task;
	record->order = check_task_order(task);
	record->has_job = check_task_has_job(task);
	record->caller = call ? call->caller : NULL;
	record->function = call ? call->function : SHIM_NUM_FUNCTIONS;
	record->tid = check_thread_self()->tid;
	record->stack = call ? check_stack_recall(call, check_mode == SIM_CHECK_STRICT) : NULL;
	for (size_t i = 0; i < count; i++)
		add_range(record, &ranges[i]);
	record->overlaps = uses_bytes_twice(record);
	return record;
}

struct race_record *race_record_add(struct doca_task *task, size_t (*room)(size_t len_bytes))
{
	struct race_record *record = new_record(task, room), **slot;

	if (!record)
		return NULL;
	check_lock(&records.lock);
	find_overlaps(record);
	slot = bucket(record->task);
	record->next = *slot;
	*slot = record;
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (!race_range_is_remote(&record->ranges[i]))
			sim_range_set_add(&records.owned, &record->ranges[i].node);
	check_unlock(&records.lock);
	return record;
}

/* NULL if the task has none. */
struct race_record *race_record_remove(const struct doca_task *task)
{
	struct race_record **slot, *record;

	check_lock(&records.lock);
	slot = find(task);
	record = *slot;
	if (record) {
		*slot = record->next;
		for (uint32_t i = 0; i < record->num_ranges; i++)
			if (!race_range_is_remote(&record->ranges[i]))
				sim_range_set_remove(&records.owned, &record->ranges[i].node);
	}
	check_unlock(&records.lock);
	return record;
}

const struct race_range *check_race_find_owner(const void *addr, size_t len, bool is_access_write)
{
	uintptr_t begin = (uintptr_t)addr;
	struct sim_owned_range *node;

	check_lock(&records.lock);
	node = sim_range_set_find_conflict(&records.owned, begin, begin + len, is_access_write, NULL);
	if (!node)
		check_unlock(&records.lock);
	return (struct race_range *)node;
}

void check_race_release(void)
{
	check_unlock(&records.lock);
}

void race_records_forked(void (*see)(struct race_record *record))
{
	check_lock_init(&records.lock);
	for (size_t i = 0; i < NUM_BUCKETS; i++)
		for (struct race_record *record = records.buckets[i]; record; record = record->next)
			see(record);
}
