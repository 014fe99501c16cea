/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/card/services_priv.h - services and channels, for their two files: services.c and channels.c. */
#ifndef SIM_SERVICES_PRIV_H
#define SIM_SERVICES_PRIV_H

#include "services.h"
#include "sim/base/queue.h"

struct service {
	struct sim_channel_end end;
	uint32_t function, rep;
	char name[SIM_SERVICE_NAME_SIZE];
	LIST_ENTRY(service) entry;
};

struct channel {
	enum sim_channel_state state;
	struct sim_channel_end client, server; /* @server is valid from [offered] on */
	uint32_t function;                     /* of the client */
	uint32_t rep; /* the client's function, whose representor the server serves; or SIM_NETWORK */
	uint32_t server_function;
	uint64_t deadline_ms; /* valid while pending */
	void *handshake;      /* valid while pending */
	TAILQ_ENTRY(channel) entry;
	char name[SIM_SERVICE_NAME_SIZE];
};

TAILQ_HEAD(channels, channel); /* oldest first */

struct sim_services {
	const struct sim_card *card;
	const struct pcie_topology *topology;
	LIST_HEAD(, service) services;
	struct channels open;    /* separate, as there may be many and few calls search them */
	struct channels waiting; /* pending and offered */
	uint64_t next_server_number;
	bool has_gateway;
	uint32_t gateway;
	char machine[PCIE_SIDE_SIZE]; /* of the functions that are not the gateway's */
	uint32_t num_pending;
};

static inline bool sim_channel_end_matches(const struct sim_channel_end *end, uint32_t peer, uint64_t number)
{
	return end->peer == peer && end->number == number;
}

/* Returns the function if it is on the peer's side, else NULL. */
const struct pcie_function *sim_services_find_function(const struct sim_services *services, uint32_t peer,
						       uint32_t function);

/* The service of that name at the representor, or NULL. */
struct service *sim_services_find(const struct sim_services *services, uint32_t rep, const char *name);

/* Whether the name ends within its array. */
bool sim_service_name_fits(const char *name);

/* Remove the services of a peer; of a function or its representor; all. */
void sim_services_remove_of_peer(struct sim_services *services, uint32_t peer);
void sim_services_remove_of_function(struct sim_services *services, uint32_t function);
void sim_services_remove_all(struct sim_services *services);

#endif
