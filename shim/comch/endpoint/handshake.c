/* SPDX-License-Identifier: BSD-3-Clause */
/* The first handshake messages between two ends: each says where its end is written to. */
#include <errno.h>

#include "endpoint_priv.h"
#include "shim/common/base/check.h"
#include "sim/protocol/wire.h"

#define MAX_WAKE_FDS 256 /* of one endpoint; further peers are woken through the session */

int comch_connection_make_handshake(struct doca_comch_connection *connection, struct sim_handshake_msg *ret_msg)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	int wake_fd = shim_pe_peer_wake_fd(&endpoint->ctx);

	if (wake_fd < 0)
		return wake_fd;
	if (connection->stream_id == 0)
		connection->stream_id = sim_trace_new_stream_id();
	sim_pipe_get_address(&connection->pipe, shim_pe_vclock_engine(endpoint->ctx.pe), connection->stream_id, wake_fd,
			     ret_msg);
	return 0;
}

/* Both ends record a message under the same stream id and number. */
static void open_trace_stream(struct doca_comch_connection *connection, uint64_t peer_stream_id)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	bool is_server = shim_object_is(endpoint, SHIM_COMCH_SERVER);

	if (is_server)
		connection->stream_id = peer_stream_id;
	sim_trace_conn_stats_open(&connection->pipe.trace, endpoint->ctx.trace_id, endpoint->name,
				  shim_dev_function(endpoint->ctx.dev)->ibdev, connection->stream_id + is_server,
				  connection->stream_id + !is_server);
}

static void log_malformed(const struct comch_endpoint *endpoint)
{
	sim_err("Comch %s \"%s\": the other end's handshake message is malformed; is it of another version of bfsim?",
		endpoint->ops->role_name, endpoint->name);
}

int comch_connection_handshake(struct doca_comch_connection *connection, struct sim_handshake_msg *msg)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct sim_pipe_address address;
	int rc = sim_pipe_parse_address(msg, &address);

	if (rc < 0) {
		log_malformed(endpoint);
	} else if (address.max_msg_bytes != endpoint->max_msg_bytes) {
		sim_err("Comch %s \"%s\": the other end has a maximum message size of %u bytes, this one of %u; "
			"set the same on both (doca_comch_{server,client}_set_max_msg_size)",
			endpoint->ops->role_name, endpoint->name, address.max_msg_bytes, endpoint->max_msg_bytes);
		rc = -EPROTO;
	} else {
		rc = sim_pipe_connect(&connection->pipe, msg, &address,
				      shim_dev_function(endpoint->ctx.dev)->caps.comch_max_recv_queue,
				      endpoint->group.num_pipes <= MAX_WAKE_FDS);
		if (rc == -EPROTO)
			log_malformed(endpoint);
	}
	sim_handshake_msg_close(msg);
	if (rc == 0) {
		open_trace_stream(connection, address.stream_id);
		sim_pipe_set_state(&connection->pipe, SIM_PIPE_OPEN, 0);
		comch_connection_recv_announces(connection);
		comch_connection_requeue(connection); /* its ring may hold records already */
	}
	return rc;
}
