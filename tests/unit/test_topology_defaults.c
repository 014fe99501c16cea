/* SPDX-License-Identifier: BSD-3-Clause */
/* Default addresses and names that depend on the card's firmware and on the packages of its systems, and files that were
 * written for those of earlier versions. doc/topology.md gives the source of each default. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topologies.h"

#define PF(side, pci) "  - {side: " side ", type: pf, pci: \"" pci "\""

static struct pcie_topology *parse_one(const char *card)
{
	char yaml[4096];

	snprintf(yaml, sizeof(yaml), "cards:\n- %s", card);
	return parse(yaml);
}

/* "b1:00.0 b1:00.3 ", the addresses of VFs of @side. */
static void assert_vfs(const char *card, const char *side, const char *expected)
{
	struct pcie_topology *topology = parse_one(card);
	char text[1024] = "";

	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];
		char addr[PCIE_ADDR_TEXT_SIZE];

		pcie_addr_format(&function->addr, addr);
		if (function->type == PCIE_FUNC_VF && strcmp(function->side, side) == 0)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", addr + 5);
	}
	assert_string_equal(text, expected);
}

/* "pf0hpf@0 pf2hpf@2 ", each representor with its holder. */
static void assert_reps(const char *card, const char *expected)
{
	struct pcie_topology *topology = parse_one(card);
	char text[1024] = "";

	for (size_t i = 0; i < topology->num_functions; i++)
		for (size_t j = 0; j < topology->functions[i].num_reps; j++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s@%zu ",
				 topology->functions[topology->functions[i].reps[j]].rep_iface, i);
	assert_string_equal(text, expected);
}

/* ---- addresses of VFs ---- */

static void test_vfs_follow_the_management_function_of_a_bluefield(void **state)
{
	assert_vfs("profile: bluefield-3\n  functions:\n" PF("host", "b1:00.0") ", vfs: 2}\n", "host",
		   "b1:00.2 b1:00.3 ");
	assert_vfs(
		"profile: bluefield-2\n  functions:\n" PF("host", "b1:00.0") ", vfs: 3}\n" PF("host", "b1:00.1") "}\n",
		"host", "b1:00.3 b1:00.4 b1:00.5 ");
}

/* The first has room for 16, as sriov_totalvfs says, however many there are. */
static void test_vfs_of_the_second_port_leave_room_for_those_of_the_first(void **state)
{
	assert_vfs(
		"profile: bluefield-2\n  functions:\n" PF("host", "01:00.0") "}\n" PF("host", "01:00.1") ", vfs: 2}\n",
		"host", "01:02.3 01:02.4 ");
	assert_vfs("profile: connectx-7\n  functions:\n" PF("host", "41:00.0") ", vfs: 2}\n" PF(
			   "host", "41:00.1") ", vfs: 2}\n",
		   "host", "41:00.2 41:00.3 41:01.2 41:01.3 ");
	/* 3 and 20 more: 23 is 02.7; the firmware of this card provides for 20 */
	assert_vfs("profile: bluefield-3\n  functions:\n" PF("host", "b1:00.0") ", vfs: 1}\n" PF(
			   "host", "b1:00.1") ", vfs: 20}\n",
		   "host",
		   "b1:00.3 b1:02.7 b1:03.0 b1:03.1 b1:03.2 b1:03.3 b1:03.4 b1:03.5 b1:03.6 b1:03.7 b1:04.0 b1:04.1 "
		   "b1:04.2 b1:04.3 b1:04.4 b1:04.5 b1:04.6 b1:04.7 b1:05.0 b1:05.1 b1:05.2 ");
}

