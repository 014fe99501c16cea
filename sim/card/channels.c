/* SPDX-License-Identifier: BSD-3-Clause */
/* The channels between clients and services: requested, offered, opened, ended. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "services_priv.h"

#define SERVER_NUMBER_BIT ((uint64_t)1 << 63) /* set in the numbers of servers' ends */

static void set_state(struct channel *channel, enum sim_channel_state to)
{
	assert(sim_channel_state_can_become(channel->state, to));
	channel->state = to;
}

/* The first channel of all, open ones before waiting ones. */
static struct channel *first_channel(const struct sim_services *services)
{
	return TAILQ_EMPTY(&services->open) ? TAILQ_FIRST(&services->waiting) : TAILQ_FIRST(&services->open);
}

static struct channel *next_channel(const struct sim_services *services, const struct channel *channel)
{
	struct channel *next = TAILQ_NEXT(channel, entry);

	return next || channel->state != SIM_CHANNEL_OPEN ? next : TAILQ_FIRST(&services->waiting);
}

bool sim_services_may_connect(const struct sim_services *services, uint32_t peer, uint32_t function)
{
	return sim_services_find_function(services, peer, function) != NULL;
}

/* Check that @peer has no channel of that number, and may request one. */
static int check_new_channel(const struct sim_services *services, uint32_t peer, uint64_t number)
{
	uint32_t count = 0, unaccepted = 0;

	for (const struct channel *c = first_channel(services); c; c = next_channel(services, c)) {
		if (sim_channel_end_matches(&c->client, peer, number))
			return -EINVAL;
		count += c->client.peer == peer;
		unaccepted += c->client.peer == peer && c->state != SIM_CHANNEL_OPEN;
	}
	return count < SIM_MAX_CHANNELS && unaccepted < SIM_MAX_UNACCEPTED ? 0 : -EDQUOT;
}

int sim_services_connect(struct sim_services *services, uint32_t peer, uint64_t number, uint32_t function, uint32_t rep,
			 const char *name, uint64_t deadline_ms, void *handshake)
{
	struct channel *channel;
	int rc;

	if (!sim_services_may_connect(services, peer, function) || number & SERVER_NUMBER_BIT)
		return -EINVAL;
	if (rep != function && (rep != SIM_NETWORK || !services->topology->functions[function].caps.rdma))
		return -EINVAL;
	if (!sim_service_name_fits(name))
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
	channel->rep = rep;
	channel->deadline_ms = deadline_ms;
	channel->handshake = handshake;
	strcpy(channel->name, name);
	TAILQ_INSERT_TAIL(&services->waiting, channel, entry);
	services->num_pending++;
	return 0;
}

