/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking: which rules strike at a site, and what that comes to. */
#include <string.h>

#include "rng_priv.h"
#include "rule_index_priv.h"

#define A(act) SIM_ACT_BIT(SIM_ACT_##act)
#define load(from) atomic_load_explicit((from), memory_order_relaxed)

typedef unsigned __int128 u128;

/* One question, while the rules are gone through. */
struct ask {
	struct sim_view *view;
	const struct sim_site *site;
	const struct sim_map *function; /* places that strike at the site's function */
	const struct sim_map *addr; /* and at its address; NULL: it takes a look at each */
	struct sim_strike strike;
	bool ended; /* nothing is left to strike */
	bool met;   /* a rule, whether it struck or not */
};

/* A rule that is looked at. */
struct candidate {
	uint32_t place, id;
	uint64_t added_ns;
	struct sim_rule rule;
	uint64_t match; /* the number of this match */
	uint64_t own_match; /* ... among this process's */
	uint64_t delay_ns; /* drawn, if the rule delays */
	uint64_t key;   /* of its draws */
};

/* What several rules come to ----------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool is_first(const struct ask *ask, enum sim_act act)
{
	return !(ask->strike.actions & SIM_ACT_BIT(act));
}

static uint64_t moved_bytes(const struct sim_rule *rule, uint64_t size)
{
	if (rule->moved_is_part)
		return (uint64_t)((u128)size * rule->moved / SIM_PPB);
	return least(rule->moved, size);
}

static uint64_t delay_of(const struct ask *ask, const struct candidate *candidate)
{
	const struct sim_rule *rule = &candidate->rule;

	if (rule->delay_kind != SIM_DELAY_TRACE)
		return sim_draw_delay(rule, candidate->key);
	/* a and b were checked when the rule came into the view. */
	return load(&ask->view->plan->delays[rule->delay_a + (candidate->match - 1) % rule->delay_b]);
}

static uint32_t flips_of(const struct ask *ask, const struct sim_rule *rule)
{
	uint64_t bits = least(ask->site->size, UINT32_MAX / 8) * 8;

	return (uint32_t)least((uint64_t)ask->strike.flip_bits + rule->flip_bits, bits);
}

static void apply_data(struct ask *ask, struct candidate *candidate)
{
	struct sim_strike *strike = &ask->strike;
	const struct sim_rule *rule = &candidate->rule;

	if (rule->actions & A(FAIL)) {
		strike->status = rule->status;
		strike->moved_bytes = moved_bytes(rule, ask->site->size);
	}
	if (rule->actions & A(REFUSE))
		strike->refuse_status = rule->refuse_status;
	if (rule->actions & A(DELAY)) {
		candidate->delay_ns = least(delay_of(ask, candidate), SIM_RULE_MAX_NS);
		strike->delay_ns = least(strike->delay_ns + candidate->delay_ns, SIM_RULE_MAX_NS);
	}
	if (rule->actions & A(FLIP))
		strike->flip_bits = flips_of(ask, rule);
	if ((rule->actions & (A(FLIP) | A(TEAR))) && !(strike->actions & (A(FLIP) | A(TEAR))))
		strike->key = sim_draw(candidate->key, SIM_DRAW_KEY);
}

static void apply_message(struct ask *ask, const struct candidate *candidate)
{
	struct sim_strike *strike = &ask->strike;
	const struct sim_rule *rule = &candidate->rule;

	if (rule->actions & A(TRUNCATE))
		strike->truncate_bytes = is_first(ask, SIM_ACT_TRUNCATE) ?
						 rule->truncate_bytes :
						 (uint32_t)least(strike->truncate_bytes, rule->truncate_bytes);
	if ((rule->actions & A(REORDER)) && rule->window > strike->window) {
		strike->window = rule->window;
		strike->behind = 1 + (uint32_t)sim_draw_below(candidate->key, SIM_DRAW_BEHIND, rule->window);
	}
	if (rule->actions & A(STALL))
		strike->duration_ns = least(strike->duration_ns + rule->duration_ns, SIM_RULE_MAX_NS);
}

static void apply_event(struct ask *ask, const struct sim_rule *rule)
{
	struct sim_strike *strike = &ask->strike;

	if (rule->actions & (A(DOWN) | A(PAUSE)))
		strike->duration_ns = most(strike->duration_ns, rule->duration_ns);
	if ((rule->actions & A(NUM_VFS)) && is_first(ask, SIM_ACT_NUM_VFS))
		strike->num_vfs = rule->num_vfs;
}

static bool is_submission(enum sim_op op)
{
	return op != SIM_OP_COMCH_CONNECT && op != SIM_OP_COMM_CHANNEL_CONNECT;
}

