/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a topology, as tables and as JSON. Each card has several tables, so that lines fit a terminal. */
#include "devs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "devs_network.h"
#include "func_text.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/table.h"

struct view {
	const struct pcie_topology *topology;
	const struct cli_live *live;
	const char *side; /* NULL = all */
};

/* ---- what is shown ---- */

/* A function, with what both forms say in words. */
struct dev {
	struct pcie_function function;
	const char *type, *link_layer;
	const char *state, *mark; /* in words for programs, and for people: "works" if nothing changed it */
	const char *comch;        /* its kind of endpoints */
	char pci[PCIE_ADDR_TEXT_SIZE], address[CLI_FUNC_ADDRESS_SIZE], aux_device[32];
	char mac[CLI_MAC_SIZE], ipv4_text[CLI_IP_SIZE], ipv6[CLI_IP_SIZE];
	const char *ipv4; /* NULL = none */
	const char *net_link;
	struct cli_live_net net;
};

#define DEV(member, key, heading)             CLI_FIELD(struct dev, member, key, heading)
#define DEV_SHOWN(member, key, heading, show) CLI_SHOWN(struct dev, member, key, heading, show)
#define CAP(member, key, heading)             CLI_FIELD(struct dev, function.caps.member, key, heading)
#define CAP_SHOWN(member, key, heading)       CLI_SHOWN(struct dev, function.caps.member, key, heading, cli_iec_bytes_text)
#define ACCEL(member, key, heading, show)     CLI_SHOWN(struct accel, caps.member, key, heading, show)

static const struct cli_field id_fields[] = { DEV(function.id, "id", NULL), { 0 } };

static const struct cli_field address_fields[] = {
	DEV(function.side, "side", "SIDE"), DEV(pci, "pci", NULL), DEV(address, NULL, "ADDRESS"), { 0 }
};

static const struct cli_field sf_fields[] = { DEV(function.sf_index, "sf-index", NULL),
					      DEV(function.aux_index, "aux-index", NULL),
					      { 0 } };

static const struct cli_field dev_fields[] = {
	DEV(type, "type", "TYPE"),
	DEV(state, "state", NULL),
	DEV(function.parent, "parent", NULL),
	DEV(function.ibdev, "ibdev", "IBDEV"),
	DEV(function.iface, "iface", "IFACE"),
	DEV(function.rep_iface, "rep-iface", NULL),
	DEV(link_layer, "link-layer", NULL),
	DEV(mac, "mac", "MAC"),
	DEV(ipv4, "ipv4", "IPV4"),
	DEV(ipv6, "ipv6", "IPV6"),
	DEV(function.lid, "lid", NULL),
	DEV(function.mtu, "mtu", ">MTU"),
	DEV_SHOWN(function.active_rate_bps, "active-rate-bps", ">RATE", cli_bps_text),
	DEV(function.vuid, "vuid", "VUID"),
	DEV(function.vhca_id, "vhca-id", ">VHCA"),
	DEV(function.hotplug, "hotplug", NULL),
	DEV(net_link, "net-link", NULL),
	DEV(net.up_in_ns, "net-link-up-in-ns", NULL),
	DEV(net.slow.delay_ns, "net-link-added-delay-ns", NULL),
	DEV(net.slow.rate, "net-link-max-bytes-per-s", NULL),
	DEV(mark, NULL, "STATE"),
	DEV(aux_device, NULL, "AUX DEVICE"),
	{ 0 },
};

/* Capabilities have the names of topology files. */
static const struct cli_field dma_fields[] = {
	CAP(dma_memcpy, "dma-memcpy", "DMA"),
	CAP_SHOWN(dma_max_buf_bytes, "dma-max-buf-bytes", ">MAX COPY"),
	CAP(dma_max_list_len, "dma-max-list-len", ">LIST"),
	CAP(dma_max_tasks, "dma-max-tasks", ">TASKS"),
	{ 0 },
};