static uint32_t num_offered_to(const struct sim_services *services, uint32_t peer)
{
	const struct channel *c;
	uint32_t count = 0;

	TAILQ_FOREACH(c, &services->waiting, entry)
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

/* The same, to the gateway. */
static void offer_far(struct sim_services *services, struct channel *channel, struct sim_offer *ret_offer)
{
	struct service far = { .end = { .peer = services->gateway } };
	uint16_t port = 0;

	sim_service_read_port(channel->name, &far.function, &port);
	far.end.number = SIM_FAR_SERVICE(channel->function, far.function, port);
	offer_channel(services, channel, &far, ret_offer);
}

/* A server with too many unaccepted channels gets the next offer after it accepts or closes one. */
bool sim_services_next_offer(struct sim_services *services, struct sim_offer *ret_offer)
{
	struct channel *c;

	if (services->num_pending == 0 || (LIST_EMPTY(&services->services) && !services->has_gateway))
		return false;
	TAILQ_FOREACH(c, &services->waiting, entry) {
		const struct service *service = NULL;

		if (c->state == SIM_CHANNEL_PENDING && sim_services_is_far(services, c->rep, c->name)) {
			offer_far(services, c, ret_offer);
			return true;
		}

		if (c->state == SIM_CHANNEL_PENDING)
			service = sim_services_find(services, c->rep, c->name);
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

	if (sim_channel_end_matches(&channel->client, peer, number)) {
		*ret_other = channel->server;
		return true;
	}
	if (has_server && sim_channel_end_matches(&channel->server, peer, number)) {
		*ret_other = channel->client;
		return true;
	}
	return false;
}

static struct channel *find_channel(const struct channels *channels, uint32_t peer, uint64_t number,
				    struct sim_channel_end *ret_other)
{
	struct channel *channel;

	TAILQ_FOREACH(channel, channels, entry)
		if (find_other_end(channel, peer, number, ret_other))
			return channel;
	return NULL;
}

int sim_services_accept(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_channel_end *ret_client)
{
	struct sim_channel_end client;
	struct channel *channel = find_channel(&services->waiting, peer, number, &client);

	if (!channel || !sim_channel_state_can_become(channel->state, SIM_CHANNEL_OPEN) ||
	    !sim_channel_end_matches(&channel->server, peer, number))
		return -ENOENT;
	TAILQ_REMOVE(&services->waiting, channel, entry);
	set_state(channel, SIM_CHANNEL_OPEN);
	TAILQ_INSERT_TAIL(&services->open, channel, entry);
	*ret_client = client;
	return 0;
}

int sim_services_get_other_end(const struct sim_services *services, uint32_t peer, uint64_t number,
			       struct sim_channel_end *ret_other)
{
	return find_channel(&services->open, peer, number, ret_other) ? 0 : -ENOENT;
}

/* ---- end of channels and services ---- */

/* Remove the channel. @remaining is the end that may still be open; NULL = the client. */
static void remove_channel(struct sim_services *services, struct channel *channel,
			   const struct sim_channel_end *remaining, struct sim_closed_channel *ret_closed)
{
	*ret_closed =
		(struct sim_closed_channel){ .remaining = remaining ? *remaining : channel->client,
					     .handshake = channel->handshake,
					     .has_remaining = !remaining || channel->state != SIM_CHANNEL_PENDING };
	ret_closed->unaccepted =
		channel->state != SIM_CHANNEL_OPEN &&
		sim_channel_end_matches(&channel->client, ret_closed->remaining.peer, ret_closed->remaining.number);
	services->num_pending -= channel->state == SIM_CHANNEL_PENDING;
	if (channel->state == SIM_CHANNEL_OPEN)
		TAILQ_REMOVE(&services->open, channel, entry);
	else
		TAILQ_REMOVE(&services->waiting, channel, entry);
	free(channel);
}

bool sim_services_close(struct sim_services *services, uint32_t peer, uint64_t number,
			struct sim_closed_channel *ret_closed)
{
	struct sim_channel_end other;
	struct channel *channel = find_channel(&services->waiting, peer, number, &other);

	if (!channel)
		channel = find_channel(&services->open, peer, number, &other);
	if (channel)
		remove_channel(services, channel, &other, ret_closed);
	return channel != NULL;
}

/* Find a service of the channel's name for another function of its client's side. NULL = there is none. */
static const struct service *find_elsewhere(const struct sim_services *services, const struct channel *channel)
{
	const struct pcie_function *functions = services->topology->functions;
	const struct service *s;

	LIST_FOREACH(s, &services->services, entry)
		if (strcmp(s->name, channel->name) == 0 && s->rep != channel->rep && s->rep != SIM_NETWORK &&
		    strcmp(functions[s->rep].side, functions[channel->function].side) == 0)
			return s;
	return NULL;
}

bool sim_services_end_next_expired(struct sim_services *services, uint64_t now_ms,
				   struct sim_closed_channel *ret_closed)
{
	struct channel *c;

	if (services->num_pending == 0)
		return false;
	TAILQ_FOREACH(c, &services->waiting, entry)
		if (c->state == SIM_CHANNEL_PENDING && c->deadline_ms <= now_ms) {
			const struct service *elsewhere = find_elsewhere(services, c);

			remove_channel(services, c, NULL, ret_closed);
			ret_closed->has_elsewhere = elsewhere != NULL;
			ret_closed->elsewhere = elsewhere ? elsewhere->rep : 0;
			return true;
		}
	return false;
}

uint64_t sim_services_deadline_ms(const struct sim_services *services)
{
	uint64_t soonest = UINT64_MAX;
	const struct channel *c;

	if (services->num_pending == 0)
		return soonest;
	TAILQ_FOREACH(c, &services->waiting, entry)
		if (c->state == SIM_CHANNEL_PENDING && c->deadline_ms < soonest)
			soonest = c->deadline_ms;
	return soonest;
}

bool sim_services_end_next_of_peer(struct sim_services *services, uint32_t peer, struct sim_closed_channel *ret_closed)
{
	sim_services_remove_of_peer(services, peer);
	for (struct channel *c = first_channel(services); c; c = next_channel(services, c)) {
		struct sim_channel_end other = c->client.peer == peer ? c->server : c->client;

		if (c->client.peer == peer || (c->state != SIM_CHANNEL_PENDING && c->server.peer == peer)) {
			remove_channel(services, c, &other, ret_closed);
			return true;
		}
	}
	return false;
}

bool sim_services_end_next_of_function(struct sim_services *services, uint32_t function,
				       struct sim_channel_end *ret_client, struct sim_closed_channel *ret_closed)
{
	sim_services_remove_of_function(services, function);
	for (struct channel *c = first_channel(services); c; c = next_channel(services, c)) {
		if (c->function == function || (c->state != SIM_CHANNEL_PENDING && c->server_function == function)) {
			const struct sim_channel_end server = c->server;

			*ret_client = c->client;
			remove_channel(services, c, &server, ret_closed);
			return true;
		}
	}
	return false;
}

bool sim_services_end_next(struct sim_services *services, struct sim_closed_channel *ret_closed)
{
	struct channel *first = first_channel(services);

	sim_services_remove_all(services);
	if (first)
		remove_channel(services, first, NULL, ret_closed);
	return first != NULL;
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
