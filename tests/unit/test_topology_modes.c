/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies: SFs of the Arm cores, VFs and SFs given by number, modes of a card, sides. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topologies.h"

#ifndef TOPOLOGY_DIR
#define TOPOLOGY_DIR "share/topologies"
#endif

#define DPU0  "- {side: dpu, type: pf, pci: \"03:00.0\""
#define HOST0 "- {side: host, type: pf, pci: \"3b:00.0\""
#define HOST1 "- {side: host, type: pf, pci: \"3b:00.1\""

static void assert_refused(const char *card, const char *message)
{
	struct pcie_topology *topology = NULL;
	char yaml[4096], error[PCIE_ERROR_SIZE];

	snprintf(yaml, sizeof(yaml), "cards:\n- profile: bluefield-3\n%s", card);
	assert_int_equal(pcie_topology_parse("bad.yaml", yaml, strlen(yaml), &topology, error), -EINVAL);
	assert_string_equal(error, message);
	assert_null(topology);
}

/* "03:00.0/p0 03:00.0/enp3s0f0s0 ", each function with its interface, of one side. */
static void list_side(const struct pcie_topology *topology, const char *side, char text[1024])
{
	text[0] = '\0';
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];
		char addr[PCIE_ADDR_TEXT_SIZE];

		pcie_addr_format(&function->addr, addr);
		if (strcmp(function->side, side) == 0)
			snprintf(text + strlen(text), 1024 - strlen(text), "%s/%s ", addr + 5, function->iface);
	}
}

static void assert_side(const struct pcie_topology *topology, const char *side, const char *expected)
{
	char text[1024];

	list_side(topology, side, text);
	assert_string_equal(text, expected);
}

/* The interfaces of the representors of a function, with spaces behind them. */
static void assert_reps(const struct pcie_topology *topology, size_t function, const char *expected)
{
	char text[1024] = "";

	for (size_t i = 0; i < topology->functions[function].num_reps; i++) {
		const struct pcie_function *rep = &topology->functions[topology->functions[function].reps[i]];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", rep->rep_iface);
	}
	assert_string_equal(text, expected);
}

/* ---- SFs of the Arm cores ---- */

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	assert_non_null(file);
	assert_true(getdelim(&text, &size, EOF, file) > 0);
	fclose(file);
	return text;
}

static void test_real_dpu_lists_what_a_card_lists(void **state)
{
	char *yaml = read_file(TOPOLOGY_DIR "/real-dpu.yaml");
	struct pcie_topology *topology = parse(yaml);

	assert_side(topology, "dpu", "03:00.0/p0 03:00.1/p1 03:00.0/enp3s0f0s0 03:00.1/enp3s0f1s0 ");
	assert_side(topology, "host", "3b:00.0/enp59s0f0np0 3b:00.1/enp59s0f1np1 ");
	assert_reps(topology, 0, "pf0hpf en3f0pf0sf0 ");
	assert_reps(topology, 1, "pf1hpf en3f1pf1sf0 ");
	assert_int_equal(pcie_topology_page_bytes(topology, "dpu"), 65536);
	assert_int_equal(pcie_topology_page_bytes(topology, "host"), 4096);
	free(yaml);
}

static void test_sf_of_the_arm_cores_does_not_reach_the_host(void **state)
{
	struct pcie_topology *topology = parse_card("  functions:\n  " DPU0 ", sfs: 1}\n  " HOST0 ", sfs: 1}\n");
	const struct pcie_function *pf = &topology->functions[0], *sf = &topology->functions[2],
				   *host_sf = &topology->functions[3];

	assert_int_equal(sf->type, PCIE_FUNC_SF);
	assert_int_equal(sf->parent, pf->id);
	assert_true(pf->caps.comch_server && pf->caps.mmap_from_export_pci && pf->caps.rep_filter_all);
	assert_false(sf->caps.comch_server || sf->caps.mmap_from_export_pci || sf->caps.rep_filter_all);
	assert_false(sf->caps.sync_event_from_export_pci);
	assert_true(sf->caps.dma_memcpy);
	assert_true(host_sf->caps.comch_client && host_sf->caps.mmap_export_pci);
	assert_ptr_equal(pcie_topology_find_rep_holder(topology, sf->id), pf);
	assert_ptr_equal(pcie_topology_find_rep_holder(topology, host_sf->id), pf);
	assert_null(pcie_topology_find_rep_holder(topology, pf->id));
}

