/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid topologies: the meaning of each field, and its default. Wrong ones are in test_topology_errors.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topologies.h"

#ifndef UNIT_DATA_DIR /* the build gives both; else run from the root of the sources */
#define UNIT_DATA_DIR "tests/unit/data"
#endif
#ifndef TOPOLOGY_DIR
#define TOPOLOGY_DIR "share/topologies"
#endif

#define GBPS UINT64_C(1000000000)

/* One BlueField-3 with these functions, a line "- {...}" each. */
static struct pcie_topology *parse_functions(const char *functions)
{
	char yaml[4096];

	snprintf(yaml, sizeof(yaml), "cards:\n- profile: bluefield-3\n  functions:\n%s", functions);
	return parse(yaml);
}

static struct pcie_topology *parse_file(const char *path)
{
	struct pcie_topology *topology;
	char *text = NULL;
	size_t len = 0;
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("cannot open %s", path);
	assert_true(getdelim(&text, &len, EOF, file) > 0);
	fclose(file);
	topology = parse_named(path, text, strlen(text));
	free(text);
	return topology;
}

static void assert_addr(const struct pcie_function *function, const char *expected)
{
	char text[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, text);
	assert_string_equal(text, expected);
}

static void assert_reps(const struct pcie_function *function, size_t count, const uint32_t *ids)
{
	assert_int_equal(function->num_reps, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(function->reps[i], ids[i]);
}

#define ids(...)                                                               \
	(sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)), (uint32_t[]) \
	{                                                                      \
		__VA_ARGS__                                                    \
	}

/* The built-in topology --------------------------------------------------------- */

static void assert_default_function(const struct pcie_function *function, const char *side, const char *addr,
				    const char *ibdev, const char *iface)
{
	assert_string_equal(function->side, side);
	assert_addr(function, addr);
	assert_string_equal(function->ibdev, ibdev);
	assert_string_equal(function->iface, iface);
	assert_int_equal(function->type, PCIE_FUNC_PF);
}

static void test_default_is_one_bluefield_3_with_two_pfs_on_each_side(void **state)
{
	struct pcie_topology *topology = parse(pcie_topology_default_yaml());
	const struct pcie_function *functions = topology->functions;

	assert_int_equal(topology->num_cards, 1);
	assert_string_equal(topology->cards[0].name, "card0");
	assert_string_equal(topology->cards[0].profile->name, "bluefield-3");
	assert_int_equal(topology->num_functions, 4);
	assert_default_function(&functions[0], "dpu", "0000:03:00.0", "mlx5_0", "p0");
	assert_default_function(&functions[1], "dpu", "0000:03:00.1", "mlx5_1", "p1");
	assert_default_function(&functions[2], "host", "0000:b1:00.0", "mlx5_0", "ens1f0np0");
	assert_default_function(&functions[3], "host", "0000:b1:00.1", "mlx5_1", "ens1f1np1");
	assert_reps(&functions[0], ids(2));
	assert_reps(&functions[1], ids(3));
	assert_string_equal(functions[2].rep_iface, "pf0hpf");
}

/* Values that the file gives ----------------------------------------------------- */

