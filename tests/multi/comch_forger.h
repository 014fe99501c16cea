/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/comch_forger.h - one end of a Comch connection without Comch: it sends what a test makes up.
 *
 *   struct forger forger;
 *   forger_open(&forger, "host");                       a process of the session, with the memory of an honest end
 *   forger_handshake(&forger, &msg);                    the honest handshake message; change it at will
 *   forger_connect(&forger, "name", &msg)               0, or the reason of the server's refusal
 *   forger_listen(&forger, "name"), forger_accept()     as a server: one client at a time
 *   forger_send_record(&forger, SIM_PIPE_MESSAGE, ...);    in the other end's ring
 *   forger_announce(&forger, &info, fds, num_fds);      a consumer
 *   forger_close(&forger);
 */
#ifndef TESTS_MULTI_COMCH_FORGER_H
#define TESTS_MULTI_COMCH_FORGER_H

#include "sim/msg/records.h"
#include "sim/session/channel.h"
#include "sim/shm/doorbell.h"
#include "sim/shm/ring.h"
#include "sim/shm/segment.h"
#include "sim/shm/wake.h"

#define FORGER_SLOT 0 /* in its doorbells */

struct forger {
	struct sim_session *session;
	struct sim_channel *channel; /* NULL = none */
	struct sim_listener *listener;
	const struct pcie_function *function;
	int event_fd; /* the session notified */
	struct sim_segment ring, doorbell;
	int ring_fd, doorbell_fd;
	struct sim_wake wake;
	/* Of the other end: */
	struct sim_segment peer_ring, peer_doorbell;
	struct sim_doorbell_shared *peer_doorbells;
	struct sim_ring out;
	int peer_wake_fd;
	uint32_t peer_slot;
};

/* Attach to the session of the environment, on the first function of @side. */
void forger_open(struct forger *forger, const char *side);
void forger_close(struct forger *forger);

/* The memory stays the forger's. */
void forger_handshake(const struct forger *forger, struct sim_handshake_msg *ret_msg);

/* A malformed message leaves no connection. Returns 0 or the status of the channel. */
int forger_connect(struct forger *forger, const char *name, const struct sim_handshake_msg *msg);

/* Listen for clients, on the first function that the forger's function represents. */
void forger_listen(struct forger *forger, const char *name);

/* Wait @ms for a client, and answer it with @msg; its own message is not malformed. Returns whether there is a connection. */
bool forger_accept(struct forger *forger, const struct sim_handshake_msg *msg, int ms);

/* Write a record into the other end's ring, ring its doorbell and wake it. */
void forger_send_record(struct forger *forger, uint32_t kind, const void *data, size_t len);

/* Say that nothing follows, as an end that closes its connection does. */
void forger_send_end(struct forger *forger);

/* Send the announcement and the record that goes with it. The descriptors stay the caller's. */
void forger_announce(struct forger *forger, const struct sim_consumer_info *info, const int *fds, uint32_t num_fds);

/* Whether the other end has not closed the connection; close it. */
bool forger_is_open(const struct forger *forger);
void forger_disconnect(struct forger *forger);

/* Wait until the other end closes the connection. Returns its reason. */
int forger_wait_closed(struct forger *forger);

#endif