static void test_represents_names_sfs_of_the_dpu_but_no_other_function_of_it(void **state)
{
	struct pcie_topology *topology = parse_card("  functions:\n  " DPU0 ", represents: [dpu/03:00.0/sf7]}\n"
						    "  - {side: dpu, type: sf, pci: \"03:00.0\", sf-index: 7}\n");

	assert_reps(topology, 0, "en3f0pf0sf7 ");
	assert_refused(
		"  functions:\n  " DPU0 ", represents: [dpu/03:00.0]}\n",
		"bad.yaml:4: cards[0].functions[0].represents[0]: \"dpu/03:00.0\" is a PF of the DPU; of a DPU side, "
		"SFs and VFs are represented");
}

/* ---- VFs and SFs by number ---- */

static void test_numbers_of_vfs_and_sfs_follow_the_listed_functions(void **state)
{
	struct pcie_topology *topology = parse_card("  functions:\n  " DPU0 "}\n  " HOST0 ", vfs: 7, sfs: 2}\n  " HOST1
						    ", vfs: 1}\n  - {side: host, type: vf, pci: \"3b:00.4\"}\n");

	/* 3b:00.2 is the card's management, 3b:00.4 is taken. VFs continue at device 1 behind function 7. */
	assert_side(topology, "host",
		    "3b:00.0/enp59s0f0np0 3b:00.1/enp59s0f1np1 3b:00.4/enp59s0f1v0 3b:00.3/enp59s0f0v0 "
		    "3b:00.5/enp59s0f0v1 3b:00.6/enp59s0f0v2 3b:00.7/enp59s0f0v3 3b:01.0/enp59s0f0v4 "
		    "3b:01.1/enp59s0f0v5 3b:01.2/enp59s0f0v6 3b:00.0/enp3bs0f0s0 3b:00.0/enp3bs0f0s1 "
		    "3b:02.3/enp59s0f1v1 ");
	assert_reps(topology, 0,
		    "pf0hpf pf0vf0 pf0vf1 pf0vf2 pf0vf3 pf0vf4 pf0vf5 pf0vf6 en3f0c1pf0sf0 en3f0c1pf0sf1 ");
}

static void test_numbers_of_vfs_and_sfs_are_checked(void **state)
{
	assert_refused("  functions:\n  - {side: host, type: vf, pci: \"3b:00.2\", vfs: 1}\n",
		       "bad.yaml:4: cards[0].functions[0].vfs: only a PF has vfs; remove it");
	assert_refused("  functions:\n  " HOST0 ", sfs: many}\n",
		       "bad.yaml:4: cards[0].functions[0].sfs: \"many\" is not a number from 0 to 4096");
	assert_refused("  functions:\n  " HOST0 ", vfs: 2048, sfs: 2048}\n",
		       "bad.yaml:4: cards[0].functions[0].sfs: the topology has more than 4096 functions");
	assert_refused("  functions:\n  - {side: host, type: pf, pci: \"ff:1f.0\", vfs: 8}\n",
		       "bad.yaml:4: cards[0].functions[0].vfs: no addresses are left for so many VFs");
	assert_refused(
		"  functions:\n  " HOST0 ", sfs: 2, iface: a}\n  - {side: host, type: sf, pci: \"3b:00.0\", "
		"sf-index: 3, iface: enp3bs0f0s0}\n",
		"bad.yaml:4: cards[0].functions[0].sfs: is the same as that of cards[0].functions[1]; it must be "
		"unique on one side");
}

/* ---- numbers of functions ---- */

/* A freshly installed BlueField with one more SF: mlx5_core.sf.2 to .4, as mlnx-sf shows them. The host's PF and VF take the
 * numbers 0 and 1 there; the third SF has the number that the file gives, and the fourth the next free one. */
