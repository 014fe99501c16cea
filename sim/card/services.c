/* SPDX-License-Identifier: BSD-3-Clause */
/* Services and channels: listing, matching of clients with services, removal. */
#include "services.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_NUMBER_BIT ((uint64_t)1 << 63) /* set in the numbers of servers' ends */

struct service {
	struct sim_channel_end end;
	uint32_t function, rep;
	char name[SIM_SERVICE_NAME_SIZE];
	struct service *next;
};

struct channel {
	enum sim_channel_state state;
	struct sim_channel_end client, server; /* @server is valid from [offered] on */
	uint32_t function;                     /* function of the client; the server serves its representor */
	uint32_t server_function;
	uint64_t deadline_ms; /* valid while pending */
	void *handshake;      /* valid while pending */
	struct channel *next;
	char name[SIM_SERVICE_NAME_SIZE];
};

/* Oldest first. */
struct channels {
	struct channel *first, **tail;
};

struct sim_services {
	const struct sim_card *card;
	const struct pcie_topology *topology;
	struct service *services;
	struct channels open;    /* separate, as there may be many and few calls search them */
	struct channels waiting; /* pending and offered */
	uint64_t next_server_number;
	uint32_t num_pending;
};

int sim_services_create(const struct sim_card *card, const struct pcie_topology *topology,
			struct sim_services **ret_services)
{
	struct sim_services *services = calloc(1, sizeof(*services));

	if (!services)
		return -ENOMEM;
	services->card = card;
	services->topology = topology;
	services->open.tail = &services->open.first;
	services->waiting.tail = &services->waiting.first;
	*ret_services = services;
	return 0;
}

static void remove_service(struct service **link)
{
	struct service *service = *link;

	*link = service->next;
	free(service);
}

void sim_services_destroy(struct sim_services *services)
{
	if (!services)
		return;
	assert(!services->open.first && !services->waiting.first);
	while (services->services)
		remove_service(&services->services);
	free(services);
}

static void set_state(struct channel *channel, enum sim_channel_state to)
{
	assert(sim_channel_state_can_become(channel->state, to));
	channel->state = to;
}

static bool end_matches(const struct sim_channel_end *end, uint32_t peer, uint64_t number)
{
	return end->peer == peer && end->number == number;
}

/* Returns the function if it is on the peer's side, else NULL. */
static const struct pcie_function *find_peer_function(const struct sim_services *services, uint32_t peer,
						      uint32_t function)
{
	const struct sim_peer_info *info = sim_card_peer(services->card, peer);
	const struct pcie_function *found;

	if (!info || function >= services->topology->num_functions)
		return NULL;
	found = &services->topology->functions[function];
	return strcmp(found->side, info->side) == 0 ? found : NULL;
}

static bool name_fits(const char *name)
{
	return strnlen(name, SIM_SERVICE_NAME_SIZE) < SIM_SERVICE_NAME_SIZE;
}

/* ---- services ---- */