static void assert_every_cap(const struct pcie_caps *caps)
{
	assert_false(caps->dma_memcpy);
	assert_int_equal(caps->dma_max_buf_bytes, 4096);
	assert_int_equal(caps->dma_max_list_len, 1);
	assert_int_equal(caps->dma_max_tasks, 32);
	assert_true(caps->accel[PCIE_ACCEL_SHA].is_supported);
	assert_int_equal(caps->accel[PCIE_ACCEL_SHA].max_buf_bytes, 65536);
	assert_int_equal(caps->accel[PCIE_ACCEL_SHA].max_list_len, 3);
	assert_int_equal(caps->accel[PCIE_ACCEL_SHA].max_tasks, 7);
	assert_int_equal(caps->accel[PCIE_ACCEL_SHA].rate_bps, 5000000000u);
	assert_int_equal(caps->accel[PCIE_ACCEL_SHA].task_ns, 300);
	for (enum pcie_accel accel = PCIE_ACCEL_COMPRESS_DEFLATE; accel <= PCIE_ACCEL_AES_GCM; accel++) {
		assert_true(caps->accel[accel].is_supported);
		assert_int_equal(caps->accel[accel].max_buf_bytes, 1024);
		assert_int_equal(caps->accel[accel].max_list_len, 4);
		assert_int_equal(caps->accel[accel].max_tasks, accel);
	}
	assert_true(caps->comch_server);
	assert_false(caps->comch_client);
	assert_int_equal(caps->comch_max_name_len, 16);
	assert_int_equal(caps->comch_max_msg_bytes, 1024);
	assert_int_equal(caps->comch_max_recv_queue, 17);
	assert_int_equal(caps->comch_max_send_tasks, 18);
	assert_int_equal(caps->comch_max_clients, 19);
	assert_int_equal(caps->comch_max_fast_tasks, 20);
	assert_int_equal(caps->comch_max_buf_bytes, 3221225472); /* 3 GiB */
	assert_int_equal(caps->comch_max_imm_bytes, 21);
	assert_int_equal(caps->comch_max_consumers, 22);
	assert_int_equal(caps->comch_max_producers, 23);
	assert_true(caps->cache_invalidate);
	assert_int_equal(caps->cache_invalidate_max_buf_bytes, 65536);
	assert_false(caps->mmap_export_pci);
	assert_true(caps->mmap_from_export_pci);
	assert_false(caps->sync_event_export_pci);
	assert_false(caps->sync_event_from_export_pci);
	assert_true(caps->rep_filter_all);
	assert_true(caps->rep_filter_net);
	assert_true(caps->rep_filter_emulated);
	assert_true(caps->hotplug_manager);
	assert_true(caps->notification_moderation);
	assert_true(caps->accelerate_resource_reclaim);
	assert_int_equal(caps->num_completion_vectors, 3);
	assert_int_equal(caps->max_mmap_devices, 2);
}

static void assert_every_field_of_a_network(const struct pcie_topology *topology)
{
	const struct pcie_network *network = &topology->network;

	assert_true(network->is_given);
	assert_int_equal(network->num_switches, 1);
	assert_string_equal(network->switches[0].name, "spine");
	assert_int_equal(network->switches[0].latency_ps, 450000);
	assert_int_equal(network->switches[0].rate_bps, 800 * GBPS);
	assert_int_equal(network->num_links, 1);
	assert_false(network->links[0].ends[0].is_switch);
	assert_int_equal(network->links[0].ends[0].index, topology->functions[2].port);
	assert_true(network->links[0].ends[1].is_switch);
	assert_int_equal(network->links[0].ends[1].index, 0);
	assert_int_equal(network->links[0].latency_ps, 1000000);
	assert_int_equal(network->links[0].rate_bps, 50 * GBPS);
	assert_int_equal(network->links[0].mtu_bytes, 512);
	assert_int_equal(network->links[0].loss_ppb, 25000000);
}

static void test_every_field_arrives_as_written(void **state)
{
	static const uint8_t mac[6] = { 0xa0, 0x88, 0xc2, 0, 0, 0x0f };
	static const uint8_t ipv4[4] = { 192, 0, 2, 77 };
	static const uint8_t ipv6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 0x77 };
	struct pcie_topology *topology = parse_file(UNIT_DATA_DIR "/every_field.yaml");
	const struct pcie_function *dpu = &topology->functions[0], *host = &topology->functions[1];

	assert_string_equal(topology->cards[0].name, "first");
	assert_string_equal(dpu->side, "node7/dpu");
	assert_addr(dpu, "0001:03:00.0");
	assert_string_equal(dpu->ibdev, "mlx5_bond_0");
	assert_string_equal(dpu->iface, "uplink0");
	assert_reps(dpu, ids(4, 1)); /* in the order of the list */

	assert_string_equal(host->side, "node7/host");
	assert_string_equal(host->ibdev, "rocep177s0f0");
	assert_string_equal(host->rep_iface, "hostrep");
	assert_memory_equal(host->mac, mac, sizeof(mac));
	assert_true(host->has_ipv4);
	assert_memory_equal(host->ipv4, ipv4, sizeof(ipv4));
	assert_memory_equal(host->ipv6, ipv6, sizeof(ipv6));
	assert_string_equal(host->vuid, "MT2251XZ02WZMLNXS0D0F0");
	assert_int_equal(host->vhca_id, 513);
	assert_int_equal(host->mtu, 9000);
	assert_int_equal(host->active_rate_bps, 100 * GBPS);
	assert_true(host->hotplug);
	assert_every_cap(&host->caps);

	assert_int_equal(topology->functions[2].link_layer, PCIE_LINK_INFINIBAND);
	assert_int_equal(topology->functions[2].lid, 0x12);
	assert_int_equal(topology->functions[3].parent, 1); /* not the PF just before it */
	assert_int_equal(topology->functions[4].sf_index, 9);
	assert_int_equal(topology->functions[4].aux_index, 12);
	assert_every_field_of_a_network(topology);
}

