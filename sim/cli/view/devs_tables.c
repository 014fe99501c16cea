/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a topology as tables. Each card has several, so that lines fit a terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "devs.h"
#include "func_text.h"
#include "sim/cli/base/table.h"

struct view {
	const struct pcie_topology *topology;
	const struct cli_live *live;
	const char *side; /* NULL = all */
};

typedef void add_row(struct cli_table *table, const struct view *view, const struct pcie_function *function);

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static void add_address(struct cli_table *table, const struct pcie_function *function)
{
	char address[CLI_FUNC_ADDRESS_SIZE];

	cli_func_address(function, address);
	cli_table_add(table, "%s", function->side);
	cli_table_add(table, "%s", address);
}

static bool is_shown(const struct view *view, uint32_t card, const struct pcie_function *function)
{
	return function->card == card && (!view->side || strcmp(function->side, view->side) == 0);
}

/* Whether the session changed a function of the card that is shown. */
static bool is_changed_card(const struct view *view, uint32_t card)
{
	for (size_t i = 0; i < view->topology->num_functions; i++) {
		const struct pcie_function *function = &view->topology->functions[i];

		if (is_shown(view, card, function) && cli_live_function_mark(view->live, function)[0])
			return true;
	}
	return false;
}

/* STATE is there if a function changed. */
static const char *const network_headings[] = { "SIDE", "ADDRESS", "TYPE", "IBDEV", "IFACE",
						"MAC",  "IPV4",    ">MTU", ">RATE", "STATE" };

static void add_network(struct cli_table *table, const struct view *view, const struct pcie_function *function)
{
	char mac[CLI_MAC_SIZE], ipv4[CLI_IP_SIZE], rate[CLI_RATE_SIZE];
	const char *mark = cli_live_function_mark(view->live, function);

	cli_func_mac(function, mac);
	cli_func_ipv4(function, ipv4);
	cli_func_rate(function, rate);
	add_address(table, function);
	cli_table_add(table, "%s", cli_func_type(function));
	cli_table_add(table, "%s", function->ibdev);
	cli_table_add(table, "%s", or_dash(function->iface));
	cli_table_add(table, "%s", mac);
	cli_table_add(table, "%s", or_dash(ipv4));
	cli_table_add(table, "%" PRIu32, function->mtu);
	cli_table_add(table, "%s", rate);
	if (is_changed_card(view, function->card))
		cli_table_add(table, "%s", mark[0] ? mark : "works");
}

static bool has_sf(const struct view *view, uint32_t card)
{
	for (size_t i = 0; i < view->topology->num_functions; i++) {
		const struct pcie_function *function = &view->topology->functions[i];

		if (is_shown(view, card, function) && function->type == PCIE_FUNC_SF)
			return true;
	}
	return false;
}

/* AUX DEVICE is there if the card has SFs. */
static const char *const identity_headings[] = { "SIDE", "ADDRESS", ">VHCA", "IPV6", "VUID", "AUX DEVICE" };

static void add_identity(struct cli_table *table, const struct view *view, const struct pcie_function *function)
{
	char ipv6[CLI_IP_SIZE];

	cli_func_ipv6(function, ipv6);
	add_address(table, function);
	cli_table_add(table, "%u", function->vhca_id);
	cli_table_add(table, "%s", ipv6);
	cli_table_add(table, "%s", or_dash(function->vuid));
	if (function->type == PCIE_FUNC_SF)
		cli_table_add(table, "mlx5_core.sf.%" PRIu32, function->aux_index);
	else if (has_sf(view, function->card))
		cli_table_add(table, "-");
}

static const char *const capability_headings[] = { "SIDE",  "ADDRESS", "DMA",    ">MAX COPY",
						   ">LIST", ">TASKS",  "EXPORT", "IMPORT" };

static const char *yes_no(bool value)
{
	return value ? "yes" : "no";
}

static void add_capabilities(struct cli_table *table, const struct view *view, const struct pcie_function *function)
{
	const struct pcie_caps *caps = &function->caps;
	char bytes[CLI_RATE_SIZE];

	(void)view;
	cli_iec_bytes_text(caps->dma_max_buf_bytes, bytes);
	add_address(table, function);
	cli_table_add(table, "%s", yes_no(caps->dma_memcpy));
	cli_table_add(table, "%s", bytes);
	cli_table_add(table, "%" PRIu32, caps->dma_max_list_len);
	cli_table_add(table, "%" PRIu32, caps->dma_max_tasks);
	cli_table_add(table, "%s", yes_no(caps->mmap_export_pci));
	cli_table_add(table, "%s", yes_no(caps->mmap_from_export_pci));
}

static const char *const accel_headings[] = {
	"SIDE", "ADDRESS", "ENGINE", ">MAX SIZE", ">LIST", ">TASKS", ">MODEL RATE"
};

/* "200 Gb/s at x8": a rate that was measured with fewer lanes than the card may have is a lower bound. */
static void rate_text(const struct pcie_accel_caps *caps, char text[CLI_RATE_SIZE])
{
	size_t len;

	cli_bps_text(caps->rate_bps, text);
	len = strlen(text);
	if (caps->measured_lanes)
		snprintf(text + len, CLI_RATE_SIZE - len, " at x%" PRIu32, caps->measured_lanes);
}

