/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers. Their task is doca_cc_producer_send_task in 2.5, doca_cc_producer_task_send in 2.6. */
#include "cc_priv.h"

doca_error_t doca_cc_producer_create(struct doca_cc_connection *cc_connection, struct doca_cc_producer **producer)
{
	return FORWARD_OUT(struct doca_comch_producer *,
			   doca_comch_producer_create(TO_COMCH(connection, cc_connection), tmp), producer,
			   struct doca_cc_producer *);
}

doca_error_t doca_cc_producer_destroy(struct doca_cc_producer *producer)
{
	return doca_comch_producer_destroy(TO_COMCH(producer, producer));
}

struct doca_ctx *doca_cc_producer_as_ctx(struct doca_cc_producer *producer)
{
	return doca_comch_producer_as_ctx(TO_COMCH(producer, producer));
}

doca_error_t doca_cc_producer_get_id(const struct doca_cc_producer *producer, uint32_t *id)
{
	return doca_comch_producer_get_id(TO_COMCH(producer, producer), id);
}

/* ---- the task ---- */

doca_error_t doca_cc_producer_send_task_set_conf(struct doca_cc_producer *producer,
						 doca_cc_producer_send_task_comp_handler task_completion_cb,
						 doca_cc_producer_send_task_comp_handler task_error_cb,
						 size_t log_num_tasks)
{
	return doca_comch_producer_task_send_set_conf(
		TO_COMCH(producer, producer), TO_COMCH_CB(producer_task_send_completion_cb_t, task_completion_cb),
		TO_COMCH_CB(producer_task_send_completion_cb_t, task_error_cb), cc_num_tasks_from_log(log_num_tasks));
}

doca_error_t doca_cc_producer_task_send_set_conf(struct doca_cc_producer *producer,
						 doca_cc_producer_task_send_completion_cb_t task_completion_cb,
						 doca_cc_producer_task_send_completion_cb_t task_error_cb,
						 uint32_t num_send_tasks)
{
	return doca_comch_producer_task_send_set_conf(
		TO_COMCH(producer, producer), TO_COMCH_CB(producer_task_send_completion_cb_t, task_completion_cb),
		TO_COMCH_CB(producer_task_send_completion_cb_t, task_error_cb), num_send_tasks);
}

/* @id is the type of a consumer's number in that release. There was no immediate data yet. */
#define DEFINE_TASK(name, id)                                                                                        \
	doca_error_t doca_cc_producer_##name##_alloc_init(struct doca_cc_producer *producer, struct doca_buf *buf,   \
							  id consumer_id, struct doca_cc_producer_##name **task)     \
	{                                                                                                            \
		return FORWARD_OUT(struct doca_comch_producer_task_send *,                                           \
				   doca_comch_producer_task_send_alloc_init(TO_COMCH(producer, producer), buf, NULL, \
									    0, (uint32_t)consumer_id, tmp),          \
				   task, struct doca_cc_producer_##name *);                                          \
	}                                                                                                            \
	struct doca_task *doca_cc_producer_##name##_as_task(struct doca_cc_producer_##name *task)                    \
	{                                                                                                            \
		return doca_comch_producer_task_send_as_task(TO_COMCH(producer_task_send, task));                    \
	}                                                                                                            \
	struct doca_buf *doca_cc_producer_##name##_get_buf(struct doca_cc_producer_##name *task)                     \
	{                                                                                                            \
		return (struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(                          \
			TO_COMCH(producer_task_send, task));                                                         \
	}                                                                                                            \
	void doca_cc_producer_##name##_set_buf(struct doca_cc_producer_##name *task, struct doca_buf *buf)           \
	{                                                                                                            \
		doca_comch_producer_task_send_set_buf(TO_COMCH(producer_task_send, task), buf);                      \
	}                                                                                                            \
	id doca_cc_producer_##name##_get_consumer_id(struct doca_cc_producer_##name *task)                           \
	{                                                                                                            \
		return (id)doca_comch_producer_task_send_get_consumer_id(TO_COMCH(producer_task_send, task));        \
	}                                                                                                            \
	void doca_cc_producer_##name##_set_consumer_id(struct doca_cc_producer_##name *task, const id consumer_id)   \
	{                                                                                                            \
		doca_comch_producer_task_send_set_consumer_id(TO_COMCH(producer_task_send, task),                    \
							      (uint32_t)consumer_id);                                \
	}

DEFINE_TASK(send_task, int)
DEFINE_TASK(task_send, uint32_t)
