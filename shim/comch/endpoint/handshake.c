/* SPDX-License-Identifier: BSD-3-Clause */
/* The first letters between two ends: each tells where it is written to. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shim/comch/comch_priv.h"
#include "sim/base/log.h"

#define VERSION 2
#define MAX_WAKE_FDS 256 /* of one endpoint; further peers are woken by way of the session */

enum { FD_RING, FD_INBOX, FD_WAKE, NUM_FDS };

struct intro {
	uint32_t version;
	uint32_t max_msg_bytes;
	uint32_t recv_queue_size;
	uint32_t slot; /* to ring in the inbox */
	uint64_t stream; /* the client's, on the record */
};

void comch_letter_drop(struct sim_letter *letter)
{
	for (uint32_t i = 0; i < letter->num_fds; i++)
		if (letter->fds[i] >= 0)
			close(letter->fds[i]);
	letter->num_fds = 0;
}

void comch_connection_introduce(struct doca_comch_connection *connection, struct sim_letter *ret_letter)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	struct intro intro = {.version = VERSION, .max_msg_bytes = endpoint->max_msg_bytes,
			      .recv_queue_size = endpoint->recv_queue_size, .slot = connection->slot};

	if (connection->stream == 0)
		connection->stream = sim_trace_new_stream();
	intro.stream = connection->stream;
	*ret_letter = (struct sim_letter){
		.len_bytes = sizeof(intro), .num_fds = NUM_FDS,
		.fds = {connection->in_fd, endpoint->inbox_fd, shim_pe_wake_fd(&endpoint->ctx)}};
	memcpy(ret_letter->body, &intro, sizeof(intro));
}

/* Whether we would never wait for room in it. */
static bool is_safe_to_write(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_NONBLOCK;
}

static int map_theirs(struct doca_comch_connection *connection, const struct sim_letter *letter, const struct intro *intro)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	struct sim_ring_cfg cfg = {.max_records = intro->recv_queue_size,
				   .max_record_bytes = (uint32_t)comch_endpoint_record_bytes(endpoint)};
	int rc;

	if (cfg.max_records == 0 || cfg.max_records > shim_dev_function(endpoint->ctx.dev)->caps.comch_max_recv_queue ||
	    intro->slot >= SIM_INBOX_SLOTS || !is_safe_to_write(letter->fds[FD_WAKE]))
		return -EPROTO;
	rc = sim_segment_map(letter->fds[FD_RING], sim_ring_size(&cfg), &connection->out_memory);
	if (rc == 0)
		rc = sim_segment_map(letter->fds[FD_INBOX], sizeof(struct sim_inbox_shared),
				     &connection->peer_inbox_memory);
	if (rc < 0)
		return rc;
	sim_ring_init(&connection->out, &cfg, connection->out_memory.base);
	connection->peer_inbox = connection->peer_inbox_memory.base;
	connection->peer_slot = intro->slot;
	return 0;
}

/* What both ends say of their messages on the record fits together. */
static void open_record(struct doca_comch_connection *connection, uint64_t their_stream)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	bool is_server = shim_is(endpoint, SHIM_COMCH_SERVER);

	if (is_server)
		connection->stream = their_stream;
	sim_trace_talk_open(&connection->talk, endpoint->ctx.recorded_as, endpoint->name,
			    shim_dev_function(endpoint->ctx.dev)->ibdev, connection->stream + is_server,
			    connection->stream + !is_server);
}

int comch_connection_meet(struct doca_comch_connection *connection, struct sim_letter *letter)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct intro intro = {0};
	int rc = -EPROTO;

	if (letter->len_bytes == sizeof(intro) && letter->num_fds == NUM_FDS)
		memcpy(&intro, letter->body, sizeof(intro));
	if (intro.version != VERSION) {
		sim_err("Comch %s \"%s\": a letter of the other end makes no sense; is it of another version of bfsim?",
			endpoint->ops->noun, endpoint->name);
	} else if (intro.max_msg_bytes != endpoint->max_msg_bytes) {
		sim_err("Comch %s \"%s\": the other end has a maximum message size of %u bytes, this one of %u; "
			"set the same on both (doca_comch_{server,client}_set_max_msg_size)",
			endpoint->ops->noun, endpoint->name, intro.max_msg_bytes, endpoint->max_msg_bytes);
	} else {
		rc = map_theirs(connection, letter, &intro);
	}
	if (rc == 0 && endpoint->num_connections <= MAX_WAKE_FDS) {
		connection->peer_wake_fd = letter->fds[FD_WAKE];
		letter->fds[FD_WAKE] = -1;
	}
	comch_letter_drop(letter);
	if (rc == 0) {
		open_record(connection, intro.stream);
		comch_connection_go(connection, COMCH_OPEN, 0);
		comch_connection_take_letters(connection);
		sim_inbox_again(&endpoint->inbox, connection->slot); /* it may hold something already */
	}
	return rc;
}
