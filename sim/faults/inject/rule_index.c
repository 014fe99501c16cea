/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "rule_index_priv.h"

#define load(from) atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

/* Sets of places; changed under the view's lock --------------------------------------- */

static void map_set(struct sim_map *map, uint32_t place)
{
	uint32_t word = place / 64;

	store(&map->words[word], load(&map->words[word]) | UINT64_C(1) << place % 64);
	store(&map->summary, load(&map->summary) | UINT64_C(1) << word);
}

static void map_clear(struct sim_map *map, uint32_t place)
{
	uint32_t word = place / 64;
	uint64_t bits = load(&map->words[word]);

	if (!(bits & UINT64_C(1) << place % 64))
		return; /* what was never used stays untouched */
	bits &= ~(UINT64_C(1) << place % 64);
	store(&map->words[word], bits);
	if (!bits)
		store(&map->summary, load(&map->summary) & ~(UINT64_C(1) << word));
}

/* Entries -------------------------------------------------------------------------- */

/* An entry's rule, for the thread that holds the lock. Whether there is one. */
static bool entry_rule(struct sim_view *view, uint32_t place, struct sim_rule *ret_rule)
{
	struct sim_entry *entry = &view->entries[place];

	if (!load(&entry->id))
		return false;
	sim_words_load(ret_rule, entry->rule, SIM_RULE_WORDS);
	return true;
}

static void index_rule(struct sim_view *view, uint32_t place, const struct sim_rule *rule,
		       void (*change)(struct sim_map *map, uint32_t place))
{
	unsigned int last = sim_size_class(rule->size_max);

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		if (!(rule->ops & SIM_OP_BIT(op)))
			continue;
		for (unsigned int class = sim_size_class(rule->size_min); class <= last; class++)
			change(&view->maps[op][class], place);
	}
}

static void begin(struct sim_view *view, uint32_t place, const struct sim_rule *rule)
{
	index_rule(view, place, rule, map_set);
	view->entries[place].is_indexed = true;
}

