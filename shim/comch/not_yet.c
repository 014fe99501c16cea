/* SPDX-License-Identifier: BSD-3-Clause */
/* What Comch declares and does not have yet: it links, and says so. A function
 * leaves this file when it gets one of its own.
 */
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "shim/common/check.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOT_YET(name, ...)                                   \
	doca_error_t name(__VA_ARGS__)                       \
	{                                                    \
		return SHIM_NOT_SIMULATED("Comch's messages"); \
	}
#define NULL_YET(type, name, ...)    \
	type name(__VA_ARGS__)       \
	{                            \
		return (type){0};    \
	}
#define NOTHING_YET(name, ...)       \
	void name(__VA_ARGS__)       \
	{                            \
	}

/* ---- Servers, clients and connections ---- */
NULL_YET(struct doca_ctx *, doca_comch_client_as_ctx, struct doca_comch_client *comch_client)
NOT_YET(doca_comch_client_create, struct doca_dev *dev, const char *name,
	struct doca_comch_client **comch_client)
NOT_YET(doca_comch_client_destroy, struct doca_comch_client *comch_client)
NOT_YET(doca_comch_client_event_consumer_register, struct doca_comch_client *comch_client,
	doca_comch_event_consumer_cb_t new_consumer_event_cb, doca_comch_event_consumer_cb_t expired_consumer_event_cb)
NOT_YET(doca_comch_client_event_msg_recv_register, struct doca_comch_client *comch_client,
	doca_comch_event_msg_recv_cb_t recv_event_cb)
NULL_YET(struct doca_comch_client *, doca_comch_client_get_client_ctx,
	const struct doca_comch_connection *connection)
NOT_YET(doca_comch_client_get_connection, const struct doca_comch_client *comch_client,
	struct doca_comch_connection **connection)
NOT_YET(doca_comch_client_get_device, const struct doca_comch_client *comch_client, struct doca_dev **dev)
NOT_YET(doca_comch_client_get_max_msg_size, const struct doca_comch_client *comch_client, uint32_t *size)
NOT_YET(doca_comch_client_get_recv_queue_size, const struct doca_comch_client *comch_client, uint32_t *size)
NOT_YET(doca_comch_client_set_max_msg_size, struct doca_comch_client *comch_client, uint32_t size)
NOT_YET(doca_comch_client_set_recv_queue_size, struct doca_comch_client *comch_client, uint32_t size)
NOT_YET(doca_comch_client_task_send_alloc_init, struct doca_comch_client *comch_client,
	struct doca_comch_connection *peer, const void *msg, uint32_t len, struct doca_comch_task_send **task)
NOT_YET(doca_comch_client_task_send_set_conf, struct doca_comch_client *comch_client,
	doca_comch_task_send_completion_cb_t task_completion_cb, doca_comch_task_send_completion_cb_t task_error_cb,
	uint32_t num_send_tasks)
NOT_YET(doca_comch_connection_get_counter, const struct doca_comch_connection *comch_connection,
	enum doca_comch_counter counter_type, uint64_t *counter_value)
NULL_YET(union doca_data, doca_comch_connection_get_user_data, const struct doca_comch_connection *connection)
NOT_YET(doca_comch_connection_set_user_data, struct doca_comch_connection *connection, union doca_data user_data)
NOT_YET(doca_comch_connection_update_info, struct doca_comch_connection *comch_connection)
NULL_YET(struct doca_ctx *, doca_comch_server_as_ctx, struct doca_comch_server *comch_server)
NOT_YET(doca_comch_server_create, struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
	struct doca_comch_server **comch_server)
NOT_YET(doca_comch_server_destroy, struct doca_comch_server *comch_server)
NOT_YET(doca_comch_server_disconnect, struct doca_comch_server *comch_server,
	struct doca_comch_connection *connection)
