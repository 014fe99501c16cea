/* SPDX-License-Identifier: BSD-3-Clause */
/* The network: what a message costs each station, and the order of a connection's requests. */
#include "net.h"

#include "pcie_model/arith.h"
#include "u128_priv.h"

#define FS_PER_PS       1000
#define FS_PER_BYTE_BPS UINT64_C(8000000000000000) /* divided by a rate in bits per second: femtoseconds per byte */
#define PPB             UINT64_C(1000000000)

void pcie_net_path_add(struct pcie_net_path *path, uint32_t station, uint64_t rate_bps, uint64_t latency_ps,
		       uint32_t loss_ppb)
{
	path->hops[path->num_hops++] = (struct pcie_net_hop){ .station = station,
							      .fs_per_byte = FS_PER_BYTE_BPS / rate_bps,
							      .latency_ps = latency_ps,
							      .loss_ppb = loss_ppb };
}

void pcie_net_default_path(const struct pcie_rdma_timing *from, const struct pcie_rdma_timing *to, uint32_t out,
			   uint64_t out_rate_bps, uint32_t in, uint64_t in_rate_bps, struct pcie_net_path *path)
{
	path->num_hops = 0;
	pcie_net_path_add(path, out, out_rate_bps,
			  from->port_ps + PCIE_NET_LINK_LATENCY_PS + PCIE_NET_SWITCH_LATENCY_PS, 0);
	pcie_net_path_add(path, in, in_rate_bps, to->port_ps + PCIE_NET_LINK_LATENCY_PS, 0);
}

void pcie_net_loop_path(const struct pcie_rdma_timing *card, uint32_t station, struct pcie_net_path *path)
{
	path->num_hops = 1;
	path->hops[0] = (struct pcie_net_hop){ .station = station, .fs_per_byte = card->loop_fs_per_byte };
}

uint64_t pcie_net_latency_ps(const struct pcie_net_path *path)
{
	uint64_t latency_ps = 0;

	for (uint32_t i = 0; i < path->num_hops; i++)
		latency_ps = add_saturating_u64(latency_ps, path->hops[i].latency_ps);
	return latency_ps;
}

uint64_t pcie_net_submit(const struct pcie_rdma_timing *timing, uint64_t now_ps, struct pcie_queue_state *issuer)
{
	uint64_t start_ps = max_u64(now_ps, issuer->submit_ps);

	issuer->submit_ps = add_saturating_u64(start_ps, timing->submit_ps);
	return start_ps;
}

/* ---- stations ---- */

/* Returns the time at which the station begins to serve a message that arrives at @arrival_ps. */
static uint64_t reserve(struct pcie_net_station *station, uint64_t arrival_ps, uint64_t busy_ps)
{
	uint64_t start_ps = max_u64(arrival_ps, station->gap_from_ps);
	uint64_t end_ps = add_saturating_u64(start_ps, busy_ps);

	if (end_ps <= station->gap_to_ps) {
		station->gap_from_ps = end_ps;
		return start_ps;
	}
	start_ps = max_u64(arrival_ps, station->busy_ps);
	if (start_ps > station->busy_ps) {
		station->gap_from_ps = station->busy_ps;
		station->gap_to_ps = start_ps;
	}
	station->busy_ps = add_saturating_u64(start_ps, busy_ps);
	return start_ps;
}

/* The delay of a message of so many packets by those that are lost. */
static uint64_t loss_delay_ps(struct pcie_net_station *station, uint32_t loss_ppb, uint64_t packets,
			      uint64_t round_trip_ps, uint64_t timeout_ps)
{
	uint64_t before = station->lost % PPB;
	pcie_u128 sum = (pcie_u128)packets * loss_ppb + before;
	uint64_t num_lost = (uint64_t)(sum / PPB);
	uint64_t after = (uint64_t)(sum % PPB);
	bool is_last_lost = num_lost > 0 && after < loss_ppb;

	station->lost = after;
	return add_saturating_u64(pcie_mul_div_ceil(num_lost - is_last_lost, round_trip_ps, 1),
				  is_last_lost ? timeout_ps : 0);
}

