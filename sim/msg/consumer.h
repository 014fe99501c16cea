/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/consumer.h - the receiving end of a fast path: receives that its owner posts, and other processes fill.
 *
 *   post --> [posted] --a producer's message--> [filled] --take, hold--> the owner's
 *                                                            \--> [held] --due--> popped
 *                                                            \--> [hung] --stop-> popped
 *
 * The queue is in memory of the consumer (sim/shm/recvq.h), which an announcement gives to the other end of a pipe; there it
 * is a remote consumer (remote_consumer.h). The owner embeds a receive in its own task, and moves a message to its buffer
 * when it takes the message; what is held is the end of the receive. A held receive holds up those behind it, a hung one
 * does not. Faults of both ends meet here: those of the receive, and those of the message, which its producer left in the
 * slot.
 *
 * Threads: a consumer belongs to one thread. Times are session time. Errors are -errno.
 */
#ifndef SIM_MSG_CONSUMER_H
#define SIM_MSG_CONSUMER_H

#include "delay_list.h"
#include "records.h"
#include "sim/clock/clock.h"
#include "sim/faults/inject/injector.h"
#include "sim/shm/recvq.h"
#include "sim/shm/segment.h"

struct sim_consumer;
struct sim_handshake_msg;

struct sim_consumer_cfg {
	struct sim_consumer_info info; /* for the other end */
	const struct sim_clock *clock;
	/* Poll the consumer at @due_ns; SIM_CLOCK_NEVER_NS = not. */
	void (*set_alarm)(struct sim_consumer *consumer, uint64_t due_ns);
	void *(*alloc)(size_t bytes); /* as malloc() */
	int wake_fd; /* wakes the consumer's thread; stays the owner's; -1 = none, as its producers call it (remote_consumer.h) */
};

struct sim_receive {
	struct sim_recvq_desc desc;      /* set by the owner */
	const struct sim_fault_hit *hit; /* the fault that hits it; NULL = none; set by the owner */
	struct sim_delay_item item;      /* while it is held, or hung */
};

struct sim_consumer {
	struct sim_consumer_cfg cfg;
	struct sim_segment memory;
	struct sim_recvq recvq;
	struct sim_receive **posted; /* by slot */
	uint8_t *slot_buf;           /* a copy of what a slot holds */
	struct sim_delay_list held;  /* filled receives that end later */
	struct sim_delay_items hung; /* filled receives that a stop alone ends */
	uint64_t num_unfilled; /* receives that the stop has not returned yet: no message comes to them any more */
};

/* Create the queue, and the announcement of it. On failure the consumer is closed. Returns 0 or -errno. */
int sim_consumer_open(struct sim_consumer *consumer, const struct sim_consumer_cfg *cfg,
		      struct sim_handshake_msg *ret_announcement);

/* No receive is posted any more, or none matters. Closed already is fine. */
void sim_consumer_close(struct sim_consumer *consumer);

/* At most info.num_slots are posted and not taken. */
void sim_consumer_post(struct sim_consumer *consumer, struct sim_receive *receive);

/* Whether the oldest posted receive can be taken: it is filled, and nothing holds it up. @keeps_time: its message stays in
 * its slot until it is due, which does not depend on when the consumer polls; the alarm is set. */
bool sim_consumer_has_message(struct sim_consumer *consumer, bool keeps_time);

/* Take the oldest posted receive and its message. Returns 0, or -EPROTO: the message is invalid, and reads as failed. */
int sim_consumer_take(struct sim_consumer *consumer, struct sim_receive **ret_receive,
		      struct sim_recvq_message *ret_message);

static inline bool sim_consumer_holds_any(const struct sim_consumer *consumer)
{
	return !sim_delay_list_is_empty(&consumer->held);
}

/* Whether the receive that was just taken does not end yet: by time, by a fault, or behind others. */
static inline bool sim_consumer_must_hold(const struct sim_consumer *consumer, const struct sim_receive *receive,
					  const struct sim_recvq_message *message)
{
	return receive->hit || message->due_ns || message->reorder_by || sim_consumer_holds_any(consumer);
}

/* Hold it. A fault flips bits of its message, of @len bytes at @bytes (NULL = none). */
void sim_consumer_hold(struct sim_consumer *consumer, struct sim_receive *receive,
		       const struct sim_recvq_message *message, uint8_t *bytes, uint32_t len);

/* The held receive that is due; NULL = none is, and the alarm is set. */
struct sim_receive *sim_consumer_pop_due(struct sim_consumer *consumer);

/* While stopping: any receive that is held, first; and any other, filled or not, then. NULL = none. From the first receive on that
 * is returned unfilled, the consumer has no message: a producer that has not learned of the end may fill the receives behind it,
 * and the program would see a gap. */
struct sim_receive *sim_consumer_pop_held(struct sim_consumer *consumer);
struct sim_receive *sim_consumer_pop_any(struct sim_consumer *consumer);

#endif