static void test_caps_override_single_capabilities_only(void **state)
{
	struct pcie_topology *topology =
		parse_functions("  - {side: host, type: pf, pci: b1:00.0, caps: {dma-max-buf-bytes: 1 MiB}}\n");
	struct pcie_caps expected = pcie_profile_find("bluefield-3")->host_caps;
	const struct pcie_caps *caps = &topology->functions[0].caps;

	assert_int_equal(caps->dma_max_buf_bytes, 1048576);
	assert_int_equal(caps->dma_max_list_len, expected.dma_max_list_len);
	assert_int_equal(caps->dma_max_tasks, expected.dma_max_tasks);
	assert_int_equal(caps->dma_memcpy, expected.dma_memcpy);
	assert_int_equal(caps->mmap_export_pci, expected.mmap_export_pci);
	assert_int_equal(caps->num_completion_vectors, expected.num_completion_vectors);
}

static void test_units_scale_sizes_and_rates(void **state)
{
	struct pcie_topology *topology = parse_functions(
		"  - {side: host, type: pf, pci: b1:00.0, active-rate: 400Gb/s, caps: {dma-max-buf-bytes: 3 KiB}}\n"
		"  - {side: host, type: pf, pci: b1:00.1, active-rate: 10 Mb/s, caps: {dma-max-buf-bytes: 1GiB}}\n"
		"  - {side: host, type: pf, pci: b1:00.2, active-rate: 25000000000, caps: {dma-max-buf-bytes: 0x1000}}\n"
		"  - {side: host, type: pf, pci: b1:00.3, active-rate: 1 Tb/s}\n");
	const struct pcie_function *functions = topology->functions;

	assert_int_equal(functions[0].active_rate_bps, 400 * GBPS);
	assert_int_equal(functions[1].active_rate_bps, 10000000);
	assert_int_equal(functions[2].active_rate_bps, 25 * GBPS);
	assert_int_equal(functions[3].active_rate_bps, 1000 * GBPS);
	assert_int_equal(functions[0].caps.dma_max_buf_bytes, 3072);
	assert_int_equal(functions[1].caps.dma_max_buf_bytes, 1073741824);
	assert_int_equal(functions[2].caps.dma_max_buf_bytes, 4096);
}

static void test_leading_zero_is_decimal(void **state)
{
	struct pcie_topology *topology = parse_functions("  - {side: host, type: pf, pci: b1:00.0, vhca-id: 010}\n");

	assert_int_equal(topology->functions[0].vhca_id, 10);
}

static void test_empty_iface_means_none(void **state)
{
	struct pcie_topology *topology =
		parse_functions("  - {side: dpu, type: pf, pci: \"03:00.0\", iface: \"\"}\n"
				"  - {side: host, type: pf, pci: b1:00.0, iface: \"\", rep-iface: \"\"}\n");

	assert_string_equal(topology->functions[0].iface, "");
	assert_string_equal(topology->functions[1].iface, "");
	assert_string_equal(topology->functions[1].rep_iface, "");
}

/* Values that the file leaves out ------------------------------------------------ */

static const char *const family =                       /* a DPU PF, a host PF with two VFs and two SFs */
	"  - {side: dpu, type: pf, pci: \"03:00.0\"}\n" /* 0 */
	"  - {side: host, type: pf, pci: b1:00.0}\n"    /* 1 */
	"  - {side: host, type: vf, pci: b1:00.2}\n"    /* 2 */
	"  - {side: host, type: vf, pci: b1:00.3}\n"    /* 3 */
	"  - {side: host, type: sf, pci: b1:00.0}\n"    /* 4 */
	"  - {side: host, type: sf, pci: b1:00.0}\n";   /* 5 */

static void assert_strings(const struct pcie_topology *topology, size_t offset, const char *const *expected)
{
	for (size_t i = 0; i < topology->num_functions; i++)
		assert_string_equal((const char *)&topology->functions[i] + offset, expected[i]);
}

#define assert_each(topology, member, ...) \
	assert_strings((topology), offsetof(struct pcie_function, member), (const char *const[]){ __VA_ARGS__ })

