/* SPDX-License-Identifier: BSD-3-Clause */
/* The evaluation of a site: the rules that hit, and their combination. */
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/base/move.h"
#include "rng_priv.h"
#include "rule_index_priv.h"

#define A(act)     SIM_ACT_BIT(SIM_ACT_##act)
#define load(from) atomic_load_explicit((from), memory_order_relaxed)

typedef unsigned __int128 u128;

/* The state of one evaluation. */
struct evaluation {
	struct sim_rule_index *index;
	const struct sim_fault_site *site;
	const struct sim_slot_bitmap *function; /* slots that can hit the site's function */
	const struct sim_slot_bitmap *addr;     /* slots that can hit its address; NULL = check each */
	struct sim_fault_hit hit;
	bool terminated; /* a rule has ended the operation */
};

/* The rule under evaluation. */
struct candidate {
	uint32_t slot_index, id;
	struct sim_rule rule;
	uint64_t match;         /* number of this match */
	uint64_t process_match; /* number among the matches of this process */
	uint64_t delay_ns;      /* the delay drawn */
	uint64_t key;           /* key of its draws */
};

/* ---- combination of rules ---- */

static bool is_first(const struct evaluation *eval, enum sim_act act)
{
	return !(eval->hit.actions & SIM_ACT_BIT(act));
}

static uint64_t moved_bytes(const struct sim_rule *rule, uint64_t size)
{
	if (rule->moved_is_fraction)
		return (uint64_t)((u128)size * rule->moved / SIM_PPB);
	return min_u64(rule->moved, size);
}

static uint64_t draw_delay(const struct evaluation *eval, const struct candidate *candidate)
{
	const struct sim_rule *rule = &candidate->rule;

	if (rule->delay_kind != SIM_DELAY_TRACE)
		return sim_rng_delay(rule, candidate->key);
	/* The index has checked delay_a and delay_b. */
	return load(&eval->index->plan->delays[rule->delay_a + (candidate->match - 1) % rule->delay_b]);
}

static uint32_t total_flip_bits(const struct evaluation *eval, const struct sim_rule *rule)
{
	uint64_t bits = min_u64(eval->site->size, UINT32_MAX / 8) * 8;

	return (uint32_t)min_u64((uint64_t)eval->hit.flip_bits + rule->flip_bits, bits);
}

static void merge_data_actions(struct evaluation *eval, struct candidate *candidate)
{
	struct sim_fault_hit *hit = &eval->hit;
	const struct sim_rule *rule = &candidate->rule;

	if (rule->actions & A(FAIL)) {
		hit->status = rule->status;
		hit->moved_bytes = moved_bytes(rule, eval->site->size);
	}
	if (rule->actions & A(REFUSE))
		hit->refuse_status = rule->refuse_status;
	if (rule->actions & A(DELAY)) {
		candidate->delay_ns = min_u64(draw_delay(eval, candidate), SIM_RULE_MAX_NS);
		hit->delay_ns = min_u64(hit->delay_ns + candidate->delay_ns, SIM_RULE_MAX_NS);
	}
	if (rule->actions & A(FLIP))
		hit->flip_bits = total_flip_bits(eval, rule);
	if ((rule->actions & (A(FLIP) | A(TEAR))) && !(hit->actions & (A(FLIP) | A(TEAR))))
		hit->key = sim_rng_u64(candidate->key, SIM_RNG_HIT_KEY);
}

static void merge_message_actions(struct evaluation *eval, const struct candidate *candidate)
{
	struct sim_fault_hit *hit = &eval->hit;
	const struct sim_rule *rule = &candidate->rule;

	if (rule->actions & A(TRUNCATE))
		hit->truncate_bytes = is_first(eval, SIM_ACT_TRUNCATE) ?
					      rule->truncate_bytes :
					      (uint32_t)min_u64(hit->truncate_bytes, rule->truncate_bytes);
	if ((rule->actions & A(REORDER)) && rule->window > hit->window) {
		hit->window = rule->window;
		hit->reorder_by = 1 + (uint32_t)sim_rng_below(candidate->key, SIM_RNG_REORDER, rule->window);
	}
	if (rule->actions & A(STALL))
		hit->duration_ns = min_u64(hit->duration_ns + rule->duration_ns, SIM_RULE_MAX_NS);
}

