/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/poll_group.h - the pipe ends that one thread polls.
 *
 *   other ends --ring a slot--> doorbells --sim_doorbell_next()--> the slot's pipe --> sim_pipe_poll()
 *   alarm --> sim_poll_group_on_alarm() --> sends that are due, pipes that hold messages
 *
 * The owner embeds the group in its own object, drives it by its own loop, and says how its thread is woken. A group is
 * one sender: by the card's model, its messages leave one after the other, on whichever pipe.
 *
 * Threads: a group and its pipes belong to one thread; pipe.h names the functions that any thread may call.
 * Units: times are session time in ns, _ps are picoseconds. Errors are -errno.
 */
#ifndef SIM_MSG_POLL_GROUP_H
#define SIM_MSG_POLL_GROUP_H

#include <stdbool.h>
#include <sys/queue.h>

#include "pcie_model/profile.h"
#include "sim/clock/clock.h"
#include "sim/faults/inject/injector.h"
#include "sim/shm/doorbell.h"
#include "sim/shm/segment.h"

struct sim_handshake_msg;
struct sim_pipe;
struct sim_pipe_send;
struct sim_poll_group;
struct sim_vclock_sched;

#define SIM_POLL_GROUP_OWN_SLOT (SIM_DOORBELL_SLOTS - 1) /* of the doorbells; the owner's: it is no pipe's */

/* Functions of the owner that the group calls. Every slot is filled. */
struct sim_poll_group_ops {
	/* Have the thread poll the group. @is_asleep: it sleeps since sim_poll_group_arm(). Any thread, with a pipe's
	 * lock; must not call back. */
	void (*wake)(struct sim_poll_group *group, bool is_asleep);
	/* Call sim_poll_group_on_alarm() at @due_ns; SIM_CLOCK_NEVER_NS = not. In the group's thread. */
	void (*set_alarm)(struct sim_poll_group *group, uint64_t due_ns);
	/* Wake the other end by the carrier: its socket can't. In the group's thread. */
	void (*wake_peer)(struct sim_pipe *pipe);
	/* Carry an announcement to the other end, in the order of the calls. Returns 0 or -errno. In the group's thread. */
	int (*carry)(struct sim_pipe *pipe, const struct sim_handshake_msg *msg);
	/* The announcement of the owner's object @arg is written. In the group's thread, with the pipe's lock. */
	void (*announced)(void *arg);
	/* As malloc(). */
	void *(*alloc)(size_t bytes);
};

/* The operations of fault rules that the group's messages are. */
struct sim_poll_group_faults {
	enum sim_op send, receive;
	bool hides_death; /* SIM_OP_COMCH_PEER_DEATH applies */
};

struct sim_poll_group_cfg {
	const struct sim_poll_group_ops *ops;
	const struct sim_clock *clock;
	/* Where the process's scheduler of virtual time is: NULL there = another clock mode, or a forked child. */
	struct sim_vclock_sched *const *vclock;
	struct sim_injector *injector; /* NULL = no faults */
	const struct sim_poll_group_faults *faults;
	uint32_t function; /* of the sender, for fault rules: its id in the topology */
	uint32_t object;   /* in recordings; 0 = none */
	uint32_t max_msg_bytes;
	uint32_t recv_queue_size;               /* messages in the ring of each of its pipes, > 0 */
	bool has_one_pipe;                      /* at a time: a client. Its ring is in the memory of the doorbells */
	const struct pcie_comch_timing *timing; /* time that messages take; NULL = none */
};

STAILQ_HEAD(sim_pipe_sends, sim_pipe_send);

struct sim_poll_group {
	struct sim_poll_group_cfg cfg;
	struct sim_pipe_sends completed; /* sends that ended */
	struct sim_pipe_sends deferred;  /* sends that end when they are due */
	struct sim_segment memory;       /* of the doorbells, then perhaps a ring (records.h) */
	int memory_fd;                   /* for other ends; -1 = none */
	bool has_free_ring;              /* no pipe has had the one in @memory */
	struct sim_doorbells doorbells;
	uint8_t *record_buf;     /* holds one record; NULL while an event has it */
	size_t record_bytes;     /* its size; 0 = the group is closed */
	struct sim_pipe **pipes; /* by slot in the doorbells */
	uint32_t num_slots, num_pipes;
	uint64_t busy_until_ps; /* session time at which the sender is free again */
	uint32_t num_awaiting;  /* pipes that have read that an object was announced, before the announcement came */
};

/* Open the doorbells. The group is zeroed, or was closed. On failure it is closed. Returns 0 or -errno. */
int sim_poll_group_open(struct sim_poll_group *group, const struct sim_poll_group_cfg *cfg);

/* Its pipes are closed, and its sends taken. Closed already is fine. */
void sim_poll_group_close(struct sim_poll_group *group);

/* No further end gets the doorbells, nor a ring in their memory. */
void sim_poll_group_close_fd(struct sim_poll_group *group);

static inline bool sim_poll_group_is_open(const struct sim_poll_group *group)
{
	return group->memory.base != NULL;
}

/* The alarm that the group set has expired. */
void sim_poll_group_on_alarm(struct sim_poll_group *group);

/* Poll the slots whose ring another process has erased. */
void sim_poll_group_find_missed_rings(struct sim_poll_group *group);

/* The owner is about to sleep: from now on, ops->wake says once that it sleeps, and other ends wake it by its socket.
 * Returns whether a slot is to be polled already. */
bool sim_poll_group_arm(struct sim_poll_group *group);

static inline bool sim_poll_group_has_completed(const struct sim_poll_group *group)
{
	return !STAILQ_EMPTY(&group->completed);
}

/* Virtual time: NULL in other modes. */
static inline struct sim_vclock_sched *sim_poll_group_vclock(const struct sim_poll_group *group)
{
	return *group->cfg.vclock;
}

static inline uint64_t sim_poll_group_now_ns(const struct sim_poll_group *group)
{
	return sim_clock_now_ns(group->cfg.clock);
}

#endif
