/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of connections. */
#include "shim/comch/conn/conn_priv.h"
#include "shim/common/base/check.h"

doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection, union doca_data user_data)
{
	SHIM_NEED(connection, SHIM_COMCH_CONNECTION);
	connection->user_data = user_data;
	return DOCA_SUCCESS;
}

union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection)
{
	return shim_object_is(connection, SHIM_COMCH_CONNECTION) ? connection->user_data :
								   (union doca_data){ .u64 = 0 };
}

doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection)
{
	SHIM_NEED(comch_connection, SHIM_COMCH_CONNECTION);
	comch_connection->snapshot = comch_connection->pipe.counters;
	if (comch_connection->pipe.state == SIM_PIPE_OPENING)
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_INPROGRESS, "the connection is still being made");
	if (comch_connection->pipe.state != SIM_PIPE_OPEN)
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "the connection ended; its counters stay");
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *comch_connection,
					       enum doca_comch_counter counter_type, uint64_t *counter_value)
{
	SHIM_NEED(comch_connection, SHIM_COMCH_CONNECTION);
	SHIM_NEED_OUT(counter_value);
	switch (counter_type) {
	case DOCA_COMCH_COUNTER_SENT_MESSAGES:
		*counter_value = comch_connection->snapshot.sent;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_SENT_BYTES:
		*counter_value = comch_connection->snapshot.sent_bytes;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_MESSAGES:
		*counter_value = comch_connection->snapshot.received;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_BYTES:
		*counter_value = comch_connection->snapshot.received_bytes;
		return DOCA_SUCCESS;
	}
	return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is not a counter", (int)counter_type);
}