static void merge_event_actions(struct evaluation *eval, const struct sim_rule *rule)
{
	struct sim_fault_hit *hit = &eval->hit;

	if (rule->actions & (A(DOWN) | A(PAUSE)))
		hit->duration_ns = max_u64(hit->duration_ns, rule->duration_ns);
	if ((rule->actions & A(NUM_VFS)) && is_first(eval, SIM_ACT_NUM_VFS))
		hit->num_vfs = rule->num_vfs;
}

static bool is_submission(enum sim_op op)
{
	return (sim_act_ops(SIM_ACT_STALL) & SIM_OP_BIT(op)) == 0;
}

static void merge_rule(struct evaluation *eval, struct candidate *candidate)
{
	struct sim_fault_hit *hit = &eval->hit;
	sim_bits actions = candidate->rule.actions;

	merge_data_actions(eval, candidate);
	merge_message_actions(eval, candidate);
	merge_event_actions(eval, &candidate->rule);
	hit->actions |= actions;
	if (hit->num_rules < SIM_FAULT_HIT_MAX_RULES) {
		hit->rules[hit->num_rules] = candidate->id;
		hit->matches[hit->num_rules] = candidate->process_match;
		hit->delays_ns[hit->num_rules] = candidate->delay_ns;
	}
	hit->num_rules++;
	if (eval->site->on_fire)
		eval->site->on_fire(eval->site->arg, candidate->id, &candidate->rule, candidate->delay_ns);
	eval->terminated = (actions & sim_acts_with(SIM_ROLE_ENDS)) != 0;
	if (actions & sim_acts_with(SIM_ROLE_ALONE))
		hit->actions = actions;
	if ((actions & A(REFUSE)) && !hit->refuse_status && is_submission(eval->site->op))
		hit->refuse_status = SIM_STATUS_AGAIN;
}

/* ---- where and when ---- */

static bool is_event(enum sim_op op)
{
	return (SIM_OPS_EVENTS & SIM_OP_BIT(op)) != 0;
}

static bool is_in_time_window(const struct evaluation *eval, const struct candidate *candidate)
{
	const struct sim_fault_site *site = eval->site;
	const struct sim_rule *rule = &candidate->rule;
	uint64_t begin;

	if (!is_event(site->op))
		return site->now_ns >= rule->from_ns && site->now_ns < rule->until_ns;
	begin = sim_event_begin_ns(eval->index, candidate->slot_index, rule);
	return begin >= site->since_ns && begin <= (site->upto_ns ? site->upto_ns : site->now_ns) &&
	       site->now_ns < rule->until_ns;
}

/* Whether the rule has fired as often as it can. */
static bool is_exhausted(const struct sim_plan_slot *slot, const struct sim_rule *rule)
{
	if ((rule->when & SIM_WHEN_TIMES) && load(&slot->fired) >= rule->times)
		return true;
	return (rule->when & SIM_WHEN_NTH) && load(&slot->matched) >= (uint64_t)rule->nth + rule->skip;
}

static bool is_triggered(const struct candidate *candidate)
{
	const struct sim_rule *rule = &candidate->rule;
	uint64_t number = candidate->match - rule->skip;

	if (candidate->match <= rule->skip)
		return false;
	if ((rule->when & SIM_WHEN_NTH) && number != rule->nth)
		return false;
	if ((rule->when & SIM_WHEN_EVERY) && number % rule->every != 0)
		return false;
	return !(rule->when & SIM_WHEN_CHANCE) ||
	       sim_rng_below(candidate->key, SIM_RNG_CHANCE, SIM_PPB) < rule->chance_ppb;
}

static bool is_noop(const struct sim_fault_site *site, const struct candidate *candidate)
{
	return site->is_noop && site->is_noop(site->arg, candidate->id, &candidate->rule);
}

