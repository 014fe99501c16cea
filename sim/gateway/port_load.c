/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns of other machines' data on the links to and from this machine's ports, and answers that wait for them. */
#include "port_load.h"

#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/base/queue.h"
#include "sim/clock/clock.h"

#define MAX_WAITING_BYTES (64u << 20) /* of answers; further ones leave at once */
#define MAX_MESSAGE_BYTES (1u << 30)  /* of another machine's word */
#define WAY_NS            8000u       /* that an answer takes at least: it leaves so much earlier */

struct late_answer {
	TAILQ_ENTRY(late_answer) entry;
	uint64_t due_ns; /* by this machine's clock */
	uint32_t machine;
	uint64_t stream;
	struct gateway_frame frame;
	uint8_t body[];
};

/* ---- the model ---- */

/* The links of a path without its first one, or without its last one. A path of one link, which joins two ports, is that link. */
static struct pcie_net_path without_end(const struct pcie_net_path *path, bool is_first)
{
	struct pcie_net_path rest = { .mtu_bytes = path->mtu_bytes, .num_hops = max_u32(path->num_hops - 1, 1) };

	memcpy(rest.hops, &path->hops[is_first && path->num_hops > 1], rest.num_hops * sizeof(rest.hops[0]));
	return rest;
}

void port_load_find(const struct gateway *gateway, uint32_t here, uint32_t there, struct port_load *ret_load)
{
	const struct pcie_topology *topology = sim_session_topology(gateway->session);
	const struct pcie_rdma_timing *timing;
	struct pcie_net_path to, from;

	*ret_load = (struct port_load){ 0 };
	if (gateway->clock != SIM_CLOCK_TIMED || here >= topology->num_functions || there >= topology->num_functions ||
	    pcie_topology_find_path(topology, &topology->functions[there], &topology->functions[here], &to) < 0 ||
	    pcie_topology_find_path(topology, &topology->functions[here], &topology->functions[there], &from) < 0)
		return;
	if (to.num_hops == 0 || from.num_hops == 0)
		return;
	timing = &topology->cards[topology->functions[here].card].profile->rdma_timing;
	*ret_load = (struct port_load){ .is_known = true,
					.in = without_end(&to, true),
					.out = without_end(&from, false),
					.there_ps = to.num_hops > 1 ? to.hops[0].latency_ps : 0,
					.arrive_ps = pcie_net_latency_ps(&to),
					.deliver_ps = to.hops[to.num_hops - 1].latency_ps + timing->deliver_ps +
						      timing->receive_ps };
}

uint64_t port_load_message(struct gateway *gateway, const struct port_load *load, uint64_t bytes, uint64_t due_ns)
{
	const struct sim_clock *clock = sim_session_clock(gateway->session);
	const uint64_t len = min_u64(bytes, MAX_MESSAGE_BYTES), due_ps = sim_clock_ps(due_ns);
	uint64_t after_ps, end_ps;

	if (!load->is_known)
		return due_ns;
	after_ps = add_saturating_u64(load->deliver_ps, pcie_net_idle_pass_ps(&load->in, len));
	end_ps = sim_clock_net_pass(clock, &load->in, len, due_ps - min_u64(due_ps, after_ps));
	return max_u64(due_ns, sim_clock_ns(add_saturating_u64(end_ps, load->deliver_ps)));
}

/* When the data of a request have passed the links, by this machine's clock; 0 = it has none. */
static uint64_t pass(struct gateway *gateway, const struct port_load *load, const struct gateway_frame *request,
		     const struct gateway_frame *answer)
{
	const struct sim_clock *clock = sim_session_clock(gateway->session);
	const bool is_read = request->kind == GATEWAY_READ;
	const uint64_t bytes = is_read ? answer->len_bytes : request->len_bytes;
	uint64_t end_ps, arrival_ps;

	if (answer->status < 0 || (!is_read && request->kind != GATEWAY_WRITE))
		return 0;
	arrival_ps =
		add_saturating_u64(sim_clock_ps(sim_clock_now_ns(clock)), is_read ? load->arrive_ps : load->there_ps);
	end_ps = sim_clock_net_pass(clock, is_read ? &load->out : &load->in, bytes, arrival_ps);
	return sim_clock_real_ns(clock, sim_clock_ns(end_ps));
}

