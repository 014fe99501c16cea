/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a topology as JSON, for bfsim devs --json. */
#include <stdio.h>
#include <string.h>

#include "devs.h"
#include "func_text.h"
#include "sim/cli/base/json.h"

/* The limits of the engines besides DMA. */
static void add_accels(json_object *to, const struct pcie_caps *caps)
{
	char key[64];

	for (enum pcie_accel accel = 0; accel < PCIE_NUM_ACCELS; accel++) {
		const char *name = pcie_accel_name(accel);

		cli_json_add_bool(to, name, caps->accel[accel].is_supported);
		snprintf(key, sizeof(key), "%s-max-buf-bytes", name);
		cli_json_add_number(to, key, caps->accel[accel].max_buf_bytes);
		snprintf(key, sizeof(key), "%s-max-list-len", name);
		cli_json_add_number(to, key, caps->accel[accel].max_list_len);
		snprintf(key, sizeof(key), "%s-max-tasks", name);
		cli_json_add_number(to, key, caps->accel[accel].max_tasks);
		snprintf(key, sizeof(key), "%s-rate", name);
		cli_json_add_number(to, key, caps->accel[accel].rate_bps);
		if (caps->accel[accel].measured_lanes) {
			snprintf(key, sizeof(key), "%s-rate-measured-lanes", name);
			cli_json_add_number(to, key, caps->accel[accel].measured_lanes);
		}
		snprintf(key, sizeof(key), "%s-task-ns", name);
		cli_json_add_number(to, key, caps->accel[accel].task_ns);
	}
}

/* The names are those of topology files. */
static json_object *caps_json(const struct pcie_caps *caps)
{
	json_object *json = json_object_new_object();

	cli_json_add_bool(json, "dma-memcpy", caps->dma_memcpy);
	cli_json_add_number(json, "dma-max-buf-bytes", caps->dma_max_buf_bytes);
	cli_json_add_number(json, "dma-max-list-len", caps->dma_max_list_len);
	cli_json_add_number(json, "dma-max-tasks", caps->dma_max_tasks);
	add_accels(json, caps);
	cli_json_add_bool(json, "comch-server", caps->comch_server);
	cli_json_add_bool(json, "comch-client", caps->comch_client);
	cli_json_add_number(json, "comch-max-name-len", caps->comch_max_name_len);
	cli_json_add_number(json, "comch-max-msg-bytes", caps->comch_max_msg_bytes);
	cli_json_add_number(json, "comch-max-recv-queue", caps->comch_max_recv_queue);
	cli_json_add_number(json, "comch-max-send-tasks", caps->comch_max_send_tasks);
	cli_json_add_number(json, "comch-max-clients", caps->comch_max_clients);
	cli_json_add_number(json, "comch-max-fast-tasks", caps->comch_max_fast_tasks);
	cli_json_add_number(json, "comch-max-buf-bytes", caps->comch_max_buf_bytes);
	cli_json_add_number(json, "comch-max-imm-bytes", caps->comch_max_imm_bytes);
	cli_json_add_number(json, "comch-max-consumers", caps->comch_max_consumers);
	cli_json_add_number(json, "comch-max-producers", caps->comch_max_producers);
	cli_json_add_bool(json, "cache-invalidate", caps->cache_invalidate);
	cli_json_add_number(json, "cache-invalidate-max-buf-bytes", caps->cache_invalidate_max_buf_bytes);
	cli_json_add_bool(json, "mmap-export-pci", caps->mmap_export_pci);
	cli_json_add_bool(json, "mmap-from-export-pci", caps->mmap_from_export_pci);
	cli_json_add_bool(json, "sync-event-export-pci", caps->sync_event_export_pci);
	cli_json_add_bool(json, "sync-event-from-export-pci", caps->sync_event_from_export_pci);
	cli_json_add_bool(json, "rep-filter-all", caps->rep_filter_all);
	cli_json_add_bool(json, "rep-filter-net", caps->rep_filter_net);
	cli_json_add_bool(json, "rep-filter-emulated", caps->rep_filter_emulated);
	cli_json_add_bool(json, "hotplug-manager", caps->hotplug_manager);
	cli_json_add_bool(json, "notification-moderation", caps->notification_moderation);
	cli_json_add_bool(json, "accelerate-resource-reclaim", caps->accelerate_resource_reclaim);
	cli_json_add_number(json, "num-completion-vectors", caps->num_completion_vectors);
	cli_json_add_number(json, "max-mmap-devices", caps->max_mmap_devices);
	return json;
}

static void add_address(json_object *to, const struct pcie_function *function)
{
	char addr[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, addr);
	cli_json_add_text(to, "side", function->side);
	cli_json_add_text(to, "pci", addr);
	if (function->type == PCIE_FUNC_SF) {
		cli_json_add_number(to, "sf-index", function->sf_index);
		cli_json_add_number(to, "aux-index", function->aux_index);
	}
}

