/* SPDX-License-Identifier: BSD-3-Clause */
/* The index: entries and bitmaps, kept up to date with the plan. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "pcie_model/arith.h"
#include "rule_index_priv.h"

#define load(from)       atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

/* ---- bitmaps; changed under the lock of the index ---- */

static void bitmap_set(struct sim_slot_bitmap *bitmap, uint32_t slot_index)
{
	uint32_t word = slot_index / 64;

	store(&bitmap->words[word], load(&bitmap->words[word]) | UINT64_C(1) << slot_index % 64);
	store(&bitmap->summary, load(&bitmap->summary) | UINT64_C(1) << word);
}

static void bitmap_clear(struct sim_slot_bitmap *bitmap, uint32_t slot_index)
{
	uint32_t word = slot_index / 64;
	uint64_t bits = load(&bitmap->words[word]);

	if (!(bits & UINT64_C(1) << slot_index % 64))
		return; /* do not touch a page that was never used */
	bits &= ~(UINT64_C(1) << slot_index % 64);
	store(&bitmap->words[word], bits);
	if (!bits)
		store(&bitmap->summary, load(&bitmap->summary) & ~(UINT64_C(1) << word));
}

/* ---- entries ---- */

/* Read an entry's rule, under the lock. Returns whether there is one. */
static bool entry_rule(struct sim_rule_index *index, uint32_t slot_index, struct sim_rule *ret_rule)
{
	struct sim_index_entry *entry = &index->entries[slot_index];

	if (!load(&entry->id))
		return false;
	sim_atomic_words_load(ret_rule, entry->rule, SIM_RULE_WORDS);
	return true;
}

/* 0, 1, 2, 3, 4, 5 to 7, 8, 9 to 15, 16, ... */
static unsigned int size_class(uint64_t size)
{
	if (size < 2)
		return (unsigned int)size;
	return 2 * (63 - (unsigned int)__builtin_clzll(size)) + ((size & (size - 1)) != 0);
}

const struct sim_slot_bitmap *sim_rule_index_size_bitmap(const struct sim_rule_index *index, enum sim_op op,
							 uint64_t size)
{
	return &index->bitmaps[op][size_class(size)];
}

const struct sim_slot_bitmap *sim_rule_index_function_bitmap(const struct sim_rule_index *index, uint32_t function)
{
	return &index->functions[function < index->num_ids ? function : index->num_ids];
}

static void change_bitmaps(struct sim_rule_index *index, uint32_t slot_index, const struct sim_rule *rule,
			   void (*change)(struct sim_slot_bitmap *bitmap, uint32_t slot_index))
{
	unsigned int last = size_class(rule->size_max);

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		if (!(rule->ops & SIM_OP_BIT(op)))
			continue;
		for (unsigned int class = size_class(rule->size_min); class <= last; class ++)
			change(&index->bitmaps[op][class], slot_index);
	}
}

static void activate_rule(struct sim_rule_index *index, uint32_t slot_index, const struct sim_rule *rule)
{
	change_bitmaps(index, slot_index, rule, bitmap_set);
	index->entries[slot_index].is_indexed = true;
}

static void bitmap_assign(struct sim_slot_bitmap *bitmap, uint32_t slot_index, bool is_in)
{
	if (is_in)
		bitmap_set(bitmap, slot_index);
	else
		bitmap_clear(bitmap, slot_index);
}

static bool has_rep(const struct pcie_topology *topology, uint32_t function)
{
	for (size_t i = 0; i < topology->num_functions; i++)
		for (size_t rep = 0; rep < topology->functions[i].num_reps; rep++)
			if (topology->functions[i].reps[rep] == function)
				return true;
	return false;
}

static bool has_vfs(const struct pcie_topology *topology, uint32_t function)
{
	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (i != function && topology->functions[i].parent == function &&
		    topology->functions[i].type == PCIE_FUNC_VF)
			return true;
	return false;
}

/* Whether the rule can have an effect at the function; without one it must not count as fired. */
static bool can_change_function(const struct sim_rule_index *index, const struct sim_rule *rule, uint32_t function)
{
	if ((rule->actions & SIM_ACT_BIT(SIM_ACT_REP_REMOVE)) && !has_rep(index->topology, function))
		return false;
	return !(rule->actions & SIM_ACT_BIT(SIM_ACT_NUM_VFS)) || has_vfs(index->topology, function);
}

/* Set the bits of the functions and the trunks that the rule can hit. */
static void set_function_bits(struct sim_rule_index *index, uint32_t slot_index, const struct sim_rule *rule)
{
	uint32_t num_functions = index->topology ? (uint32_t)index->topology->num_functions : 0;
	bool any = !(rule->where & SIM_WHERE_DEVICE);

	for (uint32_t i = 0; i < num_functions; i++)
		bitmap_assign(&index->functions[i], slot_index,
			      (any || sim_device_pattern_matches(rule->device, &index->topology->functions[i])) &&
				      can_change_function(index, rule, i));
	for (uint32_t i = num_functions; i < index->num_ids; i++)
		bitmap_assign(&index->functions[i], slot_index,
			      sim_rule_names_trunk(rule, index->topology, i - num_functions));
	bitmap_assign(&index->functions[index->num_ids], slot_index, any);
}

