/* SPDX-License-Identifier: BSD-3-Clause */
/* The bandwidth of a link as a table, as CSV and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pcie_curve.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/table.h"

/* The bandwidths of one row as text. */
struct row {
	char write[CLI_GBPS_SIZE], read[CLI_GBPS_SIZE], mix[CLI_GBPS_SIZE];
};

void cli_gbps_format(uint64_t bps, char text[CLI_GBPS_SIZE])
{
	uint64_t units = (bps + 50000) / 100000; /* of 0.0001 Gb/s */

	snprintf(text, CLI_GBPS_SIZE, "%" PRIu64 ".%04" PRIu64, units / 10000, units % 10000);
}

/* For people: the model is not exact to more than that. */
static void format_for_people(uint64_t bps, char text[CLI_GBPS_SIZE])
{
	uint64_t units = (bps + 50000000) / 100000000; /* of 0.1 Gb/s */

	if (bps >= 10000000000)
		snprintf(text, CLI_GBPS_SIZE, "%" PRIu64 ".%" PRIu64, units / 10, units % 10);
	else
		snprintf(text, CLI_GBPS_SIZE, "%.2f", (double)bps / 1e9);
}

typedef void format_fn(uint64_t bps, char text[CLI_GBPS_SIZE]);

static struct row bandwidth_row(const struct pcie_link *link, uint64_t bytes, format_fn *format)
{
	struct pcie_bandwidth bandwidth;
	struct row row;

	pcie_link_bandwidth(link, bytes, &bandwidth);
	format(bandwidth.write_bps, row.write);
	format(bandwidth.read_bps, row.read);
	format(bandwidth.mix_bps, row.mix);
	return row;
}

static void print_link(const struct pcie_link *link)
{
	char line[CLI_GBPS_SIZE], tlp[CLI_GBPS_SIZE];

	format_for_people(pcie_link_line_bps(link), line);
	format_for_people(pcie_link_tlp_bps(link), tlp);
	printf("Gen%u x%u, MPS %u, MRRS %u, RCB %u: line %s Gb/s, %s for packets\n\n", link->generation, link->lanes,
	       link->mps_bytes, link->mrrs_bytes, link->rcb_bytes, line, tlp);
}

int cli_pcie_print_table(const struct pcie_link *link, const uint64_t *sizes, size_t num)
{
	static const char *const headings[] = { ">BYTES", ">WRITES Gb/s", ">READS Gb/s", ">MIX, EACH WAY Gb/s" };
	struct cli_table table = CLI_TABLE(headings);

	print_link(link);
	for (size_t i = 0; i < num; i++) {
		struct row row = bandwidth_row(link, sizes[i], format_for_people);

		cli_table_add(&table, "%" PRIu64, sizes[i]);
		cli_table_add(&table, "%s", row.write);
		cli_table_add(&table, "%s", row.read);
		cli_table_add(&table, "%s", row.mix);
	}
	return cli_table_print(&table);
}

int cli_pcie_print_csv(const struct pcie_link *link, const uint64_t *sizes, size_t num)
{
	printf("bytes,write_gbps,read_gbps,mix_gbps\n");
	for (size_t i = 0; i < num; i++) {
		struct row row = bandwidth_row(link, sizes[i], cli_gbps_format);

		printf("%" PRIu64 ",%s,%s,%s\n", sizes[i], row.write, row.read, row.mix);
	}
	return 0;
}

/* Add a number that prints with exactly these digits. */
static void add_gbps(json_object *to, const char *name, const char *text)
{
	json_object_object_add(to, name, json_object_new_double_s(strtod(text, NULL), text));
}

static void add_rate(json_object *to, const char *name, uint64_t bps)
{
	char text[CLI_GBPS_SIZE];

	cli_gbps_format(bps, text);
	add_gbps(to, name, text);
}

static json_object *link_config_json(const struct pcie_link *link)
{
	json_object *json = json_object_new_object();

	cli_json_add_number(json, "generation", link->generation);
	cli_json_add_number(json, "lanes", link->lanes);
	cli_json_add_number(json, "mps", link->mps_bytes);
	cli_json_add_number(json, "mrrs", link->mrrs_bytes);
	cli_json_add_number(json, "rcb", link->rcb_bytes);
	cli_json_add_number(json, "address-bits", link->addr32 ? 32 : 64);
	cli_json_add_bool(json, "ecrc", link->ecrc);
	cli_json_add_bool(json, "ack", !link->no_ack);
	cli_json_add_bool(json, "flow-control", !link->no_flow_control);
	cli_json_add_bool(json, "skip", !link->no_skip);
	cli_json_add_bool(json, "cut-at-rcb", link->cut_at_rcb);
	cli_json_add_bool(json, "own-completions", link->own_completions);
	cli_json_add_bool(json, "whole-dwords", link->whole_dwords);
	add_rate(json, "line-gbps", pcie_link_line_bps(link));
	add_rate(json, "packets-gbps", pcie_link_tlp_bps(link));
	return json;
}

static json_object *row_json(const struct pcie_link *link, uint64_t bytes)
{
	json_object *json = json_object_new_object();
	struct row row = bandwidth_row(link, bytes, cli_gbps_format);

	cli_json_add_number(json, "bytes", bytes);
	add_gbps(json, "write-gbps", row.write);
	add_gbps(json, "read-gbps", row.read);
	add_gbps(json, "mix-gbps", row.mix);
	return json;
}

int cli_pcie_print_json(const struct pcie_link *link, const uint64_t *sizes, size_t num)
{
	json_object *json = json_object_new_object(), *rows = json_object_new_array();

	json_object_object_add(json, "link", link_config_json(link));
	for (size_t i = 0; i < num; i++)
		json_object_array_add(rows, row_json(link, sizes[i]));
	json_object_object_add(json, "bandwidth", rows);
	return cli_json_print(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}