static json_object *reps_json(const struct pcie_topology *topology, const struct cli_live *live,
			      const struct pcie_function *function)
{
	json_object *json = json_object_new_array();

	for (size_t i = 0; i < function->num_reps; i++) {
		const struct pcie_function *other = &topology->functions[function->reps[i]];
		json_object *rep = json_object_new_object();

		cli_json_add_number(rep, "id", other->id);
		add_address(rep, other);
		cli_json_add_text(rep, "rep-iface", other->rep_iface);
		cli_json_add_text(rep, "state", cli_live_rep(live, other));
		json_object_array_add(json, rep);
	}
	return json;
}

static void add_network(json_object *to, const struct pcie_function *function)
{
	char mac[CLI_MAC_SIZE], ipv4[CLI_IP_SIZE], ipv6[CLI_IP_SIZE];

	cli_func_mac(function, mac);
	cli_func_ipv4(function, ipv4);
	cli_func_ipv6(function, ipv6);
	cli_json_add_text(to, "link-layer", cli_func_link_layer(function));
	cli_json_add_text(to, "mac", mac);
	cli_json_add_text(to, "ipv4", function->has_ipv4 ? ipv4 : NULL);
	cli_json_add_text(to, "ipv6", ipv6);
	cli_json_add_number(to, "lid", function->lid);
	cli_json_add_number(to, "mtu", function->mtu);
	cli_json_add_number(to, "active-rate-bps", function->active_rate_bps);
}

static json_object *function_json(const struct pcie_topology *topology, const struct cli_live *live,
				  const struct pcie_function *function)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "id", function->id);
	add_address(json, function);
	cli_json_add_text(json, "type", cli_func_type(function));
	cli_json_add_text(json, "state", cli_live_function(live, function));
	cli_json_add_number(json, "parent", function->parent);
	cli_json_add_text(json, "ibdev", function->ibdev);
	cli_json_add_text(json, "iface", function->iface);
	cli_json_add_text(json, "rep-iface", function->rep_iface);
	add_network(json, function);
	cli_json_add_text(json, "vuid", function->vuid);
	cli_json_add_number(json, "vhca-id", function->vhca_id);
	cli_json_add_bool(json, "hotplug", function->hotplug);
	json_object_object_add(json, "caps", caps_json(&function->caps));
	json_object_object_add(json, "represents", reps_json(topology, live, function));
	return json;
}

/* As it runs now; "up-in-ns" of a link that is down. */
static json_object *link_json(const struct cli_live_link *state)
{
	json_object *json = json_object_new_object();

	cli_json_add_text(json, "state", state->is_down ? "down" : "up");
	cli_json_add_number(json, "up-in-ns", state->up_in_ns);
	cli_json_add_number(json, "generation", state->link.generation);
	cli_json_add_number(json, "lanes", state->link.lanes);
	cli_json_add_number(json, "replayed-ppb", state->link.replay_ppb);
	return json;
}

static json_object *card_json(const struct pcie_topology *topology, const struct cli_live *live, uint32_t card,
			      const char *side)
{
	const struct cli_live_link link = cli_live_link(live, topology, card);
	const struct pcie_profile *profile = topology->cards[card].profile;
	json_object *json = json_object_new_object(), *functions = json_object_new_array();

	cli_json_add_text(json, "name", topology->cards[card].name);
	cli_json_add_text(json, "profile", profile->name);
	cli_json_add_text(json, "mode", pcie_mode_name(topology->cards[card].mode));
	cli_json_add_number(json, "num-hidden", topology->cards[card].num_hidden);
	cli_json_add_text(json, "description", profile->description);
	cli_json_add_number(json, "vendor-id", profile->vendor_id);
	cli_json_add_number(json, "device-id", profile->device_id);
	cli_json_add_number(json, "pcie-generation", topology->cards[card].link.generation);
	cli_json_add_number(json, "pcie-lanes", topology->cards[card].link.lanes);
	json_object_object_add(json, "link", link_json(&link));
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (function->card == card && (!side || strcmp(function->side, side) == 0))
			json_object_array_add(functions, function_json(topology, live, function));
	}
	json_object_object_add(json, "functions", functions);
	return json;
}

/* The sides that the file describes. */
static json_object *sides_json(const struct pcie_topology *topology, const char *side)
{
	json_object *json = json_object_new_array();

	for (size_t i = 0; i < topology->num_sides; i++) {
		json_object *entry;

		if (side && strcmp(topology->sides[i].name, side) != 0)
			continue;
		entry = json_object_new_object();
		cli_json_add_text(entry, "name", topology->sides[i].name);
		cli_json_add_number(entry, "page-size", topology->sides[i].page_bytes);
		json_object_array_add(json, entry);
	}
	return json;
}

int cli_devs_print_json(const struct pcie_topology *topology, const struct cli_live *live, const char *side,
			const char *source)
{
	json_object *json = json_object_new_object(), *cards = json_object_new_array();

	cli_json_add_text(json, "source", source);
	for (uint32_t card = 0; card < topology->num_cards; card++)
		json_object_array_add(cards, card_json(topology, live, card, side));
	json_object_object_add(json, "cards", cards);
	json_object_object_add(json, "sides", sides_json(topology, side));
	return cli_json_print(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}
