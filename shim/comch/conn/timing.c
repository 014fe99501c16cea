/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages in model time.
 *
 *   sent --its sender's time--> [left]
 *      \-----------------one way-----------------> comes
 *
 * An endpoint is one sender: its messages, to whomever, leave one after the
 * other. A message says when it comes, and its receiver waits for that (delay_queue.c). */
#include "pcie_model/arith.h"
#include "shim/comch/conn/conn_priv.h"
#include "shim/common/base/check.h"
#include "sim/clock/clock.h"

#define PS_PER_NS 1000

const struct pcie_comch_timing *comch_timing_of(const struct doca_dev *dev)
{
	const struct sim_session *session = shim_session();
	const struct pcie_topology *topology = sim_session_topology(session);
	const struct pcie_profile *profile = topology->cards[shim_dev_function(dev)->card].profile;

	if (sim_clock_mode(sim_session_clock(session)) == SIM_CLOCK_FUNCTIONAL)
		return NULL;
	return profile->comch_timing.one_way_ps ? &profile->comch_timing : NULL;
}

/* When its sender turns to a message. */
static uint64_t get_send_begin_ps(const struct comch_endpoint *endpoint)
{
	uint64_t now_ns = shim_now_ns(), now_ps = now_ns < UINT64_MAX / PS_PER_NS ? now_ns * PS_PER_NS : UINT64_MAX;

	return now_ps > endpoint->busy_until_ps ? now_ps : endpoint->busy_until_ps;
}

uint64_t comch_timing_arrival_ns(const struct comch_endpoint *endpoint)
{
	return endpoint->timing ?
		       sim_clock_ns(add_saturating_u64(get_send_begin_ps(endpoint), endpoint->timing->one_way_ps)) :
		       0;
}

void comch_timing_charge_send(struct comch_endpoint *endpoint)
{
	if (endpoint->timing)
		endpoint->busy_until_ps = add_saturating_u64(get_send_begin_ps(endpoint), endpoint->timing->send_ps);
}

uint64_t comch_timing_send_end_ns(const struct comch_endpoint *endpoint)
{
	return endpoint->timing ? sim_clock_ns(endpoint->busy_until_ps) : 0;
}
