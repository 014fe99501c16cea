/* SPDX-License-Identifier: BSD-3-Clause */
/* A forged end of a Comch connection. */
#include "comch_forger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proc.h"
#include "sim/protocol/wire.h"

#define RING_RECORDS 16

static void notify(void *forger)
{
	eventfd_write(((struct forger *)forger)->event_fd, 1);
}

static bool is_notified_within(const struct forger *forger, int ms)
{
	eventfd_t count;

	if (!proc_readable_within(forger->event_fd, ms))
		return false;
	CHECK(eventfd_read(forger->event_fd, &count) == 0);
	return true;
}

static void wait_for_notification(const struct forger *forger)
{
	CHECK(is_notified_within(forger, PROC_DEADLINE_MS));
}

static const struct pcie_function *find_function(struct sim_session *session)
{
	const struct pcie_topology *topology = sim_session_topology(session);

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (strcmp(topology->functions[i].side, sim_session_side(session)) == 0)
			return &topology->functions[i];
	return NULL;
}

void forger_open(struct forger *forger, const char *side)
{
	const struct sim_session_cfg cfg = { .dir = getenv("BFSIM_SESSION"), .side = side };

	*forger = (struct forger){ .peer_wake_fd = -1, .wake = SIM_WAKE_NONE };
	forger->event_fd = eventfd(0, EFD_CLOEXEC);
	CHECK(forger->event_fd >= 0 && sim_session_attach(&cfg, &forger->session) == 0);
	forger->function = find_function(forger->session);
	CHECK(forger->function && sim_wake_open(&forger->wake) == 0);
	CHECK(sim_segment_create(sizeof(struct sim_doorbell_shared), &forger->doorbell, &forger->doorbell_fd) == 0);
	/* Larger than any record: the ring is not read. */
	CHECK(sim_segment_create(1 << 20, &forger->ring, &forger->ring_fd) == 0);
}

void forger_disconnect(struct forger *forger)
{
	sim_channel_close(forger->session, forger->channel, -ECONNRESET);
	forger->channel = NULL;
	sim_segment_unmap(&forger->peer_ring);
	sim_segment_unmap(&forger->peer_doorbell);
	if (forger->peer_wake_fd >= 0)
		close(forger->peer_wake_fd);
	forger->peer_wake_fd = -1;
}

void forger_close(struct forger *forger)
{
	forger_disconnect(forger);
	sim_session_unlisten(forger->session, forger->listener);
	sim_segment_unmap(&forger->ring);
	sim_segment_unmap(&forger->doorbell);
	sim_wake_close(&forger->wake);
	close(forger->ring_fd);
	close(forger->doorbell_fd);
	sim_session_detach(forger->session);
	close(forger->event_fd);
}

void forger_handshake(const struct forger *forger, struct sim_handshake_msg *ret_msg)
{
	const struct sim_pipe_address handshake = { .version = SIM_PIPE_VERSION,
						    .max_msg_bytes = forger->function->caps.comch_max_msg_bytes,
						    .recv_queue_size = RING_RECORDS,
						    .slot = FORGER_SLOT,
						    .stream_id = 1 };

	*ret_msg = (struct sim_handshake_msg){ .len_bytes = sizeof(handshake),
					       .num_fds = SIM_PIPE_MAX_FDS,
					       .fds = { [SIM_PIPE_FD_RING] = forger->ring_fd,
							[SIM_PIPE_FD_DOORBELL] = forger->doorbell_fd,
							[SIM_PIPE_FD_WAKE] = forger->wake.send_fd } };
	memcpy(ret_msg->body, &handshake, sizeof(handshake));
}

