/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a session, in its three modes. */
#include "clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link_state.h"
#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"

struct sim_clock {
	struct sim_clock_page *page;
	const struct pcie_topology *topology;
	enum sim_clock_mode mode;
	uint64_t start_ns;
	uint64_t number;
};

static _Atomic uint64_t last_number;

static const char *const names[SIM_CLOCK_NUM_MODES] = {
	[SIM_CLOCK_FUNCTIONAL] = "functional",
	[SIM_CLOCK_TIMED] = "timed",
	[SIM_CLOCK_VIRTUAL] = "virtual",
};

int sim_clock_mode_parse(const char *text, enum sim_clock_mode *ret_mode)
{
	for (unsigned int mode = 0; mode < SIM_CLOCK_NUM_MODES; mode++) {
		if (strcmp(text, names[mode]) == 0) {
			*ret_mode = (enum sim_clock_mode)mode;
			return 0;
		}
	}
	return -EINVAL;
}

const char *sim_clock_mode_name(enum sim_clock_mode mode)
{
	return names[mode];
}

void sim_clock_page_init(struct sim_clock_page *page, enum sim_clock_mode mode)
{
	atomic_store_explicit(&page->mode, mode, memory_order_relaxed);
	atomic_store_explicit(&page->start_ns, sim_monotonic_ns(), memory_order_relaxed);
}

void sim_clock_page_reset(struct sim_clock_page *page, enum sim_clock_mode mode)
{
	uint32_t end = atomic_load_explicit(&page->end, memory_order_relaxed);

	memset(page->participants, 0, min_u32(end, SIM_CLOCK_MAX_PARTICIPANTS) * sizeof(page->participants[0]));
	memset(page->engines, 0, sizeof(page->engines));
	memset(page->busy, 0, sizeof(page->busy));
	memset(page->holds, 0, sizeof(page->holds));
	memset(page->waits_launch, 0, sizeof(page->waits_launch));
	memset(&page->lock, 0, sizeof(page->lock));
	atomic_store_explicit(&page->end, 0, memory_order_relaxed);
	atomic_store_explicit(&page->mode, mode, memory_order_relaxed);
}

static uint64_t elapsed_ns(uint64_t start_ns)
{
	uint64_t now_ns = sim_monotonic_ns();

	return now_ns > start_ns ? now_ns - start_ns : 0;
}

uint64_t sim_clock_page_now_ns(const struct sim_clock_page *page)
{
	if (atomic_load_explicit(&page->mode, memory_order_relaxed) == SIM_CLOCK_VIRTUAL)
		return atomic_load_explicit(&page->now_ns, memory_order_acquire);
	return elapsed_ns(atomic_load_explicit(&page->start_ns, memory_order_relaxed));
}

enum sim_clock_mode sim_clock_page_mode(const struct sim_clock_page *page)
{
	uint32_t mode = atomic_load_explicit(&page->mode, memory_order_relaxed);

	return mode < SIM_CLOCK_NUM_MODES ? (enum sim_clock_mode)mode : SIM_CLOCK_FUNCTIONAL;
}

uint64_t sim_clock_page_start_ns(const struct sim_clock_page *page)
{
	return atomic_load_explicit(&page->start_ns, memory_order_relaxed);
}

const _Atomic uint64_t *sim_clock_page_virtual_ns(const struct sim_clock_page *page)
{
	return atomic_load_explicit(&page->mode, memory_order_relaxed) == SIM_CLOCK_VIRTUAL ? &page->now_ns : NULL;
}

int sim_clock_create(struct sim_clock_page *page, const struct pcie_topology *topology, struct sim_clock **ret_clock)
{
	struct sim_clock *clock = malloc(sizeof(*clock));

	if (!clock)
		return -ENOMEM;
	*clock = (struct sim_clock){
		.page = page,
		.topology = topology,
		.mode = sim_clock_page_mode(page),
		.start_ns = atomic_load_explicit(&page->start_ns, memory_order_relaxed),
		.number = atomic_fetch_add(&last_number, 1) + 1,
	};
	*ret_clock = clock;
	return 0;
}

