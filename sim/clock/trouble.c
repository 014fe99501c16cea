/* SPDX-License-Identifier: BSD-3-Clause */
/* A card's link to the host when it is not as it was trained. */
#include "trouble.h"

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

/* Both directions are busy with nothing. */
static void hold(struct sim_clock_card *card, uint64_t until_ns)
{
	uint64_t until_ps = until_ns > UINT64_MAX / PS_PER_NS ? UINT64_MAX : until_ns * PS_PER_NS;
	uint64_t mine = sim_clock_lock(&card->lock);

	card->link.tx_ps = later(card->link.tx_ps, until_ps);
	card->link.rx_ps = later(card->link.rx_ps, until_ps);
	sim_clock_unlock(&card->lock, mine);
}

void sim_clock_link_down(struct sim_clock_card *card, uint64_t until_ns)
{
	store(&card->trouble.down_until_ns, later(load(&card->trouble.down_until_ns), until_ns));
	hold(card, until_ns);
}

void sim_clock_link_degrade(struct sim_clock_card *card, uint32_t generation, uint32_t lanes, uint64_t now_ns,
			    uint64_t until_ns)
{
	struct sim_clock_trouble *trouble = &card->trouble;

	if (load(&trouble->speed_until_ns) > now_ns) {
		generation = lower(generation, load(&trouble->speed) >> 8);
		lanes = lower(lanes, load(&trouble->speed) & 0xff);
		until_ns = later(until_ns, load(&trouble->speed_until_ns));
	}
	store(&trouble->speed, generation << 8 | lanes);
	store(&trouble->speed_until_ns, until_ns);
}

void sim_clock_link_repeat(struct sim_clock_card *card, uint32_t repeat_ppb, uint64_t now_ns, uint64_t until_ns)
{
	struct sim_clock_trouble *trouble = &card->trouble;

	if (load(&trouble->repeat_until_ns) > now_ns) {
		repeat_ppb = (uint32_t)later(repeat_ppb, load(&trouble->repeat_ppb));
		until_ns = later(until_ns, load(&trouble->repeat_until_ns));
	}
	store(&trouble->repeat_ppb, repeat_ppb);
	store(&trouble->repeat_until_ns, until_ns);
}

struct pcie_link sim_clock_link_at(const struct pcie_link *trained, const struct sim_clock_trouble *trouble,
				   uint64_t at_ps)
{
	struct pcie_link link = *trained;

	if (load(&trouble->speed_until_ns) > at_ps / PS_PER_NS) {
		link.generation = lower(link.generation, load(&trouble->speed) >> 8);
		link.lanes = lower(link.lanes, load(&trouble->speed) & 0xff);
	}
	if (load(&trouble->repeat_until_ns) > at_ps / PS_PER_NS)
		link.repeat_ppb = lower(load(&trouble->repeat_ppb), PPB - 1);
	return pcie_link_fault(&link) ? *trained : link;
}
