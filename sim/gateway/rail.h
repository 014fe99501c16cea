/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/rail.h - connections to other machines over libfabric: messages of bounded size, in order.
 *
 *   listen --request--> [connecting] --on_connected--> [connected] --on_closed--> freed by rail_close()
 *   rail_connect() -----> [connecting]                     |  messages, in order, each once
 *
 * A provider of connected endpoints (FI_EP_MSG) carries them: tcp, or verbs. The buffers are the rail's own, so a provider that
 * needs registered memory registers them alone. One thread uses a rail. Errors are -errno.
 */
#ifndef SIM_GATEWAY_RAIL_H
#define SIM_GATEWAY_RAIL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAIL_MESSAGE_BYTES 66560

struct rail;
struct rail_conn;

struct rail_ops {
	/* Somebody connects. Returns the owner's object for the connection, or NULL: it is refused. */
	void *(*on_request)(void *arg, struct rail_conn *conn);
	void (*on_connected)(void *arg, void *owner);
	void (*on_message)(void *arg, void *owner, const uint8_t *bytes, size_t len);
	/* There is a buffer again, after rail_buffer() had none. */
	void (*on_room)(void *arg, void *owner);
	/* The connection is of no use any more: close it. @reason is a -errno. */
	void (*on_closed)(void *arg, void *owner, int reason);
};

struct rail_cfg {
	const char *provider;    /* libfabric's name; NULL = tcp */
	const char *host, *port; /* to listen at; or to connect to */
	bool is_listener;
	const struct rail_ops *ops;
	void *arg;
};

/* Open a rail, and listen if that is wanted. On failure the log has the reason. */
int rail_open(const struct rail_cfg *cfg, struct rail **ret_rail);
void rail_destroy(struct rail *rail); /* its connections are closed before */

/* Write libfabric's version and its providers that have what a rail needs, as "libfabric 1.17: tcp, verbs". */
void rail_describe(char *text, size_t size);

/* The provider, and the port at which a listener listens. */
const char *rail_provider(const struct rail *rail);
uint16_t rail_port(const struct rail *rail);

/* Connect to the address of the configuration. */
int rail_connect(struct rail *rail, void *owner, struct rail_conn **ret_conn);

/* A buffer of RAIL_MESSAGE_BYTES for the next message; NULL = all are on their way. rail_send() sends it. */
uint8_t *rail_buffer(struct rail_conn *conn);
int rail_send(struct rail_conn *conn, size_t len);

/* The same, but the message goes on with @body, which stays as it is until the other side has the message. -EOPNOTSUPP: the provider
 * needs the rail's own memory; nothing has changed. */
int rail_send_with(struct rail_conn *conn, size_t len, const void *body, size_t body_len);

/* Whether all messages have left this machine, as far as the provider knows. */
bool rail_is_idle(const struct rail_conn *conn);

/* End the connection; no callback comes for it any more. NULL is fine. */
void rail_close(struct rail_conn *conn);

/* Look for messages, and @is_rare: for connections. Returns whether there was something. */
bool rail_poll(struct rail *rail, bool is_rare);

/* Time has passed: a listener closes what connects to it and says nothing. Returns when to call again. */
uint64_t rail_tick(struct rail *rail, uint64_t now_ns);

/* Before a sleep: the descriptors to wait for, first *ret_num_rare that a rare poll is for. Returns their number, or -EAGAIN: poll again
 * first. */
int rail_prepare_sleep(struct rail *rail, struct pollfd *fds, size_t room, size_t *ret_num_rare);

#endif