static struct service *find_service(const struct sim_services *services, uint32_t rep, const char *name)
{
	for (struct service *s = services->services; s; s = s->next)
		if (s->rep == rep && strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

/* Check that @peer has no service of that number, and may add one. */
static int check_new_service(const struct sim_services *services, uint32_t peer, uint64_t number)
{
	uint32_t count = 0;

	for (const struct service *s = services->services; s; s = s->next) {
		if (end_matches(&s->end, peer, number))
			return -EINVAL;
		count += s->end.peer == peer;
	}
	return count < SIM_MAX_SERVICES ? 0 : -EDQUOT;
}

int sim_services_listen(struct sim_services *services, uint32_t peer, uint64_t number, const struct sim_service *wanted)
{
	const struct pcie_function *function = find_peer_function(services, peer, wanted->function);
	struct service *service;
	int rc;

	if (!function || !pcie_function_has_representor(function, wanted->rep))
		return -EINVAL;
	if (!name_fits(wanted->name))
		return -ENAMETOOLONG;
	if (find_service(services, wanted->rep, wanted->name))
		return -EADDRINUSE;
	rc = check_new_service(services, peer, number);
	if (rc < 0)
		return rc;
	service = calloc(1, sizeof(*service));
	if (!service)
		return -ENOMEM;
	service->end = (struct sim_channel_end){ peer, number };
	service->function = wanted->function;
	service->rep = wanted->rep;
	strcpy(service->name, wanted->name);
	service->next = services->services;
	services->services = service;
	return 0;
}

void sim_services_unlisten(struct sim_services *services, uint32_t peer, uint64_t number)
{
	for (struct service **link = &services->services; *link; link = &(*link)->next) {
		if (end_matches(&(*link)->end, peer, number)) {
			remove_service(link);
			return;
		}
	}
}

/* ---- channels ---- */

static void append_channel(struct channels *channels, struct channel *channel)
{
	channel->next = NULL;
	*channels->tail = channel;
	channels->tail = &channel->next;
}

static void unlink_channel(struct channels *channels, struct channel **link)
{
	*link = (*link)->next;
	if (!*link)
		channels->tail = link;
}

/* The first channel of all, open ones before waiting ones. */
static struct channel *first_channel(const struct sim_services *services)
{
	return services->open.first ? services->open.first : services->waiting.first;
}

static struct channel *next_channel(const struct sim_services *services, const struct channel *channel)
{
	return channel->next || channel->state != SIM_CHANNEL_OPEN ? channel->next : services->waiting.first;
}

bool sim_services_may_connect(const struct sim_services *services, uint32_t peer, uint32_t function)
{
	return find_peer_function(services, peer, function) != NULL;
}

bool sim_services_has_service(const struct sim_services *services, uint32_t function, const char *name)
{
	return find_service(services, function, name) != NULL;
}

/* Check that @peer has no channel of that number, and may request one. */
static int check_new_channel(const struct sim_services *services, uint32_t peer, uint64_t number)
{
	uint32_t count = 0, unaccepted = 0;

	for (const struct channel *c = first_channel(services); c; c = next_channel(services, c)) {
		if (end_matches(&c->client, peer, number))
			return -EINVAL;
		count += c->client.peer == peer;
		unaccepted += c->client.peer == peer && c->state != SIM_CHANNEL_OPEN;
	}
	return count < SIM_MAX_CHANNELS && unaccepted < SIM_MAX_UNACCEPTED ? 0 : -EDQUOT;
}

int sim_services_connect(struct sim_services *services, uint32_t peer, uint64_t number, uint32_t function,
			 const char *name, uint64_t deadline_ms, void *handshake)
{
	struct channel *channel;
	int rc;

	if (!sim_services_may_connect(services, peer, function) || number & SERVER_NUMBER_BIT)
		return -EINVAL;
	if (!name_fits(name))
		return -ENAMETOOLONG;
	rc = check_new_channel(services, peer, number);
	if (rc < 0)
		return rc;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	channel->state = SIM_CHANNEL_PENDING;
	channel->client = (struct sim_channel_end){ peer, number };
	channel->function = function;
	channel->deadline_ms = deadline_ms;
	channel->handshake = handshake;
	strcpy(channel->name, name);
	append_channel(&services->waiting, channel);
	services->num_pending++;
	return 0;
}

static uint32_t num_offered_to(const struct sim_services *services, uint32_t peer)
{
	uint32_t count = 0;

	for (const struct channel *c = services->waiting.first; c; c = c->next)
		count += c->state == SIM_CHANNEL_OFFERED && c->server.peer == peer;
	return count;
}

static void offer_channel(struct sim_services *services, struct channel *channel, const struct service *service,
			  struct sim_offer *ret_offer)
{
	set_state(channel, SIM_CHANNEL_OFFERED);
	channel->server =
		(struct sim_channel_end){ service->end.peer, SERVER_NUMBER_BIT | ++services->next_server_number };
	channel->server_function = service->function;
	services->num_pending--;
	*ret_offer = (struct sim_offer){ .service = service->end.number,
					 .server = channel->server,
					 .client = channel->client,
					 .handshake = channel->handshake };
	channel->handshake = NULL;
}

/* A server with too many unaccepted channels gets the next offer after it accepts or closes one. */
bool sim_services_next_offer(struct sim_services *services, struct sim_offer *ret_offer)
{
	if (services->num_pending == 0 || !services->services)
		return false;
	for (struct channel *c = services->waiting.first; c; c = c->next) {
		const struct service *service = NULL;

		if (c->state == SIM_CHANNEL_PENDING)
			service = find_service(services, c->function, c->name);
		if (service && num_offered_to(services, service->end.peer) < SIM_MAX_UNACCEPTED) {
			offer_channel(services, c, service, ret_offer);
			return true;
		}
	}
	return false;
}

/* Get the end opposite to the end of @channel that @peer identifies by @number. Returns whether @channel has the
 * latter. */
static bool find_other_end(const struct channel *channel, uint32_t peer, uint64_t number,
			   struct sim_channel_end *ret_other)
{
	bool has_server = channel->state != SIM_CHANNEL_PENDING;

	if (end_matches(&channel->client, peer, number)) {
		*ret_other = channel->server;
		return true;
	}
	if (has_server && end_matches(&channel->server, peer, number)) {
		*ret_other = channel->client;
		return true;
	}
	return false;
}

/* The link that points to the channel, or NULL. */
static struct channel **find_channel_link(struct channels *channels, uint32_t peer, uint64_t number,
					  struct sim_channel_end *ret_other)
{
	struct channel **link = &channels->first;

	while (*link && !find_other_end(*link, peer, number, ret_other))
		link = &(*link)->next;
	return *link ? link : NULL;
}

int sim_services_accept(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_channel_end *ret_client)
{
	struct sim_channel_end client;
	struct channel **link = find_channel_link(&services->waiting, peer, number, &client), *channel;

	if (!link || !sim_channel_state_can_become((*link)->state, SIM_CHANNEL_OPEN) ||
	    !end_matches(&(*link)->server, peer, number))
		return -ENOENT;
	channel = *link;
	unlink_channel(&services->waiting, link);
	set_state(channel, SIM_CHANNEL_OPEN);
	append_channel(&services->open, channel);
	*ret_client = client;
	return 0;
}

int sim_services_get_other_end(const struct sim_services *services, uint32_t peer, uint64_t number,
			       struct sim_channel_end *ret_other)
{
	for (const struct channel *c = services->open.first; c; c = c->next)
		if (find_other_end(c, peer, number, ret_other))
			return 0;
	return -ENOENT;
}

/* ---- end of channels and services ---- */

/* Remove the channel. @remaining is the end that may still be open; NULL = the client. */
static void remove_channel(struct sim_services *services, struct channel **link,
			   const struct sim_channel_end *remaining, struct sim_closed_channel *ret_closed)
{
	struct channel *channel = *link;

	*ret_closed =
		(struct sim_closed_channel){ .remaining = remaining ? *remaining : channel->client,
					     .handshake = channel->handshake,
					     .has_remaining = !remaining || channel->state != SIM_CHANNEL_PENDING };
	ret_closed->unaccepted =
		channel->state != SIM_CHANNEL_OPEN &&
		end_matches(&channel->client, ret_closed->remaining.peer, ret_closed->remaining.number);
	services->num_pending -= channel->state == SIM_CHANNEL_PENDING;
	unlink_channel(channel->state == SIM_CHANNEL_OPEN ? &services->open : &services->waiting, link);
	free(channel);
}

bool sim_services_close(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_closed_channel *ret_closed)
{
	struct sim_channel_end other;
	struct channel **link = find_channel_link(&services->waiting, peer, number, &other);

	if (!link)
		link = find_channel_link(&services->open, peer, number, &other);
	if (link)
		remove_channel(services, link, &other, ret_closed);
	return link != NULL;
}

/* Find a service of the channel's name for another function of its client's side. NULL = there is none. */
static const struct service *find_elsewhere(const struct sim_services *services, const struct channel *channel)
{
	const struct pcie_function *functions = services->topology->functions;

	for (const struct service *s = services->services; s; s = s->next)
		if (strcmp(s->name, channel->name) == 0 && s->rep != channel->function &&
		    strcmp(functions[s->rep].side, functions[channel->function].side) == 0)
			return s;
	return NULL;
}

bool sim_services_end_next_expired(struct sim_services *services, uint64_t now_ms,
				   struct sim_closed_channel *ret_closed)
{
	if (services->num_pending == 0)
		return false;
	for (struct channel **link = &services->waiting.first; *link; link = &(*link)->next) {
		if ((*link)->state == SIM_CHANNEL_PENDING && (*link)->deadline_ms <= now_ms) {
			const struct service *elsewhere = find_elsewhere(services, *link);

			remove_channel(services, link, NULL, ret_closed);
			ret_closed->has_elsewhere = elsewhere != NULL;
			ret_closed->elsewhere = elsewhere ? elsewhere->rep : 0;
			return true;
		}
	}
	return false;
}

uint64_t sim_services_deadline_ms(const struct sim_services *services)
{
	uint64_t soonest = UINT64_MAX;

	if (services->num_pending == 0)
		return soonest;
	for (const struct channel *c = services->waiting.first; c; c = c->next)
		if (c->state == SIM_CHANNEL_PENDING && c->deadline_ms < soonest)
			soonest = c->deadline_ms;
	return soonest;
}

/* Remove the first channel of @peer. Returns whether there was one. */
static bool remove_channel_of_peer(struct sim_services *services, struct channels *channels, uint32_t peer,
				   struct sim_closed_channel *ret_closed)
{
	for (struct channel **link = &channels->first; *link; link = &(*link)->next) {
		struct channel *c = *link;
		struct sim_channel_end other = c->client.peer == peer ? c->server : c->client;

		if (c->client.peer == peer || (c->state != SIM_CHANNEL_PENDING && c->server.peer == peer)) {
			remove_channel(services, link, &other, ret_closed);
			return true;
		}
	}
	return false;
}

bool sim_services_end_next_of_peer(struct sim_services *services, uint32_t peer, struct sim_closed_channel *ret_closed)
{
	struct service **service = &services->services;

	while (*service) {
		if ((*service)->end.peer == peer)
			remove_service(service);
		else
			service = &(*service)->next;
	}
	return remove_channel_of_peer(services, &services->open, peer, ret_closed) ||
	       remove_channel_of_peer(services, &services->waiting, peer, ret_closed);
}

static bool remove_channel_of_function(struct sim_services *services, struct channels *channels, uint32_t function,
				       struct sim_channel_end *ret_client, struct sim_closed_channel *ret_closed)
{
	for (struct channel **link = &channels->first; *link; link = &(*link)->next) {
		const struct channel *c = *link;

		if (c->function == function || (c->state != SIM_CHANNEL_PENDING && c->server_function == function)) {
			const struct sim_channel_end server = c->server;

			*ret_client = c->client;
			remove_channel(services, link, &server, ret_closed);
			return true;
		}
	}
	return false;
}

bool sim_services_end_next_of_function(struct sim_services *services, uint32_t function,
				       struct sim_channel_end *ret_client, struct sim_closed_channel *ret_closed)
{
	struct service **service = &services->services;

	while (*service) {
		if ((*service)->function == function || (*service)->rep == function)
			remove_service(service);
		else
			service = &(*service)->next;
	}
	return remove_channel_of_function(services, &services->open, function, ret_client, ret_closed) ||
	       remove_channel_of_function(services, &services->waiting, function, ret_client, ret_closed);
}

bool sim_services_end_next(struct sim_services *services, struct sim_closed_channel *ret_closed)
{
	while (services->services)
		remove_service(&services->services);
	if (!first_channel(services))
		return false;
	remove_channel(services, services->open.first ? &services->open.first : &services->waiting.first, NULL,
		       ret_closed);
	return true;
}

/* ---- reports ---- */

void sim_services_each_service(const struct sim_services *services, sim_service_cb *cb, void *arg)
{
	for (const struct service *s = services->services; s; s = s->next) {
		const struct sim_service service = { .function = s->function, .rep = s->rep, .name = s->name };

		cb(arg, s->end.peer, &service);
	}
}

void sim_services_each_channel(const struct sim_services *services, sim_channel_cb *cb, void *arg)
{
	for (const struct channel *c = first_channel(services); c; c = next_channel(services, c)) {
		const struct sim_channel_info info = { .state = c->state,
						       .client = c->client,
						       .server = c->server,
						       .function = c->server_function,
						       .rep = c->function,
						       .name = c->name };

		cb(arg, &info);
	}
}
