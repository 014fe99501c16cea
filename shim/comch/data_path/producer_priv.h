/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/producer_priv.h - producers and their send tasks. */
#ifndef SHIM_COMCH_PRODUCER_PRIV_H
#define SHIM_COMCH_PRODUCER_PRIV_H

#include <doca_comch_producer.h>

#include "data_path_priv.h"
#include "remote_consumer_priv.h"

struct doca_comch_producer {
	struct comch_data_path data_path; /* first */
	uint32_t num_tasks;
	doca_comch_producer_task_send_completion_cb_t done, failed;
	/* While not idle: */
	struct shim_task_type type; /* its tasks have room for the immediate data */
	struct shim_task_pool *pool;
	uint64_t one_way_ns; /* of its messages, by the topology; 0 = they take no time */
};

struct doca_comch_producer_task_send {
	struct doca_task task; /* first: a send task is a doca_task */
	const struct doca_buf *buf;
	const uint8_t *imm;
	uint32_t imm_len;
	uint32_t consumer;
	struct comch_remote_consumer *remote; /* held, with a reserved slot, from submit until its job ran */
	uint8_t posted_imm[];                 /* a copy of @imm at the submit: the user may write the next there */
};

extern const struct shim_task_type comch_producer_send_type;

/* ---- producer_send.c ---- */

/* The length of the task's buffer; 0 = it has none. */
uint32_t comch_producer_get_len(const struct doca_comch_producer_task_send *send);

/* Return why the message can't be sent to any consumer, or NULL. */
const char *comch_producer_describe_invalid(const struct doca_comch_producer_task_send *send);

/* Reserve a buffer that the consumer has posted. Returns 0, or:
 *   -EAGAIN     none is posted, or the consumer's process does not answer
 *   -EMSGSIZE   the buffer is too short
 *   -E2BIG      the consumer takes less immediate data
 *   -ENOTCONN   the consumer expired
 *   -EPROTO     the consumer's queue is invalid */
int comch_producer_reserve(struct comch_remote_consumer *remote, struct doca_comch_producer_task_send *send);

/* Give a reserved buffer back. */
void comch_producer_unreserve(struct comch_remote_consumer *remote);

/* Drop the task's reference to its consumer. */
void comch_producer_release(struct doca_comch_producer_task_send *send);

/* The bytes of the task's buffer; NULL = it has none. */
const uint8_t *comch_producer_get_bytes(const struct doca_comch_producer_task_send *send);

/* The task's message. It is marked as failed if the user changed the task since the submit. */
struct sim_recvq_message comch_producer_make_message(const struct doca_comch_producer_task_send *send);

/* Claim the reserved slot and fill it. @bytes is NULL in a message of immediate data only. Returns 0 or -errno. */
int comch_producer_fill(struct doca_comch_producer_task_send *send, struct sim_recvq_message message,
			const uint8_t *bytes);

/* ---- fault_producer.c ---- */

extern const struct shim_task_fault_ops comch_producer_send_fault_ops;

#endif