static void remove_entry(struct sim_rule_index *index, uint32_t slot_index)
{
	struct sim_rule rule;

	if (!entry_rule(index, slot_index, &rule))
		return;
	store(&index->entries[slot_index].id, 0);
	if (index->entries[slot_index].is_indexed)
		change_bitmaps(index, slot_index, &rule, bitmap_clear);
	index->entries[slot_index].is_indexed = false;
	bitmap_clear(&index->after, slot_index);
	for (uint32_t i = 0; i <= index->num_ids; i++)
		bitmap_clear(&index->functions[i], slot_index);
}

/* Turn a rule of the plan into the rule of this process. Returns whether it can hit here. */
static bool bind_to_process(struct sim_rule_index *index, struct sim_rule *rule)
{
	struct sim_process self = { index->side, index->program, index->pid };
	uint32_t first, count;

	rule->ops = sim_rule_ops(rule);
	if (!sim_rule_matches_process(rule, &self))
		rule->ops &= SIM_OPS_EVENTS; /* events concern other processes as well */
	if (rule->when & SIM_WHEN_AFTER)
		rule->ops |= rule->after_ops;
	if (rule->delay_kind == SIM_DELAY_TRACE) {
		if (!sim_plan_find_series(index->plan, rule->delay_a, &first, &count))
			return false;
		rule->delay_a = first;
		rule->delay_b = count;
	}
	return rule->ops != 0;
}

static void insert_entry(struct sim_rule_index *index, uint32_t slot_index, uint32_t id, struct sim_rule *rule)
{
	struct sim_index_entry *entry = &index->entries[slot_index];

	if (!bind_to_process(index, rule))
		return;
	sim_atomic_words_store(entry->rule, rule, SIM_RULE_WORDS);
	set_function_bits(index, slot_index, rule);
	bitmap_assign(&index->after, slot_index, rule->when & SIM_WHEN_AFTER);
	store(&entry->matched, 0);
	atomic_store_explicit(&entry->added_ns, load(&index->plan->slots[slot_index].added_ns), memory_order_release);
	bitmap_assign(&index->any_address, slot_index, !(rule->where & SIM_WHERE_ADDR));
	atomic_store_explicit(&entry->id, id, memory_order_release);
	if (!rule->from_ns || (rule->ops & SIM_OPS_EVENTS))
		activate_rule(index, slot_index, rule);
}

/* ---- the index as a whole ---- */

static sim_bits timed_ops(const struct sim_rule *rule)
{
	return rule->when & (SIM_WHEN_FROM | SIM_WHEN_UNTIL) ? rule->ops : rule->ops & SIM_OPS_EVENTS;
}

static void summarize(struct sim_rule_index *index)
{
	uint64_t next = SIM_NEVER_NS, addr_min = UINT64_MAX, addr_max = 0;
	sim_bits ops = 0, timed = 0;
	struct sim_rule rule;

	for (uint32_t slot_index = 0; slot_index < index->end; slot_index++) {
		if (!entry_rule(index, slot_index, &rule))
			continue;
		ops |= rule.ops;
		timed |= timed_ops(&rule);
		if (!index->entries[slot_index].is_indexed)
			next = min_u64(next, rule.from_ns);
		if (rule.where & SIM_WHERE_ADDR) {
			addr_min = min_u64(addr_min, rule.addr_min);
			addr_max = max_u64(addr_max, rule.addr_max);
		}
	}
	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		store(&index->injector.may_hit[op], (ops & SIM_OP_BIT(op)) != 0);
		store(&index->injector.needs_time[op], (timed & SIM_OP_BIT(op)) != 0);
	}
	store(&index->next_begin_ns, next);
	store(&index->addr_min, addr_min);
	store(&index->addr_max, addr_max);
}

static void refresh_slot(struct sim_rule_index *index, uint32_t slot_index)
{
	struct sim_index_entry *entry = &index->entries[slot_index];
	uint32_t id = atomic_load_explicit(&index->plan->slots[slot_index].id, memory_order_acquire);
	struct sim_rule rule;

	if (id == entry->known_id)
		return;
	remove_entry(index, slot_index);
	entry->known_id = id;
	if (sim_plan_read(index->plan, slot_index, &id, &rule) && id == entry->known_id)
		insert_entry(index, slot_index, id, &rule);
}

static void refresh_locked(struct sim_rule_index *index, uint64_t generation)
{
	uint32_t end = sim_plan_num_slots(index->plan);

	index->end = end > index->end ? end : index->end;
	for (uint32_t slot_index = 0; slot_index < index->end; slot_index++)
		refresh_slot(index, slot_index);
	summarize(index);
	atomic_store_explicit(&index->injector.seen_generation, generation, memory_order_release);
}

