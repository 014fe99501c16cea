/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/card/services.h - the services of a card, their pending clients, and the open channels.
 *
 *   listen   --> service (function, representor, name)
 *                   ^
 *                   | next_offer: the oldest that asks for it
 *   connect  --> [pending] --> [offered] --accept--> [open]
 *                   |              |                    |
 *                   +-- expired ---+------ close -------+--> removed
 *
 * Pure state beside struct sim_card, for the same owner: no thread, no I/O, no clock. A call returns its effects on
 * other peers, or leaves them to a ..._next_... call, which the owner repeats until it returns false.
 *
 * A process chooses the numbers of its services and of the channels that it requests. A server's end of a channel gets
 * its number here, from a separate range. A number is valid only together with its peer, so no peer can name an object
 * of another peer.
 *
 * A topology gives each representor to one function only. So a representor and a name identify one service, on any
 * listening function. A service of the network has no representor: its name says function and port.
 *
 * Of a session over several machines, the gateway is the server of all ports of functions of other machines: it is offered those
 * channels, and connects there as a client.
 *
 * The owner passes an opaque pointer @handshake with a connect. The services keep it while the channel is pending, and
 * then return it.
 * Not thread-safe. Errors are -errno.
 */
#ifndef SIM_SERVICES_H
#define SIM_SERVICES_H

#include "card.h"

#define SIM_SERVICE_NAME_SIZE 128  /* with the terminating 0 */
#define SIM_MAX_SERVICES      256  /* per peer */
#define SIM_MAX_CHANNELS      4096 /* that one peer requested */
#define SIM_MAX_UNACCEPTED    512  /* not accepted yet: the limit of requests by a peer, and of offers to a peer */

#define SIM_NETWORK (UINT32_MAX - 1) /* instead of a representor: all functions that the network reaches */

struct sim_service {
	uint32_t function; /* id of the server's function */
	uint32_t rep;      /* id of the function whose representor it serves; or SIM_NETWORK */
	const char *name;
};

/* The name of a service of the network: port @port of @function. */
void sim_service_name_port(uint32_t function, uint16_t port, char name[SIM_SERVICE_NAME_SIZE]);

/* Read such a name. Returns whether it is one. */
bool sim_service_read_port(const char *name, uint32_t *ret_function, uint16_t *ret_port);

/* What an offer to the gateway has in place of a service's number. */
#define SIM_FAR_SERVICE(client, server, port) ((uint64_t)(client) << 48 | (uint64_t)(server) << 16 | (uint64_t)(port))

/* One process's end of a channel. */
struct sim_channel_end {
	uint32_t peer;
	uint64_t number;
};

struct sim_offer {
	uint64_t service; /* the server's number of the service */
	struct sim_channel_end server, client;
	void *handshake; /* returned to the caller */
};

/* A channel that ended. */
struct sim_closed_channel {
	struct sim_channel_end remaining; /* the end to inform */
	bool has_remaining;               /* false = there is no end to inform */
	bool unaccepted;                  /* the remaining end is a client that was not accepted */
	bool has_elsewhere;               /* an expired one: a service of its name is there ... */
	uint32_t elsewhere;               /* ... on the representor of this other function of the client's side */
	void *handshake;                  /* returned to the caller; NULL if the channel was not pending */
};

enum sim_channel_state {
	SIM_CHANNEL_PENDING, /* no service yet */
	SIM_CHANNEL_OFFERED, /* not accepted yet */
	SIM_CHANNEL_OPEN,
	SIM_NUM_CHANNEL_STATES,
};

/* Whether the picture above has that edge. A channel can be removed in each state. */
bool sim_channel_state_can_become(enum sim_channel_state from, enum sim_channel_state to);

struct sim_channel_info {
	enum sim_channel_state state;
	struct sim_channel_end client, server; /* a pending channel has no server */
	uint32_t function, rep;                /* function of the server, if there is one; function of the client */
	const char *name;
};

struct sim_services;

/* Create empty services for peers of @card. Both arguments are borrowed. Returns 0 or -ENOMEM. */
int sim_services_create(const struct sim_card *card, const struct pcie_topology *topology,
			struct sim_services **ret_services);

