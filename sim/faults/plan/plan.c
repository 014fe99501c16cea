/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan: untrusted reads, and changes by one process. */
#include "plan_read.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/printable.h"

#define FILE_WORDS (SIM_DELAYS_FILE_SIZE / sizeof(uint64_t))
#define NO_SERIES  SIM_PLAN_MAX_SERIES

#define load(from)       atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

/* ---- reads ---- */

void sim_atomic_words_load(void *to, const _Atomic uint64_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t word = atomic_load_explicit(&from[i], memory_order_acquire);

		memcpy((uint8_t *)to + i * sizeof(word), &word, sizeof(word));
	}
}

void sim_atomic_words_store(_Atomic uint64_t *to, const void *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)from + i * sizeof(word), sizeof(word));
		atomic_store_explicit(&to[i], word, memory_order_release);
	}
}

/* Read the rule in a slot, if @number (its id or content_id) is not 0 before and after. */
static bool read_slot(const struct sim_plan_slot *slot, const _Atomic uint32_t *number, uint32_t *ret_id,
		      struct sim_rule *ret_rule)
{
	uint32_t id = atomic_load_explicit(number, memory_order_acquire);

	if (!id)
		return false;
	sim_atomic_words_load(ret_rule, slot->rule, SIM_RULE_WORDS);
	if (load(number) != id || sim_rule_check(ret_rule))
		return false;
	*ret_id = id;
	return true;
}

bool sim_plan_read(const struct sim_plan *plan, uint32_t slot_index, uint32_t *ret_id, struct sim_rule *ret_rule)
{
	return read_slot(&plan->slots[slot_index], &plan->slots[slot_index].id, ret_id, ret_rule);
}

uint32_t sim_plan_num_slots(const struct sim_plan *plan)
{
	uint32_t end = load(&plan->end);

	return end < SIM_PLAN_MAX_RULES ? end : SIM_PLAN_MAX_RULES;
}

bool sim_plan_find_series(const struct sim_plan *plan, uint64_t series, uint32_t *ret_first, uint32_t *ret_count)
{
	uint32_t first, count;

	if (series >= SIM_PLAN_MAX_SERIES)
		return false;
	first = load(&plan->series[series].first);
	count = load(&plan->series[series].count);
	if (!count || count > SIM_DELAYS_MAX || first > SIM_DELAYS_MAX - count)
		return false;
	*ret_first = first;
	*ret_count = count;
	return true;
}

uint32_t sim_plan_num_rules(const struct sim_plan *plan)
{
	return load(&plan->num_rules);
}

static void format_rule(const struct sim_plan *plan, struct sim_plan_rule *rule)
{
	char file[SIM_DELAYS_FILE_SIZE] = "";

	if (rule->rule.delay_kind == SIM_DELAY_TRACE && rule->rule.delay_a < SIM_PLAN_MAX_SERIES)
		sim_atomic_words_load(file, plan->series[rule->rule.delay_a].file, FILE_WORDS);
	file[sizeof(file) - 1] = '\0';
	for (char *at = file; *at; at++) /* untrusted */
		if (!sim_is_printable(*at) || *at == '"')
			*at = '?';
	sim_rule_format(&rule->rule, file, rule->text);
}

static void report_rule(const struct sim_plan *plan, uint32_t slot_index, struct sim_plan_rule *rule,
			sim_plan_rule_cb *cb, void *arg)
{
	rule->matched = load(&plan->slots[slot_index].matched);
	rule->fired = load(&plan->slots[slot_index].fired);
	rule->added_ns = load(&plan->slots[slot_index].added_ns);
	format_rule(plan, rule);
	cb(arg, rule);
}

void sim_plan_each(const struct sim_plan *plan, sim_plan_rule_cb *cb, void *arg)
{
	uint32_t end = sim_plan_num_slots(plan);
	struct sim_plan_rule rule;

	for (uint32_t slot_index = 0; slot_index < end; slot_index++)
		if (sim_plan_read(plan, slot_index, &rule.id, &rule.rule))
			report_rule(plan, slot_index, &rule, cb, arg);
}

void sim_plan_each_removed(const struct sim_plan *plan, sim_plan_rule_cb *cb, void *arg)
{
	uint32_t end = sim_plan_num_slots(plan);
	struct sim_plan_rule rule;

	for (uint32_t slot_index = 0; slot_index < end; slot_index++) {
		const struct sim_plan_slot *slot = &plan->slots[slot_index];

		if (!load(&slot->id) && read_slot(slot, &slot->content_id, &rule.id, &rule.rule) &&
		    rule.rule.delay_kind != SIM_DELAY_TRACE)
			report_rule(plan, slot_index, &rule, cb, arg);
	}
}