static void test_names_default_to_what_a_real_card_would_have(void **state)
{
	struct pcie_topology *topology = parse_functions(family);

	assert_string_equal(topology->cards[0].name, "card0");
	assert_each(topology, ibdev, "mlx5_0", "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4");
	/* bus b1 is 177, and is written in hexadecimal for SFs */
	assert_each(topology, iface, "p0", "enp177s0f0np0", "enp177s0f0v0", "enp177s0f0v1", "enpb1s0f0s0",
		    "enpb1s0f0s1");
	assert_each(topology, rep_iface, "", "pf0hpf", "pf0vf0", "pf0vf1", "en3f0c1pf0sf0", "en3f0c1pf0sf1");
	assert_each(topology, vuid, "MT2306XZ0000ECMLNXS0D0F0", "MT2306XZ0000MLNXS0D0F0", "MT2306XZ0000MLNXS0D0F0VF1",
		    "MT2306XZ0000MLNXS0D0F0VF2", "MT2306XZ0000MLNXS0D0F0SF32768", "MT2306XZ0000MLNXS0D0F0SF32769");
}

static void test_numbers_default_to_the_order_in_the_file(void **state)
{
	struct pcie_topology *topology = parse_functions(family);
	static const uint32_t parents[] = { 0, 1, 1, 1, 1, 1 };

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		assert_int_equal(function->id, i);
		assert_int_equal(function->vhca_id, i);
		assert_int_equal(function->parent, parents[i]);
		assert_int_equal(function->mtu, 1500);
		assert_int_equal(function->active_rate_bps, 200 * GBPS);
		assert_int_equal(function->link_layer, PCIE_LINK_ETHERNET);
		assert_int_equal(function->lid, 0);
		assert_true(function->has_ipv4);
		assert_memory_equal(function->ipv4, ((uint8_t[]){ 198, 18, 0, (uint8_t)(i + 1) }), 4);
		assert_false(function->hotplug);
	}
	assert_int_equal(topology->functions[4].sf_index, 0);
	assert_int_equal(topology->functions[5].sf_index, 1);
}

/* The MAC is 02:bf:00 and the id; the modified EUI-64 flips bit 1 of its first byte
 * and puts ff:fe in its middle. */
static void test_mac_and_ipv6_default_to_the_id(void **state)
{
	static const uint8_t mac[6] = { 0x02, 0xbf, 0, 0, 0, 5 };
	static const uint8_t ipv6[16] = { 0xfe, 0x80, [9] = 0xbf, [11] = 0xff, 0xfe, [15] = 5 };
	struct pcie_topology *topology = parse_functions(family);

	assert_memory_equal(topology->functions[5].mac, mac, sizeof(mac));
	assert_memory_equal(topology->functions[5].ipv6, ipv6, sizeof(ipv6));
}

static void test_ipv6_defaults_to_the_given_mac(void **state)
{
	static const uint8_t ipv6[16] = { 0xfe, 0x80, [8] = 0xa2, 0x88, 0xc2, 0xff, 0xfe, 1, 2, 3 };
	struct pcie_topology *topology =
		parse_functions("  - {side: host, type: pf, pci: b1:00.0, mac: \"a0:88:c2:01:02:03\"}\n");

	assert_memory_equal(topology->functions[0].ipv6, ipv6, sizeof(ipv6));
}

static void test_link_is_the_profiles_but_for_what_is_given(void **state)
{
	struct pcie_topology *topology = parse("cards:\n"
					       "- profile: bluefield-3\n"
					       "  functions: [{side: host, type: pf, pci: \"b1:00.0\"}]\n"
					       "- profile: bluefield-3\n"
					       "  link: {generation: 1, lanes: 2, mps: 128, mrrs: 4096, rcb: 0x80}\n"
					       "  functions: [{side: host, type: pf, pci: \"b1:00.1\"}]\n");
	const struct pcie_link *usual = &topology->cards[0].link, *given = &topology->cards[1].link;

	assert_memory_equal(usual, &topology->cards[0].profile->link, sizeof(*usual));
	assert_int_equal(given->generation, 1);
	assert_int_equal(given->lanes, 2);
	assert_int_equal(given->mps_bytes, 128);
	assert_int_equal(given->mrrs_bytes, 4096);
	assert_int_equal(given->rcb_bytes, 128);
}

