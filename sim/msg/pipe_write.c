/* SPDX-License-Identifier: BSD-3-Clause */
/* The lowest file of a pipe: its state, writing a message, with its time, and waking the two ends. */
#include <assert.h>
#include <errno.h>

#include "pcie_model/arith.h"
#include "pipe_priv.h"
#include "sim/shm/wake.h"

/* ---- notifications ---- */

void sim_pipe_notify_peer(struct sim_pipe *pipe, uint64_t due_ns)
{
	struct sim_vclock_sched *vclock = sim_poll_group_vclock(pipe->group);

	sim_doorbell_ring(pipe->peer_doorbells, pipe->peer_slot);
	if (unlikely(vclock != NULL))
		sim_vclock_sched_post(vclock, pipe->peer_engine, due_ns);
	if (sim_ring_must_wake(&pipe->out) && (pipe->peer_wake_fd < 0 || sim_wake_send(pipe->peer_wake_fd) < 0))
		pipe->ops->wake_peer(pipe);
}

void sim_pipe_kick(struct sim_pipe *pipe)
{
	struct sim_poll_group *group = pipe->group;

	if (group && group->doorbells.shared)
		pipe->ops->wake(group, sim_doorbell_ring_own(&group->doorbells, pipe->slot));
}

static void request(struct sim_pipe *pipe, _Atomic bool *flag)
{
	atomic_store(flag, true);
	pthread_mutex_lock(&pipe->lock);
	sim_pipe_kick(pipe);
	pthread_mutex_unlock(&pipe->lock);
}

void sim_pipe_abort(struct sim_pipe *pipe)
{
	request(pipe, &pipe->abort_requested);
}

void sim_pipe_request_wake_peer(struct sim_pipe *pipe)
{
	request(pipe, &pipe->wake_peer_requested);
}

/* ---- the time that messages take by the card's model ---- */

/* The model's time of a message:
 *
 *   sent --send_ps--> [the sender is free]
 *      \------------one_way_ps-----------> due at the receiver
 *
 * The message's header says when it is due, and the receiver leaves it in the ring until then (pipe_receive.c). */

/* When the sender begins with a message that is sent now. */
static uint64_t get_send_begin_ps(const struct sim_poll_group *group)
{
	return max_u64(sim_clock_ps(sim_poll_group_now_ns(group)), group->busy_until_ps);
}

/* This function and the next stay out of line, so that a write without timing saves no registers for them. */
__attribute__((noinline)) struct sim_pipe_hdr sim_pipe_timing_hdr(const struct sim_pipe *pipe,
								  uint64_t *ret_recorded_ns)
{
	const struct sim_poll_group *group = pipe->group;
	struct sim_pipe_hdr hdr = { 0 };

	if (group->cfg.timing &&
	    sim_poll_group_vclock(group)) /* the header, the message and what it costs the sender have one time */
		sim_vclock_sched_begin_call(sim_poll_group_vclock(group));
	*ret_recorded_ns = sim_trace_conn_stats_sample_ns(&pipe->trace); /* before any delay begins */
	hdr.is_recorded = *ret_recorded_ns != 0;
	if (group->cfg.timing)
		hdr.due_ns = hdr.modelled_ns =
			sim_clock_ns(add_saturating_u64(get_send_begin_ps(group), group->cfg.timing->one_way_ps));
	return hdr;
}

__attribute__((noinline)) void sim_pipe_timing_charge(struct sim_poll_group *group)
{
	if (group->cfg.timing)
		group->busy_until_ps = add_saturating_u64(get_send_begin_ps(group), group->cfg.timing->send_ps);
}

/* ---- messages ---- */

bool sim_pipe_waits_for_room(const struct sim_pipe *pipe)
{
	return sim_poll_group_vclock(pipe->group) && pipe->state == SIM_PIPE_OPEN && sim_pipe_get_end(pipe) == 0 &&
	       sim_ring_wants_space(&pipe->out);
}

int sim_pipe_write(struct sim_pipe *pipe, const struct sim_pipe_hdr *hdr, uint64_t recorded_ns, const void *msg,
		   uint32_t len)
{
	int rc;

	if (likely(!hdr))
		rc = sim_ring_write(&pipe->out, recorded_ns ? SIM_PIPE_RECORDED_MESSAGE : SIM_PIPE_MESSAGE, msg, len);
	else
		rc = sim_ring_write_parts(&pipe->out, SIM_PIPE_MESSAGE_WITH_HDR, hdr, sizeof(*hdr), msg, len);
	if (unlikely(rc < 0))
		return rc;
	if (unlikely(pipe->trace.object != NULL))
		sim_trace_conn_stats_sent(&pipe->trace, pipe->out.count, len, recorded_ns);
	sim_pipe_notify_peer(pipe, hdr ? hdr->modelled_ns : 0);
	if (unlikely(hdr != NULL))
		sim_pipe_timing_charge(pipe->group);
	return 0;
}

int sim_pipe_write_modelled(struct sim_pipe *pipe, const void *msg, uint32_t len)
{
	struct sim_pipe_hdr hdr;
	uint64_t recorded_ns;

	if (likely(!pipe->group->cfg.timing))
		return sim_pipe_write(pipe, NULL, sim_trace_conn_stats_sample_ns(&pipe->trace), msg, len);
	hdr = sim_pipe_timing_hdr(pipe, &recorded_ns);
	return sim_pipe_write(pipe, &hdr, recorded_ns, msg, len);
}

/* ---- the state ---- */

static const bool edges[SIM_PIPE_NUM_STATES][SIM_PIPE_NUM_STATES] = {
	[SIM_PIPE_OPENING] = { [SIM_PIPE_OPEN] = true, [SIM_PIPE_CLOSED] = true },
	[SIM_PIPE_OPEN] = { [SIM_PIPE_LOST] = true, [SIM_PIPE_CLOSED] = true },
	[SIM_PIPE_LOST] = { [SIM_PIPE_CLOSED] = true },
};

bool sim_pipe_state_set(enum sim_pipe_state *state, enum sim_pipe_state to)
{
	if (!edges[*state][to])
		return false;
	*state = to;
	return true;
}

void sim_pipe_set_state(struct sim_pipe *pipe, enum sim_pipe_state state, int lost)
{
	bool follows;

	pthread_mutex_lock(&pipe->lock);
	follows = sim_pipe_state_set(&pipe->state, state);
	assert(follows);
	(void)follows;
	if (lost < 0 && pipe->lost_error == 0)
		atomic_store(&pipe->lost_error, lost);
	pthread_mutex_unlock(&pipe->lock);
}
