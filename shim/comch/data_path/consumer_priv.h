/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/consumer_priv.h - consumers and their post receive tasks.
 *
 *   submit --> [posted] --a producer's message--> [filled] --> completed
 *                                                    \--a fault delays it--> [delayed] --due--> completed
 */
#ifndef SHIM_COMCH_CONSUMER_PRIV_H
#define SHIM_COMCH_CONSUMER_PRIV_H

#include <doca_comch_consumer.h>

#include "data_path_priv.h"
#include "shim/common/mem/mmap_priv.h"
#include "sim/shm/recvq.h"

struct doca_comch_consumer_task_post_recv {
	struct doca_task task; /* first: a post receive task is a doca_task */
	struct doca_buf *buf;  /* NULL = immediate data only */
	struct sim_recvq_desc desc;
	uint32_t producer;
	uint32_t imm_len;
	doca_error_t result;        /* while delayed: the status that it completes with */
	struct sim_delay_item item; /* while delayed */
	uint8_t imm[];
};

struct doca_comch_consumer {
	struct comch_data_path data_path; /* first */
	struct doca_mmap *mmap;
	uint64_t mmap_serial;
	uint32_t imm_bytes, num_tasks;
	doca_comch_consumer_task_post_recv_completion_cb_t done, failed;
	/* While not idle: */
	struct shim_task_type type; /* its tasks have room for the immediate data */
	struct shim_task_pool *pool;
	struct sim_segment memory;
	struct sim_recvq queue;
	struct doca_comch_consumer_task_post_recv **posted; /* by slot */
	uint8_t *slot_buf;                                  /* a copy of what a slot holds */
	struct sim_delay_list delayed;                      /* filled tasks that complete later */
	struct sim_delay_items hung;                        /* filled tasks that only a stop completes */
	struct shim_share share;                            /* of the map, with the other end */
	uint64_t stream_id;                                 /* in recordings: of messages to it */
};

extern const struct shim_task_type comch_post_recv_type;

/* ---- consumer_task.c ---- */

/* Whether a message can be taken now. If it comes later, the context's alarm is set. */
bool comch_consumer_has_message(struct doca_comch_consumer *consumer);

/* Complete one task that a message filled. Returns whether there was one. */
bool comch_consumer_poll(struct doca_comch_consumer *consumer);

/* While stopping: complete one task, filled or not. Returns whether there was one. */
bool comch_consumer_flush(struct doca_comch_consumer *consumer);

/* ---- fault_consumer.c: a decorator of the task's completion ---- */

extern const struct shim_task_fault_ops comch_post_recv_fault_ops;

void comch_recv_delay_init(struct doca_comch_consumer *consumer);

static inline bool comch_recv_has_delayed(const struct doca_comch_consumer *consumer)
{
	return !sim_delay_list_is_empty(&consumer->delayed);
}

/* Whether a delayed task holds up the messages behind it. */
static inline bool comch_recv_is_blocked(const struct doca_comch_consumer *consumer)
{
	return sim_delay_list_first_ready(&consumer->delayed) != NULL;
}

/* @message filled @recv, whose status would be @result. Returns whether the completion is delayed. */
bool comch_recv_delay(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *recv,
		      const struct sim_recvq_message *message, doca_error_t result);

/* Remove the delayed task that is due; NULL = none is, and the alarm is set. */
struct doca_comch_consumer_task_post_recv *comch_recv_pop_due(struct doca_comch_consumer *consumer);

/* While stopping: remove any task that is delayed, or that hangs; NULL = none. */
struct doca_comch_consumer_task_post_recv *comch_recv_pop_delayed(struct doca_comch_consumer *consumer);
struct doca_comch_consumer_task_post_recv *comch_recv_pop_hung(struct doca_comch_consumer *consumer);

#endif
