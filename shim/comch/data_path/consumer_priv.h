/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/consumer_priv.h - consumers and their post receive tasks.
 *
 * The queue of posted receives, and those that are held back, are in sim/msg/consumer.h. */
#ifndef SHIM_COMCH_CONSUMER_PRIV_H
#define SHIM_COMCH_CONSUMER_PRIV_H

#include <doca_comch_consumer.h>

#include "data_path_priv.h"
#include "shim/common/mem/mmap_priv.h"
#include "sim/dpa/queue/msgq.h"
#include "sim/msg/consumer.h"

struct doca_comch_consumer_task_post_recv {
	struct doca_task task; /* first: a post receive task is a doca_task */
	struct doca_buf *buf;  /* NULL = immediate data only */
	struct sim_receive receive;
	uint32_t producer;
	uint32_t imm_len;
	doca_error_t result; /* while held: the status that it completes with */
	uint8_t imm[];
};

struct doca_comch_consumer {
	struct comch_data_path data_path; /* first */
	struct doca_mmap *mmap;           /* NULL = a MsgQ's, which takes immediate data only */
	uint64_t mmap_serial;
	uint32_t imm_bytes, num_tasks;
	doca_comch_consumer_task_post_recv_completion_cb_t done, failed;
	/* While not idle: */
	struct shim_task_type type; /* its tasks have room for the immediate data */
	struct shim_task_pool *pool;
	struct sim_consumer queue;
	struct shim_share share; /* of the map, with the other end */
	/* On a DPA (shim/comch/dpa): */
	struct doca_comch_consumer_completion *completion; /* NULL = not set */
	uint32_t dev_max_num_recv;
	struct sim_dpa_consumer dpa;
};

extern const struct shim_task_type comch_post_recv_type;

/* consumer.c: of a consumer of the CPU. */
extern const struct shim_ctx_ops comch_consumer_ops;

/* ---- consumer_task.c ---- */

/* Whether a message can be taken now. If it comes later, the context's alarm is set. */
bool comch_consumer_has_message(struct doca_comch_consumer *consumer);

/* Complete one task that a message filled. Returns whether there was one. */
bool comch_consumer_poll(struct doca_comch_consumer *consumer);

/* While stopping: complete one task, filled or not. Returns whether there was one. */
bool comch_consumer_flush(struct doca_comch_consumer *consumer);

#endif