static void test_capabilities_default_to_the_profile_by_side(void **state)
{
	struct pcie_topology *topology = parse_functions(family);

	assert_true(topology->functions[0].caps.mmap_from_export_pci);
	assert_true(topology->functions[0].caps.rep_filter_all);
	assert_true(topology->functions[1].caps.mmap_export_pci);
	assert_false(topology->functions[1].caps.rep_filter_all);
	assert_true(topology->functions[3].caps.dma_memcpy); /* VFs as PFs */
}

static void test_defaults_keep_clear_of_given_values(void **state)
{
	struct pcie_topology *topology =
		parse_functions("  - {side: host, type: pf, pci: b1:00.0}\n"
				"  - {side: host, type: pf, pci: b1:00.1, ibdev: mlx5_0, vhca-id: 1}\n"
				"  - {side: host, type: sf, pci: b1:00.0}\n"
				"  - {side: host, type: sf, pci: b1:00.0, sf-index: 1}\n"
				"  - {side: host, type: sf, pci: b1:00.0}\n");
	const struct pcie_function *functions = topology->functions;

	assert_each(topology, ibdev, "mlx5_1", "mlx5_0", "mlx5_2", "mlx5_3", "mlx5_4");
	assert_int_equal(functions[0].vhca_id, 0);
	assert_int_equal(functions[2].vhca_id, 2);
	assert_int_equal(functions[2].sf_index, 0);
	assert_int_equal(functions[4].sf_index, 2);
}

static void test_infiniband_function_has_a_lid_and_an_ib_name(void **state)
{
	struct pcie_topology *topology =
		parse_functions("  - {side: dpu, type: pf, pci: \"03:00.0\", link-layer: infiniband}\n"
				"  - {side: host, type: pf, pci: \"0002:b1:00.0\", link-layer: infiniband}\n");

	assert_int_equal(topology->functions[0].lid, 1);
	assert_int_equal(topology->functions[1].lid, 2);
	assert_each(topology, iface, "ib0", "ibP2p177s0f0");
}

/* Families and representors ------------------------------------------------------ */

static void test_vf_belongs_to_the_pf_listed_last_before_it(void **state)
{
	struct pcie_topology *topology =
		parse_functions("  - {side: host, type: pf, pci: b1:00.0}\n"
				"  - {side: host, type: pf, pci: b1:00.1}\n"
				"  - {side: host, type: vf, pci: b1:00.2, parent: \"0000:b1:00.0\"}\n"
				"  - {side: host, type: vf, pci: b1:00.3}\n"
				"  - {side: host, type: sf, pci: b1:00.0}\n");

	assert_int_equal(topology->functions[2].parent, 0);
	assert_int_equal(topology->functions[3].parent, 1);
	assert_int_equal(topology->functions[4].parent, 0); /* by its address */
}

static void test_sf_may_stand_before_its_pf(void **state)
{
	struct pcie_topology *topology = parse_functions("  - {side: host, type: sf, pci: b1:00.0}\n"
							 "  - {side: host, type: pf, pci: b1:00.0}\n");

	assert_int_equal(topology->functions[0].parent, 1);
}

static void test_dpu_pf_represents_the_host_pf_of_its_number_and_what_belongs_to_it(void **state)
{
	struct pcie_topology *topology = parse_file(TOPOLOGY_DIR "/vfs-and-sfs.yaml");

	assert_reps(&topology->functions[0], ids(2, 3, 4, 5, 6));
	assert_reps(&topology->functions[1], ids(7, 8));
}

static void test_one_represents_turns_the_default_off_for_its_card(void **state)
{
	struct pcie_topology *topology = parse_functions("  - {side: dpu, type: pf, pci: \"03:00.0\", represents: []}\n"
							 "  - {side: dpu, type: pf, pci: \"03:00.1\"}\n"
							 "  - {side: host, type: pf, pci: b1:00.0}\n"
							 "  - {side: host, type: pf, pci: b1:00.1}\n");

	assert_int_equal(topology->functions[0].num_reps, 0);
	assert_int_equal(topology->functions[1].num_reps, 0);
	assert_each(topology, rep_iface, "", "", "", "");
}

/* Two hosts on one card: the representors of both are on the same port's PF. */
static void test_multi_host_card_tells_its_hosts_apart(void **state)
{
	struct pcie_topology *topology = parse_functions("  - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
							 "  - {side: a/host, type: pf, pci: b1:00.0}\n"
							 "  - {side: b/host, type: pf, pci: b1:00.0}\n");

	assert_reps(&topology->functions[0], ids(1, 2));
	assert_each(topology, rep_iface, "", "pf0hpf", "c2pf0hpf");
	assert_each(topology, vuid, "MT2306XZ0000ECMLNXS0D0F0", "MT2306XZ0000MLNXS0D0F0", "MT2306XZ0000MLNXS1D0F0");
}

