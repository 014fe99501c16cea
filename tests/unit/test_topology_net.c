/* SPDX-License-Identifier: BSD-3-Clause */
/* The network of a topology: ports, links and switches, paths from one function to another, and what is refused. */
#include <errno.h>

#include "topologies.h"

#define GBPS UINT64_C(1000000000)

/* Two machines: functions 0 to 3 of node0, 4 to 7 of node1; on each two ports, the DPU's and the host's PF. */
#define TWO_NODES                                                                                          \
	"cards:\n"                                                                                         \
	"- {profile: bluefield-3, functions: [\n"                                                          \
	"    {side: n0/dpu, type: pf, pci: \"03:00.0\"}, {side: n0/dpu, type: pf, pci: \"03:00.1\"},\n"    \
	"    {side: n0/host, type: pf, pci: \"b1:00.0\"}, {side: n0/host, type: pf, pci: \"b1:00.1\"}]}\n" \
	"- {profile: bluefield-3, functions: [\n"                                                          \
	"    {side: n1/dpu, type: pf, pci: \"03:00.0\"}, {side: n1/dpu, type: pf, pci: \"03:00.1\"},\n"    \
	"    {side: n1/host, type: pf, pci: \"b1:00.0\", mtu: 9000}, {side: n1/host, type: pf, pci: \"b1:00.1\"}]}\n"

enum { DPU0, DPU0_P1, HOST0, HOST0_P1, DPU1, DPU1_P1, HOST1, HOST1_P1 };

/* @network begins in line 9. */
static struct pcie_topology *with_network(const char *network)
{
	char yaml[4096];

	snprintf(yaml, sizeof(yaml), "%snetwork:\n%s", TWO_NODES, network);
	return parse(yaml);
}

static int find(const struct pcie_topology *topology, uint32_t from, uint32_t to, struct pcie_net_path *ret_path)
{
	return pcie_topology_find_path(topology, &topology->functions[from], &topology->functions[to], ret_path);
}

static void assert_no_path(const struct pcie_topology *topology, uint32_t from, uint32_t to)
{
	struct pcie_net_path path;

	assert_int_equal(find(topology, from, to, &path), -ENETUNREACH);
}

/* "0 5 ", the stations in their order. */
static void assert_stations(const struct pcie_topology *topology, uint32_t from, uint32_t to, const char *expected)
{
	struct pcie_net_path path;
	char text[256] = "";

	assert_int_equal(find(topology, from, to, &path), 0);
	for (uint32_t i = 0; i < path.num_hops; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u ", path.hops[i].station);
	assert_string_equal(text, expected);
}

static void assert_hop(const struct pcie_net_hop *hop, uint64_t rate_bps, uint64_t latency_ps)
{
	assert_int_equal(hop->fs_per_byte, UINT64_C(8000000000000000) / rate_bps);
	assert_int_equal(hop->latency_ps, latency_ps);
}

/* ---- ports ---- */

static void test_functions_of_a_port_share_it(void **state)
{
	const struct pcie_topology *topology = parse(TWO_NODES);
	static const uint32_t ports[] = { 0, 1, 0, 1, 2, 3, 2, 3 };

	assert_int_equal(topology->num_ports, 4);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(topology->functions[i].port, ports[i]);
}

/* VFs and SFs are at their PF's port, and a host's PF where the DPU's is that represents it. */
static void test_functions_are_at_the_port_of_their_pf(void **state)
{
	const struct pcie_topology *topology =
		parse_card("  functions:\n"
			   "  - {side: dpu, type: pf, pci: \"03:00.0\", sfs: 1, represents: [\"host/b1:00.1\"]}\n"
			   "  - {side: dpu, type: pf, pci: \"03:00.1\", represents: [\"host/b1:00.0\"]}\n"
			   "  - {side: host, type: pf, pci: \"b1:00.0\", vfs: 1}\n"
			   "  - {side: host, type: pf, pci: \"b1:00.1\"}\n");

	assert_int_equal(topology->num_functions, 6);
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];
		bool is_host = strcmp(function->side, "host") == 0;
		uint32_t of_pf = topology->functions[function->parent].pf_index;

		assert_int_equal(function->port, is_host ? 1 - of_pf : of_pf);
	}
}

