/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair's requests in the model of the network. */
#include "timing.h"

#include <errno.h>
#include <stdlib.h>

#include "pcie_model/arith.h"
#include "sim/clock/clock.h"
#include "sim/clock/net_slow.h"

struct sim_qp_timing {
	const struct sim_clock *clock;
	const struct pcie_topology *topology;
	uint32_t from, to; /* functions of the topology */
	struct pcie_net_connection connection;
	struct pcie_net_flow flow;
};

/* What the calling thread posts, to all connections of one clock. */
static _Thread_local struct {
	uint64_t clock_number; /* sim_clock_number(); 0 = none yet */
	struct pcie_queue_state state;
} issuer;

static int find_paths(const struct pcie_topology *topology, uint32_t from, uint32_t to, uint32_t mtu_bytes,
		      struct pcie_net_connection *ret_connection)
{
	const struct pcie_function *requester = &topology->functions[from], *responder = &topology->functions[to];
	int rc = pcie_topology_find_path(topology, requester, responder, &ret_connection->there);

	if (rc == 0)
		rc = pcie_topology_find_path(topology, responder, requester, &ret_connection->back);
	if (rc < 0)
		return rc;
	ret_connection->requester = &topology->cards[requester->card].profile->rdma_timing;
	ret_connection->responder = &topology->cards[responder->card].profile->rdma_timing;
	if (mtu_bytes == 0)
		return 0;
	ret_connection->there.mtu_bytes = min_u32(ret_connection->there.mtu_bytes, mtu_bytes);
	ret_connection->back.mtu_bytes = min_u32(ret_connection->back.mtu_bytes, mtu_bytes);
	return 0;
}

int sim_qp_timing_create(struct sim_session *session, uint32_t from, uint32_t to, uint32_t mtu_bytes,
			 struct sim_qp_timing **ret_timing)
{
	const struct sim_clock *clock = sim_session_clock(session);
	struct sim_qp_timing *timing;
	int rc;

	*ret_timing = NULL;
	if (sim_clock_mode(clock) == SIM_CLOCK_FUNCTIONAL)
		return 0;
	timing = calloc(1, sizeof(*timing));
	if (!timing)
		return -ENOMEM;
	timing->clock = clock;
	timing->topology = sim_session_topology(session);
	timing->from = from;
	timing->to = to;
	rc = find_paths(timing->topology, from, to, mtu_bytes, &timing->connection);
	if (rc < 0)
		free(timing);
	else
		*ret_timing = timing;
	return rc;
}

void sim_qp_timing_destroy(struct sim_qp_timing *timing)
{
	free(timing);
}

/* The connection as it is at @at_ns: in @slow, if rules make links slow. */
static const struct pcie_net_connection *find_connection(const struct sim_qp_timing *timing, uint64_t at_ns,
							 struct pcie_net_connection *slow)
{
	const struct sim_clock_net *net = &sim_clock_page(timing->clock)->net;

	if (!sim_clock_net_has_slow_links(net))
		return &timing->connection;
	*slow = timing->connection;
	sim_clock_net_slow_path(net, timing->topology, timing->from, timing->to, at_ns, &slow->there);
	sim_clock_net_slow_path(net, timing->topology, timing->to, timing->from, at_ns, &slow->back);
	return slow;
}

uint64_t sim_qp_timing_round_trip_ns(const struct sim_qp_timing *timing)
{
	struct pcie_net_connection slow;
	const struct pcie_net_connection *connection = find_connection(timing, sim_clock_now_ns(timing->clock), &slow);
	uint64_t network_ps =
		add_saturating_u64(pcie_net_latency_ps(&connection->there), pcie_net_latency_ps(&connection->back));

	return sim_clock_ns(
		add_saturating_u64(network_ps, connection->requester->request_ps + connection->requester->complete_ps));
}

uint64_t sim_qp_timing_retransmission_ns(const struct sim_qp_timing *timing)
{
	return sim_clock_ns(timing->connection.requester->retransmission_ps);
}

void sim_qp_timing_run(struct sim_qp_timing *timing, struct sim_rdma_work *work)
{
	const struct pcie_net_request request = { .op = work->op,
						  .has_receive = work->has_message && work->is_written,
						  .bytes = work->bytes };
	uint64_t not_before_ns = work->not_before_ns == UINT64_MAX ? 0 : work->not_before_ns;
	const struct pcie_net_connection *connection;
	struct pcie_net_connection slow;
	struct pcie_net_times times;
	uint64_t start_ps;

	if (issuer.clock_number != sim_clock_number(timing->clock)) {
		issuer.clock_number = sim_clock_number(timing->clock);
		issuer.state = (struct pcie_queue_state){ 0 };
	}
	start_ps = sim_clock_net_submit_ps(timing->clock, timing->connection.requester, &issuer.state);
	start_ps = max_u64(start_ps, sim_clock_ps(not_before_ns));
	connection = find_connection(timing, start_ps / 1000, &slow);
	sim_clock_net_run(timing->clock, connection, &request, start_ps, &timing->flow, &times);
	work->arrival_ns = sim_clock_ns(times.arrived_ps);
	work->end_ns = sim_clock_ns(times.done_ps);
}
