/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/fault.h - faults of messages: a decorator of what a pipe and a producer write, and of what a pipe receives.
 *
 *   decorates                     its users                             what the victim sees
 *   a message that is written     pipe_send.c, remote_consumer.c        changed, late, reordered, twice, lost; or it fails
 *   a message that is received    pipe_receive.c, consumer.c            the same
 *   the carrier's word on a peer  pipe.c                                a death that is noticed late
 *
 * The sender applies faults of content, and writes delays and reorders into the message's header, as it may not run again
 * in time; the receiver applies them. Without a rule for an operation, its hook costs two loads and a branch.
 */
#ifndef SIM_MSG_FAULT_H
#define SIM_MSG_FAULT_H

#include "pipe.h"
#include "sim/faults/inject/inject.h"

/* Apply what the hit does to a message that is delivered: truncate and flip its @bytes (NULL = they are not at hand), delay,
 * reorder and duplicate it. */
void sim_fault_apply(const struct sim_fault_hit *hit, const struct sim_clock *clock, struct sim_pipe_hdr *hdr,
		     uint8_t *bytes, uint32_t *len);

static inline bool sim_pipe_fault_may_hit(const struct sim_poll_group *group, enum sim_op op)
{
	return sim_injector_may_hit(group->cfg.injector, op);
}

/* The write of a send that a fault hits; sets its result and due time. Returns 0 or -errno as sim_pipe_write(), or
 * -ECONNABORTED: the fault breaks the pipe. */
int sim_pipe_fault_write_send(struct sim_pipe_send *send);

/* A message without a send: asks for a fault. Returns as sim_pipe_send_now(). */
int sim_pipe_fault_write_now(struct sim_pipe *pipe, const void *msg, uint32_t len, uint32_t *ret_status);

/* A message that was just read: asks for a fault, and changes the message. Returns 0 (deliver it), -ENODATA (it is lost),
 * -ECANCELED (its receipt fails with *ret_status) or -ECONNABORTED. */
int sim_pipe_fault_receive(struct sim_pipe *pipe, struct sim_pipe_hdr *hdr, uint8_t *bytes, uint32_t *len,
			   uint32_t *ret_status);

/* The peer's process died. Returns whether this end does not notice that yet; then the group's alarm is set. */
bool sim_pipe_fault_hides_death(struct sim_pipe *pipe);

#endif