/* ---- answers ---- */

/* Of the same stream's last answer that waits; 0 = there is none. */
static uint64_t find_due(const struct gateway *gateway, uint32_t machine, uint64_t stream)
{
	const struct late_answer *late;

	TAILQ_FOREACH_REVERSE(late, &gateway->late_answers, late_answers, entry)
	if (late->machine == machine && late->stream == stream)
		return late->due_ns;
	return 0;
}

/* Behind those that are due as early. */
static void insert(struct gateway *gateway, struct late_answer *late)
{
	struct late_answer *before;

	TAILQ_FOREACH_REVERSE(before, &gateway->late_answers, late_answers, entry)
	if (before->due_ns <= late->due_ns)
		break;
	if (before)
		TAILQ_INSERT_AFTER(&gateway->late_answers, before, late, entry);
	else
		TAILQ_INSERT_HEAD(&gateway->late_answers, late, entry);
	gateway->late_bytes += sizeof(*late) + late->frame.len_bytes;
}

static bool keep(struct gateway *gateway, uint32_t machine, uint64_t stream, uint64_t due_ns,
		 const struct gateway_frame *answer)
{
	const size_t size = sizeof(struct late_answer) + answer->len_bytes;
	const size_t limit = answer->len_bytes > 0 ? MAX_WAITING_BYTES : 2 * MAX_WAITING_BYTES;
	struct late_answer *late = gateway->late_bytes + size <= limit ? malloc(size) : NULL;

	if (!late)
		return false;
	*late = (struct late_answer){ .due_ns = due_ns, .machine = machine, .stream = stream, .frame = *answer };
	late->frame.body = late->body;
	late->frame.is_stable = false;
	if (answer->len_bytes > 0)
		memcpy(late->body, answer->body, answer->len_bytes);
	insert(gateway, late);
	return true;
}

static void remove_late(struct gateway *gateway, struct late_answer *late)
{
	TAILQ_REMOVE(&gateway->late_answers, late, entry);
	gateway->late_bytes -= sizeof(*late) + late->frame.len_bytes;
	free(late);
}

void port_load_answer(struct gateway *gateway, const struct port_load *load, const struct gateway_frame *request,
		      struct gateway_frame *answer)
{
	const uint64_t stream = request->id >> GATEWAY_STREAM_SHIFT;
	const uint64_t before_ns = stream > 0 ? find_due(gateway, request->from, stream) : 0;
	uint64_t due_ns = load && load->is_known ? pass(gateway, load, request, answer) : 0;

	due_ns = max_u64(due_ns, before_ns);
	if ((before_ns == 0 && (due_ns == 0 || due_ns <= sim_monotonic_ns() + WAY_NS)) ||
	    !keep(gateway, request->from, stream, due_ns, answer))
		gateway_send(gateway, request->from, answer);
}

uint64_t port_load_tick(struct gateway *gateway, uint64_t now_ns)
{
	struct late_answer *late;

	while ((late = TAILQ_FIRST(&gateway->late_answers)) && late->due_ns <= now_ns) {
		gateway_send(gateway, late->machine, &late->frame);
		remove_late(gateway, late);
	}
	return late ? late->due_ns : UINT64_MAX;
}

void port_load_drop(struct gateway *gateway, uint32_t machine)
{
	struct late_answer *late, *next;

	TAILQ_FOREACH_SAFE(late, &gateway->late_answers, entry, next)
	if (late->machine == machine)
		remove_late(gateway, late);
}