/* Sides -------------------------------------------------------------------------- */

static void test_two_cards_share_a_host(void **state)
{
	struct pcie_topology *topology = parse_file(TOPOLOGY_DIR "/two-cards.yaml");

	assert_int_equal(topology->num_cards, 2);
	assert_each(topology, ibdev, "mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1", /* left */
		    "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3");                 /* right */
	assert_int_equal(topology->functions[6].card, 1);
	assert_int_equal(topology->functions[6].vhca_id, 2); /* ids are a card's own */
	assert_reps(&topology->functions[4], ids(6));
}

static void test_two_nodes_have_four_sides(void **state)
{
	struct pcie_topology *topology = parse_file(TOPOLOGY_DIR "/two-nodes.yaml");

	assert_true(pcie_topology_has_side(topology, "node0/host"));
	assert_true(pcie_topology_has_side(topology, "node0/dpu"));
	assert_true(pcie_topology_has_side(topology, "node1/host"));
	assert_true(pcie_topology_has_side(topology, "node1/dpu"));
	assert_false(pcie_topology_has_side(topology, "host"));
	assert_false(pcie_topology_has_side(topology, "node0"));
	assert_false(pcie_topology_has_side(topology, ""));
}

static void test_older_bluefield_2_copies_128_mib(void **state)
{
	struct pcie_topology *topology = parse_file(TOPOLOGY_DIR "/bluefield-2.yaml");

	assert_string_equal(topology->cards[0].profile->name, "bluefield-2");
	assert_int_equal(topology->functions[0].caps.dma_max_buf_bytes, 134217728);
	assert_int_equal(topology->functions[3].active_rate_bps, 100 * GBPS);
}

static void test_side_is_a_dpu_by_its_last_part(void **state)
{
	assert_true(pcie_side_is_dpu("dpu"));
	assert_true(pcie_side_is_dpu("node0/dpu"));
	assert_false(pcie_side_is_dpu("host"));
	assert_false(pcie_side_is_dpu("dpu/host"));
	assert_false(pcie_side_is_dpu("xdpu"));
	assert_false(pcie_side_is_dpu(""));
}

static void test_destroy_accepts_null(void **state)
{
	pcie_topology_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_is_one_bluefield_3_with_two_pfs_on_each_side),
		cmocka_unit_test(test_every_field_arrives_as_written),
		cmocka_unit_test(test_caps_override_single_capabilities_only),
		cmocka_unit_test(test_units_scale_sizes_and_rates),
		cmocka_unit_test(test_leading_zero_is_decimal),
		cmocka_unit_test(test_empty_iface_means_none),
		cmocka_unit_test(test_names_default_to_what_a_real_card_would_have),
		cmocka_unit_test(test_numbers_default_to_the_order_in_the_file),
		cmocka_unit_test(test_mac_and_ipv6_default_to_the_id),
		cmocka_unit_test(test_ipv6_defaults_to_the_given_mac),
		cmocka_unit_test(test_link_is_the_profiles_but_for_what_is_given),
		cmocka_unit_test(test_capabilities_default_to_the_profile_by_side),
		cmocka_unit_test(test_defaults_keep_clear_of_given_values),
		cmocka_unit_test(test_infiniband_function_has_a_lid_and_an_ib_name),
		cmocka_unit_test(test_vf_belongs_to_the_pf_listed_last_before_it),
		cmocka_unit_test(test_sf_may_stand_before_its_pf),
		cmocka_unit_test(test_dpu_pf_represents_the_host_pf_of_its_number_and_what_belongs_to_it),
		cmocka_unit_test(test_one_represents_turns_the_default_off_for_its_card),
		cmocka_unit_test(test_multi_host_card_tells_its_hosts_apart),
		cmocka_unit_test(test_two_cards_share_a_host),
		cmocka_unit_test(test_two_nodes_have_four_sides),
		cmocka_unit_test(test_older_bluefield_2_copies_128_mib),
		cmocka_unit_test(test_side_is_a_dpu_by_its_last_part),
		cmocka_unit_test(test_destroy_accepts_null),
	};

	return cmocka_run_group_tests(tests, NULL, topologies_teardown);
}
