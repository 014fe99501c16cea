/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows of network links: opened, and closed. */
#include "net_window.h"

#include <errno.h>
#include <stddef.h>

#include "pcie_model/arith.h"

#define load(from)       atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

uint32_t sim_clock_net_num_windows(const struct sim_clock_net_windows *windows)
{
	return min_u32(load(&windows->end), SIM_CLOCK_MAX_WINDOWS);
}

/* The end first: a concurrent reader finds a window that is over. */
static void close_window(struct sim_clock_net_window *window)
{
	store(&window->end_ns, 0);
	store(&window->begin_ns, 0);
	store(&window->rule, 0);
}

/* The rule's own, else a free one, or NULL. */
static struct sim_clock_net_window *find_window(struct sim_clock_net_windows *windows, uint32_t rule, uint64_t now_ns)
{
	struct sim_clock_net_window *free_window = NULL;
	uint32_t end = sim_clock_net_num_windows(windows);

	for (uint32_t i = 0; i < end; i++) {
		struct sim_clock_net_window *window = &windows->entries[i];

		if (load(&window->rule) == rule)
			return window;
		if (!load(&window->rule) || load(&window->end_ns) <= now_ns)
			free_window = window;
	}
	if (free_window || end == SIM_CLOCK_MAX_WINDOWS)
		return free_window;
	store(&windows->end, end + 1);
	return &windows->entries[end];
}

int sim_clock_net_window_open(struct sim_clock_net_windows *windows, const struct sim_clock_net_change *change,
			      uint64_t now_ns)
{
	struct sim_clock_net_window *window = find_window(windows, change->rule, now_ns);

	if (!window)
		return -ENOSPC;
	if (load(&window->rule) == change->rule)
		return 0;
	close_window(window);
	store(&window->delay_ns, change->delay_ns);
	store(&window->rate, change->rate);
	store(&window->begin_ns, change->begin_ns);
	store(&window->end_ns, change->end_ns);
	store(&window->rule, change->rule);
	return 0;
}

/* Returns whether windows are left. */
static bool restore(struct sim_clock_net_windows *windows, bool (*rule_exists)(const void *arg, uint32_t rule),
		    const void *arg)
{
	uint32_t end = sim_clock_net_num_windows(windows);

	for (uint32_t i = 0; i < end; i++)
		if (load(&windows->entries[i].rule) && !rule_exists(arg, load(&windows->entries[i].rule)))
			close_window(&windows->entries[i]);
	while (end > 0 && !load(&windows->entries[end - 1].rule))
		end--;
	store(&windows->end, end);
	return end > 0;
}

void sim_clock_net_restore(struct sim_clock_net *net, uint32_t num_links,
			   bool (*rule_exists)(const void *arg, uint32_t rule), const void *arg)
{
	bool has_outages = false, has_slow_links = false;

	if (!load(&net->has_outages) && !load(&net->has_slow_links))
		return;
	for (uint32_t i = 0; i < min_u32(num_links, SIM_CLOCK_MAX_NET_LINKS); i++) {
		has_outages |= restore(&net->links[i].outages, rule_exists, arg);
		has_slow_links |= restore(&net->links[i].slow, rule_exists, arg);
	}
	store(&net->has_outages, has_outages);
	store(&net->has_slow_links, has_slow_links);
}