static void apply(struct ask *ask, struct candidate *candidate)
{
	struct sim_strike *strike = &ask->strike;
	uint32_t actions = candidate->rule.actions;

	apply_data(ask, candidate);
	apply_message(ask, candidate);
	apply_event(ask, &candidate->rule);
	strike->actions |= actions;
	if (strike->num_rules < SIM_STRIKE_RULES) {
		strike->rules[strike->num_rules] = candidate->id;
		strike->matches[strike->num_rules] = candidate->own_match;
		strike->delays_ns[strike->num_rules] = candidate->delay_ns;
	}
	strike->num_rules++;
	if (ask->site->each)
		ask->site->each(ask->site->arg, candidate->id, &candidate->rule);
	ask->ended = actions & SIM_ACTS_ENDING;
	if (actions & (A(HANG) | A(REFUSE) | A(DROP)))
		strike->actions = actions;
	if ((actions & A(REFUSE)) && !strike->refuse_status && is_submission(ask->site->op))
		strike->refuse_status = SIM_STATUS_AGAIN;
}

/* Where and when ------------------------------------------------------------------------ */

static bool is_event(enum sim_op op)
{
	return SIM_OPS_EVENTS & SIM_OP_BIT(op);
}

static bool is_now(const struct sim_site *site, const struct candidate *candidate)
{
	const struct sim_rule *rule = &candidate->rule;
	uint64_t begin;

	if (!is_event(site->op))
		return site->now_ns >= rule->from_ns && site->now_ns < rule->until_ns;
	begin = most(rule->from_ns, candidate->added_ns);
	return begin >= site->since_ns && begin <= (site->upto_ns ? site->upto_ns : site->now_ns) &&
	       site->now_ns < rule->until_ns;
}

static bool is_there(const struct sim_site *site, const struct sim_rule *rule)
{
	return site->size >= rule->size_min && site->size <= rule->size_max && site->addr <= rule->addr_max &&
	       sim_site_last_addr(site) >= rule->addr_min && (!is_event(site->op) || sim_where_process(rule, site->who));
}

/* Whether it has fired as often as it can. */
static bool has_fired_out(const struct sim_plan_slot *slot, const struct sim_rule *rule)
{
	if ((rule->when & SIM_WHEN_TIMES) && load(&slot->fired) >= rule->times)
		return true;
	return (rule->when & SIM_WHEN_NTH) && load(&slot->matched) >= (uint64_t)rule->nth + rule->skip;
}

static bool is_due(const struct candidate *candidate)
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
	       sim_draw_below(candidate->key, SIM_DRAW_CHANCE, SIM_PPB) < rule->chance_ppb;
}

static bool is_moot(const struct sim_site *site, const struct candidate *candidate)
{
	return site->is_moot && site->is_moot(site->arg, candidate->id, &candidate->rule);
}

/* Count the fault, unless other threads were the last that might. */
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

/* Going through ---------------------------------------------------------------------------- */

/* Whether the entry's first conditions rule out the site. One that changes just now is as good as not there. */
static bool is_elsewhere(const struct sim_entry *entry, const struct sim_site *site)
{
	return !(sim_entry_peek(entry, ops) & SIM_OP_BIT(site->op)) || site->size < sim_entry_peek(entry, size_min) ||
	       site->size > sim_entry_peek(entry, size_max) || site->addr > sim_entry_peek(entry, addr_max) ||
	       sim_site_last_addr(site) < sim_entry_peek(entry, addr_min);
}

/* Copy the entry of a place. Whether it is one that may strike at this site. */
static bool look(const struct ask *ask, struct candidate *candidate)
{
	const struct sim_entry *entry = &ask->view->entries[candidate->place];

	candidate->id = atomic_load_explicit(&entry->id, memory_order_acquire);
	if (!candidate->id || is_elsewhere(entry, ask->site))
		return false;
	candidate->added_ns = atomic_load_explicit(&entry->added_ns, memory_order_acquire);
	sim_words_load(&candidate->rule, entry->rule, SIM_RULE_WORDS);
	if (!sim_map_has(ask->function, candidate->place))
		return false;
	return load(&entry->id) == candidate->id &&
	       load(&ask->view->plan->slots[candidate->place].id) == candidate->id &&
	       (candidate->rule.ops & SIM_OP_BIT(ask->site->op));
}

static uint64_t seed_of(const struct ask *ask, const struct sim_rule *rule)
{
	return rule->when & SIM_WHEN_SEED ? rule->seed : load(&ask->view->plan->seed);
}

static bool is_over(const struct sim_site *site, const struct sim_rule *rule)
{
	return !is_event(site->op) && site->now_ns >= rule->until_ns;
}

