/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/card/services.h - who listens on a card, who wants in, who is connected.
 *
 *   listen   --> service (function, representor, name)
 *                   ^
 *                   | next_offer: the oldest that asks for it
 *   connect  --> [pending] --> [offered] --accept--> [open]
 *                   |              |                    |
 *                   +-- expired ---+------ close -------+--> forgotten
 *
 * Pure state beside struct sim_card, for the same owner: no thread, no I/O, no
 * clock. A call that changes something for others says so in what it returns or
 * leaves it to a next_... call, which the owner repeats until it says false.
 *
 * A process names what it makes: its services and the channels it asks for have
 * numbers of its own choice. A server's end of a channel gets its number here,
 * from a range of its own. A number means something only together with its peer,
 * so nobody can name what isn't theirs.
 *
 * A topology gives each representor to one function alone. So a representor and
 * a name are one service, whichever function it is listened on.
 *
 * The handshake that comes with a connect is the owner's affair: a pointer that is
 * kept while the channel is pending and then handed back.
 * Not thread-safe. Errors are -errno.
 */
#ifndef SIM_SERVICES_H
#define SIM_SERVICES_H

#include "card.h"

#define SIM_SERVICE_NAME_SIZE 128  /* with the terminating 0 */
#define SIM_MAX_SERVICES      256  /* of one peer */
#define SIM_MAX_CHANNELS      4096 /* that one peer asked for ... */
#define SIM_MAX_UNACCEPTED    512  /* ... of which not yet accepted; and offered to one peer, not yet accepted */

struct sim_service {
	uint32_t function; /* id of the server's function */
	uint32_t rep;      /* id of the function whose representor it serves */
	const char *name;
};

/* One process's end of a channel. */
struct sim_channel_end {
	uint32_t peer;
	uint64_t number;
};

struct sim_offer {
	uint64_t service; /* the server's number of the service */
	struct sim_channel_end server, client;
	void *handshake; /* the caller's again */
};

/* A channel that ended. */
struct sim_closed_channel {
	struct sim_channel_end remaining; /* whom to tell ... */
	bool has_remaining;               /* ... if anybody */
	bool unaccepted;                  /* and it is a client that had not been accepted */
	void *handshake;                  /* the caller's again; NULL if it was not pending any more */
};

enum sim_channel_state {
	SIM_CHANNEL_PENDING, /* no service yet */
	SIM_CHANNEL_OFFERED, /* not accepted yet */
	SIM_CHANNEL_OPEN,
};

struct sim_channel_info {
	enum sim_channel_state state;
	struct sim_channel_end client, server; /* a pending one has no server */
	uint32_t function, rep;                /* the server's, if it has one; the client's */
	const char *name;
};

struct sim_services;

/* Create it empty, for peers of @card. Both are borrowed. Returns 0 or -ENOMEM. */
int sim_services_create(const struct sim_card *card, const struct pcie_topology *topology,
			struct sim_services **ret_services);

/* Free it; no handshake may be left in it (sim_services_end_next()). NULL is fine. */
void sim_services_destroy(struct sim_services *services);

/* Add a service. Returns 0, -EINVAL (the function isn't of the peer's side, or
 * does not hold that representor, or @number is in use), -EADDRINUSE (listened
 * on already), -ENAMETOOLONG or -ENOMEM (also: SIM_MAX_SERVICES). */
int sim_services_listen(struct sim_services *services, uint32_t peer, uint64_t number,
			const struct sim_service *service);

/* End a service. What was offered through it stays offered. */
void sim_services_unlisten(struct sim_services *services, uint32_t peer, uint64_t number);

/* Whether @function is one that @peer may ask from. */
bool sim_services_may_connect(const struct sim_services *services, uint32_t peer, uint32_t function);

/* Whether a service @name of @function's representor is there. */
bool sim_services_has_service(const struct sim_services *services, uint32_t function, const char *name);

/* Ask for the service @name of @function's representor, until @deadline_ms.
 * Returns 0, -EINVAL (not a function of the peer's side, or @number is in use or
 * of the servers' range), -ENAMETOOLONG or -ENOMEM (also: too many). @handshake is
 * taken on success only. */
int sim_services_connect(struct sim_services *services, uint32_t peer, uint64_t number, uint32_t function,
			 const char *name, uint64_t deadline_ms, void *handshake);

/* The next pending channel whose service is there. Whether there was one. */
bool sim_services_next_offer(struct sim_services *services, struct sim_offer *ret_offer);

/* Open an offered channel. Returns 0 or -ENOENT (none of that number is offered to @peer). */
int sim_services_accept(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_channel_end *ret_client);

/* The other end of an open channel. Returns 0 or -ENOENT. */
int sim_services_get_other_end(const struct sim_services *services, uint32_t peer, uint64_t number,
			       struct sim_channel_end *ret_other);

/* End a channel of @peer. Whether there was one of that number. */
bool sim_services_close(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_closed_channel *ret_closed);

/* End the next channel that is pending although its deadline has come, and when the soonest comes. */
bool sim_services_end_next_expired(struct sim_services *services, uint64_t now_ms,
				   struct sim_closed_channel *ret_closed);
uint64_t sim_services_deadline_ms(const struct sim_services *services); /* UINT64_MAX = none */

/* End the services of @peer, and the next of its channels. Whether there was a channel. */
bool sim_services_end_next_of_peer(struct sim_services *services, uint32_t peer, struct sim_closed_channel *ret_closed);

/* Of what goes by way of a function or its representor: services end, and so does the
 * first channel, for both ends. Whether there was one; its client is *ret_client. */
bool sim_services_end_next_of_function(struct sim_services *services, uint32_t function,
				       struct sim_channel_end *ret_client, struct sim_closed_channel *ret_closed);

/* End all services and the next channel of anybody. Whether there was a channel. */
bool sim_services_end_next(struct sim_services *services, struct sim_closed_channel *ret_closed);

/* For reports. */
typedef void sim_service_cb(void *arg, uint32_t peer, const struct sim_service *service);
typedef void sim_channel_cb(void *arg, const struct sim_channel_info *channel);
void sim_services_each_service(const struct sim_services *services, sim_service_cb *cb, void *arg);
void sim_services_each_channel(const struct sim_services *services, sim_channel_cb *cb, void *arg);

#endif
