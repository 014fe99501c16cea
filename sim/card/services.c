/* SPDX-License-Identifier: BSD-3-Clause */
#include "services.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_RANGE ((uint64_t)1 << 63) /* numbers of servers' ends have this bit */

struct service {
	struct sim_end end;
	uint32_t function, rep;
	char name[SIM_SERVICE_NAME_SIZE];
	struct service *next;
};

struct channel {
	enum sim_channel_state state;
	struct sim_end client, server; /* the latter from [offered] on */
	uint32_t function;             /* the client's: whose representor the server serves */
	uint32_t server_function;
	uint64_t deadline_ms;          /* while pending */
	void *hello;                   /* while pending */
	struct channel *next;
	char name[SIM_SERVICE_NAME_SIZE];
};

/* Oldest first. */
struct channels {
	struct channel *first, **end;
};

struct sim_services {
	const struct sim_card *card;
	const struct pcie_topology *topology;
	struct service *services;
	struct channels open;          /* many, perhaps: few calls look at them all */
	struct channels waiting;       /* not open yet */
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
	services->open.end = &services->open.first;
	services->waiting.end = &services->waiting.first;
	*ret_services = services;
	return 0;
}

static void drop_service(struct service **link)
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
		drop_service(&services->services);
	free(services);
}

static bool same_end(const struct sim_end *end, uint32_t peer, uint64_t number)
{
	return end->peer == peer && end->number == number;
}

/* The function, if it is one of the peer's side. */
static const struct pcie_function *function_of(const struct sim_services *services, uint32_t peer, uint32_t function)
{
	const struct sim_peer_info *info = sim_card_peer(services->card, peer);
	const struct pcie_function *found;

	if (!info || function >= services->topology->num_functions)
		return NULL;
	found = &services->topology->functions[function];
	return strcmp(found->side, info->side) == 0 ? found : NULL;
}

static bool holds(const struct pcie_function *function, uint32_t rep)
{
	for (size_t i = 0; i < function->num_reps; i++)
		if (function->reps[i] == rep)
			return true;
	return false;
}

static bool fits(const char *name)
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

/* Whether @peer has no service of that number and may have another. */
static int room_for_service(const struct sim_services *services, uint32_t peer, uint64_t number)
{
	uint32_t count = 0;

	for (const struct service *s = services->services; s; s = s->next) {
		if (same_end(&s->end, peer, number))
			return -EINVAL;
		count += s->end.peer == peer;
	}
	return count < SIM_MAX_SERVICES ? 0 : -ENOMEM;
}

int sim_services_listen(struct sim_services *services, uint32_t peer, uint64_t number,
			const struct sim_service *wanted)
{
	const struct pcie_function *function = function_of(services, peer, wanted->function);
	struct service *service;
	int rc;

	if (!function || !holds(function, wanted->rep))
		return -EINVAL;
	if (!fits(wanted->name))
		return -ENAMETOOLONG;
	if (find_service(services, wanted->rep, wanted->name))
		return -EADDRINUSE;
	rc = room_for_service(services, peer, number);
	if (rc < 0)
		return rc;
	service = calloc(1, sizeof(*service));
	if (!service)
		return -ENOMEM;
	service->end = (struct sim_end){peer, number};
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
		if (same_end(&(*link)->end, peer, number)) {
			drop_service(link);
			return;
		}
	}
}

/* ---- channels ---- */

static void append(struct channels *channels, struct channel *channel)
{
	channel->next = NULL;
	*channels->end = channel;
	channels->end = &channel->next;
}

static void take_out(struct channels *channels, struct channel **link)
{
	*link = (*link)->next;
	if (!*link)
		channels->end = link;
}

/* All of them, the open ones first. */
static struct channel *first(const struct sim_services *services)
{
	return services->open.first ? services->open.first : services->waiting.first;
}

static struct channel *next(const struct sim_services *services, const struct channel *channel)
{
	return channel->next || channel->state != SIM_CHANNEL_OPEN ? channel->next : services->waiting.first;
}

bool sim_services_may_connect(const struct sim_services *services, uint32_t peer, uint32_t function)
{
	return function_of(services, peer, function) != NULL;
}

bool sim_services_is_served(const struct sim_services *services, uint32_t function, const char *name)
{
	return find_service(services, function, name) != NULL;
}

