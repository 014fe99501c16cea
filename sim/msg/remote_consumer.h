/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/remote_consumer.h - a consumer of the other end of a pipe, as this end's producers see it.
 *
 *   announced --> [known] --withdrawn, or the pipe ended--> [expired] --last reference--> freed
 *
 *   a message:  reserve a posted receive --> fill it --> the consumer is woken
 *                             \--> unreserve: it is free for others
 *
 * The posted receives are credits: a message without one is refused with -EAGAIN. Producers look the consumer up by its id,
 * each on its own thread, and hold it while a message is under way. A short message goes through the slot. The producer
 * writes a longer one straight into the consumer's buffer, by the best path between the processes (sim/fabric), so that no
 * byte is copied twice: the owner imports the buffers' memory before.
 *
 * A consumer may also be of this process, with a queue that it does not poll: it is called after each message.
 *
 * Any thread may call. The other process is not trusted: it can spoil its own queue and buffers alone.
 */
#ifndef SIM_MSG_REMOTE_CONSUMER_H
#define SIM_MSG_REMOTE_CONSUMER_H

#include "pipe.h"
#include "sim/fabric/remote.h"
#include "sim/shm/recvq.h"

struct sim_remote_consumer {
	struct sim_consumer_info info;
	_Atomic uint32_t refs; /* the pipe's, and one for each message under way */
	_Atomic bool expired;
	struct sim_segment memory;
	int wake_fd;                /* -1: the consumer is of this process, and */
	void (*arrived)(void *arg); /* is called under the lock after each message, unless it expired */
	void *arrived_arg;
	void (*release)(struct sim_remote *buffers); /* the import; NULL is fine */
	pthread_mutex_t lock;                        /* protects: */
	struct sim_recvq queue;
	struct sim_remote *buffers; /* imported by the owner, at the first need */
	int import_error;           /* -errno: the import failed for good */
	uint32_t num_import_tries;
	LIST_ENTRY(sim_remote_consumer) link;
};

/* Limits on what the other end may announce. */
struct sim_remote_consumer_limits {
	uint32_t max_consumers, max_slots, max_imm_bytes;
};

/* The other end announced a consumer: map its memory, and add it to the pipe. The caller closes the announcement. Returns 0,
 * -ENOSPC (there are as many as the limit), -EPROTO (malformed), -ENOMEM or another -errno. */
int sim_remote_consumer_add(struct sim_pipe *pipe, const struct sim_remote_consumer_limits *limits,
			    void (*release)(struct sim_remote *buffers), struct sim_handshake_msg *announcement);

/* Add a consumer of this process. @memory is its queue's, and stays the caller's. Returns 0, -ENOMEM or another -errno. */
int sim_remote_consumer_add_local(struct sim_pipe *pipe, const struct sim_consumer_info *info, int memory,
				  void (*arrived)(void *arg), void *arg);

/* Remove a consumer, which is not called any more; @id is NULL: any. Returns whether there was one, then with its id. */
bool sim_remote_consumer_remove(struct sim_pipe *pipe, const uint32_t *id, uint32_t *ret_id);

/* End a local pipe, as sim_pipe_abort() ends others: consumers' threads are woken, to look at pipe->lost_error. */
void sim_remote_consumers_abort(struct sim_pipe *pipe);

/* Remove all. */
void sim_remote_consumers_drop(struct sim_pipe *pipe);

/* Look a consumer up and hold it; NULL = the pipe has no such consumer (any more). */
struct sim_remote_consumer *sim_remote_consumer_get(struct sim_pipe *pipe, uint32_t id);
void sim_remote_consumer_put(struct sim_remote_consumer *remote);

/* Reserve a posted receive. Returns 0, or:
 *   -EAGAIN     none is posted
 *   -EMSGSIZE   its buffer is too short
 *   -E2BIG      the consumer takes less immediate data
 *   -ENOTCONN   the consumer expired
 *   -EPROTO     the consumer's queue is invalid */
int sim_remote_consumer_reserve(struct sim_remote_consumer *remote, uint32_t len, uint32_t imm_len);
void sim_remote_consumer_unreserve(struct sim_remote_consumer *remote);

/* Whether a message could be reserved now. */
bool sim_remote_consumer_has_receive(struct sim_remote_consumer *remote);

/* A message under way. */
struct sim_remote_send {
	struct sim_pipe *pipe;
	struct sim_remote_consumer *remote;
	const struct sim_clock *clock;   /* needed under a fault alone */
	struct sim_vclock_sched *vclock; /* NULL = not virtual time */
	bool forces_path;                /* each message takes the path between the processes */
	bool is_recorded;
	uint32_t object;     /* in recordings: the producer */
	uint64_t task_ns;    /* in recordings: when its task was submitted */
	uint64_t sent_bytes; /* result */
};

/* Fill the receive that was reserved, with @message, whose bytes are at @bytes (NULL = immediate data only). Returns 0 or
 * -errno: the consumer's receive fails as well. */
int sim_remote_send_fill(struct sim_remote_send *send, struct sim_recvq_message message, const uint8_t *bytes);

/* Fill the receive under a fault that neither fails nor breaks anything. */
int sim_remote_send_fill_with_fault(struct sim_remote_send *send, const struct sim_fault_hit *hit,
				    struct sim_recvq_message message, const uint8_t *bytes);

#endif
