/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers under doca_cc's names. Their task is doca_cc_consumer_post_recv_task in 2.5, and
 * doca_cc_consumer_task_post_recv in 2.6. */
#include "cc_priv.h"

doca_error_t doca_cc_consumer_create(struct doca_cc_connection *cc_connection, struct doca_mmap *buf_mmap,
				     struct doca_cc_consumer **consumer)
{
	return FORWARD_OUT(struct doca_comch_consumer *,
			   doca_comch_consumer_create(TO_COMCH(connection, cc_connection), buf_mmap, tmp), consumer,
			   struct doca_cc_consumer *);
}

doca_error_t doca_cc_consumer_destroy(struct doca_cc_consumer *consumer)
{
	return doca_comch_consumer_destroy(TO_COMCH(consumer, consumer));
}

struct doca_ctx *doca_cc_consumer_as_ctx(struct doca_cc_consumer *consumer)
{
	return doca_comch_consumer_as_ctx(TO_COMCH(consumer, consumer));
}

doca_error_t doca_cc_consumer_get_id(const struct doca_cc_consumer *consumer, uint32_t *id)
{
	return doca_comch_consumer_get_id(TO_COMCH(consumer, consumer), id);
}

/* ---- the task ---- */

doca_error_t doca_cc_consumer_post_recv_task_set_conf(struct doca_cc_consumer *consumer,
						      doca_cc_consumer_post_recv_task_comp_handler task_completion_cb,
						      doca_cc_consumer_post_recv_task_comp_handler task_error_cb,
						      size_t log_num_tasks)
{
	return doca_comch_consumer_task_post_recv_set_conf(
		TO_COMCH(consumer, consumer), TO_COMCH_CB(consumer_task_post_recv_completion_cb_t, task_completion_cb),
		TO_COMCH_CB(consumer_task_post_recv_completion_cb_t, task_error_cb),
		cc_num_tasks_from_log(log_num_tasks));
}

doca_error_t doca_cc_consumer_task_post_recv_set_conf(
	struct doca_cc_consumer *consumer, doca_cc_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_cc_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks)
{
	return doca_comch_consumer_task_post_recv_set_conf(
		TO_COMCH(consumer, consumer), TO_COMCH_CB(consumer_task_post_recv_completion_cb_t, task_completion_cb),
		TO_COMCH_CB(consumer_task_post_recv_completion_cb_t, task_error_cb), num_post_recv_tasks);
}

uint32_t doca_cc_consumer_task_post_recv_get_producer_id(struct doca_cc_consumer_task_post_recv *task)
{
	return doca_comch_consumer_task_post_recv_get_producer_id(TO_COMCH(consumer_task_post_recv, task));
}

#define DEFINE_TASK(name)                                                                                            \
	doca_error_t doca_cc_consumer_##name##_alloc_init(struct doca_cc_consumer *consumer, struct doca_buf *buf,   \
							  struct doca_cc_consumer_##name **task)                     \
	{                                                                                                            \
		return FORWARD_OUT(                                                                                  \
			struct doca_comch_consumer_task_post_recv *,                                                 \
			doca_comch_consumer_task_post_recv_alloc_init(TO_COMCH(consumer, consumer), buf, tmp), task, \
			struct doca_cc_consumer_##name *);                                                           \
	}                                                                                                            \
	struct doca_task *doca_cc_consumer_##name##_as_task(struct doca_cc_consumer_##name *task)                    \
	{                                                                                                            \
		return doca_comch_consumer_task_post_recv_as_task(TO_COMCH(consumer_task_post_recv, task));          \
	}                                                                                                            \
	struct doca_buf *doca_cc_consumer_##name##_get_buf(struct doca_cc_consumer_##name *task)                     \
	{                                                                                                            \
		return doca_comch_consumer_task_post_recv_get_buf(TO_COMCH(consumer_task_post_recv, task));          \
	}                                                                                                            \
	void doca_cc_consumer_##name##_set_buf(struct doca_cc_consumer_##name *task, struct doca_buf *buf)           \
	{                                                                                                            \
		doca_comch_consumer_task_post_recv_set_buf(TO_COMCH(consumer_task_post_recv, task), buf);            \
	}

DEFINE_TASK(post_recv_task)
DEFINE_TASK(task_post_recv)
