/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that messages take by the card's model.
 *
 *   sent --send_ps--> [the sender is free]
 *      \------------one_way_ps-----------> due at the receiver
 *
 * The message's header says when it is due, and the receiver leaves it in the ring until then (pipe_receive.c). */
#include "pcie_model/arith.h"
#include "pipe_priv.h"

#define PS_PER_NS 1000

/* When the sender begins with a message that is sent now. */
static uint64_t get_send_begin_ps(const struct sim_poll_group *group)
{
	uint64_t now_ns = sim_poll_group_now_ns(group);

	return max_u64(now_ns < UINT64_MAX / PS_PER_NS ? now_ns * PS_PER_NS : UINT64_MAX, group->busy_until_ps);
}

struct sim_pipe_hdr sim_pipe_timing_hdr(const struct sim_poll_group *group)
{
	struct sim_pipe_hdr hdr = { 0 };

	if (!group->cfg.timing)
		return hdr;
	if (sim_poll_group_vclock(group)) /* the header, the message and what it costs the sender have one time */
		sim_vclock_sched_begin_call(sim_poll_group_vclock(group));
	hdr.due_ns = hdr.modelled_ns =
		sim_clock_ns(add_saturating_u64(get_send_begin_ps(group), group->cfg.timing->one_way_ps));
	return hdr;
}

void sim_pipe_timing_charge(struct sim_poll_group *group)
{
	if (group->cfg.timing)
		group->busy_until_ps = add_saturating_u64(get_send_begin_ps(group), group->cfg.timing->send_ps);
}