/* ---- life ---- */

void sim_plan_init(struct sim_plan *plan, uint64_t seed)
{
	store(&plan->seed, seed);
	store(&plan->generation, 1);
}

int sim_plan_create(uint64_t seed, struct sim_plan **ret_plan)
{
	struct sim_plan *plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (plan == MAP_FAILED)
		return -ENOMEM;
	sim_plan_init(plan, seed);
	*ret_plan = plan;
	return 0;
}

void sim_plan_destroy(struct sim_plan *plan)
{
	if (plan)
		munmap(plan, sizeof(*plan));
}

/* ---- delays ---- */

static bool is_series_used(const struct sim_plan *plan, uint32_t series)
{
	uint32_t end = sim_plan_num_slots(plan), id;
	struct sim_rule rule;

	for (uint32_t slot_index = 0; slot_index < end; slot_index++)
		if (sim_plan_read(plan, slot_index, &id, &rule) && rule.delay_kind == SIM_DELAY_TRACE &&
		    rule.delay_a == series)
			return true;
	return false;
}

static void free_unused_series(struct sim_plan *plan)
{
	for (uint32_t i = 0; i < SIM_PLAN_MAX_SERIES; i++)
		if (load(&plan->series[i].count) && !is_series_used(plan, i))
			store(&plan->series[i].count, 0);
}

