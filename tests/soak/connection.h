/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/connection.h - one connection of Comch between the two sides: the DPU is the server, the host the client.
 *
 *   both sides: connection_open --> ... --> connection_close
 *
 * A fault or a killed process may prevent the connection or end it early: is_gone is then set.
 */
#ifndef TESTS_SOAK_CONNECTION_H
#define TESTS_SOAK_CONNECTION_H

#include <doca_comch.h>

#include "side.h"

#define CONNECTION_TASKS 8

struct connection {
	struct side *side;
	struct doca_comch_server *server; /* or */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;
	uint32_t consumer; /* of the other end, once there is one */
	bool is_gone;
	void *round; /* argument of the callbacks: */
	void (*message)(void *round, const uint8_t *bytes, uint32_t len);
	void (*sent)(void *round, struct doca_comch_task_send *task, struct ticket *ticket);
};

/* Connect to the other side. Returns true if there is a connection, on both sides alike unless one is killed. */
bool connection_open(struct connection *conn, struct side *side, const struct connection *callbacks);
void connection_close(struct connection *conn);

/* Send; @bytes stay valid until sent() is called for the task. Returns true if the task was submitted. */
bool connection_send(struct connection *conn, const void *bytes, uint32_t len, struct ticket *ticket);

/* Number of hits of a lasting rule so far. */
uint64_t lasting_fired(const struct side *side, int which);

#endif
