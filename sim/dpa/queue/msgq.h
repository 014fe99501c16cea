/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/msgq.h - a DPA's ends of message queues. The CPU's ends are those of sim/msg: both sides meet at a local pipe.
 *
 *   CPU to DPA:  producer --fill--> receive queue of the consumer --> ring of its completion context --> kernel
 *                                         ^--- a kernel acknowledges n messages: n receives are posted
 *   DPA to CPU:  kernel --post--> [waits for a receive, in order] --fill--> consumer of sim/msg
 *                                                                   '--> completion of the producer's context
 *
 * A message that arrives leaves its receive at once, for a place in the ring; without a place it stays, and later ones behind it.
 * Immediate data of elements lies in the heap, where kernels read it.
 *
 * A producer's message whose consumer has no receive waits, up to the producer's number of sends; one more is fatal. A message
 * that can't be sent ends in a completion with an error, and so do all later ones of the producer. A copy is done when it is its turn.
 *
 * Faults: those of a message in its producer's rules, those of a receive in its consumer's. What they hold back comes by an alarm
 * (sim/dpa/exec/alarm.h).
 */
#ifndef SIM_DPA_MSGQ_H
#define SIM_DPA_MSGQ_H

#include "completion.h"
#include "fault.h"
#include "sim/dpa/exec/alarm.h"
#include "sim/msg/consumer.h"
#include "sim/msg/remote_consumer.h"

#define SIM_DPA_MAX_IMM_BYTES 64 /* of a message */

/* Types of completions: the values of the device API. */
enum { SIM_DPA_SENT = 0, SIM_DPA_SEND_FAILED = 13 };

struct sim_dpa_consumer;
struct sim_dpa_pending;
struct sim_dpa_held;

struct sim_dpa_consumer_completion {
	struct sim_dpa_completion ring; /* first */
	uint64_t imm;                   /* in the heap: a place for each element */
	LIST_HEAD(, sim_dpa_consumer) consumers;
};

/* Room for @num_messages of up to SIM_DPA_MAX_IMM_BYTES. Returns 0 or -ENOMEM. */
int sim_dpa_consumer_completion_start(struct sim_dpa_process *process, struct sim_dpa_activity *activity,
				      uint32_t num_messages, struct sim_dpa_consumer_completion *completion);
void sim_dpa_consumer_completion_stop(struct sim_dpa_consumer_completion *completion);

/* A receive. It is free, posted, or held back with its message. */
struct sim_dpa_receive {
	struct sim_receive receive;        /* first */
	SLIST_ENTRY(sim_dpa_receive) link; /* free */
	uint32_t producer, imm_bytes;
	bool is_lost; /* the kernel does not see its message */
	uint8_t imm[SIM_DPA_MAX_IMM_BYTES];
};

struct sim_dpa_consumer {
	struct sim_dpa_process *process;
	struct sim_dpa_consumer_completion *completion;
	struct sim_pipe *pipe;
	uint32_t id;
	uint32_t object; /* in recordings */
	uint64_t stream_id;
	struct sim_dpa_faults faults;
	uint64_t handle;
	struct sim_dpa_alarm alarm;
	/* Under the process's lock: */
	struct sim_consumer queue;
	struct sim_dpa_receive *receives;
	SLIST_HEAD(, sim_dpa_receive) free;
	uint32_t num_free;
	uint32_t num_pulls; /* now; the lock is released meanwhile */
	LIST_ENTRY(sim_dpa_consumer) link;
};

/* Set @process to @faults before. Returns 0, -ENOMEM or another -errno. */
int sim_dpa_consumer_start(struct sim_dpa_consumer *consumer, uint32_t num_receives, uint32_t max_imm_bytes);

/* Messages that no kernel took are gone. */
void sim_dpa_consumer_stop(struct sim_dpa_consumer *consumer);

struct sim_dpa_producer {
	struct sim_dpa_process *process;
	struct sim_dpa_completion *completion;
	struct sim_pipe *pipe;
	uint32_t id;
	uint32_t object;    /* in recordings */
	uint32_t user_data; /* of completions */
	uint32_t num_sends;
	struct sim_dpa_faults faults;
	uint64_t handle;
	uint32_t num_calls; /* of kernels, under the process's lock */
	struct sim_dpa_alarm alarm;
	pthread_mutex_t lock;
	STAILQ_HEAD(, sim_dpa_pending) pending; /* under the lock, as the rest */
	_Atomic uint32_t num_pending;
	STAILQ_HEAD(, sim_dpa_held) held; /* completions */
	bool is_hung;                     /* a fault: no further completion comes */
	bool has_failed;
};

/* Set @process to @faults before. Returns 0 or -ENOMEM. */
int sim_dpa_producer_start(struct sim_dpa_producer *producer);

/* Messages that wait are gone. */
void sim_dpa_producer_stop(struct sim_dpa_producer *producer);

/* A consumer has posted a receive, or is gone: send what waits, or fail it. Any thread. */
void sim_dpa_producer_retry(struct sim_dpa_producer *producer);

/* For the port. */
int sim_dpa_port_consumer_take(uint64_t completion, uint64_t *ret_element);
const uint8_t *sim_dpa_port_consumer_element_imm(uint64_t element, uint32_t *ret_bytes);
uint32_t sim_dpa_port_consumer_element_producer(uint64_t element);
void sim_dpa_port_consumer_completion_ack(uint64_t completion, uint64_t num);
void sim_dpa_port_consumer_completion_arm(uint64_t completion);
void sim_dpa_port_consumer_ack(uint64_t consumer, uint32_t num);
int sim_dpa_port_producer_is_consumer_empty(uint64_t producer, uint32_t consumer_id);
void sim_dpa_port_producer_send(uint64_t producer, uint32_t consumer_id, const uint8_t *imm, uint32_t imm_bytes,
				uint32_t flags);
void sim_dpa_port_producer_copy(uint64_t producer, const struct sim_dpa_producer_copy *copy);

#endif