static void consider(struct ask *ask, uint32_t place)
{
	struct sim_plan_slot *slot = &ask->view->plan->slots[place];
	struct candidate candidate;

	candidate.place = place;
	if (!look(ask, &candidate))
		return;
	ask->met |= is_there(ask->site, &candidate.rule);
	if (has_fired_out(slot, &candidate.rule) || is_over(ask->site, &candidate.rule)) {
		sim_view_drop_spent(ask->view, place, candidate.id);
		return;
	}
	if (!is_there(ask->site, &candidate.rule) || !is_now(ask->site, &candidate))
		return;
	candidate.match = atomic_fetch_add_explicit(&slot->matched, 1, memory_order_relaxed) + 1;
	candidate.own_match =
		atomic_fetch_add_explicit(&ask->view->entries[place].matched, 1, memory_order_relaxed) + 1;
	candidate.delay_ns = 0;
	candidate.key = sim_draw_key(seed_of(ask, &candidate.rule), candidate.id, candidate.match);
	if (!ask->ended && is_due(&candidate) && !is_moot(ask->site, &candidate) && count_fired(slot, &candidate.rule))
		apply(ask, &candidate);
}

static void go_through_word(struct ask *ask, const struct sim_map *map, uint32_t word)
{
	uint64_t bits = load(&map->words[word]) & load(&ask->function->words[word]);

	if (ask->addr)
		bits &= load(&ask->addr->words[word]);
	while (bits) {
		uint32_t bit = (uint32_t)__builtin_ctzll(bits);

		bits &= bits - 1;
		consider(ask, word * 64 + bit);
	}
}

/* Whether the site is beyond all addresses that rules ask for. */
static bool is_beyond(const struct sim_view *view, const struct sim_site *site)
{
	return site->addr > load(&view->addr_max) || sim_site_last_addr(site) < load(&view->addr_min);
}

/* Words of the map that may have a rule for the site's function and address. */
static uint64_t words_of(const struct ask *ask, const struct sim_map *map)
{
	uint64_t words = load(&map->summary) & load(&ask->function->summary);

	return ask->addr ? words & load(&ask->addr->summary) : words;
}

static void go_through(struct ask *ask, const struct sim_map *map, uint64_t words)
{
	memset(&ask->strike, 0, sizeof(ask->strike));
	ask->ended = ask->met = false;
	while (words) {
		uint32_t word = (uint32_t)__builtin_ctzll(words);

		words &= words - 1;
		go_through_word(ask, map, word);
	}
}

bool sim_faults_strike(struct sim_faults *faults, const struct sim_site *site, struct sim_strike *ret_strike)
{
	struct sim_view *view = sim_view_of(faults);
	const struct sim_map *map;
	uint64_t words;
	struct ask ask; /* filled in as it is needed: mostly it is not */

	if (!faults || site->op >= SIM_OP_COUNT)
		return false;
	sim_view_refresh(view);
	if (sim_faults_calm(faults, site))
		return false;
	if (site->now_ns >= load(&view->next_begin_ns))
		sim_view_begin(view, site->now_ns);
	map = &view->maps[site->op][sim_size_class(site->size)];
	ask.view = view;
	ask.site = site;
	ask.function = sim_view_function_map(view, site->function);
	ask.addr = is_beyond(view, site) ? &view->anywhere : NULL;
	words = words_of(&ask, map);
	if (words)
		go_through(&ask, map, words);
	if ((!words || !ask.met) && !is_event(site->op))
		sim_view_note_calm(view, site);
	if (!words || !ask.strike.num_rules)
		return false;
	*ret_strike = ask.strike;
	return true;
}

/* Bits ----------------------------------------------------------------------------------- */

/* Each flip has its own stretch of the data, so that no two meet. */
uint64_t sim_strike_bit(const struct sim_strike *strike, uint32_t i, uint64_t num_bits)
{
	uint64_t begin = (uint64_t)((u128)num_bits * i / strike->flip_bits);
	uint64_t end = (uint64_t)((u128)num_bits * (i + (u128)1) / strike->flip_bits);

	return end > begin ? begin + sim_draw_below(strike->key, i, end - begin) : begin;
}

void sim_strike_flip(const struct sim_strike *strike, void *data, size_t len)
{
	struct sim_strike own = *strike;
	uint64_t num_bits = (uint64_t)len * 8;
	uint8_t *bytes = data;

	own.flip_bits = (uint32_t)least(own.flip_bits, num_bits);
	for (uint32_t i = 0; i < own.flip_bits; i++) {
		uint64_t bit = sim_strike_bit(&own, i, num_bits);

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
