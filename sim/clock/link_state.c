/* SPDX-License-Identifier: BSD-3-Clause */
/* The degradation windows of a link, and their combination. */
#include "link_state.h"

#include <errno.h>
#include <stddef.h>

#include "pcie_model/arith.h"

#define PS_PER_NS 1000
#define PPB       1000000000u

#define load(from)       atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

/* ---- windows ---- */

static uint32_t num_windows(const struct sim_clock_link_degradation *degradation)
{
	return min_u32(load(&degradation->end), SIM_CLOCK_MAX_WINDOWS);
}

static bool is_expired(const struct sim_clock_degrade_window *window, uint64_t now_ns)
{
	return load(&window->until_ns) <= now_ns && load(&window->up_ns) <= now_ns;
}

/* The ends first: a concurrent reader finds a window that is closed or over. */
static void close_window(struct sim_clock_degrade_window *window)
{
	store(&window->until_ns, 0);
	store(&window->up_ns, 0);
	store(&window->speed, 0);
	store(&window->replay_ppb, 0);
	store(&window->rule, 0);
}

/* The rule's own window, else a free one, or NULL. */
static struct sim_clock_degrade_window *find_window(struct sim_clock_link_degradation *degradation, uint32_t rule,
						    uint64_t now_ns)
{
	uint32_t end = num_windows(degradation);
	struct sim_clock_degrade_window *free_window = NULL;

	for (uint32_t i = 0; i < end; i++) {
		struct sim_clock_degrade_window *window = &degradation->windows[i];

		if (load(&window->rule) == rule)
			return window;
		if (!load(&window->rule) || is_expired(window, now_ns))
			free_window = window;
	}
	if (free_window || end == SIM_CLOCK_MAX_WINDOWS)
		return free_window;
	store(&degradation->end, end + 1);
	return &degradation->windows[end];
}

int sim_clock_link_degrade(struct sim_clock_card *card, uint32_t rule, const struct sim_clock_degrade *degrade,
			   uint64_t now_ns)
{
	struct sim_clock_degrade_window *window = find_window(&card->degradation, rule, now_ns);

	if (!window)
		return -ENOSPC;
	if (load(&window->rule) != rule)
		close_window(window);
	store(&window->speed, degrade->generation << 8 | degrade->lanes);
	store(&window->replay_ppb, degrade->replay_ppb);
	store(&window->up_ns, max_u64(load(&window->up_ns), degrade->up_ns));
	store(&window->until_ns, degrade->until_ns);
	store(&window->rule, rule);
	return 0;
}

void sim_clock_link_restore(struct sim_clock_card *card, bool (*rule_exists)(const void *arg, uint32_t rule),
			    const void *arg)
{
	uint32_t end = num_windows(&card->degradation);

	for (uint32_t i = 0; i < end; i++) {
		struct sim_clock_degrade_window *window = &card->degradation.windows[i];

		if (load(&window->rule) && !rule_exists(arg, load(&window->rule)))
			close_window(window);
	}
	while (end > 0 && !load(&card->degradation.windows[end - 1].rule))
		end--;
	store(&card->degradation.end, end);
}

/* ---- combination ---- */

uint64_t sim_clock_link_up_ns(const struct sim_clock_card *card)
{
	uint32_t end = num_windows(&card->degradation);
	uint64_t up_ns = 0;

	for (uint32_t i = 0; i < end; i++)
		up_ns = max_u64(up_ns, load(&card->degradation.windows[i].up_ns));
	return up_ns;
}

static void apply_window(struct pcie_link *link, const struct sim_clock_degrade_window *window)
{
	uint32_t speed = load(&window->speed);

	if (speed) {
		link->generation = min_u32(link->generation, speed >> 8);
		link->lanes = min_u32(link->lanes, speed & 0xff);
	}
	link->replay_ppb = min_u32(min_u32(load(&window->replay_ppb), PPB) + link->replay_ppb, PPB - 1);
}

struct pcie_link sim_clock_link_at(const struct pcie_link *trained,
				   const struct sim_clock_link_degradation *degradation, uint64_t at_ps)
{
	uint32_t end = num_windows(degradation);
	struct pcie_link link = *trained;

	for (uint32_t i = 0; i < end; i++)
		if (load(&degradation->windows[i].until_ns) > at_ps / PS_PER_NS)
			apply_window(&link, &degradation->windows[i]);
	return pcie_link_config_error(&link) ? *trained : link;
}