void sim_clock_destroy(struct sim_clock *clock)
{
	free(clock);
}

uint64_t sim_clock_number(const struct sim_clock *clock)
{
	return clock->number;
}

enum sim_clock_mode sim_clock_mode(const struct sim_clock *clock)
{
	return clock->mode;
}

struct sim_clock_page *sim_clock_page(const struct sim_clock *clock)
{
	return clock->page;
}

uint64_t sim_clock_now_ns(const struct sim_clock *clock)
{
	if (clock->mode == SIM_CLOCK_VIRTUAL)
		return atomic_load_explicit(&clock->page->now_ns, memory_order_acquire);
	return elapsed_ns(clock->start_ns);
}

uint64_t sim_clock_real_ns(const struct sim_clock *clock, uint64_t ns)
{
	return add_saturating_u64(ns, clock->start_ns);
}

static uint32_t card_index(const struct sim_clock *clock, uint32_t function)
{
	uint32_t card;

	assert(function < clock->topology->num_functions);
	card = clock->topology->functions[function].card;
	assert(card < SIM_CLOCK_MAX_CARDS);
	return card;
}

struct sim_clock_card *sim_clock_card(const struct sim_clock *clock, uint32_t function)
{
	return &clock->page->cards[card_index(clock, function)];
}

uint64_t sim_clock_arrival_ps(const struct sim_clock *clock, uint32_t function, const struct pcie_job *job,
			      struct pcie_queue_state *queue)
{
	const struct pcie_card *card = &clock->topology->cards[card_index(clock, function)];

	return pcie_queue_submit(&card->profile->engine, job, sim_clock_ps(sim_clock_now_ns(clock)), queue);
}

/* Both directions of a link are busy until the link is up. */
static void delay_until_link_up(struct sim_clock_card *card, uint64_t arrival_ps)
{
	uint64_t up_ps = sim_clock_ps(sim_clock_link_up_ns(card));

	if (up_ps <= arrival_ps)
		return;
	card->link.tx_ps = max_u64(card->link.tx_ps, up_ps);
	card->link.rx_ps = max_u64(card->link.rx_ps, up_ps);
}

uint64_t sim_clock_end_ps(const struct sim_clock *clock, uint32_t function, const struct pcie_job *job,
			  uint64_t arrival_ps)
{
	uint32_t number = card_index(clock, function);
	const struct pcie_card *card = &clock->topology->cards[number];
	struct sim_clock_card *shared = &clock->page->cards[number];
	const struct pcie_link link = sim_clock_link_at(&card->link, &shared->degradation, arrival_ps);
	struct pcie_times times;
	uint64_t token = sim_clock_lock(&shared->lock);

	delay_until_link_up(shared, arrival_ps);
	pcie_engine_run(&card->profile->engine, &link, job, arrival_ps, &shared->engine, &shared->link, &times);
	sim_clock_unlock(&shared->lock, token);
	return times.done_ps;
}

uint64_t sim_clock_net_submit_ps(const struct sim_clock *clock, const struct pcie_rdma_timing *timing,
				 struct pcie_queue_state *issuer)
{
	return pcie_net_submit(timing, sim_clock_ps(sim_clock_now_ns(clock)), issuer);
}

void sim_clock_net_run(const struct sim_clock *clock, const struct pcie_net_connection *connection,
		       const struct pcie_net_request *request, uint64_t start_ps, struct pcie_net_flow *flow,
		       struct pcie_net_times *ret_times)
{
	struct sim_clock_net *net = &clock->page->net;
	uint64_t token = sim_clock_lock(&net->lock);

	pcie_net_run(connection, request, start_ps, flow, &net->state, ret_times);
	sim_clock_unlock(&net->lock, token);
}

uint64_t sim_clock_net_pass(const struct sim_clock *clock, const struct pcie_net_path *links, uint64_t bytes,
			    uint64_t arrival_ps)
{
	struct sim_clock_net *net = &clock->page->net;
	uint64_t token = sim_clock_lock(&net->lock), end_ps;

	end_ps = pcie_net_pass(links, bytes, arrival_ps, &net->state);
	sim_clock_unlock(&net->lock, token);
	return end_ps;
}
