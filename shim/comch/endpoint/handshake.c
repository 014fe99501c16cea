/* SPDX-License-Identifier: BSD-3-Clause */
/* The first handshake messages between two ends: each says where its end is written to. */
#include <errno.h>
#include <string.h>

#include "endpoint_priv.h"
#include "shim/common/base/check.h"
#include "sim/protocol/wire.h"
#include "sim/shm/wake.h"

#define MAX_WAKE_FDS 256 /* of one endpoint; further peers are woken through the session */

int comch_connection_make_handshake(struct doca_comch_connection *connection, struct sim_handshake_msg *ret_msg)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	struct comch_handshake handshake = { .version = COMCH_PROTOCOL_VERSION,
					     .max_msg_bytes = endpoint->max_msg_bytes,
					     .recv_queue_size = endpoint->recv_queue_size,
					     .slot = connection->slot,
					     .engine = shim_pe_vclock_engine(endpoint->ctx.pe) };
	int wake_fd = shim_pe_peer_wake_fd(&endpoint->ctx);

	if (wake_fd < 0)
		return wake_fd;
	if (connection->stream_id == 0)
		connection->stream_id = sim_trace_new_stream_id();
	handshake.stream_id = connection->stream_id;
	*ret_msg = (struct sim_handshake_msg){ .len_bytes = sizeof(handshake),
					       .num_fds = COMCH_NUM_HANDSHAKE_FDS,
					       .fds = { connection->in_fd, endpoint->doorbell_fd, wake_fd } };
	memcpy(ret_msg->body, &handshake, sizeof(handshake));
	return 0;
}

static int map_peer_memory(struct doca_comch_connection *connection, const struct sim_handshake_msg *msg,
			   const struct comch_handshake *handshake)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	struct sim_ring_cfg cfg = { .max_records = handshake->recv_queue_size,
				    .max_record_bytes = (uint32_t)COMCH_MAX_RECORD_BYTES(endpoint) };
	int rc;

	if (cfg.max_records == 0 || cfg.max_records > shim_dev_function(endpoint->ctx.dev)->caps.comch_max_recv_queue ||
	    handshake->slot >= SIM_DOORBELL_SLOTS || !sim_wake_is_valid(msg->fds[COMCH_FD_WAKE]))
		return -EPROTO;
	rc = sim_segment_map(msg->fds[COMCH_FD_RING], sim_ring_size(&cfg), &connection->out_memory);
	if (rc == 0)
		rc = sim_segment_map(msg->fds[COMCH_FD_DOORBELL], sizeof(struct sim_doorbell_shared),
				     &connection->peer_doorbell_memory);
	if (rc < 0)
		return rc;
	sim_ring_init(&connection->out, &cfg, connection->out_memory.base);
	connection->peer_doorbells = connection->peer_doorbell_memory.base;
	connection->peer_slot = handshake->slot;
	connection->peer_engine = handshake->engine;
	return 0;
}

/* Both ends record a message under the same stream id and number. */
static void open_trace_stream(struct doca_comch_connection *connection, uint64_t peer_stream_id)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	bool is_server = shim_object_is(endpoint, SHIM_COMCH_SERVER);

	if (is_server)
		connection->stream_id = peer_stream_id;
	sim_trace_conn_stats_open(&connection->trace_stream, endpoint->ctx.trace_id, endpoint->name,
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
	struct comch_handshake handshake = { 0 };
	int rc = -EPROTO;

	if (msg->len_bytes == sizeof(handshake) && msg->num_fds == COMCH_NUM_HANDSHAKE_FDS)
		memcpy(&handshake, msg->body, sizeof(handshake));
	if (handshake.version != COMCH_PROTOCOL_VERSION) {
		log_malformed(endpoint);
	} else if (handshake.max_msg_bytes != endpoint->max_msg_bytes) {
		sim_err("Comch %s \"%s\": the other end has a maximum message size of %u bytes, this one of %u; "
			"set the same on both (doca_comch_{server,client}_set_max_msg_size)",
			endpoint->ops->role_name, endpoint->name, handshake.max_msg_bytes, endpoint->max_msg_bytes);
	} else {
		rc = map_peer_memory(connection, msg, &handshake);
		if (rc == -EPROTO)
			log_malformed(endpoint);
	}
	if (rc == 0 && endpoint->num_connections <= MAX_WAKE_FDS) {
		connection->peer_wake_fd = msg->fds[COMCH_FD_WAKE];
		msg->fds[COMCH_FD_WAKE] = -1;
	}
	sim_handshake_msg_close(msg);
	if (rc == 0) {
		open_trace_stream(connection, handshake.stream_id);
		comch_connection_set_state(connection, COMCH_OPEN, 0);
		comch_connection_recv_announces(connection);
		sim_doorbell_requeue(&endpoint->doorbells, connection->slot); /* its ring may hold records already */
	}
	return rc;
}
