/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of messages: changed, delayed, reordered, sent twice, dropped, failed, or the end of the pipe. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "pipe_priv.h"

static uint64_t add_delay_ns(uint64_t due_ns, const struct sim_clock *clock, const struct sim_fault_hit *hit)
{
	return add_saturating_u64(due_ns ? due_ns : sim_clock_now_ns(clock), hit->delay_ns);
}

void sim_fault_apply(const struct sim_fault_hit *hit, const struct sim_clock *clock, struct sim_pipe_hdr *hdr,
		     uint8_t *bytes, uint32_t *len)
{
	if (SIM_FAULT_HAS_ACT(hit, TRUNCATE))
		*len = min_u32(*len, hit->truncate_bytes);
	if (SIM_FAULT_HAS_ACT(hit, FLIP) && bytes)
		sim_fault_hit_flip(hit, bytes, *len);
	if (SIM_FAULT_HAS_ACT(hit, DELAY))
		hdr->due_ns = add_delay_ns(hdr->due_ns, clock, hit);
	if (SIM_FAULT_HAS_ACT(hit, REORDER) && hit->reorder_by > hdr->reorder_by)
		hdr->reorder_by = hit->reorder_by;
	hdr->duplicate |= SIM_FAULT_HAS_ACT(hit, DUPLICATE);
}

static bool query(const struct sim_poll_group *group, enum sim_op op, uint64_t size, struct sim_fault_hit *ret_hit)
{
	struct sim_fault_site site = { .op = op, .function = group->cfg.function, .size = size };

	return sim_pipe_fault_may_hit(group, op) &&
	       sim_inject(group->cfg.injector, group->cfg.clock, &site, group->cfg.object, ret_hit);
}

/* ---- sent ---- */

/* Returns 0 (written, or dropped), -EAGAIN or -EPROTO. */
static int write_with_fault(struct sim_pipe *pipe, const struct sim_fault_hit *hit, const void *msg, uint32_t len)
{
	uint64_t recorded_ns;
	struct sim_pipe_hdr hdr = sim_pipe_timing_hdr(pipe, &recorded_ns);
	uint8_t *copy = NULL;
	int rc;

	if (SIM_FAULT_HAS_ACT(hit, DROP)) {
		sim_pipe_timing_charge(pipe->group);
		return 0;
	}
	if (SIM_FAULT_HAS_ACT(hit, FLIP)) {
		copy = malloc(len + 1);
		if (copy)
			memcpy(copy, msg, len);
		else
			sim_err("no memory to flip bits of a Comch message: %u bytes are sent as they are", len);
	}
	sim_fault_apply(hit, pipe->group->cfg.clock, &hdr, copy, &len);
	rc = sim_pipe_write(pipe, &hdr, recorded_ns, copy ? copy : msg, len);
	free(copy);
	return rc;
}

int sim_pipe_fault_write_send(struct sim_pipe_send *send)
{
	const struct sim_poll_group *group = send->pipe->group;
	const struct sim_fault_hit *hit = send->hit;
	int rc;

	if (SIM_FAULT_HAS_ACT(hit, BREAK))
		return -ECONNABORTED;
	send->result = 0;
	send->due_ns = 0;
	if (SIM_FAULT_HAS_ACT(hit, FAIL)) {
		send->result = -ECANCELED;
	} else if (!SIM_FAULT_HAS_ACT(hit, HANG)) {
		rc = write_with_fault(send->pipe, hit, send->copy ? send->copy : send->msg, send->len);
		if (rc < 0)
			return rc;
		send->is_sent = true;
		send->due_ns = sim_pipe_timing_end_ns(group);
	}
	if (SIM_FAULT_HAS_ACT(hit, HANG))
		send->due_ns = SIM_CLOCK_NEVER_NS;
	else if (SIM_FAULT_HAS_ACT(hit, DELAY))
		send->due_ns = add_delay_ns(send->due_ns, group->cfg.clock, hit);
	return 0;
}

int sim_pipe_fault_write_now(struct sim_pipe *pipe, const void *msg, uint32_t len, uint32_t *ret_status)
{
	struct sim_fault_hit hit;

	/* A message without room is not sent, so the plan does not count it. */
	if (!sim_pipe_arm_space(pipe, len))
		return -EAGAIN;
	if (!query(pipe->group, pipe->group->cfg.faults->send, len, &hit))
		return sim_pipe_write_modelled(pipe, msg, len);
	if (SIM_FAULT_HAS_ACT(&hit, REFUSE) || SIM_FAULT_HAS_ACT(&hit, FAIL)) {
		*ret_status = SIM_FAULT_HAS_ACT(&hit, REFUSE) ? hit.refuse_status : hit.status;
		return -ECANCELED;
	}
	return SIM_FAULT_HAS_ACT(&hit, BREAK) ? -ECONNABORTED : write_with_fault(pipe, &hit, msg, len);
}

/* ---- received ---- */

/* Return the -errno with which the rule ends the receipt, or 0. */
static int end_receipt(const struct sim_fault_hit *hit)
{
	if (SIM_FAULT_HAS_ACT(hit, BREAK))
		return -ECONNABORTED;
	if (SIM_FAULT_HAS_ACT(hit, FAIL))
		return -ECANCELED;
	return SIM_FAULT_HAS_ACT(hit, DROP) ? -ENODATA : 0;
}

int sim_pipe_fault_receive(struct sim_pipe *pipe, struct sim_pipe_hdr *hdr, uint8_t *bytes, uint32_t *len,
			   uint32_t *ret_status)
{
	struct sim_fault_hit hit;
	int rc;

	if (!query(pipe->group, pipe->group->cfg.faults->receive, *len, &hit))
		return 0;
	rc = end_receipt(&hit);
	*ret_status = hit.status;
	if (rc < 0) {
		sim_trace_conn_stats_received(&pipe->trace, pipe->in.count, *len, hdr->is_recorded);
		return rc;
	}
	sim_fault_apply(&hit, pipe->group->cfg.clock, hdr, bytes, len);
	return 0;
}

/* ---- the peer's death ---- */

static uint64_t plan_notice_ns(const struct sim_poll_group *group)
{
	uint64_t now_ns = sim_poll_group_now_ns(group);
	struct sim_fault_hit hit;

	return query(group, SIM_OP_COMCH_PEER_DEATH, 0, &hit) ? add_saturating_u64(now_ns, hit.delay_ns) : now_ns;
}

/* Until the notice the pipe looks alive: messages that the ring has room for are sent, and the others wait. */
bool sim_pipe_fault_hides_death(struct sim_pipe *pipe)
{
	struct sim_poll_group *group = pipe->group;

	if (!group->cfg.faults->hides_death || pipe->state != SIM_PIPE_OPEN)
		return false;
	if (!pipe->is_dead) {
		pipe->is_dead = true;
		pipe->notice_ns = plan_notice_ns(group);
	}
	if (sim_poll_group_now_ns(group) >= pipe->notice_ns)
		return false;
	sim_pipe_set_alarm(pipe, pipe->notice_ns);
	return true;
}