static void test_auxiliary_devices_are_numbered_behind_the_machines_pci_functions(void **state)
{
	struct pcie_topology *topology = parse_card("  functions:\n  - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
						    "  - {side: dpu, type: sf, pci: \"03:00.0\"}\n"
						    "  - {side: dpu, type: pf, pci: \"03:00.1\"}\n"
						    "  - {side: dpu, type: sf, pci: \"03:00.1\"}\n"
						    "  - {side: dpu, type: sf, pci: \"03:00.0\", sf-index: 70}\n"
						    "  - {side: host, type: pf, pci: b1:00.0}\n"
						    "  - {side: host, type: vf, pci: b1:00.2}\n"
						    "  - {side: host, type: sf, pci: b1:00.0, sf-index: 88}\n"
						    "  - {side: host, type: sf, pci: b1:00.0, aux-index: 3}\n"
						    "  - {side: host, type: sf, pci: b1:00.0}\n");
	const struct pcie_function *functions = topology->functions;

	assert_int_equal(functions[1].aux_index, 0);
	assert_int_equal(functions[3].aux_index, 0); /* of the other PF */
	assert_int_equal(functions[4].aux_index, 70);
	assert_int_equal(functions[4].sf_index, 70);
	assert_int_equal(functions[7].aux_index, 88);
	assert_int_equal(functions[8].aux_index, 3);
	assert_int_equal(functions[8].sf_index, 0);
	assert_int_equal(functions[9].aux_index, 1);
}

static void assert_indices(const struct pcie_function *function, uint32_t host, uint32_t pf, uint32_t vf)
{
	assert_int_equal(function->host_index, host);
	assert_int_equal(function->pf_index, pf);
	assert_int_equal(function->vf_index, vf);
}

/* The Arm cores are host 0 of a card, its hosts 1, 2, ... A VF may be listed before its PF. */
static void test_functions_are_numbered_by_host_pf_and_vf(void **state)
{
	struct pcie_topology *topology = parse_card("  functions:\n  - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
						    "  - {side: dpu, type: sf, pci: \"03:00.0\"}\n"
						    "  - {side: a/host, type: pf, pci: b1:00.0}\n"
						    "  - {side: a/host, type: vf, pci: b1:01.0, parent: b1:00.1}\n"
						    "  - {side: a/host, type: pf, pci: b1:00.1}\n"
						    "  - {side: a/host, type: vf, pci: b1:01.1, parent: b1:00.1}\n"
						    "  - {side: b/host, type: pf, pci: b1:00.0}\n"
						    "  - {side: b/host, type: sf, pci: b1:00.0}\n");
	const struct pcie_function *functions = topology->functions;

	assert_indices(&functions[1], 0, 0, 0);
	assert_indices(&functions[2], 1, 0, 0);
	assert_indices(&functions[3], 1, 1, 0);
	assert_indices(&functions[4], 1, 1, 0);
	assert_indices(&functions[5], 1, 1, 1);
	assert_indices(&functions[6], 2, 0, 0);
	assert_indices(&functions[7], 2, 0, 0);
}

/* ---- modes ---- */

#define MODE(mode)                                                                                                   \
	"  mode: " mode "\n  functions:\n  " DPU0 ", sfs: 1}\n  - {side: dpu, type: vf, pci: \"03:00.2\"}\n  " HOST0 \
	", vfs: 1, sfs: 1}\n"

static void expect_all(const struct pcie_topology *topology)
{
	assert_side(topology, "dpu", "03:00.0/p0 03:00.2/enp3s0f0v0 03:00.0/enp3s0f0s0 ");
	assert_side(topology, "host", "3b:00.0/enp59s0f0np0 3b:00.2/enp59s0f0v0 3b:00.0/enp3bs0f0s0 ");
	assert_reps(topology, 0, "pf0hpf pf0vf0 en3f0c1pf0sf0 en3f0pf0sf0 pf0vf1 ");
	assert_true(topology->functions[0].caps.comch_server && topology->functions[2].caps.comch_client);
}