/* Whether @peer has no channel of that number and may ask for another. */
static int room_for_channel(const struct sim_services *services, uint32_t peer, uint64_t number)
{
	uint32_t count = 0, unaccepted = 0;

	for (const struct channel *c = first(services); c; c = next(services, c)) {
		if (same_end(&c->client, peer, number))
			return -EINVAL;
		count += c->client.peer == peer;
		unaccepted += c->client.peer == peer && c->state != SIM_CHANNEL_OPEN;
	}
	return count < SIM_MAX_CHANNELS && unaccepted < SIM_MAX_UNACCEPTED ? 0 : -ENOMEM;
}

int sim_services_connect(struct sim_services *services, uint32_t peer, uint64_t number, uint32_t function,
			 const char *name, uint64_t deadline_ms, void *hello)
{
	struct channel *channel;
	int rc;

	if (!sim_services_may_connect(services, peer, function) || number & SERVER_RANGE)
		return -EINVAL;
	if (!fits(name))
		return -ENAMETOOLONG;
	rc = room_for_channel(services, peer, number);
	if (rc < 0)
		return rc;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	channel->state = SIM_CHANNEL_PENDING;
	channel->client = (struct sim_end){peer, number};
	channel->function = function;
	channel->deadline_ms = deadline_ms;
	channel->hello = hello;
	strcpy(channel->name, name);
	append(&services->waiting, channel);
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

static void offer(struct sim_services *services, struct channel *channel, const struct service *service,
		  struct sim_offer *ret_offer)
{
	channel->state = SIM_CHANNEL_OFFERED;
	channel->server = (struct sim_end){service->end.peer, SERVER_RANGE | ++services->next_server_number};
	channel->server_function = service->function;
	services->num_pending--;
	*ret_offer = (struct sim_offer){.service = service->end.number, .server = channel->server,
					.client = channel->client, .hello = channel->hello};
	channel->hello = NULL;
}

/* A server that has too many to accept gets the next when it has dealt with one; they wait meanwhile. */
bool sim_services_next_offer(struct sim_services *services, struct sim_offer *ret_offer)
{
	if (services->num_pending == 0 || !services->services)
		return false;
	for (struct channel *c = services->waiting.first; c; c = c->next) {
		const struct service *service = NULL;

		if (c->state == SIM_CHANNEL_PENDING)
			service = find_service(services, c->function, c->name);
		if (service && num_offered_to(services, service->end.peer) < SIM_MAX_UNACCEPTED) {
			offer(services, c, service, ret_offer);
			return true;
		}
	}
	return false;
}

/* The end of @channel that is @peer's by that number, and the other one. */
static bool find_ends(const struct channel *channel, uint32_t peer, uint64_t number, struct sim_end *ret_other)
{
	bool has_server = channel->state != SIM_CHANNEL_PENDING;

	if (same_end(&channel->client, peer, number)) {
		*ret_other = channel->server;
		return true;
	}
	if (has_server && same_end(&channel->server, peer, number)) {
		*ret_other = channel->client;
		return true;
	}
	return false;
}

/* Where its link is, or NULL. */
static struct channel **find_in(struct channels *channels, uint32_t peer, uint64_t number, struct sim_end *ret_other)
{
	struct channel **link = &channels->first;

	while (*link && !find_ends(*link, peer, number, ret_other))
		link = &(*link)->next;
	return *link ? link : NULL;
}

int sim_services_accept(struct sim_services *services, uint32_t peer, uint64_t number, struct sim_end *ret_client)
{
	struct sim_end client;
	struct channel **link = find_in(&services->waiting, peer, number, &client), *channel;

	if (!link || (*link)->state != SIM_CHANNEL_OFFERED || !same_end(&(*link)->server, peer, number))
		return -ENOENT;
	channel = *link;
	take_out(&services->waiting, link);
	channel->state = SIM_CHANNEL_OPEN;
	append(&services->open, channel);
	*ret_client = client;
	return 0;
}

int sim_services_other(const struct sim_services *services, uint32_t peer, uint64_t number, struct sim_end *ret_other)
{
	for (const struct channel *c = services->open.first; c; c = c->next)
		if (find_ends(c, peer, number, ret_other))
			return 0;
	return -ENOENT;
}

/* ---- ends ---- */

/* Forget the channel; @left is who may still think it exists, NULL = the client. */
static void part(struct sim_services *services, struct channel **link, const struct sim_end *left,
		 struct sim_parting *ret_parting)
{
	struct channel *channel = *link;

	*ret_parting = (struct sim_parting){.left = left ? *left : channel->client, .hello = channel->hello,
					    .is_left = !left || channel->state != SIM_CHANNEL_PENDING};
	ret_parting->unaccepted = channel->state != SIM_CHANNEL_OPEN &&
				  same_end(&channel->client, ret_parting->left.peer, ret_parting->left.number);
	services->num_pending -= channel->state == SIM_CHANNEL_PENDING;
	take_out(channel->state == SIM_CHANNEL_OPEN ? &services->open : &services->waiting, link);
	free(channel);
}

bool sim_services_close(struct sim_services *services, uint32_t peer, uint64_t number, struct sim_parting *ret_parting)
{
	struct sim_end other;
	struct channel **link = find_in(&services->waiting, peer, number, &other);

	if (!link)
		link = find_in(&services->open, peer, number, &other);
	if (link)
		part(services, link, &other, ret_parting);
	return link != NULL;
}

bool sim_services_next_expired(struct sim_services *services, uint64_t now_ms, struct sim_parting *ret_parting)
{
	if (services->num_pending == 0)
		return false;
	for (struct channel **link = &services->waiting.first; *link; link = &(*link)->next) {
		if ((*link)->state == SIM_CHANNEL_PENDING && (*link)->deadline_ms <= now_ms) {
			part(services, link, NULL, ret_parting);
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

/* The first of them that is @peer's. Whether there was one. */
static bool part_of(struct sim_services *services, struct channels *channels, uint32_t peer,
		    struct sim_parting *ret_parting)
{
	for (struct channel **link = &channels->first; *link; link = &(*link)->next) {
		struct channel *c = *link;
		struct sim_end other = c->client.peer == peer ? c->server : c->client;

		if (c->client.peer == peer || (c->state != SIM_CHANNEL_PENDING && c->server.peer == peer)) {
			part(services, link, &other, ret_parting);
			return true;
		}
	}
	return false;
}

bool sim_services_next_of(struct sim_services *services, uint32_t peer, struct sim_parting *ret_parting)
{
	struct service **service = &services->services;

	while (*service) {
		if ((*service)->end.peer == peer)
			drop_service(service);
		else
			service = &(*service)->next;
	}
	return part_of(services, &services->open, peer, ret_parting) ||
	       part_of(services, &services->waiting, peer, ret_parting);
}

static bool part_through(struct sim_services *services, struct channels *channels, uint32_t function,
			 struct sim_end *ret_client, struct sim_parting *ret_parting)
{
	for (struct channel **link = &channels->first; *link; link = &(*link)->next) {
		const struct channel *c = *link;

		if (c->function == function || (c->state != SIM_CHANNEL_PENDING && c->server_function == function)) {
			const struct sim_end server = c->server;

			*ret_client = c->client;
			part(services, link, &server, ret_parting);
			return true;
		}
	}
	return false;
}

bool sim_services_next_through(struct sim_services *services, uint32_t function, struct sim_end *ret_client,
			       struct sim_parting *ret_parting)
{
	struct service **service = &services->services;

	while (*service) {
		if ((*service)->function == function || (*service)->rep == function)
			drop_service(service);
		else
			service = &(*service)->next;
	}
	return part_through(services, &services->open, function, ret_client, ret_parting) ||
	       part_through(services, &services->waiting, function, ret_client, ret_parting);
}

bool sim_services_forget(struct sim_services *services, struct sim_parting *ret_parting)
{
	while (services->services)
		drop_service(&services->services);
	if (!first(services))
		return false;
	part(services, services->open.first ? &services->open.first : &services->waiting.first, NULL, ret_parting);
	return true;
}

/* ---- reports ---- */

void sim_services_each_service(const struct sim_services *services, sim_service_cb *cb, void *arg)
{
	for (const struct service *s = services->services; s; s = s->next) {
		const struct sim_service service = {.function = s->function, .rep = s->rep, .name = s->name};

		cb(arg, s->end.peer, &service);
	}
}

void sim_services_each_channel(const struct sim_services *services, sim_channel_cb *cb, void *arg)
{
	for (const struct channel *c = first(services); c; c = next(services, c)) {
		const struct sim_channel_info info = {.state = c->state, .client = c->client, .server = c->server,
						      .function = c->server_function, .rep = c->function,
						      .name = c->name};

		cb(arg, &info);
	}
}
