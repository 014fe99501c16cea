/* SPDX-License-Identifier: BSD-3-Clause */
/* The status report: processes, imports, services and channels as JSON. */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon_priv.h"

static void add_text(json_object *to, const char *name, const char *value)
{
	json_object_object_add(to, name, json_object_new_string(value));
}

static void add_number(json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

/* The argument of the functions that add to a list. */
struct listing {
	struct daemon *daemon;
	json_object *list;
};

static bool is_of_gateway(const struct daemon *daemon, uint32_t peer)
{
	const struct sim_peer_info *info = sim_card_peer(daemon->card, peer);

	return daemon->gateway.pid > 0 && info && info->pid == daemon->gateway.pid;
}

/* The gateway is two peers, that of its session and the one that the daemon asks: it is shown as the first of them. */
static uint32_t shown_peer(const struct daemon *daemon, uint32_t peer)
{
	for (uint32_t first = 0; first < peer && is_of_gateway(daemon, peer); first++)
		if (is_of_gateway(daemon, first))
			return first;
	return peer;
}

static void add_to_number(json_object *to, const char *name, uint64_t more)
{
	add_number(to, name, json_object_get_uint64(json_object_object_get(to, name)) + more);
}

/* A peer comes after those of lower numbers. */
static void add_peer(void *arg, uint32_t peer, const struct sim_peer_info *info, uint32_t num_exports,
		     uint32_t num_imports)
{
	struct listing *listing = arg;
	const uint32_t shown = shown_peer(listing->daemon, peer);
	json_object *entry;

	for (size_t i = 0; shown != peer && i < json_object_array_length(listing->list); i++) {
		entry = json_object_array_get_idx(listing->list, i);
		if (json_object_get_uint64(json_object_object_get(entry, "peer")) != shown)
			continue;
		add_to_number(entry, "exports", num_exports);
		add_to_number(entry, "imports", num_imports);
		return;
	}
	entry = json_object_new_object();
	add_number(entry, "peer", peer);
	add_number(entry, "pid", (uint64_t)info->pid);
	add_text(entry, "program", info->program);
	add_text(entry, "side", info->side);
	add_text(entry, "check", info->check);
	add_number(entry, "exports", num_exports);
	add_number(entry, "imports", num_imports);
	json_object_array_add(listing->list, entry);
}

static void add_import(void *arg, uint32_t importer, uint32_t exporter, const struct sim_region *region,
		       const char *path, const char *reason)
{
	struct listing *listing = arg;
	json_object *entry = json_object_new_object();

	add_number(entry, "importer", shown_peer(listing->daemon, importer));
	add_number(entry, "exporter", shown_peer(listing->daemon, exporter));
	add_number(entry, "bytes", region->len_bytes);
	json_object_object_add(entry, "writable", json_object_new_boolean(region->access & SIM_ACCESS_WRITE));
	add_text(entry, "path", path);
	add_text(entry, "reason", reason);
	json_object_array_add(listing->list, entry);
}

static void add_function(json_object *to, const char *name, const struct daemon *daemon, uint32_t function)
{
	char addr[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&daemon->topology->functions[function].addr, addr);
	add_text(to, name, addr);
}

static void add_service(void *arg, uint32_t peer, const struct sim_service *service)
{
	struct listing *listing = arg;
	json_object *entry = json_object_new_object();

	add_number(entry, "peer", peer);
	add_text(entry, "name", service->name);
	add_text(entry, "side", sim_card_peer(listing->daemon->card, peer)->side);
	add_function(entry, "function", listing->daemon, service->function);
	if (service->rep == SIM_NETWORK) {
		add_text(entry, "rep_side", "network");
		add_text(entry, "rep", "any");
	} else {
		add_text(entry, "rep_side", listing->daemon->topology->functions[service->rep].side);
		add_function(entry, "rep", listing->daemon, service->rep);
	}
	json_object_array_add(listing->list, entry);
}

static void add_channel(void *arg, const struct sim_channel_info *channel)
{
	static const char *const states[] = {
		[SIM_CHANNEL_PENDING] = "pending", [SIM_CHANNEL_OFFERED] = "offered", [SIM_CHANNEL_OPEN] = "open"
	};
	struct listing *listing = arg;
	json_object *entry = json_object_new_object();

	add_text(entry, "name", channel->name);
	add_text(entry, "state", states[channel->state]);
	add_number(entry, "client", channel->client.peer);
	add_text(entry, "client_side", sim_card_peer(listing->daemon->card, channel->client.peer)->side);
	add_function(entry, "client_function", listing->daemon, channel->rep);
	if (channel->state != SIM_CHANNEL_PENDING) {
		add_number(entry, "server", channel->server.peer);
		add_text(entry, "server_side", sim_card_peer(listing->daemon->card, channel->server.peer)->side);
		add_function(entry, "server_function", listing->daemon, channel->function);
	}
	json_object_array_add(listing->list, entry);
}

/* Why nobody knows of the other machines. */
static const char *why_no_gateway(const struct gateway *gateway)
{
	if (gateway->pid > 0)
		return "the gateway of this machine is being started";
	return gateway->restart_ms > 0 ? "the gateway of this machine has ended, and is started again" :
					 "the gateway of this machine has ended too often, and is not started again";
}

/* The machines of the topology, in place of what the gateway says. */
static json_object *list_unknown_machines(const struct daemon *daemon)
{
	json_object *list = json_object_new_array();
	char name[PCIE_SIDE_SIZE];

	for (uint32_t i = 0; pcie_topology_get_machine(daemon->topology, i, name); i++) {
		json_object *entry = json_object_new_object();

		add_text(entry, "name", name);
		add_text(entry, "state", i == daemon->machine_number ? "this machine" : "unknown");
		if (i != daemon->machine_number)
			add_text(entry, "why", why_no_gateway(&daemon->gateway));
		json_object_array_add(list, entry);
	}
	return list;
}

/* What the gateway says of a session over several machines. */
static void add_machines(const struct daemon *daemon, json_object *status)
{
	json_object *machines;

	if (!daemon->gateway.cfg)
		return;
	machines = daemon->gateway.status ? json_tokener_parse(daemon->gateway.status) : NULL;
	if (!machines) {
		machines = json_object_new_object();
		add_text(machines, "self", daemon->machine);
		add_text(machines, "role", daemon->gateway.cfg->join ? "joined" : "home");
		add_text(machines, "encryption", daemon->gateway.cfg->is_trusted ? "control alone" : "all");
		json_object_object_add(machines, "list", list_unknown_machines(daemon));
	}
	json_object_object_add(status, "machines", machines);
}

int daemon_status_fd(struct daemon *daemon)
{
	int fd = memfd_create("bfsim-status", MFD_CLOEXEC);
	json_object *status = json_object_new_object();
	struct listing peers = { daemon, json_object_new_array() }, imports = { daemon, json_object_new_array() };
	struct listing services = { daemon, json_object_new_array() }, channels = { daemon, json_object_new_array() };
	const char *text;
	int rc = fd;

	add_number(status, "pid", (uint64_t)getpid());
	add_text(status, "version", BFSIM_VERSION);
	add_text(status, "clock", sim_clock_mode_name(sim_clock_mode(daemon->clock)));
	json_object_object_add(status, "procmem", json_object_new_boolean(daemon->passes_memory));
	add_number(status, "time_ns", sim_shared_state_now_ns(sim_shared_state_of(&daemon->shared)));
	sim_card_each_peer(daemon->card, add_peer, &peers);
	sim_card_each_import(daemon->card, add_import, &imports);
	sim_services_each_service(daemon->services, add_service, &services);
	sim_services_each_channel(daemon->services, add_channel, &channels);
	json_object_object_add(status, "processes", peers.list);
	json_object_object_add(status, "imports", imports.list);
	json_object_object_add(status, "services", services.list);
	json_object_object_add(status, "channels", channels.list);
	add_machines(daemon, status);
	text = json_object_to_json_string_ext(status, JSON_C_TO_STRING_PRETTY);
	if (fd < 0)
		rc = -errno;
	else if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || lseek(fd, 0, SEEK_SET) < 0)
		rc = -EIO;
	json_object_put(status);
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc;
}
