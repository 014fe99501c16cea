/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_cc.h - Comch under its names of releases 2.5 and 2.6.
 *
 * New programs use doca_comch.h, which documents these functions: a server here is a
 * Comch server, a client is a Comch client, and the two APIs reach each other.
 * Functions return the same errors.
 *
 * The two releases differ. This header has the functions of both: 2.5's send task
 * (doca_cc_send_task, configured with the logarithm of the number of tasks) and
 * 2.6's (doca_cc_task_send, with the number). Where the types of numbers differ, the
 * declarations are 2.5's, with size_t. The macros below let C11 programs
 * also pass 2.6's uint32_t pointers and callbacks.
 */
#ifndef DOCA_CC_H_
#define DOCA_CC_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_cc_client;
struct doca_cc_connection;
struct doca_cc_event_connection_status_changed;
struct doca_cc_event_consumer;
struct doca_cc_event_msg_recv;
struct doca_cc_send_task; /* 2.5 */
struct doca_cc_server;
struct doca_cc_task_send; /* 2.6 */
struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;

/* --- Capabilities of a device --- */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_server_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_client_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_msg_size(const struct doca_devinfo *devinfo, size_t *size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, size_t *size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, size_t *max_send_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_cap_get_max_clients(const struct doca_devinfo *devinfo, size_t *num_clients);

/* --- The server --- */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				   struct doca_cc_server **cc_server);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_destroy(struct doca_cc_server *cc_server);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_server_as_ctx(struct doca_cc_server *cc_server);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_set_max_msg_size(struct doca_cc_server *cc_server, size_t size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_max_msg_size(const struct doca_cc_server *cc_server, size_t *size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_set_recv_queue_size(struct doca_cc_server *cc_server, size_t size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_recv_queue_size(const struct doca_cc_server *cc_server, size_t *size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_device(const struct doca_cc_server *cc_server, struct doca_dev **dev);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_get_device_repr(const struct doca_cc_server *cc_server, struct doca_dev_rep **repr);

/* --- The client --- */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_create(struct doca_dev *dev, const char *name, struct doca_cc_client **cc_client);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_destroy(struct doca_cc_client *cc_client);

DOCA_EXPERIMENTAL
struct doca_ctx *doca_cc_client_as_ctx(struct doca_cc_client *cc_client);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_set_max_msg_size(struct doca_cc_client *cc_client, size_t size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_max_msg_size(const struct doca_cc_client *cc_client, size_t *size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_set_recv_queue_size(struct doca_cc_client *cc_client, size_t size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_recv_queue_size(const struct doca_cc_client *cc_client, size_t *size);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_device(const struct doca_cc_client *cc_client, struct doca_dev **dev);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_get_connection(const struct doca_cc_client *cc_client,
					   struct doca_cc_connection **connection);

/* --- Connections --- */

DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_set_user_data(struct doca_cc_connection *connection, union doca_data user_data);

DOCA_EXPERIMENTAL
union doca_data doca_cc_connection_get_user_data(const struct doca_cc_connection *connection);

DOCA_EXPERIMENTAL
struct doca_cc_server *doca_cc_server_get_server_ctx(const struct doca_cc_connection *connection);

DOCA_EXPERIMENTAL
struct doca_cc_client *doca_cc_client_get_client_ctx(const struct doca_cc_connection *connection);

enum doca_cc_counter {
	DOCA_CC_COUNTER_SENT_MESSAGES = 1,
	DOCA_CC_COUNTER_SENT_BYTES = 2,
	DOCA_CC_COUNTER_RECV_MESSAGES = 3,
	DOCA_CC_COUNTER_RECV_BYTES = 4,
};

DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_update_info(struct doca_cc_connection *cc_connection);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_connection_get_counter(const struct doca_cc_connection *cc_connection,
					    enum doca_cc_counter counter_type, uint64_t *counter_value);

/* --- The send task, 2.5: at most 2^log_num_tasks at once --- */

typedef void (*doca_cc_send_task_comp_handler)(struct doca_cc_send_task *task, union doca_data task_user_data,
					       union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_send_task_set_conf(struct doca_cc_server *cc_server,
					       doca_cc_send_task_comp_handler task_completion_cb,
					       doca_cc_send_task_comp_handler task_error_cb, uint8_t log_num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_send_task_set_conf(struct doca_cc_client *cc_client,
					       doca_cc_send_task_comp_handler task_completion_cb,
					       doca_cc_send_task_comp_handler task_error_cb, uint8_t log_num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_send_task_alloc_init(struct doca_cc_server *cc_server, struct doca_cc_connection *peer,
						 const void *msg, size_t len, struct doca_cc_send_task **task);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_send_task_alloc_init(struct doca_cc_client *cc_client, struct doca_cc_connection *peer,
						 const void *msg, size_t len, struct doca_cc_send_task **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_cc_send_task_as_task(struct doca_cc_send_task *task);

/* --- The send task, 2.6 --- */

typedef void (*doca_cc_task_send_completion_cb_t)(struct doca_cc_task_send *task, union doca_data task_user_data,
						  union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_task_send_set_conf(struct doca_cc_server *cc_server,
					       doca_cc_task_send_completion_cb_t task_completion_cb,
					       doca_cc_task_send_completion_cb_t task_error_cb,
					       uint32_t num_send_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_task_send_set_conf(struct doca_cc_client *cc_client,
					       doca_cc_task_send_completion_cb_t task_completion_cb,
					       doca_cc_task_send_completion_cb_t task_error_cb,
					       uint32_t num_send_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_task_send_alloc_init(struct doca_cc_server *cc_server, struct doca_cc_connection *peer,
						 const void *msg, uint32_t len, struct doca_cc_task_send **task);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_task_send_alloc_init(struct doca_cc_client *cc_client, struct doca_cc_connection *peer,
						 const void *msg, uint32_t len, struct doca_cc_task_send **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_cc_task_send_as_task(struct doca_cc_task_send *task);

/* --- Events --- */

typedef void (*doca_cc_event_msg_recv_cb_t)(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer, size_t msg_len,
					    struct doca_cc_connection *cc_connection);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_msg_recv_register(struct doca_cc_server *cc_server,
						    doca_cc_event_msg_recv_cb_t recv_event_cb);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_event_msg_recv_register(struct doca_cc_client *cc_client,
						    doca_cc_event_msg_recv_cb_t recv_event_cb);

typedef void (*doca_cc_event_connection_status_changed_cb_t)(struct doca_cc_event_connection_status_changed *event,
							     struct doca_cc_connection *cc_connection,
							     bool change_successful);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_connection_register(struct doca_cc_server *cc_server,
						      doca_cc_event_connection_status_changed_cb_t connect_event_cb,
						      doca_cc_event_connection_status_changed_cb_t disconnect_event_cb);

typedef void (*doca_cc_event_consumer_cb_t)(struct doca_cc_event_consumer *event,
					    struct doca_cc_connection *cc_connection, uint32_t id);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_server_event_consumer_register(struct doca_cc_server *cc_server,
						    doca_cc_event_consumer_cb_t new_consumer_event_cb,
						    doca_cc_event_consumer_cb_t expired_consumer_event_cb);

DOCA_EXPERIMENTAL
doca_error_t doca_cc_client_event_consumer_register(struct doca_cc_client *cc_client,
						    doca_cc_event_consumer_cb_t new_consumer_event_cb,
						    doca_cc_event_consumer_cb_t expired_consumer_event_cb);

/* --- 2.6's types, selected by C11's _Generic --- */

#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L && defined(DOCA_ALLOW_EXPERIMENTAL_API)

/* Call a getter that writes a size_t, and store the result in a uint32_t. */
#define DOCA_CC_GETTER_OF_2_6(name, of_type)                                                \
	static inline doca_error_t name##_of_2_6(const struct of_type *of, uint32_t *value) \
	{                                                                                   \
		size_t wide = 0;                                                            \
		doca_error_t result = name(of, value ? &wide : NULL);                       \
                                                                                            \
		if (result == DOCA_SUCCESS)                                                 \
			*value = (uint32_t)wide;                                            \
		return result;                                                              \
	}
#define DOCA_CC_GET(name, of, value) _Generic((value), uint32_t * : name##_of_2_6, default : name)(of, value)

DOCA_CC_GETTER_OF_2_6(doca_cc_cap_get_max_msg_size, doca_devinfo)
DOCA_CC_GETTER_OF_2_6(doca_cc_cap_get_max_recv_queue_size, doca_devinfo)
DOCA_CC_GETTER_OF_2_6(doca_cc_cap_get_max_send_tasks, doca_devinfo)
DOCA_CC_GETTER_OF_2_6(doca_cc_cap_get_max_clients, doca_devinfo)
DOCA_CC_GETTER_OF_2_6(doca_cc_server_get_max_msg_size, doca_cc_server)
DOCA_CC_GETTER_OF_2_6(doca_cc_server_get_recv_queue_size, doca_cc_server)
DOCA_CC_GETTER_OF_2_6(doca_cc_client_get_max_msg_size, doca_cc_client)
DOCA_CC_GETTER_OF_2_6(doca_cc_client_get_recv_queue_size, doca_cc_client)

#define doca_cc_cap_get_max_msg_size(of, value)        DOCA_CC_GET(doca_cc_cap_get_max_msg_size, of, value)
#define doca_cc_cap_get_max_recv_queue_size(of, value) DOCA_CC_GET(doca_cc_cap_get_max_recv_queue_size, of, value)
#define doca_cc_cap_get_max_send_tasks(of, value)      DOCA_CC_GET(doca_cc_cap_get_max_send_tasks, of, value)
#define doca_cc_cap_get_max_clients(of, value)         DOCA_CC_GET(doca_cc_cap_get_max_clients, of, value)
#define doca_cc_server_get_max_msg_size(of, value)     DOCA_CC_GET(doca_cc_server_get_max_msg_size, of, value)
#define doca_cc_server_get_recv_queue_size(of, value)  DOCA_CC_GET(doca_cc_server_get_recv_queue_size, of, value)
#define doca_cc_client_get_max_msg_size(of, value)     DOCA_CC_GET(doca_cc_client_get_max_msg_size, of, value)
#define doca_cc_client_get_recv_queue_size(of, value)  DOCA_CC_GET(doca_cc_client_get_recv_queue_size, of, value)

/* Callbacks that take a uint32_t for a size_t, or a uint8_t for a bool: the calling convention
 * passes a value that fits the smaller type in the same way. */
typedef void (*doca_cc_msg_recv_cb_of_2_6_t)(struct doca_cc_event_msg_recv *, uint8_t *, uint32_t,
					     struct doca_cc_connection *);
typedef void (*doca_cc_status_cb_of_2_6_t)(struct doca_cc_event_connection_status_changed *,
					   struct doca_cc_connection *, uint8_t);

static inline doca_cc_event_msg_recv_cb_t doca_cc_msg_recv_cb_of_2_6(doca_cc_msg_recv_cb_of_2_6_t cb)
{
	return (doca_cc_event_msg_recv_cb_t)(void (*)(void))cb;
}

static inline doca_cc_event_msg_recv_cb_t doca_cc_msg_recv_cb_of_2_5(doca_cc_event_msg_recv_cb_t cb)
{
	return cb;
}

static inline doca_cc_event_connection_status_changed_cb_t doca_cc_status_cb_of_2_6(doca_cc_status_cb_of_2_6_t cb)
{
	return (doca_cc_event_connection_status_changed_cb_t)(void (*)(void))cb;
}

static inline doca_cc_event_connection_status_changed_cb_t doca_cc_status_cb_of_2_5(
	doca_cc_event_connection_status_changed_cb_t cb)
{
	return cb;
}

#define DOCA_CC_MSG_RECV_CB(cb)                        \
	_Generic((cb), doca_cc_msg_recv_cb_of_2_6_t    \
		 : doca_cc_msg_recv_cb_of_2_6, default \
		 : doca_cc_msg_recv_cb_of_2_5)(cb)
#define DOCA_CC_STATUS_CB(cb) \
	_Generic((cb), doca_cc_status_cb_of_2_6_t : doca_cc_status_cb_of_2_6, default : doca_cc_status_cb_of_2_5)(cb)

#define doca_cc_server_event_msg_recv_register(server, cb) \
	doca_cc_server_event_msg_recv_register(server, DOCA_CC_MSG_RECV_CB(cb))
#define doca_cc_client_event_msg_recv_register(client, cb) \
	doca_cc_client_event_msg_recv_register(client, DOCA_CC_MSG_RECV_CB(cb))
#define doca_cc_server_event_connection_register(server, connect_cb, disconnect_cb)     \
	doca_cc_server_event_connection_register(server, DOCA_CC_STATUS_CB(connect_cb), \
						 DOCA_CC_STATUS_CB(disconnect_cb))

#endif

#ifdef __cplusplus
}
#endif

#endif