/* The other end, as its handshake message says; closes the message. */
static void take_peer(struct forger *forger, struct sim_handshake_msg *msg)
{
	struct sim_pipe_address handshake;
	struct sim_ring_cfg cfg;
	size_t offset;

	CHECK(msg->len_bytes == sizeof(handshake));
	memcpy(&handshake, msg->body, sizeof(handshake));
	offset = handshake.has_one_memory ? SIM_PIPE_RING_OFFSET : 0;
	CHECK(msg->num_fds == (handshake.has_one_memory ? SIM_PIPE_FD_DOORBELL : SIM_PIPE_MAX_FDS));
	cfg = (struct sim_ring_cfg){ .max_records = handshake.recv_queue_size,
				     .max_record_bytes =
					     (uint32_t)sizeof(struct sim_pipe_hdr) + handshake.max_msg_bytes };
	CHECK(sim_segment_map(msg->fds[SIM_PIPE_FD_RING], offset + sim_ring_size(&cfg), &forger->peer_ring) == 0);
	if (!handshake.has_one_memory)
		CHECK(sim_segment_map(msg->fds[SIM_PIPE_FD_DOORBELL], sizeof(struct sim_doorbell_shared),
				      &forger->peer_doorbell) == 0);
	sim_ring_init(&forger->out, &cfg, (uint8_t *)forger->peer_ring.base + offset);
	forger->peer_doorbells = offset > 0 ? forger->peer_ring.base : forger->peer_doorbell.base;
	forger->peer_slot = handshake.slot;
	forger->peer_wake_fd = msg->fds[SIM_PIPE_FD_WAKE];
	msg->fds[SIM_PIPE_FD_WAKE] = -1;
	sim_handshake_msg_close(msg);
}

int forger_connect(struct forger *forger, const char *name, const struct sim_handshake_msg *msg)
{
	struct sim_handshake_msg answer;
	int status;

	CHECK(sim_session_connect(forger->session, forger->function->id, name, PROC_DEADLINE_MS, msg, notify, forger,
				  &forger->channel) == 0);
	while ((status = sim_channel_status(forger->channel)) == -EINPROGRESS)
		wait_for_notification(forger);
	if (status < 0) {
		forger_disconnect(forger);
		return status;
	}
	while (!sim_channel_receive(forger->channel, &answer))
		wait_for_notification(forger);
	take_peer(forger, &answer);
	return 0;
}

void forger_listen(struct forger *forger, const char *name)
{
	const struct sim_service service = { forger->function->id, forger->function->reps[0], name };

	CHECK(forger->function->num_reps > 0);
	CHECK(sim_session_listen(forger->session, &service, notify, forger, &forger->listener) == 0);
}

bool forger_accept(struct forger *forger, const struct sim_handshake_msg *msg, int ms)
{
	struct sim_handshake_msg client;

	while (!sim_listener_next_client(forger->listener, notify, forger, &forger->channel, &client))
		if (!is_notified_within(forger, ms))
			return false;
	take_peer(forger, &client);
	if (sim_channel_accept(forger->channel, msg) == 0)
		return true;
	forger_disconnect(forger);
	return false;
}

static void notify_peer(struct forger *forger)
{
	sim_doorbell_ring(forger->peer_doorbells, forger->peer_slot);
	sim_wake_send(forger->peer_wake_fd);
}

void forger_send_record(struct forger *forger, uint32_t kind, const void *data, size_t len)
{
	if (sim_ring_write(&forger->out, kind, data, len) ==
	    0) /* else the other end has ended the connection, and reads no more */
		notify_peer(forger);
}

void forger_send_end(struct forger *forger)
{
	sim_ring_close(&forger->out);
	notify_peer(forger);
}

void forger_announce(struct forger *forger, const struct sim_consumer_info *info, const int *fds, uint32_t num_fds)
{
	const struct sim_pipe_object record = { .id = info->id };
	struct sim_handshake_msg msg = { .len_bytes = sizeof(*info), .num_fds = num_fds };

	memcpy(msg.body, info, sizeof(*info));
	memcpy(msg.fds, fds, num_fds * sizeof(fds[0]));
	if (sim_channel_send(forger->channel, &msg) == 0)
		forger_send_record(forger, SIM_PIPE_ANNOUNCED, &record, sizeof(record));
}

bool forger_is_open(const struct forger *forger)
{
	return sim_channel_status(forger->channel) == 0;
}

int forger_wait_closed(struct forger *forger)
{
	int status;

	while ((status = sim_channel_status(forger->channel)) == 0)
		wait_for_notification(forger);
	forger_disconnect(forger);
	return status;
}
