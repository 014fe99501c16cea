/* SPDX-License-Identifier: BSD-3-Clause */
/* The recording's tables of names, objects and operations. */
#include <string.h>

#include "trace_priv.h"

#define self sim_trace_self

static char *name_at(uint32_t number)
{
	return (char *)self.memory + self.layout.names + (size_t)(number - 1) * SIM_TRACE_NAME_SIZE;
}

static struct sim_trace_head *head(void)
{
	return (void *)self.memory;
}

/* Call with the lock held. */
static uint32_t intern_locked(const char *text)
{
	uint32_t number = 1;

	while (number <= self.used_names && strncmp(name_at(number), text, SIM_TRACE_NAME_SIZE - 1) != 0)
		number++;
	if (number <= self.used_names)
		return number;
	if (self.used_names == self.head.num_names)
		return 0;
	strncpy(name_at(number), text, SIM_TRACE_NAME_SIZE - 1);
	atomic_store_explicit(&head()->used_names, ++self.used_names, memory_order_release);
	return number;
}

uint32_t sim_trace_intern_name(const char *text)
{
	uint32_t number;

	if (!sim_trace_is_on() || !text)
		return 0;
	pthread_mutex_lock(&self.lock);
	number = intern_locked(text);
	pthread_mutex_unlock(&self.lock);
	return number;
}

static bool is_same_kind(const struct sim_trace_object *a, const struct sim_trace_object *b)
{
	return a->kind == b->kind && a->name == b->name && a->device == b->device;
}

/* Choose an entry for a new object: the next free one, else that of an ended object of its kind, else the last
 * entry, which such objects share. */
static uint32_t claim_entry(const struct sim_trace_object *object)
{
	if (self.used_objects < self.head.num_objects)
		return ++self.used_objects;
	for (uint32_t i = 1; i < self.head.num_objects; i++)
		if (sim_trace_object_at(i)->ended_ns && is_same_kind(sim_trace_object_at(i), object))
			return i;
	return self.head.num_objects;
}

/* Counters of an entry that was in use continue. */
static void fill_entry(uint32_t number, const struct sim_trace_object *object)
{
	struct sim_trace_object *entry = sim_trace_object_at(number);

	if (entry->num_uses == 0) {
		entry->kind = object->kind;
		entry->parent = object->parent;
		entry->name = object->name;
		entry->device = object->device;
		entry->began_ns = object->began_ns;
	}
	atomic_fetch_add(&entry->num_uses, 1);
	atomic_store_explicit(&entry->ended_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&head()->used_objects, self.used_objects, memory_order_release);
}

uint32_t sim_trace_object_new(enum sim_trace_object_kind kind, uint32_t parent, const char *name, const char *device)
{
	struct sim_trace_object object = { .kind = kind, .parent = parent, .began_ns = sim_trace_now_ns() };
	uint32_t number;

	if (!sim_trace_is_on())
		return 0;
	pthread_mutex_lock(&self.lock);
	object.name = intern_locked(name);
	object.device = device ? intern_locked(device) : 0;
	number = claim_entry(&object);
	fill_entry(number, &object);
	pthread_mutex_unlock(&self.lock);
	return number;
}

void sim_trace_object_end(uint32_t object)
{
	if (object && sim_trace_is_on())
		atomic_store_explicit(&sim_trace_object_at(object)->ended_ns, sim_trace_now_ns(), memory_order_relaxed);
}

void sim_trace_late(uint32_t object, uint64_t late_ns)
{
	struct sim_trace_object *context = object && sim_trace_is_on() ? sim_trace_object_at(object) : NULL;

	if (!context)
		return;
	sim_trace_counter_add(&context->num_late, 1);
	if (late_ns > atomic_load_explicit(&context->max_late_ns, memory_order_relaxed))
		atomic_store_explicit(&context->max_late_ns, late_ns, memory_order_relaxed);
}

void sim_trace_object_set_parent(uint32_t object, uint32_t parent)
{
	if (object && sim_trace_is_on())
		sim_trace_object_at(object)->parent = parent;
}

/* A context that starts again continues its counters. */
static uint32_t find_or_add_op(uint32_t object, uint32_t name)
{
	uint32_t number = 1;
	struct sim_trace_op *op;

	while (number <= self.used_ops &&
	       (sim_trace_op_at(number)->object != object || sim_trace_op_at(number)->name != name))
		number++;
	if (number <= self.used_ops)
		return number;
	if (self.used_ops == self.head.num_ops)
		return self.used_ops;
	op = sim_trace_op_at(number);
	op->object = object;
	op->name = name;
	atomic_store_explicit(&head()->used_ops, ++self.used_ops, memory_order_release);
	return number;
}

void sim_trace_task_stats_init(struct sim_trace_task_stats *stats, uint32_t object, const char *name)
{
	*stats = (struct sim_trace_task_stats){ 0 };
	if (object == 0 || !sim_trace_is_on())
		return;
	pthread_mutex_lock(&self.lock);
	stats->number = find_or_add_op(object, intern_locked(name));
	pthread_mutex_unlock(&self.lock);
	stats->op = sim_trace_op_at(stats->number);
	sim_trace_sampler_init(&stats->sampler, self.head.level == SIM_TRACE_FULL);
	stats->sampler.next = self.head.level == SIM_TRACE_COUNTS ? SIM_TRACE_NEVER : stats->op->submitted;
}
