/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_comch.h - messages between the card's two sides, which the network does not see.
 *
 *   DPU   doca_comch_server  <===== doca_comch_connection =====>  doca_comch_client   host
 *         (device, representor, name)                             (device, name)
 *
 * A server listens under a name, for the one host function that its representor
 * stands for. A client on that function connects to the name. A server has many
 * connections, a client has one. Both are contexts (doca_ctx.h): configured while
 * idle, connected to a progress engine, started, stopped, destroyed.
 *
 *   server  [idle] --start--> [running]; each client causes a connect event
 *   client  [idle] --start--> [starting] --accepted--> [running]
 *                                        '--no such server, refused--> [stopping] --> [idle]
 *           [running] --the server disconnects, stops or dies--> [stopping] --> [idle]
 *
 * Messages are copied. They arrive whole, once and in order, and cause an event
 * on the other side. For bulk data, programs can set up a data path on a
 * connection: a producer (doca_comch_producer.h) sends to a consumer
 * (doca_comch_consumer.h), without copies.
 *
 * Before the start, a program configures the send task and registers a receive
 * callback; a server also registers its connection callbacks. Callbacks run inside
 * doca_pe_progress().
 *
 * Teardown begins with producers and consumers. Then follow the connection
 * (doca_comch_server_disconnect()) or the context (doca_ctx_stop()): both calls
 * are refused while a producer or consumer of the connection is started. A stop
 * disconnects every peer, and ends inside doca_pe_progress().
 *
 * Sizes and lengths are bytes. Functions that return doca_error_t return
 * DOCA_ERROR_INVALID_VALUE for a NULL argument. A server or client, with its
 * connections and tasks, is used by one thread at a time: the thread that drives
 * its progress engine.
 */
#ifndef DOCA_COMCH_H_
#define DOCA_COMCH_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comch_client;
struct doca_comch_connection;
struct doca_comch_event_connection_status_changed;
struct doca_comch_event_consumer;
struct doca_comch_event_msg_recv;
struct doca_comch_server;
struct doca_comch_task_send;
struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS if the device can have servers (the DPU's), DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_STABLE
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/* The same for clients (the host's devices). */
DOCA_STABLE
doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

/* The longest name, its final zero byte included. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len);

/* The most that ..._set_max_msg_size() accepts. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/* The most that ..._set_recv_queue_size() accepts, in messages. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size);

/* The most send tasks that ..._task_send_set_conf() accepts. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, uint32_t *max_send_tasks);

/* The most connections that one server has at once. */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients);

/* --- The server --- */

/* A server on @dev (DPU side) for clients of the function behind @repr. Both are
 * borrowed, @name is copied; the result is the caller's. A name is taken once
 * for each pair of device and representor: the second start fails.
 * create: DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION. destroy, while idle:
 * DOCA_ERROR_IN_USE otherwise. */
DOCA_STABLE
doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				      struct doca_comch_server **comch_server);

DOCA_STABLE
doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/* The same object as a context, until @comch_server is destroyed. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/* The largest message in either direction; it has to be the same at both ends of a
 * connection. The getter returns the default if none was set. set: DOCA_ERROR_BAD_STATE unless
 * idle; DOCA_ERROR_INVALID_VALUE above the device's limit. */
DOCA_STABLE
doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server, uint32_t size);

DOCA_STABLE
doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server, uint32_t *size);

/* How many received messages can wait for doca_pe_progress(). While the queue is full,
 * senders wait. Otherwise as above. */
DOCA_STABLE
doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t size);

DOCA_STABLE
doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server, uint32_t *size);

/* The arguments of doca_comch_server_create(). */
DOCA_STABLE
doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server, struct doca_dev **dev);

DOCA_STABLE
doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server, struct doca_dev_rep **rep);

/* End one connection; the client's context stops. DOCA_ERROR_IN_USE while
 * producers or consumers of it are started; DOCA_ERROR_AGAIN when the client can't be
 * notified now: progress and try again. */
DOCA_STABLE
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
					  struct doca_comch_connection *connection);

/* --- The client --- */

/* A client on @dev (host side) of the server @name. Otherwise as for the server. */
DOCA_STABLE
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **comch_client);

DOCA_STABLE
doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

DOCA_STABLE
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

DOCA_STABLE
doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size);