static void test_dpu_is_the_default_and_zero_trust_shows_the_same(void **state)
{
	struct pcie_topology *dpu = parse_card(MODE("dpu")), *zero_trust = parse_card(MODE("zero-trust"));
	struct pcie_topology *unnamed = parse_card("  functions:\n  " DPU0 "}\n");

	expect_all(dpu);
	expect_all(zero_trust);
	assert_int_equal(zero_trust->cards[0].mode, PCIE_MODE_ZERO_TRUST);
	assert_int_equal(unnamed->cards[0].mode, PCIE_MODE_DPU);
}

/* Compression needs DPU mode; the other engines need it for work between the two sides. */
static void test_nic_mode_hides_the_arm_cores_and_leaves_engines_to_the_host(void **state)
{
	struct pcie_topology *topology = parse_card(MODE("nic"));

	assert_false(pcie_topology_has_side(topology, "dpu"));
	assert_string_equal(pcie_topology_describe_no_side(topology, "dpu"),
			    "; a card is in NIC mode, in which its Arm cores are inactive");
	assert_string_equal(pcie_topology_describe_no_side(topology, "front/host"), "");
	assert_side(topology, "host", "3b:00.0/enp59s0f0np0 3b:00.2/enp59s0f0v0 3b:00.0/enp3bs0f0s0 ");
	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		assert_int_equal(function->id, i);
		assert_int_equal(function->parent, 0);
		assert_false(function->caps.comch_client || function->caps.mmap_export_pci ||
			     function->caps.mmap_from_export_pci || function->caps.sync_event_export_pci);
		assert_true(function->caps.dma_memcpy);
		assert_true(function->caps.accel[PCIE_ACCEL_ERASURE_CODING].is_supported);
		assert_true(function->caps.accel[PCIE_ACCEL_AES_GCM].is_supported);
		assert_false(function->caps.accel[PCIE_ACCEL_DECOMPRESS_DEFLATE].is_supported);
		assert_false(function->caps.accel[PCIE_ACCEL_DECOMPRESS_LZ4].is_supported);
		assert_string_equal(function->rep_iface, "");
	}
	assert_string_equal(topology->functions[0].ibdev, "mlx5_0");
}

static void test_separated_mode_has_no_representors_and_no_way_across(void **state)
{
	struct pcie_topology *topology = parse_card(MODE("separated"));

	assert_side(topology, "dpu", "03:00.0/p0 ");
	assert_side(topology, "host", "3b:00.0/enp59s0f0np0 3b:00.2/enp59s0f0v0 ");
	assert_int_equal(topology->cards[0].num_hidden, 3); /* an SF of each side, a VF of the Arm cores */
	assert_string_equal(pcie_mode_hiding_reason(PCIE_MODE_SEPARATED),
			    "SFs need switchdev mode, which no function has, and the host alone has VFs");
	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		assert_int_equal(function->num_reps, 0);
		assert_true(function->caps.dma_memcpy);
		assert_false(function->caps.comch_client || function->caps.comch_server);
		assert_false(function->caps.mmap_export_pci || function->caps.mmap_from_export_pci);
		assert_false(function->caps.rep_filter_all);
	}
}

static void test_a_mode_of_one_card_leaves_the_other_card_alone(void **state)
{
	struct pcie_topology *topology =
		parse_card("  mode: nic\n  functions:\n  - {side: a/dpu, type: pf, pci: \"03:00.0\"}\n"
			   "  " HOST0 "}\n- profile: bluefield-3\n  functions:\n"
			   "  - {side: b/dpu, type: pf, pci: \"03:00.0\", sfs: 1}\n"
			   "  - {side: host, type: pf, pci: \"b1:00.0\"}\n");

	assert_int_equal(topology->num_functions, 4);
	assert_int_equal(topology->cards[0].num_hidden, 1);
	assert_int_equal(topology->cards[1].num_hidden, 0);
	assert_side(topology, "b/dpu", "03:00.0/p0 03:00.0/enp3s0f0s0 ");
	assert_reps(topology, 1, "pf0hpf en3f0pf0sf0 ");
	assert_int_equal(topology->functions[3].parent, 1);
}