/* What a mode hides leaves the ports of the others as they are. */
static void test_hidden_functions_leave_the_ports_alone(void **state)
{
	const struct pcie_topology *topology = parse_card("  mode: nic\n  functions:\n"
							  "  - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
							  "  - {side: dpu, type: pf, pci: \"03:00.1\"}\n"
							  "  - {side: host, type: pf, pci: \"b1:00.0\"}\n"
							  "  - {side: host, type: pf, pci: \"b1:00.1\"}\n");

	assert_int_equal(topology->num_functions, 2);
	assert_int_equal(topology->functions[0].port, 0);
	assert_int_equal(topology->functions[1].port, 1);
}

/* A frame of 1500 bytes has room for 1024 of data and the headers, one of 9000 for 4096. */
static void test_an_interface_limits_the_data_of_a_packet(void **state)
{
	static const struct {
		const char *fields;
		uint32_t bytes;
	} cases[] = { { "mtu: 1500", 1024 }, { "mtu: 9000", 4096 },
		      { "mtu: 4192", 4096 }, { "mtu: 4191", 2048 },
		      { "mtu: 1120", 1024 }, { "mtu: 1119", 512 },
		      { "mtu: 68", 256 },    { "link-layer: infiniband", 4096 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char card[256];

		snprintf(card, sizeof(card), "  functions: [{side: host, type: pf, pci: \"b1:00.0\", %s}]\n",
			 cases[i].fields);
		assert_int_equal(parse_card(card)->functions[0].rdma_mtu_bytes, cases[i].bytes);
	}
}

/* ---- without a description ---- */

/* Station 2n is the direction out of port n, 2n + 1 the direction in. */
static void test_without_a_network_all_ports_are_on_one_switch(void **state)
{
	const struct pcie_topology *topology = parse(TWO_NODES);
	const struct pcie_rdma_timing *card = &topology->cards[0].profile->rdma_timing;
	struct pcie_net_path path;

	assert_false(topology->network.is_given);
	assert_stations(topology, DPU0, DPU1_P1, "0 7 ");
	assert_stations(topology, HOST1, DPU0_P1, "4 3 ");
	assert_int_equal(find(topology, HOST0, HOST1, &path), 0);
	assert_int_equal(path.mtu_bytes, 1024);
	assert_hop(&path.hops[0], 100 * GBPS, card->port_ps + PCIE_NET_LINK_LATENCY_PS + PCIE_NET_SWITCH_LATENCY_PS);
	assert_hop(&path.hops[1], 100 * GBPS, card->port_ps + PCIE_NET_LINK_LATENCY_PS);
}

static void test_functions_of_a_port_meet_in_the_card(void **state)
{
	const struct pcie_topology *topology = with_network("  links: []\n");
	struct pcie_net_path path;

	assert_int_equal(find(topology, HOST1, DPU1, &path), 0);
	assert_int_equal(path.num_hops, 1);
	assert_int_equal(path.hops[0].station, 2 * PCIE_NET_MAX_LINKS + 2);
	assert_int_equal(path.hops[0].latency_ps, 0);
	assert_int_equal(path.hops[0].fs_per_byte, topology->cards[1].profile->rdma_timing.loop_fs_per_byte);
}

static void test_ethernet_and_infiniband_do_not_meet(void **state)
{
	const struct pcie_topology *topology = parse(
		"cards:\n- {profile: connectx-7, functions: [{side: a/host, type: pf, pci: \"b1:00.0\"}]}\n"
		"- {profile: connectx-7, functions: [{side: b/host, type: pf, pci: \"b1:00.0\", link-layer: infiniband}]}\n"
		"- {profile: connectx-7, functions: [{side: c/host, type: pf, pci: \"b1:00.0\", link-layer: infiniband}]}\n");

	assert_no_path(topology, 0, 1);
	assert_no_path(topology, 1, 0);
	assert_stations(topology, 1, 2, "2 5 ");
}

/* A link of one lane of generation 1 carries 2 Gb/s, as a host's traffic has to pass it; that of the DPU does not. */
static void test_a_hosts_link_limits_its_rate(void **state)
{
	const struct pcie_topology *topology =
		parse("cards:\n- {profile: bluefield-3, link: {generation: 1, lanes: 1}, functions: [\n"
		      "   {side: a/dpu, type: pf, pci: \"03:00.0\"}, {side: a/host, type: pf, pci: \"b1:00.0\"}]}\n"
		      "- {profile: connectx-7, functions: [{side: b/host, type: pf, pci: \"b1:00.0\"}]}\n");
	struct pcie_net_path path;

	assert_int_equal(find(topology, 1, 2, &path), 0);
	assert_true(path.hops[0].fs_per_byte > UINT64_C(8000000000000000) / (2 * GBPS));
	assert_hop(&path.hops[1], 100 * GBPS, path.hops[1].latency_ps);
	assert_int_equal(find(topology, 0, 2, &path), 0);
	assert_hop(&path.hops[0], 100 * GBPS, path.hops[0].latency_ps);
}

static void test_a_given_rate_of_a_function_is_that_of_its_port(void **state)
{
	const struct pcie_topology *topology =
		parse("cards:\n- {profile: bluefield-3, functions: [\n"
		      "   {side: a/dpu, type: pf, pci: \"03:00.0\", active-rate: 25 Gb/s}]}\n"
		      "- {profile: connectx-7, functions: [{side: b/host, type: pf, pci: \"b1:00.0\"}]}\n");
	struct pcie_net_path path;

	assert_int_equal(find(topology, 0, 1, &path), 0);
	assert_hop(&path.hops[0], 25 * GBPS, path.hops[0].latency_ps);
}

/* ---- with a description ---- */

/* Each link has its rate, latency and MTU, or those of the port; a switch adds its latency, and limits the rate. */
static void test_links_and_switches_have_what_the_file_gives(void **state)
{
	const struct pcie_topology *topology = with_network(
		"  switches: [{name: leaf, latency: 500ns, rate: 40 Gb/s}]\n"
		"  links:\n"
		"  - {from: \"n0/dpu/03:00.0\", to: leaf, latency: 3us, rate: 10 Gb/s, mtu: 2048, loss: 0.25%}\n"
		"  - {from: leaf, to: \"n1/host/b1:00.0\"}\n");
	uint64_t port_ps = topology->cards[0].profile->rdma_timing.port_ps;
	struct pcie_net_path path;

	assert_int_equal(find(topology, DPU0, HOST1, &path), 0);
	assert_int_equal(path.num_hops, 2);
	assert_int_equal(path.mtu_bytes, 2048);
	assert_hop(&path.hops[0], 10 * GBPS, port_ps + 3000000 + 500000);
	assert_int_equal(path.hops[0].loss_ppb, 2500000);
	assert_hop(&path.hops[1], 40 * GBPS, PCIE_NET_LINK_LATENCY_PS + port_ps);
	assert_int_equal(path.hops[1].loss_ppb, 0);
	assert_int_equal(find(topology, HOST1, HOST0, &path), 0); /* the host's PF is at the DPU's port */
	assert_int_equal(path.num_hops, 2);
	assert_hop(&path.hops[1], 10 * GBPS, 3000000 + port_ps);
	assert_stations(topology, DPU0, HOST1, "0 2 ");
	assert_stations(topology, HOST1, DPU0, "3 1 ");
}

static void test_a_link_without_mtu_has_the_interfaces(void **state)
{
	const struct pcie_topology *topology = with_network(
		"  switches: [{name: s}]\n"
		"  links: [{from: \"n1/host/b1:00.0\", to: s}, {from: s, to: \"n0/host/b1:00.0\", mtu: 4096}]\n");
	struct pcie_net_path path;

	assert_int_equal(find(topology, HOST1, HOST0, &path), 0);
	assert_int_equal(path.mtu_bytes, 4096);
	assert_int_equal(find(topology, DPU1, HOST0, &path), 0);
	assert_int_equal(path.mtu_bytes, 1024);
}

static void test_a_port_without_a_link_reaches_nothing(void **state)
{
	const struct pcie_topology *topology =
		with_network("  links: [{from: \"n0/dpu/03:00.0\", to: \"n1/dpu/03:00.0\"}]\n");

	assert_stations(topology, DPU0, DPU1, "0 ");
	assert_stations(topology, HOST1, HOST0, "1 ");
	assert_no_path(topology, DPU0, DPU1_P1);
	assert_no_path(topology, DPU0_P1, DPU1);
	assert_no_path(topology, DPU0_P1, DPU1_P1);
}

/* Leaves a and d; b alone or c1 and c2 are between them. Then an island. */
static void test_a_path_has_the_fewest_switches(void **state)
{
	const struct pcie_topology *topology =
		with_network("  switches: [{name: a}, {name: b}, {name: c1}, {name: c2}, {name: d}, {name: island}]\n"
			     "  links:\n"
			     "  - {from: \"n0/dpu/03:00.0\", to: a}\n"
			     "  - {from: a, to: c1}\n"
			     "  - {from: c2, to: c1}\n"
			     "  - {from: c2, to: d}\n"
			     "  - {from: d, to: b}\n"
			     "  - {from: a, to: b}\n"
			     "  - {from: a, to: b}\n"
			     "  - {from: d, to: \"n1/dpu/03:00.0\"}\n"
			     "  - {from: \"n0/dpu/03:00.1\", to: d}\n"
			     "  - {from: \"n1/dpu/03:00.1\", to: island}\n");

	assert_stations(topology, DPU0, DPU1, "0 10 9 14 ");
	assert_stations(topology, DPU1, DPU0, "15 8 11 1 ");
	assert_stations(topology, DPU0_P1, DPU1, "16 14 ");
	assert_no_path(topology, DPU0, DPU1_P1);
}

/* n switches in a row: the hops are one more. */
static struct pcie_topology *with_row_of(int n)
{
	char network[4096] = "  switches: [";

	for (int i = 0; i < n; i++)
		snprintf(network + strlen(network), 64, "{name: s%d}, ", i);
	strcat(network, "]\n  links:\n  - {from: \"n0/dpu/03:00.0\", to: s0}\n");
	for (int i = 1; i < n; i++)
		snprintf(network + strlen(network), 64, "  - {from: s%d, to: s%d}\n", i - 1, i);
	snprintf(network + strlen(network), 64, "  - {from: \"n1/dpu/03:00.0\", to: s%d}\n", n - 1);
	return with_network(network);
}

static void test_a_path_has_at_most_sixteen_links(void **state)
{
	struct pcie_net_path path;

	assert_int_equal(find(with_row_of(PCIE_NET_MAX_HOPS - 1), DPU0, DPU1, &path), 0);
	assert_int_equal(path.num_hops, PCIE_NET_MAX_HOPS);
	assert_no_path(with_row_of(PCIE_NET_MAX_HOPS), DPU0, DPU1);
}

/* The rate between switches that have none is the ports'. */
static void test_links_between_switches_without_a_rate(void **state)
{
	struct pcie_net_path path;

	assert_int_equal(find(with_row_of(2), DPU0, DPU1, &path), 0);
	assert_hop(&path.hops[1], 100 * GBPS, PCIE_NET_LINK_LATENCY_PS + PCIE_NET_SWITCH_LATENCY_PS);
}

/* ---- what is refused ---- */

#define NO_END  "is neither a switch nor a function; write a switch's name, or SIDE/ADDRESS of a function at the port"
#define NO_RATE "is not a rate; write bits per second, or a number with Mb/s, Gb/s or Tb/s"

static void test_networks_out_of_form_are_refused(void **state)
{
	static const struct {
		const char *network, *message;
	} cases[] = {
		{ "  switches: []\n", "8: network.links: is missing; this field is required" },
		{ "  links: [{from: a}]\n", "9: network.links[0].to: is missing; this field is required" },
		{ "  switches: [{latency: 1us}]\n  links: []\n",
		  "9: network.switches[0].name: is missing; this field is required" },
		{ "  switches: [{name: a b}]\n  links: []\n",
		  "9: network.switches[0].name: \"a b\" is not a name; write 1 to 63 characters without spaces and '/'" },
		{ "  switches:\n  - {name: a}\n  - {name: a}\n  links: []\n",
		  "11: network.switches[1].name: \"a\" is the name of an earlier switch too" },
		{ "  switches: [{name: a, latency: soon}]\n  links: []\n",
		  "9: network.switches[0].latency: \"soon\" is not a time; write 300ns, for instance" },
		{ "  switches: [{name: a, rate: 0}]\n  links: []\n", "9: network.switches[0].rate: \"0\" " NO_RATE },
		{ "  switches: [{name: a}]\n  links:\n  - {from: a, to: b}\n",
		  "11: network.links[0].to: \"b\" " NO_END },
		{ "  links: [{from: \"n0/dpu/03:00.7\", to: \"n1/dpu/03:00.0\"}]\n",
		  "9: network.links[0].from: \"n0/dpu/03:00.7\" " NO_END },
		{ "  links: [{from: \"n0/dpu/03:00.0\", to: \"n0/host/b1:00.0\"}]\n",
		  "9: network.links[0].to: \"n0/host/b1:00.0\" is the link's other end as well" },
		{ "  switches: [{name: a}]\n  links: [{from: a, to: a}]\n",
		  "10: network.links[0].to: \"a\" is the link's other end as well" },
		{ "  switches: [{name: a}]\n  links:\n  - {from: \"n0/dpu/03:00.0\", to: a}\n"
		  "  - {from: a, to: \"n0/host/b1:00.0\"}\n",
		  "12: network.links[1].to: \"n0/host/b1:00.0\" is at a port that has a link already; functions of a port "
		  "share its link" },
		{ "  switches: [{name: a}]\n  links: [{from: \"n0/dpu/03:00.0\", to: a, rate: fast}]\n",
		  "10: network.links[0].rate: \"fast\" " NO_RATE },
		{ "  switches: [{name: a}]\n  links: [{from: \"n0/dpu/03:00.0\", to: a, latency: -1ns}]\n",
		  "10: network.links[0].latency: \"-1ns\" is not a time; write 300ns, for instance" },
		{ "  switches: [{name: a}]\n  links: [{from: \"n0/dpu/03:00.0\", to: a, mtu: 1500}]\n",
		  "10: network.links[0].mtu: \"1500\" is not an MTU of RDMA; write 256, 512, 1024, 2048 or 4096" },
		{ "  switches: [{name: a}]\n  links: [{from: \"n0/dpu/03:00.0\", to: a, mtu: 8192}]\n",
		  "10: network.links[0].mtu: \"8192\" is not an MTU of RDMA; write 256, 512, 1024, 2048 or 4096" },
		{ "  switches: [{name: a}]\n  links: [{from: \"n0/dpu/03:00.0\", to: a, loss: 100%}]\n",
		  "10: network.links[0].loss: \"100%\" is not a share of packets below 100%; write 0.1%, for instance" },
		{ "  swiches: [{name: a}]\n  links: []\n",
		  "9: network.swiches: unknown field; did you mean switches?" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pcie_topology *topology = NULL;
		char yaml[4096], error[PCIE_ERROR_SIZE];

		snprintf(yaml, sizeof(yaml), "%snetwork:\n%s", TWO_NODES, cases[i].network);
		assert_int_equal(pcie_topology_parse("t", yaml, strlen(yaml), &topology, error), -EINVAL);
		assert_string_equal(error + 2, cases[i].message);
		assert_null(topology);
	}
}

static void test_shares_out_of_form_are_refused(void **state)
{
	static const char *const shares[] = { "",    "1",      "%",   ".5%", "1.%", "0.12345678%",
					      "-1%", "100.0%", "1 %", "1%x", "1e1%" };

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct pcie_topology *topology = NULL;
		char yaml[4096], error[PCIE_ERROR_SIZE];

		snprintf(yaml, sizeof(yaml),
			 "%snetwork:\n  links: [{from: \"n0/dpu/03:00.0\", to: \"n1/dpu/03:00.0\", loss: \"%s\"}]\n",
			 TWO_NODES, shares[i]);
		assert_int_equal(pcie_topology_parse("t", yaml, strlen(yaml), &topology, error), -EINVAL);
	}
}

static void test_shares_are_read_to_a_billionth(void **state)
{
	static const struct {
		const char *text;
		uint32_t ppb;
	} cases[] = { { "0%", 0 },
		      { "0.0000001%", 1 },
		      { "1%", 10000000 },
		      { "99.9999999%", 999999999 },
		      { "12.5%", 125000000 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char network[256];

		snprintf(network, sizeof(network),
			 "  links: [{from: \"n0/dpu/03:00.0\", to: \"n1/dpu/03:00.0\", loss: %s}]\n", cases[i].text);
		assert_int_equal(with_network(network)->network.links[0].loss_ppb, cases[i].ppb);
	}
}

/* The state of the network, which processes share, has room for so many. */
static void test_too_many_switches_are_refused(void **state)
{
	static char yaml[1 << 16];
	struct pcie_topology *topology = NULL;
	char error[PCIE_ERROR_SIZE], *end;

	end = stpcpy(yaml, TWO_NODES "network:\n  switches:\n");
	for (int i = 0; i <= PCIE_NET_MAX_SWITCHES; i++)
		end += sprintf(end, "  - {name: s%d}\n", i);
	stpcpy(end, "  links: []\n");
	assert_int_equal(pcie_topology_parse("t", yaml, strlen(yaml), &topology, error), -EINVAL);
	assert_string_equal(error, "t:9: network.switches: the network has more than 256 switches");
}

static void test_too_many_links_are_refused(void **state)
{
	static char yaml[1 << 17];
	struct pcie_topology *topology = NULL;
	char error[PCIE_ERROR_SIZE], *end;

	end = stpcpy(yaml, TWO_NODES "network:\n  switches: [{name: a}, {name: b}]\n  links:\n");
	for (int i = 0; i <= PCIE_NET_MAX_LINKS; i++)
		end = stpcpy(end, "  - {from: a, to: b}\n");
	assert_int_equal(pcie_topology_parse("t", yaml, strlen(yaml), &topology, error), -EINVAL);
	assert_string_equal(error, "t:10: network.links: the network has more than 4096 links");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_a_port_share_it),
		cmocka_unit_test(test_functions_are_at_the_port_of_their_pf),
		cmocka_unit_test(test_hidden_functions_leave_the_ports_alone),
		cmocka_unit_test(test_an_interface_limits_the_data_of_a_packet),
		cmocka_unit_test(test_without_a_network_all_ports_are_on_one_switch),
		cmocka_unit_test(test_functions_of_a_port_meet_in_the_card),
		cmocka_unit_test(test_ethernet_and_infiniband_do_not_meet),
		cmocka_unit_test(test_a_hosts_link_limits_its_rate),
		cmocka_unit_test(test_a_given_rate_of_a_function_is_that_of_its_port),
		cmocka_unit_test(test_links_and_switches_have_what_the_file_gives),
		cmocka_unit_test(test_a_link_without_mtu_has_the_interfaces),
		cmocka_unit_test(test_a_port_without_a_link_reaches_nothing),
		cmocka_unit_test(test_a_path_has_the_fewest_switches),
		cmocka_unit_test(test_a_path_has_at_most_sixteen_links),
		cmocka_unit_test(test_links_between_switches_without_a_rate),
		cmocka_unit_test(test_networks_out_of_form_are_refused),
		cmocka_unit_test(test_shares_out_of_form_are_refused),
		cmocka_unit_test(test_shares_are_read_to_a_billionth),
		cmocka_unit_test(test_too_many_switches_are_refused),
		cmocka_unit_test(test_too_many_links_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, topologies_teardown);
}