/* Count the fault. Returns false if other threads have used up the limit. */
static bool count_fired(struct sim_plan_slot *slot, const struct sim_rule *rule)
{
	uint64_t fired = load(&slot->fired);

	if (!(rule->when & SIM_WHEN_TIMES)) {
		atomic_fetch_add_explicit(&slot->fired, 1, memory_order_relaxed);
		return true;
	}
	while (fired < rule->times)
		if (atomic_compare_exchange_weak_explicit(&slot->fired, &fired, fired + 1, memory_order_relaxed,
							  memory_order_relaxed))
			return true;
	return false;
}

/* ---- evaluation ---- */

/* Whether the entry's size and address conditions exclude the site. An entry that changes concurrently may give either answer. */
static bool cannot_match(const struct sim_index_entry *entry, const struct sim_fault_site *site)
{
	return !sim_index_entry_has_op(entry, site->op) || site->size < sim_index_entry_field(entry, size_min) ||
	       site->size > sim_index_entry_field(entry, size_max) ||
	       site->addr > sim_index_entry_field(entry, addr_max) ||
	       sim_fault_site_last_addr(site) < sim_index_entry_field(entry, addr_min);
}

/* Copy the entry of a slot. Returns whether it may hit this site. */
static bool load_candidate(const struct evaluation *eval, struct candidate *candidate)
{
	const struct sim_index_entry *entry = &eval->index->entries[candidate->slot_index];

	candidate->id = atomic_load_explicit(&entry->id, memory_order_acquire);
	if (!candidate->id || cannot_match(entry, eval->site))
		return false;
	sim_atomic_words_load(&candidate->rule, entry->rule, SIM_RULE_WORDS);
	if (!sim_slot_bitmap_has(eval->function, candidate->slot_index) &&
	    (is_event(eval->site->op) || !sim_slot_bitmap_has(&eval->index->after, candidate->slot_index)))
		return false;
	return load(&entry->id) == candidate->id &&
	       load(&eval->index->plan->slots[candidate->slot_index].id) == candidate->id &&
	       (candidate->rule.ops & SIM_OP_BIT(eval->site->op)) != 0;
}

static uint64_t seed_of(const struct evaluation *eval, const struct sim_rule *rule)
{
	return rule->when & SIM_WHEN_SEED ? rule->seed : load(&eval->index->plan->seed);
}

static bool is_expired(const struct sim_fault_site *site, const struct sim_rule *rule)
{
	return !is_event(site->op) && site->now_ns >= rule->until_ns;
}

/* An operation for which the event of the rule waits. */
static void count_operation(const struct evaluation *eval, const struct candidate *candidate)
{
	struct sim_rule_index *index = eval->index;
	uint64_t number =
		atomic_fetch_add_explicit(&index->plan->slots[candidate->slot_index].matched, 1, memory_order_relaxed) +
		1;

	if (number >= candidate->rule.after_nth)
		sim_rule_index_drop_exhausted(index, candidate->slot_index, candidate->id);
	if (number == candidate->rule.after_nth && index->on_begin)
		index->on_begin(index->arg, candidate->id);
}

static void evaluate_rule(struct evaluation *eval, uint32_t slot_index)
{
	struct sim_plan_slot *slot = &eval->index->plan->slots[slot_index];
	struct candidate candidate;

	candidate.slot_index = slot_index;
	if (!load_candidate(eval, &candidate))
		return;
	if ((candidate.rule.when & SIM_WHEN_AFTER) && !is_event(eval->site->op)) {
		count_operation(eval, &candidate);
		return;
	}
	if (is_exhausted(slot, &candidate.rule) || is_expired(eval->site, &candidate.rule)) {
		sim_rule_index_drop_exhausted(eval->index, slot_index, candidate.id);
		return;
	}
	if (!sim_rule_matches_operation(&candidate.rule, eval->site) ||
	    (is_event(eval->site->op) && !sim_rule_matches_process(&candidate.rule, eval->site->process)) ||
	    !is_in_time_window(eval, &candidate))
		return;
	candidate.match = atomic_fetch_add_explicit(&slot->matched, 1, memory_order_relaxed) + 1;
	candidate.process_match =
		atomic_fetch_add_explicit(&eval->index->entries[slot_index].matched, 1, memory_order_relaxed) + 1;
	candidate.delay_ns = 0;
	candidate.key = sim_rng_key(seed_of(eval, &candidate.rule), candidate.id, candidate.match);
	if (!eval->terminated && is_triggered(&candidate) && !is_noop(eval->site, &candidate) &&
	    count_fired(slot, &candidate.rule))
		merge_rule(eval, &candidate);
}