static const struct cli_field comch_fields[] = {
	CAP(comch_server, "comch-server", NULL),
	CAP(comch_client, "comch-client", NULL),
	DEV(comch, NULL, "COMCH"),
	CAP(comch_max_name_len, "comch-max-name-len", NULL),
	CAP_SHOWN(comch_max_msg_bytes, "comch-max-msg-bytes", ">MAX MESSAGE"),
	CAP(comch_max_recv_queue, "comch-max-recv-queue", NULL),
	CAP(comch_max_send_tasks, "comch-max-send-tasks", ">SENDS"),
	CAP(comch_max_clients, "comch-max-clients", ">CLIENTS"),
	CAP(comch_max_fast_tasks, "comch-max-fast-tasks", ">TASKS"),
	CAP_SHOWN(comch_max_buf_bytes, "comch-max-buf-bytes", ">FAST MESSAGE"),
	CAP(comch_max_imm_bytes, "comch-max-imm-bytes", NULL),
	CAP(comch_max_consumers, "comch-max-consumers", NULL),
	CAP(comch_max_producers, "comch-max-producers", NULL),
	{ 0 },
};

static const struct cli_field common_fields[] = {
	CAP(cache_invalidate, "cache-invalidate", NULL),
	CAP(cache_invalidate_max_buf_bytes, "cache-invalidate-max-buf-bytes", NULL),
	CAP(mmap_export_pci, "mmap-export-pci", "EXPORT"),
	CAP(mmap_from_export_pci, "mmap-from-export-pci", "IMPORT"),
	CAP(sync_event_export_pci, "sync-event-export-pci", NULL),
	CAP(sync_event_from_export_pci, "sync-event-from-export-pci", NULL),
	CAP(rep_filter_all, "rep-filter-all", NULL),
	CAP(rep_filter_net, "rep-filter-net", NULL),
	CAP(rep_filter_emulated, "rep-filter-emulated", NULL),
	CAP(hotplug_manager, "hotplug-manager", NULL),
	CAP(notification_moderation, "notification-moderation", NULL),
	CAP(accelerate_resource_reclaim, "accelerate-resource-reclaim", NULL),
	CAP(num_completion_vectors, "num-completion-vectors", NULL),
	CAP(max_mmap_devices, "max-mmap-devices", NULL),
	{ 0 },
};

static const char *comch_text(const struct pcie_caps *caps)
{
	if (caps->comch_server)
		return caps->comch_client ? "server, client" : "server";
	return caps->comch_client ? "client" : "no";
}

static void describe(const struct view *view, const struct pcie_function *function, struct dev *ret_dev)
{
	const char *mark = cli_live_function_mark(view->live, function);

	*ret_dev = (struct dev){ .function = *function,
				 .type = cli_func_type(function),
				 .link_layer = cli_func_link_layer(function),
				 .state = cli_live_function(view->live, function),
				 .mark = mark[0] ? mark : "works",
				 .comch = comch_text(&function->caps),
				 .ipv4 = function->has_ipv4 ? ret_dev->ipv4_text : NULL,
				 .net = cli_live_net(view->live, function) };
	ret_dev->net_link = ret_dev->net.up_in_ns > 0 ? "down" : "up";
	pcie_addr_format(&function->addr, ret_dev->pci);
	cli_func_address(function, ret_dev->address);
	cli_func_mac(function, ret_dev->mac);
	cli_func_ipv4(function, ret_dev->ipv4_text);
	cli_func_ipv6(function, ret_dev->ipv6);
	if (function->type == PCIE_FUNC_SF)
		snprintf(ret_dev->aux_device, sizeof(ret_dev->aux_device), "mlx5_core.sf.%" PRIu32,
			 function->aux_index);
}

/* An engine besides DMA. Keys are behind its name. */
struct accel {
	struct pcie_accel_caps caps;
	const char *name;
	char rate[CLI_RATE_SIZE];
};