static void map_change(struct sim_map *map, uint32_t place, bool is_in)
{
	if (is_in)
		map_set(map, place);
	else
		map_clear(map, place);
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

/* A rule that can't change anything at a function would count as fired there for nothing. */
static bool fits_function(const struct sim_view *view, const struct sim_rule *rule, uint32_t function)
{
	if ((rule->actions & SIM_ACT_BIT(SIM_ACT_REP_REMOVE)) && !has_rep(view->topology, function))
		return false;
	return !(rule->actions & SIM_ACT_BIT(SIM_ACT_NUM_VFS)) || has_vfs(view->topology, function);
}

/* Note at which functions the rule strikes. */
static void index_functions(struct sim_view *view, uint32_t place, const struct sim_rule *rule)
{
	bool any = !(rule->where & SIM_WHERE_DEVICE);

	for (uint32_t i = 0; i < view->num_functions; i++)
		map_change(&view->functions[i], place,
			   (any || sim_where_device(rule->device, &view->topology->functions[i])) &&
				   fits_function(view, rule, i));
	map_change(&view->functions[view->num_functions], place, any);
}

static void drop(struct sim_view *view, uint32_t place)
{
	struct sim_rule rule;

	if (!entry_rule(view, place, &rule))
		return;
	store(&view->entries[place].id, 0);
	if (view->entries[place].is_indexed)
		index_rule(view, place, &rule, map_clear);
	view->entries[place].is_indexed = false;
	for (uint32_t i = 0; i <= view->num_functions; i++)
		map_clear(&view->functions[i], place);
}

/* Make of a rule of the plan what it is in this process. Whether it can strike here. */
static bool compile(struct sim_view *view, struct sim_rule *rule)
{
	struct sim_who self = { view->side, view->program, view->pid };
	uint32_t first, count;

	rule->ops = sim_rule_ops(rule);
	if (!sim_where_process(rule, &self))
		rule->ops &= SIM_OPS_EVENTS; /* those are about others */
	if (rule->delay_kind == SIM_DELAY_TRACE) {
		if (!sim_plan_find_series(view->plan, rule->delay_a, &first, &count))
			return false;
		rule->delay_a = first;
		rule->delay_b = count;
	}
	return rule->ops != 0;
}

static void take(struct sim_view *view, uint32_t place, uint32_t id, struct sim_rule *rule)
{
	struct sim_entry *entry = &view->entries[place];

	if (!compile(view, rule))
		return;
	sim_words_store(entry->rule, rule, SIM_RULE_WORDS);
	index_functions(view, place, rule);
	store(&entry->matched, 0);
	atomic_store_explicit(&entry->added_ns, load(&view->plan->slots[place].added_ns), memory_order_release);
	map_change(&view->anywhere, place, !(rule->where & SIM_WHERE_ADDR));
	atomic_store_explicit(&entry->id, id, memory_order_release);
	if (!rule->from_ns || (rule->ops & SIM_OPS_EVENTS))
		begin(view, place, rule);
}

/* The view as a whole ---------------------------------------------------------------- */

static uint64_t timed_ops(const struct sim_rule *rule)
{
	return rule->when & (SIM_WHEN_FROM | SIM_WHEN_UNTIL) ? rule->ops : rule->ops & SIM_OPS_EVENTS;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void summarize(struct sim_view *view)
{
	uint64_t ops = 0, timed = 0, next = SIM_NEVER_NS, addr_min = UINT64_MAX, addr_max = 0;
	struct sim_rule rule;

	for (uint32_t place = 0; place < view->end; place++) {
		if (!entry_rule(view, place, &rule))
			continue;
		ops |= rule.ops;
		timed |= timed_ops(&rule);
		if (!view->entries[place].is_indexed)
			next = least(next, rule.from_ns);
		if (rule.where & SIM_WHERE_ADDR) {
			addr_min = least(addr_min, rule.addr_min);
			addr_max = most(addr_max, rule.addr_max);
		}
	}
	store(&view->faults.ops, ops);
	store(&view->faults.timed, timed);
	store(&view->next_begin_ns, next);
	store(&view->addr_min, addr_min);
	store(&view->addr_max, addr_max);
}

static void refresh_place(struct sim_view *view, uint32_t place)
{
	struct sim_entry *entry = &view->entries[place];
	uint32_t id = atomic_load_explicit(&view->plan->slots[place].id, memory_order_acquire);
	struct sim_rule rule;

	if (id == entry->known_id)
		return;
	drop(view, place);
	entry->known_id = id;
	if (sim_plan_read(view->plan, place, &id, &rule) && id == entry->known_id)
		take(view, place, id, &rule);
}

static void refresh_locked(struct sim_view *view, uint64_t generation)
{
	uint32_t end = sim_plan_end(view->plan);

	view->end = end > view->end ? end : view->end;
	for (uint32_t place = 0; place < view->end; place++)
		refresh_place(view, place);
	summarize(view);
	sim_view_forget_calm(view);
	atomic_store_explicit(&view->faults.seen, generation, memory_order_release);
}

void sim_view_refresh(struct sim_view *view)
{
	uint64_t generation = atomic_load_explicit(&view->plan->generation, memory_order_acquire);

	if (atomic_load_explicit(&view->faults.seen, memory_order_acquire) == generation)
		return;
	pthread_mutex_lock(&view->lock);
	generation = atomic_load_explicit(&view->plan->generation, memory_order_acquire);
	if (load(&view->faults.seen) != generation)
		refresh_locked(view, generation);
	pthread_mutex_unlock(&view->lock);
}

void sim_view_begin(struct sim_view *view, uint64_t now_ns)
{
	struct sim_rule rule;

	pthread_mutex_lock(&view->lock);
	for (uint32_t place = 0; place < view->end; place++)
		if (!view->entries[place].is_indexed && entry_rule(view, place, &rule) && rule.from_ns <= now_ns)
			begin(view, place, &rule);
	summarize(view);
	pthread_mutex_unlock(&view->lock);
}

void sim_view_drop_spent(struct sim_view *view, uint32_t place, uint32_t id)
{
	if (pthread_mutex_trylock(&view->lock))
		return; /* another time */
	if (load(&view->entries[place].id) == id) {
		drop(view, place);
		summarize(view);
	}
	pthread_mutex_unlock(&view->lock);
}

uint64_t sim_faults_next(struct sim_faults *faults, uint64_t after_ns)
{
	struct sim_view *view = sim_view_of(faults);
	uint64_t next = SIM_NEVER_NS;
	struct sim_rule rule;

	if (!faults)
		return next;
	sim_view_refresh(view);
	pthread_mutex_lock(&view->lock);
	for (uint32_t place = 0; place < view->end; place++) {
		uint64_t begin_ns;

		if (!entry_rule(view, place, &rule) || !(rule.ops & SIM_OPS_EVENTS))
			continue;
		begin_ns = most(rule.from_ns, load(&view->entries[place].added_ns));
		if (begin_ns > after_ns && begin_ns < rule.until_ns)
			next = least(next, begin_ns);
	}
	pthread_mutex_unlock(&view->lock);
	return next;
}

/* Life --------------------------------------------------------------------------------- */

static int copy_name(char *to, const char *from)
{
	if (from && strlen(from) >= SIM_WHO_SIZE)
		return -EINVAL;
	snprintf(to, SIM_WHO_SIZE, "%s", from ? from : "");
	return 0;
}

/* Zeroed memory that a leak check knows nothing of: it does not look for pointers where the view is, and a
 * program that ends with its session open would be told that they are lost. Pages that stay empty cost nothing. */
static void *map_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t functions_bytes(uint32_t num_functions)
{
	return (num_functions + (size_t)1) * sizeof(struct sim_map); /* and one for none */
}

static void free_functions(struct sim_view *view)
{
	if (view->functions)
		munmap(view->functions, functions_bytes(view->num_functions));
}

static int set_topology(struct sim_view *view, const struct pcie_topology *topology)
{
	uint32_t num_functions = topology ? (uint32_t)topology->num_functions : 0;
	struct sim_map *functions = map_memory(functions_bytes(num_functions));

	if (!functions)
		return -ENOMEM;
	free_functions(view);
	view->functions = functions;
	view->topology = topology;
	view->num_functions = num_functions;
	return 0;
}

int sim_faults_set_topology(struct sim_faults *faults, const struct pcie_topology *topology)
{
	struct sim_view *view = sim_view_of(faults);
	struct sim_rule rule;
	int rc;

	pthread_mutex_lock(&view->lock);
	rc = set_topology(view, topology);
	for (uint32_t place = 0; !rc && place < view->end; place++)
		if (entry_rule(view, place, &rule))
			index_functions(view, place, &rule);
	sim_view_forget_calm(view);
	pthread_mutex_unlock(&view->lock);
	return rc;
}

int sim_faults_create(const struct sim_faults_cfg *cfg, struct sim_faults **ret_faults)
{
	struct sim_view *view = map_memory(sizeof(*view));
	int rc;

	if (!view)
		return -ENOMEM;
	rc = -EINVAL;
	if (copy_name(view->side, cfg->self.side) || copy_name(view->program, cfg->self.program))
		goto fail;
	rc = set_topology(view, cfg->topology);
	if (rc)
		goto fail;
	view->plan = cfg->plan;
	view->faults.plan = cfg->plan;
	view->pid = cfg->self.pid;
	summarize(view); /* of nothing */
	sim_view_forget_calm(view);
	pthread_mutex_init(&view->lock, NULL);
	*ret_faults = &view->faults;
	return 0;
fail:
	munmap(view, sizeof(*view));
	return rc;
}

void sim_faults_destroy(struct sim_faults *faults)
{
	struct sim_view *view = sim_view_of(faults);

	if (!faults)
		return;
	pthread_mutex_destroy(&view->lock);
	free_functions(view);
	munmap(view, sizeof(*view));
}
