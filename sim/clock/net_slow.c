/* SPDX-License-Identifier: BSD-3-Clause */
/* The delays and rates of network links, and their combination. */
#include "net_slow.h"

#include <errno.h>

#include "pcie_model/arith.h"
#include "sim/clock/clock.h"

#define load(from) atomic_load_explicit((from), memory_order_relaxed)

#define FS_PER_BYTE_BS UINT64_C(1000000000000000) /* divided by a rate in bytes per second: femtoseconds per byte */

int sim_clock_net_slow_open(struct sim_clock_net *net, uint32_t link, const struct sim_clock_net_change *change,
			    uint64_t now_ns)
{
	int rc;

	if (change->delay_ns == 0 && change->rate == 0)
		return 0;
	if (link >= SIM_CLOCK_MAX_NET_LINKS)
		return -ENOSPC;
	rc = sim_clock_net_window_open(&net->links[link].slow, change, now_ns);
	if (rc == 0)
		atomic_store_explicit(&net->has_slow_links, 1, memory_order_release);
	return rc;
}

uint32_t sim_clock_net_lower_rate(uint32_t a, uint32_t b)
{
	return a == 0 || b == 0 ? a + b : min_u32(a, b);
}

struct sim_clock_net_slow sim_clock_net_slow_at(const struct sim_clock_net *net, uint32_t link, uint64_t at_ns)
{
	struct sim_clock_net_slow slow = { 0 };
	const struct sim_clock_net_windows *windows;

	if (link >= SIM_CLOCK_MAX_NET_LINKS)
		return slow;
	windows = &net->links[link].slow;
	for (uint32_t i = 0; i < sim_clock_net_num_windows(windows); i++) {
		const struct sim_clock_net_window *window = &windows->entries[i];

		if (at_ns < load(&window->begin_ns) || at_ns >= load(&window->end_ns))
			continue;
		slow.delay_ns = max_u64(slow.delay_ns, load(&window->delay_ns));
		slow.rate = sim_clock_net_lower_rate(slow.rate, load(&window->rate));
	}
	return slow;
}

static void slow_hop(const struct sim_clock_net *net, uint32_t link, uint64_t at_ns, struct pcie_net_hop *hop)
{
	const struct sim_clock_net_slow slow = sim_clock_net_slow_at(net, link, at_ns);

	if (slow.rate > 0)
		hop->fs_per_byte = max_u64(hop->fs_per_byte, FS_PER_BYTE_BS / slow.rate);
	hop->latency_ps = add_saturating_u64(hop->latency_ps, sim_clock_ps(slow.delay_ns));
}

void sim_clock_net_slow_path(const struct sim_clock_net *net, const struct pcie_topology *topology, uint32_t from,
			     uint32_t to, uint64_t at_ns, struct pcie_net_path *path)
{
	uint32_t trunk;

	if (path->num_hops == 0)
		return;
	slow_hop(net, from, at_ns, &path->hops[0]);
	slow_hop(net, to, at_ns, &path->hops[path->num_hops - 1]);
	for (uint32_t i = 0; i < path->num_hops; i++)
		if (pcie_topology_find_trunk(topology, &path->hops[i], &trunk))
			slow_hop(net, trunk, at_ns, &path->hops[i]);
}