/* ---- one direction of a connection ---- */

/* The path of packets, and the times after which their sender learns of a loss: of one in the middle, and of the last one. */
struct direction {
	const struct pcie_net_path *path;
	uint64_t round_trip_ps, timeout_ps;
};

static uint64_t wire_ps(const struct pcie_net_hop *hop, uint64_t bytes)
{
	return pcie_mul_div_ceil(bytes, hop->fs_per_byte, FS_PER_PS);
}

static uint64_t hop_loss_ps(const struct direction *direction, const struct pcie_net_hop *hop, uint64_t packets,
			    struct pcie_net_state *state)
{
	if (hop->loss_ppb == 0)
		return 0;
	return loss_delay_ps(&state->stations[hop->station], hop->loss_ppb, packets, direction->round_trip_ps,
			     direction->timeout_ps);
}

/* A packet without data, which leaves at @start_ps: returns its arrival. It occupies no station. */
static uint64_t carry_packet(const struct direction *direction, uint64_t start_ps, struct pcie_net_state *state)
{
	uint64_t at_ps = start_ps;

	for (uint32_t i = 0; i < direction->path->num_hops; i++) {
		const struct pcie_net_hop *hop = &direction->path->hops[i];

		at_ps = add_saturating_u64(at_ps, hop->latency_ps);
		at_ps = add_saturating_u64(at_ps, hop_loss_ps(direction, hop, 1, state));
	}
	return at_ps;
}

static uint64_t count_packets(uint32_t mtu_bytes, uint64_t bytes)
{
	return bytes > 0 ? bytes / mtu_bytes + (bytes % mtu_bytes > 0) : 1;
}

/* The time of the data, with their headers, on a link. */
static uint64_t data_wire_ps(const struct pcie_net_hop *hop, uint32_t mtu_bytes, uint64_t bytes)
{
	return wire_ps(hop, bytes + count_packets(mtu_bytes, bytes) * PCIE_NET_HEADER_BYTES);
}

uint64_t pcie_net_pass(const struct pcie_net_path *links, uint64_t bytes, uint64_t arrival_ps,
		       struct pcie_net_state *state)
{
	uint64_t head_ps = arrival_ps, tail_ps = arrival_ps, way_ps = 0;

	for (uint32_t i = 0; i < links->num_hops; i++) {
		const struct pcie_net_hop *hop = &links->hops[i];
		const uint64_t busy_ps = data_wire_ps(hop, links->mtu_bytes, bytes);

		head_ps = reserve(&state->stations[hop->station], add_saturating_u64(head_ps, way_ps), busy_ps);
		tail_ps = max_u64(add_saturating_u64(tail_ps, way_ps), add_saturating_u64(head_ps, busy_ps));
		way_ps = hop->latency_ps;
	}
	return tail_ps;
}

uint64_t pcie_net_idle_pass_ps(const struct pcie_net_path *links, uint64_t bytes)
{
	uint64_t head_ps = 0, tail_ps = 0, way_ps = 0;

	for (uint32_t i = 0; i < links->num_hops; i++) {
		const struct pcie_net_hop *hop = &links->hops[i];

		head_ps = add_saturating_u64(head_ps, way_ps);
		tail_ps = max_u64(add_saturating_u64(tail_ps, way_ps),
				  add_saturating_u64(head_ps, data_wire_ps(hop, links->mtu_bytes, bytes)));
		way_ps = hop->latency_ps;
	}
	return tail_ps;
}

/* Data, whose first byte can leave at @start_ps and which take @least_ps at their source: returns the arrival of the last byte. */
static uint64_t carry_data(const struct direction *direction, uint64_t bytes, uint64_t least_ps, uint64_t start_ps,
			   struct pcie_net_state *state)
{
	uint64_t packets = count_packets(direction->path->mtu_bytes, bytes);
	uint64_t wire_bytes = bytes + packets * PCIE_NET_HEADER_BYTES;
	uint64_t head_ps = start_ps, tail_ps = start_ps;

