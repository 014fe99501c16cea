/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/producer_priv.h - producers and their send tasks. */
#ifndef SHIM_COMCH_PRODUCER_PRIV_H
#define SHIM_COMCH_PRODUCER_PRIV_H

#include <doca_comch_producer.h>

#include "data_path_priv.h"
#include "sim/dpa/queue/msgq.h"
#include "sim/msg/remote_consumer.h"

struct doca_comch_producer {
	struct comch_data_path data_path; /* first */
	uint32_t num_tasks;
	doca_comch_producer_task_send_completion_cb_t done, failed;
	/* While not idle: */
	struct shim_task_type type; /* its tasks have room for the immediate data */
	struct shim_task_pool *pool;
	uint64_t one_way_ns; /* of its messages, by the topology; 0 = they take no time */
	/* On a DPA (shim/comch/dpa): */
	struct doca_dpa_completion *completion; /* NULL = not attached */
	uint32_t dev_max_num_send;
	struct sim_dpa_producer dpa;
	LIST_ENTRY(doca_comch_producer) dpa_link; /* in the MsgQ's list, while started */
};

/* producer.c: of a producer of the CPU. */
extern const struct shim_ctx_ops comch_producer_ops;

struct doca_comch_producer_task_send {
	struct doca_task task; /* first: a send task is a doca_task */
	const struct doca_buf *buf;
	const uint8_t *imm;
	uint32_t imm_len;
	uint32_t consumer;
	struct sim_remote_consumer *remote; /* held, with a reserved slot, from submit until its job ran */
	uint8_t posted_imm[];               /* a copy of @imm at the submit: the user may write the next there */
};

extern const struct shim_task_type comch_producer_send_type;

/* ---- producer_send.c ---- */

extern const struct shim_task_fault_ops comch_producer_send_fault_ops;

/* Return why the message can't be sent to any consumer, or NULL. */
const char *comch_producer_describe_invalid(const struct doca_comch_producer_task_send *send);

/* Reserve a buffer that the consumer has posted. Returns as sim_remote_consumer_reserve(), and -EAGAIN also if the consumer's
 * process does not answer. */
int comch_producer_reserve(struct sim_remote_consumer *remote, struct doca_comch_producer_task_send *send);

/* Drop the task's reference to its consumer. */
void comch_producer_release(struct doca_comch_producer_task_send *send);

/* The run of the task's job. */
int comch_producer_run(struct sim_job *job);

/* ---- remote_consumer.c ---- */

/* Import the consumer's memory, for messages of @function. Returns 0, -EAGAIN (its process does not answer; it may be
 * stopped) or another -errno, for good. */
int comch_remote_consumer_import(struct sim_remote_consumer *remote, uint32_t function);

#endif