static const struct cli_field accel_fields[] = {
	CLI_FIELD(struct accel, name, NULL, "ENGINE"),
	ACCEL(is_supported, "", NULL, NULL),
	ACCEL(max_buf_bytes, "-max-buf-bytes", ">MAX SIZE", cli_iec_bytes_text),
	ACCEL(max_list_len, "-max-list-len", ">LIST", NULL),
	ACCEL(max_tasks, "-max-tasks", ">TASKS", NULL),
	ACCEL(rate_bps, "-rate", NULL, NULL),
	CLI_FIELD(struct accel, rate, NULL, ">MODEL RATE"),
	ACCEL(measured_lanes, "-rate-measured-lanes", NULL, NULL),
	ACCEL(task_ns, "-task-ns", NULL, NULL),
	{ 0 },
};

/* "200 Gb/s at x8": a rate that was measured with fewer lanes than the card may have is a lower bound. */
static struct accel describe_accel(const struct pcie_caps *caps, enum pcie_accel number)
{
	struct accel accel = { .caps = caps->accel[number], .name = pcie_accel_name(number), .rate = "not measured" };
	size_t len;

	if (accel.caps.rate_bps == 0)
		return accel;
	cli_bps_text(accel.caps.rate_bps, accel.rate);
	len = strlen(accel.rate);
	if (accel.caps.measured_lanes)
		snprintf(accel.rate + len, CLI_RATE_SIZE - len, " at x%" PRIu32, accel.caps.measured_lanes);
	return accel;
}

static bool is_shown(const struct view *view, uint32_t card, const struct pcie_function *function)
{
	return function->card == card && (!view->side || strcmp(function->side, view->side) == 0);
}

static bool is_changed(const struct view *view, const struct pcie_function *function)
{
	return cli_live_function_mark(view->live, function)[0];
}

static bool is_sf(const struct view *view, const struct pcie_function *function)
{
	(void)view;
	return function->type == PCIE_FUNC_SF;
}

/* Whether a function of the card that is shown is such a one; NULL = any. */
static bool has(const struct view *view, uint32_t card,
		bool is_one(const struct view *view, const struct pcie_function *function))
{
	for (size_t i = 0; i < view->topology->num_functions; i++) {
		const struct pcie_function *function = &view->topology->functions[i];

		if (is_shown(view, card, function) && (!is_one || is_one(view, function)))
			return true;
	}
	return false;
}

/* ---- tables ---- */

/* A table: a row of these fields for each function, or the rows that @add appends. */
struct dev_table {
	struct cli_table table;
	const struct cli_field *fields[3];
	void (*add)(struct cli_table *table, const struct view *view, const struct dev *dev);
};

static void add_accels(struct cli_table *table, const struct view *view, const struct dev *dev)
{
	(void)view;
	for (enum pcie_accel i = 0; i < PCIE_NUM_ACCELS; i++) {
		struct accel accel = describe_accel(&dev->function.caps, i);

		if (!accel.caps.is_supported)
			continue;
		cli_table_add_cells(table, address_fields, dev);
		cli_table_add_cells(table, accel_fields, &accel);
	}
}

static void add_reps(struct cli_table *table, const struct view *view, const struct dev *dev)
{
	for (size_t i = 0; i < dev->function.num_reps; i++) {
		const struct pcie_function *other = &view->topology->functions[dev->function.reps[i]];
		char address[CLI_FUNC_ADDRESS_SIZE];

		cli_func_address(other, address);
		cli_table_add_cells(table, address_fields, dev);
		cli_table_add(table, "%s/%s", other->side, address);
		cli_table_add(table, "%s", other->rep_iface[0] ? other->rep_iface : "-");
	}
}

/* Nothing without rows. */
static int print_table(const struct view *view, uint32_t card, struct dev_table *table)
{
	for (size_t i = 0; i < view->topology->num_functions; i++) {
		const struct pcie_function *function = &view->topology->functions[i];
		struct dev dev;

		if (!is_shown(view, card, function))
			continue;
		describe(view, function, &dev);
		for (size_t j = 0; j < 3 && table->fields[j]; j++)
			cli_table_add_cells(&table->table, table->fields[j], &dev);
		if (table->add)
			table->add(&table->table, view, &dev);
	}
	if (table->table.num_cells == 0 && !table->table.failed)
		return 0;
	printf("\n");
	return cli_table_print(&table->table);
}

