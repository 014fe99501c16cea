/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers, clients and their connections under doca_cc's names. */
#include "cc_priv.h"
#include "shim/comch/endpoint/comm_channel_hooks.h"

/* ---- adapters of callbacks ---- */

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	doca_cc_event_msg_recv_cb_t cb = (doca_cc_event_msg_recv_cb_t)comch_compat_of(connection)->received;

	cb((struct doca_cc_event_msg_recv *)event, bytes, len, TO_CC(connection, connection));
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	doca_cc_event_connection_status_changed_cb_t cb =
		(doca_cc_event_connection_status_changed_cb_t)comch_compat_of(connection)->connected;

	cb((struct doca_cc_event_connection_status_changed *)event, TO_CC(connection, connection), successful);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	doca_cc_event_connection_status_changed_cb_t cb =
		(doca_cc_event_connection_status_changed_cb_t)comch_compat_of(connection)->disconnected;

	cb((struct doca_cc_event_connection_status_changed *)event, TO_CC(connection, connection), successful);
}

static doca_error_t keep_received(struct comch_compat *compat, doca_cc_event_msg_recv_cb_t cb)
{
	if (!compat)
		return DOCA_ERROR_NO_MEMORY;
	compat->received = (void (*)(void))cb;
	return DOCA_SUCCESS;
}

doca_error_t(doca_cc_server_event_msg_recv_register)(struct doca_cc_server *cc_server,
						     doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	doca_error_t result = doca_comch_server_event_msg_recv_register(TO_COMCH(server, cc_server),
									recv_event_cb ? on_message : NULL);

	return result == DOCA_SUCCESS ? keep_received(comch_server_compat(TO_COMCH(server, cc_server)), recv_event_cb) :
					result;
}

doca_error_t(doca_cc_client_event_msg_recv_register)(struct doca_cc_client *cc_client,
						     doca_cc_event_msg_recv_cb_t recv_event_cb)
{
	doca_error_t result = doca_comch_client_event_msg_recv_register(TO_COMCH(client, cc_client),
									recv_event_cb ? on_message : NULL);

	return result == DOCA_SUCCESS ? keep_received(comch_client_compat(TO_COMCH(client, cc_client)), recv_event_cb) :
					result;
}

doca_error_t(doca_cc_server_event_connection_register)(struct doca_cc_server *cc_server,
						       doca_cc_event_connection_status_changed_cb_t connect_event_cb,
						       doca_cc_event_connection_status_changed_cb_t disconnect_event_cb)
{
	struct comch_compat *compat;
	doca_error_t result = doca_comch_server_event_connection_status_changed_register(
		TO_COMCH(server, cc_server), connect_event_cb ? on_connect : NULL,
		disconnect_event_cb ? on_disconnect : NULL);

	if (result != DOCA_SUCCESS)
		return result;
	compat = comch_server_compat(TO_COMCH(server, cc_server));
	if (!compat)
		return DOCA_ERROR_NO_MEMORY;
	compat->connected = (void (*)(void))connect_event_cb;
	compat->disconnected = (void (*)(void))disconnect_event_cb;
	return DOCA_SUCCESS;
}

/* ---- servers ---- */

doca_error_t doca_cc_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				   struct doca_cc_server **cc_server)
{
	return FORWARD_OUT(struct doca_comch_server *, doca_comch_server_create(dev, repr, name, tmp), cc_server,
			   struct doca_cc_server *);
}

doca_error_t doca_cc_server_get_device_repr(const struct doca_cc_server *cc_server, struct doca_dev_rep **repr)
{
	return doca_comch_server_get_device_rep(TO_COMCH(server, cc_server), repr);
}

struct doca_cc_server *doca_cc_server_get_server_ctx(const struct doca_cc_connection *connection)
{
	return TO_CC(server, doca_comch_server_get_server_ctx(TO_COMCH(connection, connection)));
}

/* ---- clients ---- */

doca_error_t doca_cc_client_create(struct doca_dev *dev, const char *name, struct doca_cc_client **cc_client)
{
	return FORWARD_OUT(struct doca_comch_client *, doca_comch_client_create(dev, name, tmp), cc_client,
			   struct doca_cc_client *);
}

doca_error_t doca_cc_client_get_connection(const struct doca_cc_client *cc_client,
					   struct doca_cc_connection **connection)
{
	return FORWARD_OUT(struct doca_comch_connection *,
			   doca_comch_client_get_connection(TO_COMCH(client, cc_client), tmp), connection,
			   struct doca_cc_connection *);
}

