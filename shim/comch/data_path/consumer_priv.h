/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers, as their task and their context see them. */
#ifndef SHIM_COMCH_CONSUMER_PRIV_H
#define SHIM_COMCH_CONSUMER_PRIV_H

#include <doca_comch_consumer.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/common/mem/mmap_priv.h"
#include "sim/shm/recvq.h"

struct doca_comch_consumer_task_post_recv {
	struct doca_task task; /* first: a post receive task is a doca_task */
	struct doca_buf *buf;  /* NULL = immediate data only */
	struct sim_recvq_desc desc;
	uint32_t producer;
	uint32_t imm_len;
	/* While a fault holds its end back (fault_consumer.c): */
	doca_error_t result;
	uint64_t due_ns, reorder_deadline_ns;
	uint32_t reorder_by;
	struct doca_comch_consumer_task_post_recv *next;
	uint8_t imm[];
};

/* Receives that are filled, and whose end is held back. */
struct comch_recv_delay_queue {
	struct doca_comch_consumer_task_post_recv *ready;     /* in order; the first may be late */
	struct doca_comch_consumer_task_post_recv *reordered; /* to be overtaken */
	struct doca_comch_consumer_task_post_recv *hung;
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
	uint8_t *slot_buf;                                  /* what came through a slot */
	struct comch_recv_delay_queue delay_queue;
	struct shim_share share; /* of the map with the other end */
	_Atomic bool announced;  /* the other end knows of it */
	uint64_t stream_id;      /* of its messages, on the record */
};

extern const struct shim_task_type comch_post_recv_type;

/* fault_consumer.c: faults at receives. */
extern const struct shim_task_fault_ops comch_post_recv_fault_ops;
static inline bool comch_recv_has_delayed(const struct doca_comch_consumer *consumer)
{
	return consumer->delay_queue.ready || consumer->delay_queue.reordered;
}
/* @recv was filled, and would end with @result: whether its end is held back. */
bool comch_recv_delay(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *recv,
		      const struct sim_recvq_message *message, doca_error_t result);
/* Of those that were held back, the one to be finished now; or NULL, and the alarm is set. */
struct doca_comch_consumer_task_post_recv *comch_recv_pop_due(struct doca_comch_consumer *consumer);
/* Stopping: any that is held back for a time; NULL = none. */
struct doca_comch_consumer_task_post_recv *comch_recv_pop_any(struct doca_comch_consumer *consumer);

/* consumer_task.c: end a task that a message filled; stopping: one that none will fill. Whether there was one. */
bool comch_consumer_poll(struct doca_comch_consumer *consumer);
bool comch_consumer_flush(struct doca_comch_consumer *consumer);

#endif