/* From now on @peer is the gateway of @machine (a name), or there is none any more. */
void sim_services_set_gateway(struct sim_services *services, uint32_t peer, const char *machine);
void sim_services_clear_gateway(struct sim_services *services);

/* Whether a gateway takes channels to that service of the network. */
bool sim_services_is_far(const struct sim_services *services, uint32_t rep, const char *name);

/* Free the services; they must hold no handshake any more (sim_services_end_next()). NULL is fine. */
void sim_services_destroy(struct sim_services *services);

/* Add a service. Returns 0, -EINVAL (not a function of the peer's side, a function without that representor, or @number
 * is in use), -EADDRINUSE (the representor has a service of that name), -ENAMETOOLONG, -EDQUOT
 * (SIM_MAX_SERVICES) or -ENOMEM. */
int sim_services_listen(struct sim_services *services, uint32_t peer, uint64_t number,
			const struct sim_service *service);

/* End a service. Its offered channels stay offered. */
void sim_services_unlisten(struct sim_services *services, uint32_t peer, uint64_t number);

/* Whether @peer may connect through @function. */
bool sim_services_may_connect(const struct sim_services *services, uint32_t peer, uint32_t function);

/* Whether the representor of function @rep has a service @name; or the network, if @rep is SIM_NETWORK. */
bool sim_services_has_service(const struct sim_services *services, uint32_t rep, const char *name);

/* Request a channel to the service @name of @function's representor, or of the network (@rep), pending until @deadline_ms. Returns 0, -EINVAL
 * (not a function of the peer's side, or @number is in use or in the servers' range), -ENAMETOOLONG, -EDQUOT
 * (SIM_MAX_CHANNELS, SIM_MAX_UNACCEPTED) or -ENOMEM. @handshake is taken on success only. */
int sim_services_connect(struct sim_services *services, uint32_t peer, uint64_t number, uint32_t function, uint32_t rep,
			 const char *name, uint64_t deadline_ms, void *handshake);

/* Offer the next pending channel whose service exists. Returns whether there was one. */
bool sim_services_next_offer(struct sim_services *services, struct sim_offer *ret_offer);

/* Open an offered channel. Returns 0 or -ENOENT (no channel of that number is offered to @peer). */
int sim_services_accept(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_channel_end *ret_client);

/* Get the other end of an open channel. Returns 0 or -ENOENT. */
int sim_services_get_other_end(const struct sim_services *services, uint32_t peer, uint64_t number,
			       struct sim_channel_end *ret_other);

/* End a channel of @peer. Returns whether there was one of that number. */
bool sim_services_close(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_closed_channel *ret_closed);

/* End the next pending channel whose deadline has passed, and return whether there was one. The second function returns
 * the earliest deadline of the pending channels. */
bool sim_services_end_next_expired(struct sim_services *services, uint64_t now_ms,
				   struct sim_closed_channel *ret_closed);
uint64_t sim_services_deadline_ms(const struct sim_services *services); /* UINT64_MAX = none */

/* End the services of @peer, and the next of its channels. Returns whether there was a channel. */
bool sim_services_end_next_of_peer(struct sim_services *services, uint32_t peer, struct sim_closed_channel *ret_closed);

/* End the services of a function or its representor, and the next of their channels, for both ends. Returns whether
 * there was a channel; *ret_client is its client. */
bool sim_services_end_next_of_function(struct sim_services *services, uint32_t function,
				       struct sim_channel_end *ret_client, struct sim_closed_channel *ret_closed);

/* End all services and the next channel of any peer. Returns whether there was a channel. */
bool sim_services_end_next(struct sim_services *services, struct sim_closed_channel *ret_closed);

/* For reports: call @cb for each service, and for each channel. */
typedef void sim_service_cb(void *arg, uint32_t peer, const struct sim_service *service);
typedef void sim_channel_cb(void *arg, const struct sim_channel_info *channel);
void sim_services_each_service(const struct sim_services *services, sim_service_cb *cb, void *arg);
void sim_services_each_channel(const struct sim_services *services, sim_channel_cb *cb, void *arg);

#endif