static void evaluate_word(struct evaluation *eval, const struct sim_slot_bitmap *bitmap, uint32_t word)
{
	uint64_t functions = load(&eval->function->words[word]) | load(&eval->index->after.words[word]);
	uint64_t bits = load(&bitmap->words[word]) & functions;

	if (eval->addr)
		bits &= load(&eval->addr->words[word]);
	while (bits) {
		uint32_t bit = (uint32_t)__builtin_ctzll(bits);

		bits &= bits - 1;
		evaluate_rule(eval, word * 64 + bit);
	}
}

/* Whether the site lies outside all address conditions. */
static bool is_outside_rule_addresses(const struct sim_rule_index *index, const struct sim_fault_site *site)
{
	return site->addr > load(&index->addr_max) || sim_fault_site_last_addr(site) < load(&index->addr_min);
}

/* The words of the bitmap that may have a rule for the site's function and address. */
static uint64_t candidate_words(const struct evaluation *eval, const struct sim_slot_bitmap *bitmap)
{
	uint64_t words = load(&bitmap->summary) & (load(&eval->function->summary) | load(&eval->index->after.summary));

	return eval->addr ? words & load(&eval->addr->summary) : words;
}

static void evaluate_words(struct evaluation *eval, const struct sim_slot_bitmap *bitmap, uint64_t words)
{
	memset(&eval->hit, 0, sizeof(eval->hit));
	eval->terminated = false;
	while (words) {
		uint32_t word = (uint32_t)__builtin_ctzll(words);

		words &= words - 1;
		evaluate_word(eval, bitmap, word);
	}
}

bool sim_injector_evaluate(struct sim_injector *injector, const struct sim_fault_site *site,
			   struct sim_fault_hit *ret_hit)
{
	struct sim_rule_index *index = sim_rule_index_of(injector);
	const struct sim_slot_bitmap *bitmap;
	uint64_t words;
	struct evaluation eval; /* initialised only as far as needed */

	if (!injector || site->op >= SIM_OP_COUNT)
		return false;
	sim_rule_index_refresh(index);
	if (site->now_ns >= load(&index->next_begin_ns))
		sim_rule_index_activate_due(index, site->now_ns);
	bitmap = sim_rule_index_size_bitmap(index, site->op, site->size);
	eval.index = index;
	eval.site = site;
	eval.function = sim_rule_index_function_bitmap(index, site->function);
	eval.addr = is_outside_rule_addresses(index, site) ? &index->any_address : NULL;
	words = candidate_words(&eval, bitmap);
	if (!words)
		return false;
	evaluate_words(&eval, bitmap, words);
	if (!eval.hit.num_rules)
		return false;
	*ret_hit = eval.hit;
	return true;
}

/* ---- flipped bits ---- */

/* Each flip has its own part of the data, so that no two hit the same bit. */
uint64_t sim_fault_hit_bit(const struct sim_fault_hit *hit, uint32_t i, uint64_t num_bits)
{
	uint64_t begin = (uint64_t)((u128)num_bits * i / hit->flip_bits);
	uint64_t end = (uint64_t)((u128)num_bits * (i + (u128)1) / hit->flip_bits);

	return end > begin ? begin + sim_rng_below(hit->key, i, end - begin) : begin;
}

SIM_DEVICE_ACCESS void sim_fault_hit_flip(const struct sim_fault_hit *hit, void *data, size_t len)
{
	struct sim_fault_hit capped = *hit;
	uint64_t num_bits = (uint64_t)len * 8;
	uint8_t *bytes = data;

	capped.flip_bits = (uint32_t)min_u64(capped.flip_bits, num_bits);
	for (uint32_t i = 0; i < capped.flip_bits; i++) {
		uint64_t bit = sim_fault_hit_bit(&capped, i, num_bits);

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