static void print_head(const struct view *view, uint32_t card)
{
	const struct pcie_card *shown = &view->topology->cards[card];
	char mark[CLI_LIVE_TEXT_SIZE];

	cli_live_link_mark(view->live, view->topology, card, mark);
	printf("%s: %s; mode %s%s%s\n", shown->name, shown->profile->description, pcie_mode_name(shown->mode),
	       mark[0] ? "; " : "", mark);
	if (shown->num_hidden)
		printf("mode %s leaves out functions of the topology file, %" PRIu32 " in all: %s\n",
		       pcie_mode_name(shown->mode), shown->num_hidden, pcie_mode_hiding_reason(shown->mode));
}

static int print_card(const struct view *view, uint32_t card)
{
	/* STATE is there if a function changed, AUX DEVICE if the card has SFs. */
	static const char *const network[] = { "SIDE", "ADDRESS", "TYPE", "IBDEV", "IFACE",
					       "MAC",  "IPV4",    ">MTU", ">RATE", "STATE" };
	static const char *const identity[] = { "SIDE", "ADDRESS", ">VHCA", "IPV6", "VUID", "AUX DEVICE" };
	static const char *const capabilities[] = { "SIDE",  "ADDRESS", "DMA",    ">MAX COPY",
						    ">LIST", ">TASKS",  "EXPORT", "IMPORT" };
	static const char *const accels[] = {
		"SIDE", "ADDRESS", "ENGINE", ">MAX SIZE", ">LIST", ">TASKS", ">MODEL RATE"
	};
	static const char *const comch[] = { "SIDE",   "ADDRESS",  "COMCH",         ">MAX MESSAGE",
					     ">SENDS", ">CLIENTS", ">FAST MESSAGE", ">TASKS" };
	static const char *const reps[] = { "SIDE", "ADDRESS", "REPRESENTS", "REP IFACE" };
	struct dev_table tables[] = { { CLI_TABLE(network), { address_fields, dev_fields }, NULL },
				      { CLI_TABLE(identity), { address_fields, dev_fields }, NULL },
				      { CLI_TABLE(capabilities), { address_fields, dma_fields, common_fields }, NULL },
				      { CLI_TABLE(accels), { NULL }, add_accels },
				      { CLI_TABLE(comch), { address_fields, comch_fields }, NULL },
				      { CLI_TABLE(reps), { NULL }, add_reps } };

	tables[0].table.num_columns -= !has(view, card, is_changed);
	tables[1].table.num_columns -= !has(view, card, is_sf);
	print_head(view, card);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (print_table(view, card, &tables[i]) < 0)
			return -1;
	return 0;
}

/* The sides that the file describes. */
static void print_sides(const struct view *view)
{
	char bytes[CLI_RATE_SIZE];

	for (size_t i = 0; i < view->topology->num_sides; i++) {
		const struct pcie_side *side = &view->topology->sides[i];

		if (view->side && strcmp(side->name, view->side) != 0)
			continue;
		cli_iec_bytes_text(side->page_bytes, bytes);
		printf("\nside %s: memory pages of %s\n", side->name, bytes);
	}
}

int cli_devs_print_tables(const struct pcie_topology *topology, const struct cli_live *live, const char *side)
{
	const struct view view = { topology, live, side };
	const char *gap = "";

	for (uint32_t card = 0; card < topology->num_cards; card++) {
		if (!has(&view, card, NULL))
			continue;
		fputs(gap, stdout);
		gap = "\n";
		if (print_card(&view, card) < 0)
			return -1;
	}
	print_sides(&view);
	return side ? 0 : cli_devs_print_network(topology, live);
}

/* ---- JSON ---- */

static void add_accel_json(json_object *to, const struct accel *accel)
{
	json_object *fields = cli_json_of_fields(accel_fields, accel);
	char name[64];

	if (accel->caps.measured_lanes == 0)
		json_object_object_del(fields, "-rate-measured-lanes");
	json_object_object_foreach(fields, key, value)
	{
		snprintf(name, sizeof(name), "%s%s", accel->name, key);
		json_object_object_add(to, name, json_object_get(value));
	}
	json_object_put(fields);
}