static bool series_equals(const struct sim_plan *plan, uint32_t series, const struct sim_delays *delays)
{
	char file[SIM_DELAYS_FILE_SIZE];
	uint32_t first, count;

	if (!sim_plan_find_series(plan, series, &first, &count) || count != delays->count)
		return false;
	sim_atomic_words_load(file, plan->series[series].file, FILE_WORDS);
	if (memcmp(file, delays->file, sizeof(file)) != 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (load(&plan->delays[first + i]) != delays->delay_ns[i])
			return false;
	return true;
}

/* The end of a series that overlaps the @count delays from @first on; 0 = none does. */
static uint32_t end_of_overlap(const struct sim_plan *plan, uint32_t first, uint32_t count)
{
	uint32_t other, others;

	for (uint32_t i = 0; i < SIM_PLAN_MAX_SERIES; i++)
		if (sim_plan_find_series(plan, i, &other, &others) && other < first + count && first < other + others)
			return other + others;
	return 0;
}

/* Find room for @count delays in the pool. */
static int find_free_delays(const struct sim_plan *plan, uint32_t count, uint32_t *ret_first)
{
	uint32_t first = 0, end;

	while (first + count <= SIM_DELAYS_MAX) {
		end = end_of_overlap(plan, first, count);
		if (!end) {
			*ret_first = first;
			return 0;
		}
		first = end;
	}
	return -ENOSPC;
}

static int store_delays(struct sim_plan *plan, const struct sim_delays *delays, uint32_t *ret_series)
{
	uint32_t series = NO_SERIES, first;

	for (uint32_t i = 0; i < SIM_PLAN_MAX_SERIES; i++) {
		if (series_equals(plan, i, delays)) {
			*ret_series = i;
			return 0;
		}
		if (series == NO_SERIES && load(&plan->series[i].count) == 0)
			series = i;
	}
	if (series == NO_SERIES || find_free_delays(plan, delays->count, &first))
		return -ENOSPC;
	sim_atomic_words_store(plan->series[series].file, delays->file, FILE_WORDS);
	sim_atomic_words_store(&plan->delays[first], delays->delay_ns, delays->count);
	store(&plan->series[series].first, first);
	store(&plan->series[series].count, delays->count);
	*ret_series = series;
	return 0;
}

/* ---- changes ---- */

static void bump_generation(struct sim_plan *plan)
{
	atomic_fetch_add_explicit(&plan->generation, 1, memory_order_release);
}

static int alloc_slot(struct sim_plan *plan, uint32_t *ret_slot_index)
{
	uint32_t end = sim_plan_num_slots(plan);

	if (end < SIM_PLAN_MAX_RULES) {
		store(&plan->end, end + 1);
		*ret_slot_index = end;
		return 0;
	}
	for (uint32_t slot_index = 0; slot_index < SIM_PLAN_MAX_RULES; slot_index++) {
		if (!load(&plan->slots[slot_index].id)) {
			*ret_slot_index = slot_index;
			return 0;
		}
	}
	return -ENOSPC;
}

static void fill_slot(struct sim_plan *plan, uint32_t slot_index, const struct sim_rule *rule, uint64_t now_ns,
		      uint32_t id)
{
	struct sim_plan_slot *slot = &plan->slots[slot_index];

	store(&slot->content_id, 0);
	atomic_thread_fence(memory_order_release); /* content_id is cleared before the slot is overwritten */
	store(&slot->matched, 0);
	store(&slot->fired, 0);
	store(&slot->added_ns, now_ns);
	store(&slot->has_begun, 0);
	sim_atomic_words_store(slot->rule, rule, SIM_RULE_WORDS);
	atomic_store_explicit(&slot->content_id, id, memory_order_release);
	atomic_store_explicit(&slot->id, id, memory_order_release);
}

int sim_plan_add(struct sim_plan *plan, const struct sim_rule *rule, const struct sim_delays *delays, uint64_t now_ns,
		 uint32_t *ret_id)
{
	uint32_t id = load(&plan->last_id) + 1, slot_index, series = 0;
	struct sim_rule kept = *rule;
	int rc;

	if (sim_rule_check(rule) || (rule->delay_kind == SIM_DELAY_TRACE) != (delays != NULL))
		return -EINVAL;
	if (delays && sim_delays_check(delays, sim_delays_size(delays->count)))
		return -EINVAL;
	if (!id || load(&plan->num_rules) >= SIM_PLAN_MAX_RULES)
		return -ENOSPC;
	if (delays) {
		free_unused_series(plan);
		rc = store_delays(plan, delays, &series);
		if (rc)
			return rc;
		kept.delay_a = series;
	}
	rc = alloc_slot(plan, &slot_index);
	if (rc)
		return rc;
	fill_slot(plan, slot_index, &kept, now_ns, id);
	store(&plan->last_id, id);
	atomic_fetch_add_explicit(&plan->num_rules, 1, memory_order_relaxed);
	bump_generation(plan);
	*ret_id = id;
	return 0;
}

/* The slot of the rule, or SIM_PLAN_MAX_RULES. */
static uint32_t find_slot(const struct sim_plan *plan, uint32_t id)
{
	uint32_t end = sim_plan_num_slots(plan);

	for (uint32_t slot_index = 0; id && slot_index < end; slot_index++)
		if (load(&plan->slots[slot_index].id) == id)
			return slot_index;
	return SIM_PLAN_MAX_RULES;
}

bool sim_plan_has(const struct sim_plan *plan, uint32_t id)
{
	return find_slot(plan, id) < SIM_PLAN_MAX_RULES;
}

int sim_plan_remove(struct sim_plan *plan, uint32_t id)
{
	uint32_t slot_index = find_slot(plan, id);

	if (slot_index == SIM_PLAN_MAX_RULES)
		return -ENOENT;
	store(&plan->slots[slot_index].id, 0);
	atomic_fetch_sub_explicit(&plan->num_rules, 1, memory_order_relaxed);
	bump_generation(plan);
	return 0;
}

int sim_plan_begin(struct sim_plan *plan, uint32_t id, uint64_t now_ns)
{
	uint32_t slot_index = find_slot(plan, id);
	struct sim_rule rule;

	if (slot_index == SIM_PLAN_MAX_RULES)
		return -ENOENT;
	sim_atomic_words_load(&rule, plan->slots[slot_index].rule, SIM_RULE_WORDS);
	if (!(rule.when & SIM_WHEN_AFTER))
		return -EINVAL;
	if (load(&plan->slots[slot_index].has_begun))
		return 0;
	store(&plan->slots[slot_index].added_ns, now_ns);
	atomic_store_explicit(&plan->slots[slot_index].has_begun, 1, memory_order_release);
	bump_generation(plan);
	return 0;
}

void sim_plan_clear(struct sim_plan *plan)
{
	uint32_t end = sim_plan_num_slots(plan);

	for (uint32_t slot_index = 0; slot_index < end; slot_index++)
		store(&plan->slots[slot_index].id, 0);
	store(&plan->num_rules, 0);
	bump_generation(plan);
}

void sim_plan_set_seed(struct sim_plan *plan, uint64_t seed)
{
	store(&plan->seed, seed);
}
