/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/comch_endpoint.h - one server or client of Comch in a role (comch_peer.h), and checked messages.
 *
 * An endpoint counts the events of its callbacks and calls the callbacks of its
 * configuration. It copies each message that it sends, so the caller may reuse
 * the buffer.
 */
#ifndef TESTS_MULTI_COMCH_ENDPOINT_H
#define TESTS_MULTI_COMCH_ENDPOINT_H

#include <doca_comch.h>
#include <doca_ctx.h>

#include "comch_peer.h"

struct endpoint;

/* Zero members have defaults; NULL callbacks are not called. */
struct endpoint_cfg {
	const char *name;     /* of the server */
	const char *function; /* a server's: address of the function that it is for; NULL = the first */
	uint32_t num_tasks;
	uint32_t recv_queue;
	void *owner;
	void (*connected)(struct endpoint *endpoint, struct doca_comch_connection *connection);
	void (*disconnected)(struct endpoint *endpoint, struct doca_comch_connection *connection);
	void (*message)(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
			uint32_t len);
	void (*sent)(struct endpoint *endpoint, struct doca_comch_connection *connection);
	void (*consumer)(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id, bool is_new);
};

struct endpoint {
	struct endpoint_cfg cfg;
	uint32_t number; /* the program's own */
	struct loop *loop;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_comch_server *server; /* or: */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	enum doca_ctx_states state;
	struct doca_comch_connection *connection;                  /* a client's, while it runs; a server's latest */
	unsigned int num_connected, num_disconnected, num_refused; /* as the callbacks reported */
	uint64_t received, sent, failed;
	doca_error_t last_error; /* of a failed task */
};

/* On a device that stays the caller's. */
void endpoint_open_server(struct endpoint *endpoint, const struct endpoint_cfg *cfg, struct loop *loop,
			  struct doca_dev *dev);
void endpoint_open_client(struct endpoint *endpoint, const struct endpoint_cfg *cfg, struct loop *loop,
			  struct doca_dev *dev);
void endpoint_close(struct endpoint *endpoint); /* the context is idle */

void endpoint_start(struct endpoint *endpoint);
void endpoint_stop(struct endpoint *endpoint); /* returns when it is idle */

/* Send @len bytes. Returns true if a task was free. */
bool endpoint_send(struct endpoint *endpoint, struct doca_comch_connection *connection, const void *bytes,
		   uint32_t len);
size_t endpoint_in_flight(const struct endpoint *endpoint);

/* ---- checked messages: sequence number, sender, and bytes that follow from these ---- */

#define NOTE_MIN 16
#define NOTE_MAX 4080

uint32_t note_len(uint32_t seq); /* sizes vary */

/* Send number @seq of @sender. Returns true if a task was free. */
bool note_send(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t sender, uint32_t seq);

/* End the process unless this is message @seq, complete; return its sender. */
uint32_t note_take(const uint8_t *bytes, uint32_t len, uint32_t seq);

#endif