void sim_rule_index_refresh(struct sim_rule_index *index)
{
	uint64_t generation = atomic_load_explicit(&index->plan->generation, memory_order_acquire);

	if (atomic_load_explicit(&index->injector.seen_generation, memory_order_acquire) == generation)
		return;
	pthread_mutex_lock(&index->lock);
	generation = atomic_load_explicit(&index->plan->generation, memory_order_acquire);
	if (load(&index->injector.seen_generation) != generation)
		refresh_locked(index, generation);
	pthread_mutex_unlock(&index->lock);
}

void sim_rule_index_activate_due(struct sim_rule_index *index, uint64_t now_ns)
{
	struct sim_rule rule;

	pthread_mutex_lock(&index->lock);
	for (uint32_t slot_index = 0; slot_index < index->end; slot_index++)
		if (!index->entries[slot_index].is_indexed && entry_rule(index, slot_index, &rule) &&
		    rule.from_ns <= now_ns)
			activate_rule(index, slot_index, &rule);
	summarize(index);
	pthread_mutex_unlock(&index->lock);
}

void sim_rule_index_drop_exhausted(struct sim_rule_index *index, uint32_t slot_index, uint32_t id)
{
	if (pthread_mutex_trylock(&index->lock))
		return; /* a later evaluation will do this */
	if (load(&index->entries[slot_index].id) == id) {
		remove_entry(index, slot_index);
		summarize(index);
	}
	pthread_mutex_unlock(&index->lock);
}

uint64_t sim_injector_next_event_ns(struct sim_injector *injector, uint64_t after_ns)
{
	struct sim_rule_index *index = sim_rule_index_of(injector);
	uint64_t next = SIM_NEVER_NS;
	struct sim_rule rule;

	if (!injector)
		return next;
	sim_rule_index_refresh(index);
	pthread_mutex_lock(&index->lock);
	for (uint32_t slot_index = 0; slot_index < index->end; slot_index++) {
		uint64_t begin_ns;

		if (!entry_rule(index, slot_index, &rule) || !(rule.ops & SIM_OPS_EVENTS))
			continue;
		begin_ns = sim_event_begin_ns(index, slot_index, &rule);
		if (begin_ns > after_ns && begin_ns < rule.until_ns)
			next = min_u64(next, begin_ns);
	}
	pthread_mutex_unlock(&index->lock);
	return next;
}

/* ---- life ---- */

static int copy_name(char *to, const char *from)
{
	if (from && strlen(from) >= SIM_PROCESS_NAME_SIZE)
		return -EINVAL;
	snprintf(to, SIM_PROCESS_NAME_SIZE, "%s", from ? from : "");
	return 0;
}

/* Map zeroed memory that leak checkers ignore: they would report a program that ends with
 * its session open. Pages that stay empty cost nothing. */
static void *map_zero_pages(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t functions_bytes(uint32_t num_ids)
{
	return (num_ids + (size_t)1) * sizeof(struct sim_slot_bitmap); /* and one for SIM_NO_FUNCTION */
}

static void free_functions(struct sim_rule_index *index)
{
	if (index->functions)
		munmap(index->functions, functions_bytes(index->num_ids));
}

static int set_topology(struct sim_rule_index *index, const struct pcie_topology *topology)
{
	uint32_t num_ids = topology ? pcie_topology_num_link_ids(topology) : 0;
	struct sim_slot_bitmap *functions = map_zero_pages(functions_bytes(num_ids));

	if (!functions)
		return -ENOMEM;
	free_functions(index);
	index->functions = functions;
	index->topology = topology;
	index->num_ids = num_ids;
	return 0;
}

int sim_injector_create(const struct sim_injector_cfg *cfg, struct sim_injector **ret_injector)
{
	struct sim_rule_index *index = map_zero_pages(sizeof(*index));
	int rc;

	if (!index)
		return -ENOMEM;
	rc = -EINVAL;
	if (copy_name(index->side, cfg->self.side) || copy_name(index->program, cfg->self.program))
		goto fail;
	rc = set_topology(index, cfg->topology);
	if (rc)
		goto fail;
	index->plan = cfg->plan;
	index->injector.plan = cfg->plan;
	index->pid = cfg->self.pid;
	index->on_begin = cfg->on_begin;
	index->arg = cfg->arg;
	summarize(index);
	pthread_mutex_init(&index->lock, NULL);
	*ret_injector = &index->injector;
	return 0;
fail:
	munmap(index, sizeof(*index));
	return rc;
}

void sim_injector_destroy(struct sim_injector *injector)
{
	struct sim_rule_index *index = sim_rule_index_of(injector);

	if (!injector)
		return;
	pthread_mutex_destroy(&index->lock);
	free_functions(index);
	munmap(index, sizeof(*index));
}