static void test_caps_of_the_file_override_the_mode(void **state)
{
	struct pcie_topology *topology =
		parse_card("  mode: separated\n  functions:\n  " DPU0 ", caps: {comch-server: true}}\n");

	assert_true(topology->functions[0].caps.comch_server);
}

static void test_modes_are_checked(void **state)
{
	struct pcie_topology *topology = NULL;
	const char *connectx = "cards:\n- profile: connectx-7\n  mode: dpu\n  functions:\n  " HOST0 "}\n";
	char error[PCIE_ERROR_SIZE];

	assert_refused("  mode: smart\n  functions:\n  " HOST0 "}\n",
		       "bad.yaml:3: cards[0].mode: \"smart\" is not a mode; write dpu, nic, separated or zero-trust");
	assert_refused("  mode: nic\n  functions:\n  " DPU0 "}\n",
		       "bad.yaml:3: cards[0].mode: hides all functions of the card; list functions of the host");
	assert_refused("  mode: nic\n  functions:\n  " HOST0 "}\n  - {side: b/host, type: pf, pci: \"3b:00.0\"}\n",
		       "bad.yaml:3: cards[0].mode: a card in NIC mode has one host side; the file gives it more");
	assert_int_equal(pcie_topology_parse("bad.yaml", connectx, strlen(connectx), &topology, error), -EINVAL);
	assert_string_equal(error,
			    "bad.yaml:3: cards[0].mode: \"dpu\" needs Arm cores, which the profile does not have; "
			    "write nic");
}

/* ---- sides ---- */

#define SIDES(sides) "  functions:\n  " DPU0 "}\n  " HOST0 "}\nsides:\n" sides

static void test_sides_have_page_sizes(void **state)
{
	struct pcie_topology *topology = parse_card(SIDES("- {name: dpu, page-size: 64 KiB}\n- {name: host}\n"));

	assert_int_equal(pcie_topology_page_bytes(topology, "dpu"), 65536);
	assert_int_equal(pcie_topology_page_bytes(topology, "host"), 4096);
	assert_refused(SIDES("- {name: dpu, page-size: 8 KiB}\n"),
		       "bad.yaml:7: sides[0].page-size: \"8 KiB\" is not a page size; write 4 KiB, 16 KiB or 64 KiB");
	assert_refused(SIDES("- {name: front}\n"),
		       "bad.yaml:7: sides[0].name: \"front\" is not the side of any function");
	assert_refused(SIDES("- {name: dpu}\n- {name: dpu}\n"),
		       "bad.yaml:8: sides[1].name: \"dpu\" is described twice; remove one");
	assert_refused(SIDES("- {page-size: 4 KiB}\n"),
		       "bad.yaml:7: sides[0].name: is missing; this field is required");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_dpu_lists_what_a_card_lists),
		cmocka_unit_test(test_sf_of_the_arm_cores_does_not_reach_the_host),
		cmocka_unit_test(test_represents_names_sfs_of_the_dpu_but_no_other_function_of_it),
		cmocka_unit_test(test_numbers_of_vfs_and_sfs_follow_the_listed_functions),
		cmocka_unit_test(test_numbers_of_vfs_and_sfs_are_checked),
		cmocka_unit_test(test_dpu_is_the_default_and_zero_trust_shows_the_same),
		cmocka_unit_test(test_nic_mode_hides_the_arm_cores_and_leaves_engines_to_the_host),
		cmocka_unit_test(test_auxiliary_devices_are_numbered_behind_the_machines_pci_functions),
		cmocka_unit_test(test_functions_are_numbered_by_host_pf_and_vf),
		cmocka_unit_test(test_separated_mode_has_no_representors_and_no_way_across),
		cmocka_unit_test(test_a_mode_of_one_card_leaves_the_other_card_alone),
		cmocka_unit_test(test_caps_of_the_file_override_the_mode),
		cmocka_unit_test(test_modes_are_checked),
		cmocka_unit_test(test_sides_have_page_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, topologies_teardown);
}
