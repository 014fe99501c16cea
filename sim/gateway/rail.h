/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/rail.h - connections to other machines over libfabric: messages of bounded size, in order.
 *
 *   listen --request--> [connecting] --on_connected--> [connected] --on_closed--> freed by rail_close()
 *   rail_connect() -----> [connecting]                     |  messages, in order, each once
 *
 * A provider of connected endpoints (FI_EP_MSG) carries them: tcp, or verbs. Providers of much hardware have only endpoints without
 * connections (FI_EP_RDM): of such a one a connection has an endpoint besides, and moves to it
 *
 *   rail_offer(), rail_take_offer() at both ends --> [both have addresses] --each has heard of the other--> [messages go without connection]
 *
 * while the connection stays, as it alone shows when the other side ends. Where they do not reach each other, messages go by
 * the connection as before. rdm_message.h says what keeps their order, and who they are.
 *
 * The buffers are the rail's own, so a provider that needs registered memory registers them alone. One thread uses a rail. Errors are
 * -errno.
 */
#ifndef SIM_GATEWAY_RAIL_H
#define SIM_GATEWAY_RAIL_H

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
	const char *
		provider; /* libfabric's name; NULL = tcp. ":rdm" behind it: its endpoints without connections, if it has both kinds */
	const char *host, *port; /* to listen at; or to connect to */
	bool is_listener;
	const struct rail_ops *ops;
	void *arg;
	struct rail *
		beside; /* NULL = none; else rail_poll(), rail_tick() and rail_sleep() of that one are this one's, too */
};

/* Open a rail, and listen if that is wanted. On failure the log has the reason. One that is beside another is destroyed before it,
 * and not in a callback. */
int rail_open(const struct rail_cfg *cfg, struct rail **ret_rail);
void rail_destroy(struct rail *rail); /* its connections are closed before */

/* Write libfabric's version and its providers that have what a rail needs, as "libfabric 1.17: tcp; without connections: tcp;ofi_rxm". */
void rail_describe(char *text, size_t size);

/* The port at which a listener listens. */
uint16_t rail_port(const struct rail *rail);

#define RAIL_HOST_SIZE 64

/* The address at which a listener listens, as numbers; "" = at all of the machine. */
void rail_host(const struct rail *rail, char text[RAIL_HOST_SIZE]);

/* The address from which the other side of a listener's connection comes, as numbers; "" = not known. */
void rail_peer_host(const struct rail_conn *conn, char text[RAIL_HOST_SIZE]);

/* Connect to the address of the configuration. */
int rail_connect(struct rail *rail, void *owner, struct rail_conn **ret_conn);

/* A buffer of RAIL_MESSAGE_BYTES for the next message; NULL = all are on their way. rail_send() sends it. */
uint8_t *rail_buffer(struct rail_conn *conn);
int rail_send(struct rail_conn *conn, size_t len);

/* The same, but the message goes on with @body, which stays as it is until the other side has the message. -EOPNOTSUPP: the provider
 * needs the rail's own memory; nothing has changed. */
int rail_send_with(struct rail_conn *conn, size_t len, const void *body, size_t body_len);

#define RAIL_OFFER_BYTES 256
#define RAIL_WHY_SIZE    160

/* Write the address at which this end takes messages without a connection; the owner sends it to the other side, encrypted. Returns the
 * number of bytes; 0 = there is no such address. Called once for a connection. */
size_t rail_offer(struct rail_conn *conn, uint8_t to[RAIL_OFFER_BYTES]);

/* The other side's rail_offer() has come: the connection may move to that address. */
void rail_take_offer(struct rail_conn *conn, const uint8_t *bytes, size_t len);

/* The provider that carries messages to the other side. */
struct rail_route {
	const char *provider, *endpoint; /* libfabric's names */
	const char *why; /* why not by the provider wanted, or what is to be known of it; "" = nothing */
};

struct rail_route rail_route(const struct rail_conn *conn);

/* Whether all messages have left this machine, as far as the provider knows. */
bool rail_is_idle(const struct rail_conn *conn);

/* End the connection; no callback comes for it any more. NULL is fine. */
void rail_close(struct rail_conn *conn);

enum rail_look {
	RAIL_LOOK_WOKEN, /* where rail_sleep() has seen something */
	RAIL_LOOK_OFTEN, /* for messages */
	RAIL_LOOK_ALL,   /* for connections, too */
};

/* Returns whether there was something. */
bool rail_poll(struct rail *rail, enum rail_look look);

/* Time has passed: a listener closes what connects to it and says nothing. Returns when to call again. */
uint64_t rail_tick(struct rail *rail, uint64_t now_ns);

#define RAIL_MAX_WATCHED 32

/* End sleeps also when the descriptor is readable. @number, below RAIL_MAX_WATCHED, names it. Returns 0 or -errno. */
int rail_watch(struct rail *rail, int fd, uint32_t number);

enum rail_slept {
	RAIL_NOT_SLEPT, /* there may be something already: poll first */
	RAIL_WOKEN,
	RAIL_WOKEN_RARELY, /* also by what only RAIL_LOOK_ALL looks for, or by the time */
};

/* Sleep at most so long. In *ret_watched is a bit for each number that is readable. */
enum rail_slept rail_sleep(struct rail *rail, uint64_t for_ns, uint32_t *ret_watched);

#endif
