/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that control messages take by the card's model.
 *
 *   sent --send_ps--> [the sender is free]
 *      \------------one_way_ps-----------> due at the receiver
 *
 * An endpoint is one sender: its messages leave one after the other, on whichever connection. The message's header
 * says when it is due, and the receiver keeps it until then (delay_queue.c). */
#include "conn_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/process/runtime.h"
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

/* When the sender begins with a message that is sent now. */
static uint64_t get_send_begin_ps(const struct comch_endpoint *endpoint)
{
	uint64_t now_ns = shim_now_ns(), now_ps = now_ns < UINT64_MAX / PS_PER_NS ? now_ns * PS_PER_NS : UINT64_MAX;

	return max_u64(now_ps, endpoint->busy_until_ps);
}

struct comch_msg_hdr comch_timing_hdr(const struct comch_endpoint *endpoint)
{
	struct comch_msg_hdr hdr = { 0 };

	if (!endpoint->timing)
		return hdr;
	shim_vclock_begin_call(); /* the header, the message and what it costs the sender have one time */
	hdr.due_ns = hdr.modelled_ns =
		sim_clock_ns(add_saturating_u64(get_send_begin_ps(endpoint), endpoint->timing->one_way_ps));
	return hdr;
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

int comch_timing_write(struct doca_comch_connection *connection, const struct comch_msg_hdr *hdr, const void *msg,
		       uint32_t len)
{
	int rc = comch_connection_write_record(connection, hdr, msg, len);

	if (rc == 0)
		comch_timing_charge_send(connection->endpoint);
	return rc;
}