static void add_accels(struct cli_table *table, const struct view *view, const struct pcie_function *function)
{
	char bytes[CLI_RATE_SIZE], rate[CLI_RATE_SIZE];

	(void)view;
	for (enum pcie_accel accel = 0; accel < PCIE_NUM_ACCELS; accel++) {
		const struct pcie_accel_caps *caps = &function->caps.accel[accel];

		if (!caps->is_supported)
			continue;
		cli_iec_bytes_text(caps->max_buf_bytes, bytes);
		add_address(table, function);
		cli_table_add(table, "%s", pcie_accel_name(accel));
		cli_table_add(table, "%s", bytes);
		cli_table_add(table, "%" PRIu32, caps->max_list_len);
		cli_table_add(table, "%" PRIu32, caps->max_tasks);
		rate_text(caps, rate);
		cli_table_add(table, "%s", caps->rate_bps ? rate : "not measured");
	}
}

static const char *const comch_headings[] = { "SIDE",   "ADDRESS",  "COMCH",         ">MAX MESSAGE",
					      ">SENDS", ">CLIENTS", ">FAST MESSAGE", ">TASKS" };

static const char *comch_text(const struct pcie_caps *caps)
{
	if (caps->comch_server)
		return caps->comch_client ? "server, client" : "server";
	return caps->comch_client ? "client" : "no";
}

static void add_comch(struct cli_table *table, const struct view *view, const struct pcie_function *function)
{
	const struct pcie_caps *caps = &function->caps;
	char msg_bytes[CLI_RATE_SIZE], buf_bytes[CLI_RATE_SIZE];

	(void)view;
	cli_iec_bytes_text(caps->comch_max_msg_bytes, msg_bytes);
	cli_iec_bytes_text(caps->comch_max_buf_bytes, buf_bytes);
	add_address(table, function);
	cli_table_add(table, "%s", comch_text(caps));
	cli_table_add(table, "%s", msg_bytes);
	cli_table_add(table, "%" PRIu32, caps->comch_max_send_tasks);
	cli_table_add(table, "%" PRIu32, caps->comch_max_clients);
	cli_table_add(table, "%s", buf_bytes);
	cli_table_add(table, "%" PRIu32, caps->comch_max_fast_tasks);
}

static const char *const representor_headings[] = { "SIDE", "ADDRESS", "REPRESENTS", "REP IFACE" };

static void add_representors(struct cli_table *table, const struct view *view, const struct pcie_function *function)
{
	for (size_t i = 0; i < function->num_reps; i++) {
		const struct pcie_function *other = &view->topology->functions[function->reps[i]];
		char address[CLI_FUNC_ADDRESS_SIZE];

		cli_func_address(other, address);
		add_address(table, function);
		cli_table_add(table, "%s/%s", other->side, address);
		cli_table_add(table, "%s", or_dash(other->rep_iface));
	}
}

/* Print a table with the rows that @add appends for each function. Print nothing without rows. */
static int print_table(const struct view *view, uint32_t card, struct cli_table table, add_row *add)
{
	for (size_t i = 0; i < view->topology->num_functions; i++) {
		if (is_shown(view, card, &view->topology->functions[i]))
			add(&table, view, &view->topology->functions[i]);
	}
	if (table.num_cells == 0 && !table.failed)
		return 0;
	printf("\n");
	return cli_table_print(&table);
}

static bool shows_card(const struct view *view, uint32_t card)
{
	for (size_t i = 0; i < view->topology->num_functions; i++) {
		if (is_shown(view, card, &view->topology->functions[i]))
			return true;
	}
	return false;
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
	struct cli_table network = CLI_TABLE(network_headings);
	struct cli_table identity = CLI_TABLE(identity_headings);
	struct cli_table capabilities = CLI_TABLE(capability_headings);
	struct cli_table accels = CLI_TABLE(accel_headings);
	struct cli_table comch = CLI_TABLE(comch_headings);
	struct cli_table representors = CLI_TABLE(representor_headings);

	if (!is_changed_card(view, card))
		network.num_columns--;
	if (!has_sf(view, card))
		identity.num_columns--;
	print_head(view, card);
	if (print_table(view, card, network, add_network) < 0 || print_table(view, card, identity, add_identity) < 0 ||
	    print_table(view, card, capabilities, add_capabilities) < 0 ||
	    print_table(view, card, accels, add_accels) < 0 || print_table(view, card, comch, add_comch) < 0)
		return -1;
	return print_table(view, card, representors, add_representors);
}

/* The sides that the file describes. */
static void print_sides(const struct pcie_topology *topology, const char *side)
{
	char bytes[CLI_RATE_SIZE];

	for (size_t i = 0; i < topology->num_sides; i++) {
		if (side && strcmp(topology->sides[i].name, side) != 0)
			continue;
		cli_iec_bytes_text(topology->sides[i].page_bytes, bytes);
		printf("\nside %s: memory pages of %s\n", topology->sides[i].name, bytes);
	}
}

int cli_devs_print_tables(const struct pcie_topology *topology, const struct cli_live *live, const char *side)
{
	const struct view view = { topology, live, side };
	const char *gap = "";

	for (uint32_t card = 0; card < topology->num_cards; card++) {
		if (!shows_card(&view, card))
			continue;
		fputs(gap, stdout);
		gap = "\n";
		if (print_card(&view, card) < 0)
			return -1;
	}
	print_sides(topology, side);
	return 0;
}
