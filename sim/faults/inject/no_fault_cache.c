/* SPDX-License-Identifier: BSD-3-Clause */
/* Where nothing strikes: the surroundings of a site that met no rule. */
#include "rule_index_priv.h"

#define MAX_WAIT 1023

#define load(from) atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

struct box {
	uint64_t size_min, size_max, addr_min, addr_max;
};

static struct sim_calm *calm_of(struct sim_view *view, const struct sim_site *site)
{
	return &view->faults.calm[site->op][site->function % SIM_CALM_FUNCTIONS];
}

/* Readers see all of it or know that they did not. */
static void set(struct sim_calm *calm, uint64_t function, const struct box *box)
{
	uint64_t turn = load(&calm->turn);

	store(&calm->turn, turn + 1);
	atomic_store_explicit(&calm->function, function, memory_order_release);
	atomic_store_explicit(&calm->size_min, box->size_min, memory_order_release);
	atomic_store_explicit(&calm->size_max, box->size_max, memory_order_release);
	atomic_store_explicit(&calm->addr_min, box->addr_min, memory_order_release);
	atomic_store_explicit(&calm->addr_max, box->addr_max, memory_order_release);
	atomic_store_explicit(&calm->turn, turn + 2, memory_order_release);
}

/* Make the box so much smaller that the entry's rule, which is not for the site, is for nothing in
 * it. Whether that can be: not if size and address are the rule's. */
static bool keep_out(struct box *box, const struct sim_entry *entry, const struct sim_site *site)
{
	uint64_t size_min = sim_entry_peek(entry, size_min), size_max = sim_entry_peek(entry, size_max);
	uint64_t addr_min = sim_entry_peek(entry, addr_min), addr_max = sim_entry_peek(entry, addr_max);

	if (site->size < size_min)
		box->size_max = size_min - 1 < box->size_max ? size_min - 1 : box->size_max;
	else if (site->size > size_max)
		box->size_min = size_max + 1 > box->size_min ? size_max + 1 : box->size_min;
	else if (site->addr > addr_max)
		box->addr_min = addr_max + 1 > box->addr_min ? addr_max + 1 : box->addr_min;
	else if (sim_site_last_addr(site) < addr_min)
		box->addr_max = addr_min - 1 < box->addr_max ? addr_min - 1 : box->addr_max;
	else
		return false;
	return true;
}

/* Rules whose time has not come, or is over, are rules. */
static bool look_around(const struct sim_view *view, const struct sim_site *site, struct box *ret_box)
{
	const struct sim_map *function = sim_view_function_map(view, site->function);
	struct box box = {0, UINT64_MAX, 0, UINT64_MAX};

	for (uint32_t place = 0; place < view->end; place++) {
		const struct sim_entry *entry = &view->entries[place];

		if (load(&entry->id) && (sim_entry_peek(entry, ops) & SIM_OP_BIT(site->op)) &&
		    sim_map_has(function, place) && !keep_out(&box, entry, site))
			return false;
	}
	*ret_box = box;
	return true;
}

void sim_view_forget_calm(struct sim_view *view)
{
	static const struct box none = {0};

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		for (uint32_t i = 0; i < SIM_CALM_FUNCTIONS; i++)
			set(&view->faults.calm[op][i], SIM_NO_CALM, &none);
	store(&view->num_missed, 0);
	store(&view->calm_wait, 0);
}

/* Sites that never lie where the last one did make it useless to look around; so it is done more and more seldom. */
void sim_view_note_calm(struct sim_view *view, const struct sim_site *site)
{
	uint32_t missed = load(&view->num_missed) + 1, wait = load(&view->calm_wait);
	struct box box;

	store(&view->num_missed, missed);
	if (missed <= wait || pthread_mutex_trylock(&view->lock))
		return;
	store(&view->num_missed, 0);
	store(&view->calm_wait, wait < MAX_WAIT / 2 ? 2 * wait + 1 : MAX_WAIT);
	if (load(&view->faults.seen) == load(&view->plan->generation) && look_around(view, site, &box))
		set(calm_of(view, site), site->function, &box);
	pthread_mutex_unlock(&view->lock);
}

bool sim_faults_quiet(const struct sim_faults *faults, const struct sim_site *site, struct sim_quiet *ret_quiet)
{
	const struct sim_calm *calm = &faults->calm[site->op][site->function % SIM_CALM_FUNCTIONS];
	uint64_t turn = atomic_load_explicit(&calm->turn, memory_order_acquire);
	struct sim_quiet quiet = {
		.generation = load(&faults->seen),
		.size_min = atomic_load_explicit(&calm->size_min, memory_order_acquire),
		.size_max = atomic_load_explicit(&calm->size_max, memory_order_acquire),
		.addr_min = atomic_load_explicit(&calm->addr_min, memory_order_acquire),
		.addr_max = atomic_load_explicit(&calm->addr_max, memory_order_acquire),
	};

	if (!sim_faults_calm(faults, site) || load(&calm->turn) != turn)
		return false;
	*ret_quiet = quiet;
	return true;
}