NOT_YET(doca_comch_server_event_connection_status_changed_register, struct doca_comch_server *comch_server,
	doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
NOT_YET(doca_comch_server_event_consumer_register, struct doca_comch_server *comch_server,
	doca_comch_event_consumer_cb_t new_consumer_event_cb, doca_comch_event_consumer_cb_t expired_consumer_event_cb)
NOT_YET(doca_comch_server_event_msg_recv_register, struct doca_comch_server *comch_server,
	doca_comch_event_msg_recv_cb_t recv_event_cb)
NOT_YET(doca_comch_server_get_device, const struct doca_comch_server *comch_server, struct doca_dev **dev)
NOT_YET(doca_comch_server_get_device_rep, const struct doca_comch_server *comch_server,
	struct doca_dev_rep **rep)
NOT_YET(doca_comch_server_get_max_msg_size, const struct doca_comch_server *comch_server, uint32_t *size)
NOT_YET(doca_comch_server_get_recv_queue_size, const struct doca_comch_server *comch_server, uint32_t *size)
NULL_YET(struct doca_comch_server *, doca_comch_server_get_server_ctx,
	const struct doca_comch_connection *connection)
NOT_YET(doca_comch_server_set_max_msg_size, struct doca_comch_server *comch_server, uint32_t size)
NOT_YET(doca_comch_server_set_recv_queue_size, struct doca_comch_server *comch_server, uint32_t size)
NOT_YET(doca_comch_server_task_send_alloc_init, struct doca_comch_server *comch_server,
	struct doca_comch_connection *peer, const void *msg, uint32_t len, struct doca_comch_task_send **task)
NOT_YET(doca_comch_server_task_send_set_conf, struct doca_comch_server *comch_server,
	doca_comch_task_send_completion_cb_t task_completion_cb, doca_comch_task_send_completion_cb_t task_error_cb,
	uint32_t num_send_tasks)
NULL_YET(struct doca_task *, doca_comch_task_send_as_task, struct doca_comch_task_send *task)

/* ---- Consumers ---- */
NULL_YET(struct doca_ctx *, doca_comch_consumer_as_ctx, struct doca_comch_consumer *consumer)
NOT_YET(doca_comch_consumer_create, struct doca_comch_connection *comch_connection, struct doca_mmap *buf_mmap,
	struct doca_comch_consumer **consumer)
NOT_YET(doca_comch_consumer_destroy, struct doca_comch_consumer *consumer)
NOT_YET(doca_comch_consumer_get_id, const struct doca_comch_consumer *consumer, uint32_t *id)
NOT_YET(doca_comch_consumer_get_imm_data_len, const struct doca_comch_consumer *consumer, uint32_t *imm_data_len)
NOT_YET(doca_comch_consumer_set_imm_data_len, struct doca_comch_consumer *consumer, uint32_t imm_data_len)
NOT_YET(doca_comch_consumer_task_post_recv_alloc_init, struct doca_comch_consumer *consumer,
	struct doca_buf *buf, struct doca_comch_consumer_task_post_recv **task)
NULL_YET(struct doca_task *, doca_comch_consumer_task_post_recv_as_task,
	struct doca_comch_consumer_task_post_recv *task)
NULL_YET(struct doca_buf *, doca_comch_consumer_task_post_recv_get_buf,
	const struct doca_comch_consumer_task_post_recv *task)
NULL_YET(const uint8_t *, doca_comch_consumer_task_post_recv_get_imm_data,
	const struct doca_comch_consumer_task_post_recv *task)
NULL_YET(uint32_t, doca_comch_consumer_task_post_recv_get_imm_data_len,
	const struct doca_comch_consumer_task_post_recv *task)
NULL_YET(uint32_t, doca_comch_consumer_task_post_recv_get_producer_id,
	const struct doca_comch_consumer_task_post_recv *task)
NOTHING_YET(doca_comch_consumer_task_post_recv_set_buf, struct doca_comch_consumer_task_post_recv *task,
	struct doca_buf *buf)
NOT_YET(doca_comch_consumer_task_post_recv_set_conf, struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks)

/* ---- Producers ---- */
NULL_YET(struct doca_ctx *, doca_comch_producer_as_ctx, struct doca_comch_producer *producer)
NOT_YET(doca_comch_producer_create, struct doca_comch_connection *comch_connection,
	struct doca_comch_producer **producer)
NOT_YET(doca_comch_producer_destroy, struct doca_comch_producer *producer)
NOT_YET(doca_comch_producer_get_id, const struct doca_comch_producer *producer, uint32_t *id)
NOT_YET(doca_comch_producer_task_send_alloc_init, struct doca_comch_producer *producer,
	const struct doca_buf *buf, uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id,
	struct doca_comch_producer_task_send **task)
NULL_YET(struct doca_task *, doca_comch_producer_task_send_as_task, struct doca_comch_producer_task_send *task)
NULL_YET(const struct doca_buf *, doca_comch_producer_task_send_get_buf,
	const struct doca_comch_producer_task_send *task)
NULL_YET(uint32_t, doca_comch_producer_task_send_get_consumer_id,
	const struct doca_comch_producer_task_send *task)
NULL_YET(uint8_t *, doca_comch_producer_task_send_get_imm_data, const struct doca_comch_producer_task_send *task)
NULL_YET(uint32_t, doca_comch_producer_task_send_get_imm_data_len,
	const struct doca_comch_producer_task_send *task)
NOTHING_YET(doca_comch_producer_task_send_set_buf, struct doca_comch_producer_task_send *task,
	const struct doca_buf *buf)
NOT_YET(doca_comch_producer_task_send_set_conf, struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t task_completion_cb,
	doca_comch_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
NOTHING_YET(doca_comch_producer_task_send_set_consumer_id, struct doca_comch_producer_task_send *task,
	const uint32_t consumer_id)
NOTHING_YET(doca_comch_producer_task_send_set_imm_data, struct doca_comch_producer_task_send *task,
	uint8_t *imm_data, uint32_t imm_data_len)
