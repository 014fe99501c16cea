/* SPDX-License-Identifier: BSD-3-Clause */
/* The services of a card: added, found, removed. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services_priv.h"

int sim_services_create(const struct sim_card *card, const struct pcie_topology *topology,
			struct sim_services **ret_services)
{
	struct sim_services *services = calloc(1, sizeof(*services));

	if (!services)
		return -ENOMEM;
	services->card = card;
	services->topology = topology;
	LIST_INIT(&services->services);
	TAILQ_INIT(&services->open);
	TAILQ_INIT(&services->waiting);
	*ret_services = services;
	return 0;
}

void sim_services_destroy(struct sim_services *services)
{
	if (!services)
		return;
	assert(TAILQ_EMPTY(&services->open) && TAILQ_EMPTY(&services->waiting));
	sim_services_remove_all(services);
	free(services);
}

const struct pcie_function *sim_services_find_function(const struct sim_services *services, uint32_t peer,
						       uint32_t function)
{
	return sim_card_may_use(services->card, peer, function) ? &services->topology->functions[function] : NULL;
}

bool sim_service_name_fits(const char *name)
{
	return strnlen(name, SIM_SERVICE_NAME_SIZE) < SIM_SERVICE_NAME_SIZE;
}

struct service *sim_services_find(const struct sim_services *services, uint32_t rep, const char *name)
{
	struct service *service;

	LIST_FOREACH(service, &services->services, entry)
		if (service->rep == rep && strcmp(service->name, name) == 0)
			return service;
	return NULL;
}

bool sim_services_has_service(const struct sim_services *services, uint32_t rep, const char *name)
{
	return sim_services_find(services, rep, name) != NULL;
}

/* Check that @peer has no service of that number, and may add one. */
static int check_new_service(const struct sim_services *services, uint32_t peer, uint64_t number)
{
	const struct service *service;
	uint32_t count = 0;

	LIST_FOREACH(service, &services->services, entry) {
		if (sim_channel_end_matches(&service->end, peer, number))
			return -EINVAL;
		count += service->end.peer == peer;
	}
	return count < SIM_MAX_SERVICES ? 0 : -EDQUOT;
}

void sim_service_name_port(uint32_t function, uint16_t port, char name[SIM_SERVICE_NAME_SIZE])
{
	snprintf(name, SIM_SERVICE_NAME_SIZE, "port %u of function %u", port, function);
}

bool sim_service_read_port(const char *name, uint32_t *ret_function, uint16_t *ret_port)
{
	unsigned int port, function;
	char again[SIM_SERVICE_NAME_SIZE];

	if (sscanf(name, "port %u of function %u", &port, &function) != 2 || port > UINT16_MAX)
		return false;
	sim_service_name_port(function, (uint16_t)port, again);
	*ret_function = function;
	*ret_port = (uint16_t)port;
	return strcmp(again, name) == 0;
}

void sim_services_set_gateway(struct sim_services *services, uint32_t peer, const char *machine)
{
	services->has_gateway = true;
	services->gateway = peer;
	snprintf(services->machine, sizeof(services->machine), "%s", machine);
}

void sim_services_clear_gateway(struct sim_services *services)
{
	services->has_gateway = false;
}

bool sim_services_is_far(const struct sim_services *services, uint32_t rep, const char *name)
{
	uint32_t function;
	uint16_t port;

	return services->has_gateway && rep == SIM_NETWORK && sim_service_read_port(name, &function, &port) &&
	       function < services->topology->num_functions &&
	       !pcie_side_is_of(services->topology->functions[function].side, services->machine);
}

static bool may_serve(const struct pcie_function *function, uint32_t rep)
{
	return rep == SIM_NETWORK ? function->caps.rdma : pcie_function_has_representor(function, rep);
}

int sim_services_listen(struct sim_services *services, uint32_t peer, uint64_t number, const struct sim_service *wanted)
{
	const struct pcie_function *function = sim_services_find_function(services, peer, wanted->function);
	struct service *service;
	int rc;

	if (!function || !may_serve(function, wanted->rep))
		return -EINVAL;
	if (!sim_service_name_fits(wanted->name))
		return -ENAMETOOLONG;
	if (sim_services_find(services, wanted->rep, wanted->name))
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
	LIST_INSERT_HEAD(&services->services, service, entry);
	return 0;
}

static void remove_service(struct service *service)
{
	LIST_REMOVE(service, entry);
	free(service);
}

void sim_services_unlisten(struct sim_services *services, uint32_t peer, uint64_t number)
{
	struct service *service, *next;

	LIST_FOREACH_SAFE(service, &services->services, entry, next)
		if (sim_channel_end_matches(&service->end, peer, number))
			remove_service(service);
}

void sim_services_remove_of_peer(struct sim_services *services, uint32_t peer)
{
	struct service *service, *next;

	LIST_FOREACH_SAFE(service, &services->services, entry, next)
		if (service->end.peer == peer)
			remove_service(service);
}

void sim_services_remove_of_function(struct sim_services *services, uint32_t function)
{
	struct service *service, *next;

	LIST_FOREACH_SAFE(service, &services->services, entry, next)
		if (service->function == function || service->rep == function)
			remove_service(service);
}

void sim_services_remove_all(struct sim_services *services)
{
	while (!LIST_EMPTY(&services->services))
		remove_service(LIST_FIRST(&services->services));
}

void sim_services_each_service(const struct sim_services *services, sim_service_cb *cb, void *arg)
{
	const struct service *s;

	LIST_FOREACH(s, &services->services, entry) {
		const struct sim_service service = { .function = s->function, .rep = s->rep, .name = s->name };

		cb(arg, s->end.peer, &service);
	}
}