DOCA_STABLE
doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client, uint32_t *size);

DOCA_STABLE
doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size);

DOCA_STABLE
doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client, uint32_t *size);

DOCA_STABLE
doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client, struct doca_dev **dev);

/* The client's one connection, which the client owns. DOCA_ERROR_BAD_STATE until the client's context is running. */
DOCA_STABLE
doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection);

/* --- Connections: created and destroyed by their server or client --- */

/* A value that the program may store; 0 at first. */
DOCA_STABLE
doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection, union doca_data user_data);

DOCA_STABLE
union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection);

/* The server or client of the connection: one of the two is NULL. */
DOCA_STABLE
struct doca_comch_server *doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection);

DOCA_STABLE
struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection);

/* Counters of a connection since it was created; they count control messages only. */
enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1,
	DOCA_COMCH_COUNTER_SENT_BYTES = 2,
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3,
	DOCA_COMCH_COUNTER_RECV_BYTES = 4,
};

/* Take a snapshot of all counters, which doca_comch_connection_get_counter() then reads.
 * DOCA_ERROR_CONNECTION_INPROGRESS before the connection is established,
 * DOCA_ERROR_CONNECTION_ABORTED after it failed. */
DOCA_STABLE
doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection);

/* DOCA_ERROR_INVALID_VALUE for an unknown counter. */
DOCA_STABLE
doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *comch_connection,
					       enum doca_comch_counter counter_type, uint64_t *counter_value);

/* --- The send task --- */

/* Called from doca_pe_progress() when @task completes; the program owns the task again
 * (doca_pe.h). doca_task_get_status() returns the result. */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

/* Before start: the callbacks for tasks that succeed and for those that fail, and the
 * number of tasks. DOCA_ERROR_BAD_STATE unless idle. */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
						  doca_comch_task_send_completion_cb_t task_completion_cb,
						  doca_comch_task_send_completion_cb_t task_error_cb,
						  uint32_t num_send_tasks);

DOCA_STABLE
doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
						  doca_comch_task_send_completion_cb_t task_completion_cb,
						  doca_comch_task_send_completion_cb_t task_error_cb,
						  uint32_t num_send_tasks);

/* Allocate a task of a running context, which sends @len bytes at @msg to @peer. The
 * caller submits and frees it. @msg needs no memory map; it is borrowed until the
 * task's callback. DOCA_ERROR_NO_MEMORY when all tasks are allocated. */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
						    struct doca_comch_connection *peer, const void *msg, uint32_t len,
						    struct doca_comch_task_send **task);

DOCA_STABLE
doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer, const void *msg, uint32_t len,
						    struct doca_comch_task_send **task);

/* The same object as a task: submit, free, user data, status. */
DOCA_STABLE
struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

/* --- Events: registered before start, DOCA_ERROR_BAD_STATE unless idle --- */

/* A message was received. @recv_buffer is valid during the callback. */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer,
					       uint32_t msg_len, struct doca_comch_connection *comch_connection);

DOCA_STABLE
doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
						       doca_comch_event_msg_recv_cb_t recv_event_cb);

DOCA_STABLE
doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
						       doca_comch_event_msg_recv_cb_t recv_event_cb);

/* A client connected or disconnected. @change_successful is 0 if that failed. After the
 * disconnect callback the connection no longer exists. */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
	struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *comch_connection,
	uint8_t change_successful);

DOCA_STABLE
doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/* The peer started a consumer, or stopped it. @id is the consumer's number on this
 * connection, to which producers send. */
typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event,
					       struct doca_comch_connection *comch_connection, uint32_t id);

DOCA_STABLE
doca_error_t doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
						       doca_comch_event_consumer_cb_t new_consumer_event_cb,
						       doca_comch_event_consumer_cb_t expired_consumer_event_cb);

DOCA_STABLE
doca_error_t doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
						       doca_comch_event_consumer_cb_t new_consumer_event_cb,
						       doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/* --- Names of release 2.7 --- */

/* doca_comch_server_get_device_rep() */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_get_device_repr(const struct doca_comch_server *comch_server,
					       struct doca_dev_rep **repr);

/* doca_comch_server_event_connection_status_changed_register() */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_event_connection_register(
	struct doca_comch_server *comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

#ifdef __cplusplus
}
#endif

#endif