struct doca_cc_client *doca_cc_client_get_client_ctx(const struct doca_cc_connection *connection)
{
	return TO_CC(client, doca_comch_client_get_client_ctx(TO_COMCH(connection, connection)));
}

/* ---- functions of both ---- */

#define DEFINE_SERVER_CLIENT(kind)                                                                                   \
	doca_error_t doca_cc_##kind##_destroy(struct doca_cc_##kind *cc)                                             \
	{                                                                                                            \
		return doca_comch_##kind##_destroy(TO_COMCH(kind, cc));                                              \
	}                                                                                                            \
	struct doca_ctx *doca_cc_##kind##_as_ctx(struct doca_cc_##kind *cc)                                          \
	{                                                                                                            \
		return doca_comch_##kind##_as_ctx(TO_COMCH(kind, cc));                                               \
	}                                                                                                            \
	doca_error_t doca_cc_##kind##_get_device(const struct doca_cc_##kind *cc, struct doca_dev **dev)             \
	{                                                                                                            \
		return doca_comch_##kind##_get_device(TO_COMCH(kind, cc), dev);                                      \
	}                                                                                                            \
	doca_error_t doca_cc_##kind##_set_max_msg_size(struct doca_cc_##kind *cc, size_t size)                       \
	{                                                                                                            \
		return doca_comch_##kind##_set_max_msg_size(TO_COMCH(kind, cc), cc_u32_saturate(size));              \
	}                                                                                                            \
	doca_error_t(doca_cc_##kind##_get_max_msg_size)(const struct doca_cc_##kind *cc, size_t *size)               \
	{                                                                                                            \
		return FORWARD_OUT(uint32_t, doca_comch_##kind##_get_max_msg_size(TO_COMCH(kind, cc), tmp), size,    \
				   size_t);                                                                          \
	}                                                                                                            \
	doca_error_t doca_cc_##kind##_set_recv_queue_size(struct doca_cc_##kind *cc, size_t size)                    \
	{                                                                                                            \
		return doca_comch_##kind##_set_recv_queue_size(TO_COMCH(kind, cc), cc_u32_saturate(size));           \
	}                                                                                                            \
	doca_error_t(doca_cc_##kind##_get_recv_queue_size)(const struct doca_cc_##kind *cc, size_t *size)            \
	{                                                                                                            \
		return FORWARD_OUT(uint32_t, doca_comch_##kind##_get_recv_queue_size(TO_COMCH(kind, cc), tmp), size, \
				   size_t);                                                                          \
	}                                                                                                            \
	doca_error_t doca_cc_##kind##_event_consumer_register(struct doca_cc_##kind *cc,                             \
							      doca_cc_event_consumer_cb_t new_consumer_event_cb,     \
							      doca_cc_event_consumer_cb_t expired_consumer_event_cb) \
	{                                                                                                            \
		return doca_comch_##kind##_event_consumer_register(                                                  \
			TO_COMCH(kind, cc), TO_COMCH_CB(event_consumer_cb_t, new_consumer_event_cb),                 \
			TO_COMCH_CB(event_consumer_cb_t, expired_consumer_event_cb));                                \
	}

DEFINE_SERVER_CLIENT(server)
DEFINE_SERVER_CLIENT(client)

/* ---- connections ---- */

doca_error_t doca_cc_connection_set_user_data(struct doca_cc_connection *connection, union doca_data user_data)
{
	return doca_comch_connection_set_user_data(TO_COMCH(connection, connection), user_data);
}

union doca_data doca_cc_connection_get_user_data(const struct doca_cc_connection *connection)
{
	return doca_comch_connection_get_user_data(TO_COMCH(connection, connection));
}

doca_error_t doca_cc_connection_update_info(struct doca_cc_connection *cc_connection)
{
	return doca_comch_connection_update_info(TO_COMCH(connection, cc_connection));
}

/* The counters have the same numbers. */
doca_error_t doca_cc_connection_get_counter(const struct doca_cc_connection *cc_connection,
					    enum doca_cc_counter counter_type, uint64_t *counter_value)
{
	return doca_comch_connection_get_counter(TO_COMCH(connection, cc_connection),
						 (enum doca_comch_counter)counter_type, counter_value);
}