	for (uint32_t i = 0; i < direction->path->num_hops; i++) {
		const struct pcie_net_hop *hop = &direction->path->hops[i];
		uint64_t busy_ps = max_u64(wire_ps(hop, wire_bytes), i == 0 ? least_ps : 0);

		head_ps = reserve(&state->stations[hop->station], head_ps, busy_ps);
		tail_ps = max_u64(tail_ps, add_saturating_u64(head_ps, busy_ps));
		tail_ps = add_saturating_u64(tail_ps, hop_loss_ps(direction, hop, packets, state));
		tail_ps = add_saturating_u64(tail_ps, hop->latency_ps);
		head_ps = add_saturating_u64(head_ps, hop->latency_ps);
	}
	return tail_ps;
}

/* ---- requests ---- */

/* When the window of the connection has room for data that are ready at @ready_ps. */
static uint64_t pace(const struct pcie_rdma_timing *sender, uint64_t bytes, uint64_t round_trip_ps, uint64_t ready_ps,
		     struct pcie_net_flow *flow)
{
	uint64_t start_ps = max_u64(ready_ps, flow->paced_ps);

	if (sender->window_bytes > 0)
		flow->paced_ps =
			add_saturating_u64(start_ps, pcie_mul_div_ceil(bytes, round_trip_ps, sender->window_bytes));
	return start_ps;
}

void pcie_net_run(const struct pcie_net_connection *connection, const struct pcie_net_request *request,
		  uint64_t start_ps, struct pcie_net_flow *flow, struct pcie_net_state *state,
		  struct pcie_net_times *ret_times)
{
	const struct pcie_rdma_timing *requester = connection->requester, *responder = connection->responder;
	uint64_t round_trip_ps =
		add_saturating_u64(pcie_net_latency_ps(&connection->there), pcie_net_latency_ps(&connection->back));
	const struct direction there = { &connection->there, round_trip_ps, requester->retransmission_ps };
	const struct direction back = { &connection->back, round_trip_ps, responder->retransmission_ps };
	bool has_data = request->op == PCIE_NET_SEND || request->op == PCIE_NET_WRITE;
	uint64_t ready_ps = add_saturating_u64(start_ps, requester->request_ps);
	uint64_t asked_ps, answered_ps, arrived_ps;

	if (has_data) {
		if (request->bytes > requester->max_inline_bytes)
			ready_ps = add_saturating_u64(ready_ps, requester->fetch_ps);
		ready_ps = pace(requester, request->bytes, round_trip_ps, ready_ps, flow);
		asked_ps = carry_data(&there, request->bytes, 0, ready_ps, state);
		arrived_ps = add_saturating_u64(asked_ps, responder->deliver_ps);
		if (request->op == PCIE_NET_SEND || request->has_receive)
			arrived_ps = add_saturating_u64(arrived_ps, responder->receive_ps);
		answered_ps = carry_packet(&back, asked_ps, state);
	} else {
		arrived_ps = asked_ps = carry_packet(&there, ready_ps, state);
		ready_ps = add_saturating_u64(asked_ps, responder->respond_ps);
		ready_ps = pace(responder, request->bytes, round_trip_ps, ready_ps, flow);
		answered_ps = carry_data(&back, request->bytes,
					 pcie_mul_div_ceil(request->bytes, responder->read_fs_per_byte, FS_PER_PS),
					 ready_ps, state);
	}
	flow->arrived_ps = max_u64(flow->arrived_ps, arrived_ps);
	flow->done_ps = max_u64(flow->done_ps, add_saturating_u64(answered_ps, requester->complete_ps));
	*ret_times = (struct pcie_net_times){ .arrived_ps = flow->arrived_ps, .done_ps = flow->done_ps };
}