static void test_management_takes_no_address_where_it_does_not_exist(void **state)
{
	assert_vfs("profile: bluefield-3\n  management: false\n  functions:\n" PF("host", "b1:00.0") ", vfs: 2}\n",
		   "host", "b1:00.1 b1:00.2 ");
	assert_vfs("profile: connectx-7\n  functions:\n" PF("host", "b1:00.0") ", vfs: 2}\n", "host",
		   "b1:00.1 b1:00.2 ");
	assert_vfs("profile: bluefield-3\n  functions:\n" PF("dpu", "03:00.0") ", vfs: 2}\n", "dpu",
		   "03:00.1 03:00.2 ");
	/* the file lists a VF there */
	assert_vfs("profile: bluefield-3\n  functions:\n" PF(
			   "host", "b1:00.0") ", vfs: 2}\n  - {side: host, type: vf, pci: \"b1:00.1\"}\n",
		   "host", "b1:00.1 b1:00.2 b1:00.3 ");
}

static void test_management_is_checked(void **state)
{
	static const struct {
		const char *card, *message;
	} cases[] = {
		{ "profile: bluefield-3\n  management: maybe\n",
		  "bad.yaml:3: cards[0].management: \"maybe\" is neither true nor false" },
		{ "profile: connectx-7\n  management: true\n",
		  "bad.yaml:3: cards[0].management: \"true\" needs Arm cores, which the profile does not have; remove it" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pcie_topology *topology = NULL;
		char yaml[1024], error[PCIE_ERROR_SIZE];

		snprintf(yaml, sizeof(yaml), "cards:\n- %s  functions:\n" PF("host", "b1:00.0") "}\n", cases[i].card);
		assert_int_equal(pcie_topology_parse("bad.yaml", yaml, strlen(yaml), &topology, error), -EINVAL);
		assert_string_equal(error, cases[i].message);
	}
}

/* 65535 is the last address. Earlier versions found two VFs behind ff:1f.5, and so does this one. */
static void test_vfs_that_fitted_on_the_last_bus_still_fit(void **state)
{
	assert_vfs("profile: bluefield-3\n  functions:\n" PF("host", "ff:1f.5") ", vfs: 2}\n", "host",
		   "ff:1f.7 ff:1f.6 ");
	assert_vfs(
		"profile: bluefield-3\n  functions:\n" PF("host", "ff:1f.0") "}\n" PF("host", "ff:1f.1") ", vfs: 2}\n",
		"host", "ff:1f.2 ff:1f.3 ");
}

/* ---- representors ---- */

static void test_representor_of_an_sf_names_its_holder_and_the_host(void **state)
{
	assert_reps(
		"profile: bluefield-3\n  functions:\n" PF("dpu", "03:00.0") ", sfs: 1}\n" PF(
			"dpu", "03:00.1") ", sfs: 1}\n" PF("host", "0b:00.0") ", sfs: 1}\n" PF("host",
											       "0b:00.1") ", sfs: 1}\n",
		"pf0hpf@0 en3f0c1pf0sf0@0 en3f0pf0sf0@0 pf1hpf@1 en3f1c1pf1sf0@1 en3f1pf1sf0@1 ");
	assert_reps("profile: bluefield-3\n  functions:\n" PF("dpu", "a3:00.0") ", sfs: 1}\n" PF(
			    "a/host", "0b:00.0") ", sfs: 1}\n" PF("b/host", "0b:00.0") ", sfs: 1}\n",
		    "pf0hpf@0 c2pf0hpf@0 ena3f0c1pf0sf0@0 ena3f0c2pf0sf0@0 ena3f0pf0sf0@0 ");
}

/* They have representors as the host's have, and count on behind them; those of the second PF from 0, as its host PF has no VFs. */
static void test_vfs_of_the_dpu_count_on_behind_those_of_the_host(void **state)
{
	assert_reps(
		"profile: bluefield-3\n  functions:\n" PF("dpu", "03:00.0") ", vfs: 2, sfs: 1}\n" PF(
			"dpu", "03:00.1") ", vfs: 1}\n" PF("host", "b1:00.0") ", vfs: 2}\n" PF("host", "b1:00.1") "}\n",
		"pf0hpf@0 pf0vf0@0 pf0vf1@0 en3f0pf0sf0@0 pf0vf2@0 pf0vf3@0 pf1hpf@1 pf1vf0@1 ");
	assert_reps(
		"profile: bluefield-3\n  functions:\n" PF(
			"dpu",
			"03:00.0") ", vfs: 1, represents: [\"dpu/03:00.1\", \"host/b1:00.2\"]}\n" PF("host",
												     "b1:00.0") ", vfs: 1}\n",
		"pf0vf1@0 pf0vf0@0 ");
}

/* A card for several hosts has a PF for each of theirs; the number in a name is that of the PF. */
static void test_each_pf_of_a_multi_host_card_represents_one(void **state)
{
	assert_reps(
		"profile: bluefield-2\n  functions:\n" PF("dpu", "03:00.0") "}\n" PF("dpu", "03:00.1") "}\n" PF("dpu", "03:00.2") "}\n" PF(
			"dpu",
			"03:00.3") "}\n" PF("a/host",
					    "01:00.0") "}\n" PF("a/host",
								"01:00.1") ", sfs: 1}\n" PF("b/host",
											    "01:00.0") ", sfs: 1}\n" PF("b/host",
															"01:00.1") ", vfs: 1}\n",
		"pf0hpf@0 pf1hpf@1 en3f1c1pf1sf0@1 pf2hpf@2 en3f2c2pf0sf0@2 pf3hpf@3 pf3vf0@3 ");
	/* Three PFs for two: those of one number share a holder, and the second host has its mark. */
	assert_reps("profile: bluefield-2\n  functions:\n" PF("dpu", "03:00.0") "}\n" PF("dpu", "03:00.1") "}\n" PF(
			    "dpu", "03:00.2") "}\n" PF("a/host", "01:00.0") "}\n" PF("b/host", "01:00.0") "}\n",
		    "pf0hpf@0 c2pf0hpf@0 ");
}

/* ---- VFs whose PF is another side's ---- */

#define GUEST                                                                                                       \
	"profile: bluefield-3\n  functions:\n" PF("dpu", "03:00.0") "}\n" PF(                                       \
		"dpu", "03:00.1") "}\n"                                                                             \
				  "  - {side: vm/host, type: vf, pci: \"06:00.0\", parent: \"host/b1:00.1\"}\n"     \
				  "  - {side: vm/host, type: vf, pci: \"07:00.0\", parent: \"host/b1:00.0\"}\n" PF( \
					  "host", "b1:00.0") "}\n" PF("host",                                       \
								      "b1:00.1") ", vfs: 2}\n" PF("other/host",     \
												  "b1:00.0") "}\n"

static void test_vf_in_a_guest_has_type_vuid_and_representor_of_its_pf(void **state)
{
	struct pcie_topology *topology = parse_one(GUEST);
	const struct pcie_function *vf = &topology->functions[2];

	assert_int_equal(vf->type, PCIE_FUNC_VF);
	assert_int_equal(vf->parent, 5);
	assert_string_equal(vf->vuid, "MT2306XZ0000MLNXS0D0F1VF1");
	assert_string_equal(vf->rep_iface, "pf1vf0");
	assert_string_equal(vf->ibdev, "mlx5_0");
	assert_string_equal(vf->iface, "enp6s0");
	assert_string_equal(topology->functions[3].rep_iface, "pf0vf0");
	assert_true(vf->caps.comch_client && pcie_function_has_representor(&topology->functions[1], vf->id));
	/* The guest is no host of the card: other/host is the second one. */
	assert_string_equal(topology->functions[6].vuid, "MT2306XZ0000MLNXS1D0F0");
	assert_string_equal(topology->functions[6].rep_iface, "c2pf0hpf");
}

/* VF 0 is in the guest: VFs 1 and 2 have the addresses behind the one that it would have here. */
static void test_vfs_of_the_host_count_on_behind_those_of_guests(void **state)
{
	struct pcie_topology *topology = parse_one(GUEST);

	assert_vfs(GUEST, "host", "b1:02.4 b1:02.5 ");
	assert_string_equal(topology->functions[7].vuid, "MT2306XZ0000MLNXS0D0F1VF2");
	assert_string_equal(topology->functions[7].rep_iface, "pf1vf1");
}

static void test_interfaces_of_a_guest_have_a_number_where_a_device_has_several_functions(void **state)
{
	struct pcie_topology *topology = parse_one("profile: bluefield-3\n  mode: nic\n  functions:\n" PF(
		"host", "b1:00.0") "}\n"
				   "  - {side: pod/host, type: vf, pci: \"86:00.0\", parent: \"host/b1:00.0\"}\n"
				   "  - {side: pod/host, type: vf, pci: \"86:00.1\", parent: \"host/0000:b1:00.0\"}\n"
				   "  - {side: pod/host, type: vf, pci: \"0001:86:02.0\", parent: \"host/b1:00.0\"}\n");

	assert_string_equal(topology->functions[1].iface, "enp134s0f0");
	assert_string_equal(topology->functions[2].iface, "enp134s0f1");
	assert_string_equal(topology->functions[3].iface, "enP1p134s2");
	assert_string_equal(topology->functions[3].vuid, "MT2306XZ0000MLNXS0D0F0VF3");
}

/* ---- interfaces of a device with a single function ---- */

static void expect_ifaces(const char *card, const char *first, const char *second)
{
	struct pcie_topology *topology = parse_one(card);

	assert_string_equal(topology->functions[0].iface, first);
	assert_string_equal(topology->functions[1].iface, second);
}

static void test_interface_has_the_functions_number_where_the_device_has_several(void **state)
{
	expect_ifaces("profile: connectx-7\n  functions:\n" PF("host", "18:00.0") ", vfs: 1}\n", "enp24s0np0",
		      "enp24s0v0");
	expect_ifaces("profile: connectx-7\n  functions:\n" PF("host", "18:00.0") ", link-layer: infiniband, vfs: 1}\n",
		      "ibp24s0", "ibp24s0v0");
	expect_ifaces("profile: connectx-7\n  functions:\n" PF("host", "18:00.0") "}\n" PF("host", "18:00.1") "}\n",
		      "enp24s0f0np0", "enp24s0f1np1");
	/* The halves of a card for two sockets. */
	expect_ifaces("profile: connectx-7\n  functions:\n" PF("host", "a3:00.0") "}\n" PF("host", "e3:00.0") "}\n",
		      "enp163s0np0", "enp227s0np1");
	/* The card's management is a second function. */
	expect_ifaces("profile: bluefield-3\n  functions:\n" PF("host", "18:00.0") ", vfs: 1}\n", "enp24s0f0np0",
		      "enp24s0f0v0");
	expect_ifaces("profile: bluefield-3\n  management: false\n  functions:\n" PF("host", "18:00.0") ", sfs: 1}\n",
		      "enp24s0np0", "enp18s0f0s0");
}

/* ---- files of earlier versions ---- */

#define OLD_VFS                                                                                                  \
	"profile: bluefield-3\n  functions:\n" PF(                                                               \
		"dpu",                                                                                           \
		"03:00.0") ", represents: [\"host/b1:00.0\", \"host/b1:00.2\"]}\n" PF("host",                    \
										      "b1:00.0") ", "            \
												 "vfs: 2}\n" PF( \
													 "host", \
													 "b1:00.1") "}\n"

static void test_former_address_in_represents_is_understood(void **state)
{
	struct pcie_topology *topology = parse_one(OLD_VFS);

	assert_int_equal(topology->functions[0].num_reps, 2);
	assert_string_equal(topology->functions[topology->functions[0].reps[1]].rep_iface, "pf0vf0");
	assert_string_equal(topology->note, "represents: host/b1:00.2: earlier versions gave this default to "
					    "host/0000:b1:00.3");
}

static void expect_former(const char *card, const char *text, const char *expected)
{
	struct pcie_topology *topology = parse_one(card);
	char note[PCIE_NOTE_SIZE];

	assert_string_equal(topology->note, "");
	assert_int_equal(pcie_topology_find_former(topology, text, note), expected != NULL);
	if (expected)
		assert_string_equal(note, expected);
}

static void test_text_that_names_a_former_default_is_found(void **state)
{
	static const char *const card = "profile: bluefield-3\n  functions:\n" PF("dpu", "03:00.0") "}\n" PF(
		"host", "b1:00.0") ", vfs: 2, sfs: 1}\n" PF("host", "b1:00.1") "}\n";

	expect_former(card, "./program -p b1:00.2", "b1:00.2: earlier versions gave this default to host/0000:b1:00.3");
	expect_former(card, "a=0000:B1:00.2;", "0000:B1:00.2: earlier versions gave this default to host/0000:b1:00.3");
	expect_former(card, "-r pci/03:00.0,pf0sf0", "pf0sf0: earlier versions gave this default to en3f0c1pf0sf0");
	expect_former(card, "enp177s0f0s0", "enp177s0f0s0: earlier versions gave this default to enpb1s0f0s0");
	expect_former("profile: connectx-7\n  functions:\n" PF("host", "18:00.0") "}\n", "-i enp24s0f0np0",
		      "enp24s0f0np0: earlier versions gave this default to enp24s0np0");
	/* Of two, b1:00.3 is that of another VF now. */
	expect_former(card, "./program -p b1:00.3 -r b1:00.4 pf0vf0 enpb1s0f0s0 pf0sf00 b1:00.2.x", NULL);
}

/* Names that the file gives have no former ones, and addresses that it gives never changed. */
static void test_given_names_and_addresses_are_never_former(void **state)
{
	static const char *const card = "profile: bluefield-3\n  functions:\n" PF("dpu", "03:00.0") "}\n" PF(
		"host", "b1:00.0") "}\n"
				   "  - {side: host, type: vf, pci: \"b1:00.4\"}\n"
				   "  - {side: host, type: sf, pci: \"b1:00.0\", iface: mine, rep-iface: my-rep}\n";

	expect_former(card, "b1:00.1 b1:00.2 pf0sf0 enp177s0f0s0", NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vfs_follow_the_management_function_of_a_bluefield),
		cmocka_unit_test(test_vfs_of_the_second_port_leave_room_for_those_of_the_first),
		cmocka_unit_test(test_management_takes_no_address_where_it_does_not_exist),
		cmocka_unit_test(test_management_is_checked),
		cmocka_unit_test(test_vfs_that_fitted_on_the_last_bus_still_fit),
		cmocka_unit_test(test_representor_of_an_sf_names_its_holder_and_the_host),
		cmocka_unit_test(test_vfs_of_the_dpu_count_on_behind_those_of_the_host),
		cmocka_unit_test(test_each_pf_of_a_multi_host_card_represents_one),
		cmocka_unit_test(test_vf_in_a_guest_has_type_vuid_and_representor_of_its_pf),
		cmocka_unit_test(test_vfs_of_the_host_count_on_behind_those_of_guests),
		cmocka_unit_test(test_interfaces_of_a_guest_have_a_number_where_a_device_has_several_functions),
		cmocka_unit_test(test_interface_has_the_functions_number_where_the_device_has_several),
		cmocka_unit_test(test_former_address_in_represents_is_understood),
		cmocka_unit_test(test_text_that_names_a_former_default_is_found),
		cmocka_unit_test(test_given_names_and_addresses_are_never_former),
	};

	return cmocka_run_group_tests(tests, NULL, topologies_teardown);
}
