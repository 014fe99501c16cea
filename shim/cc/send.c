/* SPDX-License-Identifier: BSD-3-Clause */
/* The send task: doca_cc_send_task in 2.5, doca_cc_task_send in 2.6. */
#include "cc_priv.h"

struct doca_task *doca_cc_send_task_as_task(struct doca_cc_send_task *task)
{
	return doca_comch_task_send_as_task(TO_COMCH(task_send, task));
}

struct doca_task *doca_cc_task_send_as_task(struct doca_cc_task_send *task)
{
	return doca_comch_task_send_as_task(TO_COMCH(task_send, task));
}

#define DEFINE_SEND_TASK(kind)                                                                                         \
	doca_error_t doca_cc_##kind##_send_task_set_conf(                                                              \
		struct doca_cc_##kind *cc, doca_cc_send_task_comp_handler task_completion_cb,                          \
		doca_cc_send_task_comp_handler task_error_cb, uint8_t log_num_tasks)                                   \
	{                                                                                                              \
		return doca_comch_##kind##_task_send_set_conf(                                                         \
			TO_COMCH(kind, cc), TO_COMCH_CB(task_send_completion_cb_t, task_completion_cb),                \
			TO_COMCH_CB(task_send_completion_cb_t, task_error_cb), cc_num_tasks_from_log(log_num_tasks));  \
	}                                                                                                              \
	doca_error_t doca_cc_##kind##_task_send_set_conf(                                                              \
		struct doca_cc_##kind *cc, doca_cc_task_send_completion_cb_t task_completion_cb,                       \
		doca_cc_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)                              \
	{                                                                                                              \
		return doca_comch_##kind##_task_send_set_conf(                                                         \
			TO_COMCH(kind, cc), TO_COMCH_CB(task_send_completion_cb_t, task_completion_cb),                \
			TO_COMCH_CB(task_send_completion_cb_t, task_error_cb), num_send_tasks);                        \
	}                                                                                                              \
	doca_error_t doca_cc_##kind##_send_task_alloc_init(struct doca_cc_##kind *cc, struct doca_cc_connection *peer, \
							   const void *msg, size_t len,                                \
							   struct doca_cc_send_task **task)                            \
	{                                                                                                              \
		return FORWARD_OUT(struct doca_comch_task_send *,                                                      \
				   doca_comch_##kind##_task_send_alloc_init(TO_COMCH(kind, cc),                        \
									    TO_COMCH(connection, peer), msg,           \
									    cc_u32_saturate(len), tmp),                \
				   task, struct doca_cc_send_task *);                                                  \
	}                                                                                                              \
	doca_error_t doca_cc_##kind##_task_send_alloc_init(struct doca_cc_##kind *cc, struct doca_cc_connection *peer, \
							   const void *msg, uint32_t len,                              \
							   struct doca_cc_task_send **task)                            \
	{                                                                                                              \
		return FORWARD_OUT(struct doca_comch_task_send *,                                                      \
				   doca_comch_##kind##_task_send_alloc_init(                                           \
					   TO_COMCH(kind, cc), TO_COMCH(connection, peer), msg, len, tmp),             \
				   task, struct doca_cc_task_send *);                                                  \
	}

DEFINE_SEND_TASK(server)
DEFINE_SEND_TASK(client)
