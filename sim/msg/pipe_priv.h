/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/pipe_priv.h - a pipe, for the files of this folder. From low to high: pipe_write.c, fault.c,
 * pipe_send.c, pipe_announce.c, pipe_receive.c, pipe.c and poll_group.c. */
#ifndef SIM_MSG_PIPE_PRIV_H
#define SIM_MSG_PIPE_PRIV_H

#include "pipe.h"
#include "sim/base/log.h"
#include "sim/clock/vclock_sched.h"

#define likely(condition)   __builtin_expect((condition), 1)
#define unlikely(condition) __builtin_expect((condition), 0)

/* Room for the largest record: a message with its header. A record of an object is smaller. */
static inline uint32_t sim_pipe_max_record_bytes(uint32_t max_msg_bytes)
{
	return (uint32_t)sizeof(struct sim_pipe_hdr) + max_msg_bytes;
}

static inline struct sim_ring_cfg sim_pipe_ring_cfg(uint32_t max_records, uint32_t max_msg_bytes)
{
	return (struct sim_ring_cfg){ .max_records = max_records,
				      .max_record_bytes = sim_pipe_max_record_bytes(max_msg_bytes) };
}

/* Poll the pipe again. */
static inline void sim_pipe_requeue(struct sim_pipe *pipe)
{
	sim_doorbell_requeue(&pipe->group->doorbells, pipe->slot);
}

static inline void sim_pipe_set_alarm(const struct sim_pipe *pipe, uint64_t due_ns)
{
	pipe->ops->set_alarm(pipe->group, due_ns);
}

/* ---- pipe_write.c ---- */

/* The header of a message that is sent now; without a time of delivery if messages take none. In virtual time, the calling thread
 * is busy then. @ret_recorded_ns: when a recording has the message sent, 0 = it is not recorded. */
struct sim_pipe_hdr sim_pipe_timing_hdr(const struct sim_pipe *pipe, uint64_t *ret_recorded_ns);

/* Charge the sender for a message. */
void sim_pipe_timing_charge(struct sim_poll_group *group);

/* When the sender is free again after its last message; 0 = now. */
static inline uint64_t sim_pipe_timing_end_ns(const struct sim_poll_group *group)
{
	return unlikely(group->cfg.timing != NULL) ? sim_clock_ns(group->busy_until_ps) : 0;
}

/* Ring the other end's doorbell, and wake the other end if it sleeps. In virtual time, it looks at @due_ns (0 = now). */
void sim_pipe_notify_peer(struct sim_pipe *pipe, uint64_t due_ns);

/* Write a message that is delivered by @hdr (NULL = at once), and charge the sender; @recorded_ns as above. Returns 0, -EAGAIN,
 * -EFAULT or -EPROTO. */
int sim_pipe_write(struct sim_pipe *pipe, const struct sim_pipe_hdr *hdr, uint64_t recorded_ns, const void *msg,
		   uint32_t len);

/* Write a message as the model has it. */
int sim_pipe_write_modelled(struct sim_pipe *pipe, const void *msg, uint32_t len);

/* Whether the ring has room for a message of @len bytes, whatever its header. If not, the peer rings when there is some. */
static inline bool sim_pipe_arm_space(struct sim_pipe *pipe, uint32_t len)
{
	return sim_ring_arm_space(&pipe->out, sizeof(struct sim_pipe_hdr) + len);
}

/* Virtual time: whether the pipe waits until the other end says that there is room. Room that is seen earlier is not used:
 * when a participant polls without a message is the machine's choice. */
bool sim_pipe_waits_for_room(const struct sim_pipe *pipe);

/* ---- pipe_send.c ---- */

/* Write the sends that there is room for. Returns 0, or -errno: the pipe is lost. */
int sim_pipe_flush_sends(struct sim_pipe *pipe);

/* The alarm has expired: end deferred sends that are due. */
void sim_pipe_end_due_sends(struct sim_poll_group *group);

/* ---- pipe_announce.c ---- */

/* Send the announcements that there is room for. Returns 0, or -EPROTO: the pipe is lost. */
int sim_pipe_flush_announcements(struct sim_pipe *pipe);

/* The awaited announcement, or the one of a record that was just read, has come: take it. Returns whether it has. */
bool sim_pipe_take_arrival(struct sim_pipe *pipe, uint32_t id, struct sim_pipe_event *ret_event);

/* Whether the record of object @id was read before its announcement came. */
void sim_pipe_set_awaiting(struct sim_pipe *pipe, bool is_awaiting, uint32_t id);

/* Drop all announcements, of both ends. */
void sim_pipe_drop_announcements(struct sim_pipe *pipe);

/* ---- pipe_receive.c ---- */

static inline bool sim_pipe_holds_messages(const struct sim_pipe *pipe)
{
	return !sim_delay_list_is_empty(&pipe->delay_queue);
}

void sim_pipe_drop_messages(struct sim_pipe *pipe);

#endif