static json_object *caps_json(const struct dev *dev)
{
	json_object *json = cli_json_of_fields(dma_fields, dev);

	for (enum pcie_accel i = 0; i < PCIE_NUM_ACCELS; i++) {
		struct accel accel = describe_accel(&dev->function.caps, i);

		add_accel_json(json, &accel);
	}
	cli_json_add_fields(json, comch_fields, dev);
	cli_json_add_fields(json, common_fields, dev);
	return json;
}

/* A function's number and addresses. */
static json_object *address_json(const struct dev *dev)
{
	json_object *json = cli_json_of_fields(id_fields, dev);

	cli_json_add_fields(json, address_fields, dev);
	if (dev->function.type == PCIE_FUNC_SF)
		cli_json_add_fields(json, sf_fields, dev);
	return json;
}

static json_object *reps_json(const struct view *view, const struct pcie_function *function)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < function->num_reps; i++) {
		const struct pcie_function *other = &view->topology->functions[function->reps[i]];
		json_object *json;
		struct dev dev;

		describe(view, other, &dev);
		json = address_json(&dev);
		cli_json_add_text(json, "rep-iface", other->rep_iface);
		cli_json_add_text(json, "state", cli_live_rep(view->live, other));
		json_object_array_add(list, json);
	}
	return list;
}

static json_object *function_json(const struct view *view, const struct pcie_function *function)
{
	json_object *json;
	struct dev dev;

	describe(view, function, &dev);
	json = address_json(&dev);
	cli_json_add_fields(json, dev_fields, &dev);
	json_object_object_add(json, "caps", caps_json(&dev));
	json_object_object_add(json, "represents", reps_json(view, function));
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

static json_object *card_json(const struct view *view, uint32_t number)
{
	const struct cli_live_link link = cli_live_link(view->live, view->topology, number);
	const struct pcie_card *card = &view->topology->cards[number];
	json_object *json = json_object_new_object(), *functions = json_object_new_array();

	cli_json_add_text(json, "name", card->name);
	cli_json_add_text(json, "profile", card->profile->name);
	cli_json_add_text(json, "mode", pcie_mode_name(card->mode));
	cli_json_add_number(json, "num-hidden", card->num_hidden);
	cli_json_add_text(json, "description", card->profile->description);
	cli_json_add_number(json, "vendor-id", card->profile->vendor_id);
	cli_json_add_number(json, "device-id", card->profile->device_id);
	cli_json_add_number(json, "pcie-generation", card->link.generation);
	cli_json_add_number(json, "pcie-lanes", card->link.lanes);
	json_object_object_add(json, "link", link_json(&link));
	for (size_t i = 0; i < view->topology->num_functions; i++)
		if (is_shown(view, number, &view->topology->functions[i]))
			json_object_array_add(functions, function_json(view, &view->topology->functions[i]));
	json_object_object_add(json, "functions", functions);
	return json;
}

/* The sides that the file describes. */
static json_object *sides_json(const struct view *view)
{
	static const struct cli_field fields[] = { CLI_FIELD(struct pcie_side, name, "name", NULL),
						   CLI_FIELD(struct pcie_side, page_bytes, "page-size", NULL),
						   { 0 } };
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < view->topology->num_sides; i++)
		if (!view->side || strcmp(view->topology->sides[i].name, view->side) == 0)
			json_object_array_add(list, cli_json_of_fields(fields, &view->topology->sides[i]));
	return list;
}

int cli_devs_print_json(const struct pcie_topology *topology, const struct cli_live *live, const char *side,
			const char *source)
{
	const struct view view = { topology, live, side };
	json_object *json = json_object_new_object(), *cards = json_object_new_array();

	cli_json_add_text(json, "source", source);
	for (uint32_t card = 0; card < topology->num_cards; card++)
		json_object_array_add(cards, card_json(&view, card));
	json_object_object_add(json, "cards", cards);
	json_object_object_add(json, "sides", sides_json(&view));
	if (topology->network.is_given && !side)
		json_object_object_add(json, "network", cli_devs_network_json(topology, live));
	return cli_json_print(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}
