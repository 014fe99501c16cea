/* SPDX-License-Identifier: BSD-3-Clause */
/* A card's link to the host when it is not as it was trained. */
#include "link_state.h"

#include <errno.h>
#include <stddef.h>

#define PS_PER_NS 1000
#define PPB 1000000000u

#define load(from) atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint32_t lower(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- windows ---- */

static uint32_t end_of(const struct sim_clock_trouble *trouble)
{
	return lower(load(&trouble->end), SIM_CLOCK_MAX_WINDOWS);
}

static bool is_over(const struct sim_clock_window *window, uint64_t now_ns)
{
	return load(&window->until_ns) <= now_ns && load(&window->up_ns) <= now_ns;
}

/* From the end on: who reads meanwhile finds a window that is nothing, or over. */
static void close_window(struct sim_clock_window *window)
{
	store(&window->until_ns, 0);
	store(&window->up_ns, 0);
	store(&window->speed, 0);
	store(&window->repeat_ppb, 0);
	store(&window->rule, 0);
}

/* The rule's own window, or one that is free. */
static struct sim_clock_window *window_for(struct sim_clock_trouble *trouble, uint32_t rule, uint64_t now_ns)
{
	uint32_t end = end_of(trouble);
	struct sim_clock_window *free_one = NULL;

	for (uint32_t i = 0; i < end; i++) {
		struct sim_clock_window *window = &trouble->windows[i];

		if (load(&window->rule) == rule)
			return window;
		if (!load(&window->rule) || is_over(window, now_ns))
			free_one = window;
	}
	if (free_one || end == SIM_CLOCK_MAX_WINDOWS)
		return free_one;
	store(&trouble->end, end + 1);
	return &trouble->windows[end];
}

int sim_clock_link_worsen(struct sim_clock_card *card, uint32_t rule, const struct sim_clock_worse *worse, uint64_t now_ns)
{
	struct sim_clock_window *window = window_for(&card->trouble, rule, now_ns);

	if (!window)
		return -ENOSPC;
	if (load(&window->rule) != rule)
		close_window(window);
	store(&window->speed, worse->generation << 8 | worse->lanes);
	store(&window->repeat_ppb, worse->repeat_ppb);
	store(&window->up_ns, later(load(&window->up_ns), worse->up_ns));
	store(&window->until_ns, worse->until_ns);
	store(&window->rule, rule);
	return 0;
}

void sim_clock_link_give_back(struct sim_clock_card *card, bool (*is_there)(const void *arg, uint32_t rule), const void *arg)
{
	uint32_t end = end_of(&card->trouble);

	for (uint32_t i = 0; i < end; i++) {
		struct sim_clock_window *window = &card->trouble.windows[i];

		if (load(&window->rule) && !is_there(arg, load(&window->rule)))
			close_window(window);
	}
	while (end > 0 && !load(&card->trouble.windows[end - 1].rule))
		end--;
	store(&card->trouble.end, end);
}

/* ---- what they come to ---- */

uint64_t sim_clock_link_up_ns(const struct sim_clock_card *card)
{
	uint32_t end = end_of(&card->trouble);
	uint64_t up_ns = 0;

	for (uint32_t i = 0; i < end; i++)
		up_ns = later(up_ns, load(&card->trouble.windows[i].up_ns));
	return up_ns;
}

static void worsen(struct pcie_link *link, const struct sim_clock_window *window)
{
	uint32_t speed = load(&window->speed);

	if (speed) {
		link->generation = lower(link->generation, speed >> 8);
		link->lanes = lower(link->lanes, speed & 0xff);
	}
	link->repeat_ppb = lower(lower(load(&window->repeat_ppb), PPB) + link->repeat_ppb, PPB - 1);
}

struct pcie_link sim_clock_link_at(const struct pcie_link *trained, const struct sim_clock_trouble *trouble,
				   uint64_t at_ps)
{
	uint32_t end = end_of(trouble);
	struct pcie_link link = *trained;

	for (uint32_t i = 0; i < end; i++)
		if (load(&trouble->windows[i].until_ns) > at_ps / PS_PER_NS)
			worsen(&link, &trouble->windows[i]);
	return pcie_link_fault(&link) ? *trained : link;
}
