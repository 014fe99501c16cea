/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies that are wrong: each mistake is refused with its line, its field and a correct form. */
#include <errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "pcie_model/topology/topology.h"

struct mistake {
	const char *yaml;
	const char *message; /* without the file's name */
};

/* Parse @yaml, which must fail as @message says. */
static void assert_refused(const char *yaml, size_t len, const char *message)
{
	struct pcie_topology *const before = (struct pcie_topology *)&len; /* any address */
	struct pcie_topology *topology = before;
	char error[PCIE_ERROR_SIZE];
	int rc = pcie_topology_parse("bad.yaml", yaml, len, &topology, error);

	if (rc != -EINVAL)
		fail_msg("answered %d, not -EINVAL, to:\n%s", rc, yaml);
	assert_memory_equal(error, "bad.yaml:", 9);
	assert_string_equal(error + 9, message);
	assert_ptr_equal(topology, before);
}

static void assert_all_refused(const struct mistake *mistakes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_refused(mistakes[i].yaml, strlen(mistakes[i].yaml), mistakes[i].message);
}

/* The mistakes are in functions[0], from line 4 on, and are reported there. */
static void assert_fields_refused(const struct mistake *mistakes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char yaml[1024];

		snprintf(yaml, sizeof(yaml), "cards:\n- profile: bluefield-3\n  functions:\n%s\n", mistakes[i].yaml);
		assert_refused(yaml, strlen(yaml), mistakes[i].message);
	}
}

#define count_of(array) (sizeof(array) / sizeof((array)[0]))
#define assert_documents(...)                                             \
	do {                                                              \
		static const struct mistake mistakes[] = { __VA_ARGS__ }; \
		assert_all_refused(mistakes, count_of(mistakes));         \
	} while (0)
#define assert_functions(...)                                             \
	do {                                                              \
		static const struct mistake mistakes[] = { __VA_ARGS__ }; \
		assert_fields_refused(mistakes, count_of(mistakes));      \
	} while (0)

#define LIST    "expected a list ([a, b] or \"- a\" lines)"
#define MAPPING "expected a mapping (\"key: value\" lines)"

/* The text ------------------------------------------------------------------------ */

static void test_text_that_is_no_yaml_is_refused_at_its_line(void **state)
{
	assert_documents({ "cards:\n  - a: b\n c\n", "3: cards: not YAML: did not find expected key" },
			 { "cards:\n\t- a\n", "2: cards: not YAML: found character that cannot start any token" },
			 { "cards: [\n", "2: cards: not YAML: did not find expected node content" },
			 { "#\n#\ncards: \001\n", "3: not YAML: control characters are not allowed" },
			 { "#\ncards: \xff\n", "2: not YAML: invalid leading UTF-8 octet" });
	assert_refused("a\0b", 3, "1: not YAML: control characters are not allowed");
}

static void test_empty_text_is_refused(void **state)
{
	assert_documents({ "", "1: the file is empty; it needs \"cards:\" and a list" },
			 { "# nothing\n\n", "3: the file is empty; it needs \"cards:\" and a list" },
			 { "---\n", "1: expected \"cards:\" and a list" },
			 { "hello\n", "1: expected \"cards:\" and a list" },
			 { "- a\n", "1: expected \"cards:\" and a list" },
			 { "{}\n", "1: cards: is missing; this field is required" },
			 { "cards: []\n", "1: cards: needs at least one card" });
}

static void test_yaml_beyond_plain_trees_is_refused(void **state)
{
	assert_documents(
		{ "cards: &a\n- a\n", "1: cards: anchors (&name) are not supported; repeat the value" },
		{ "cards:\n- name: &a x\n", "2: cards[0].name: anchors (&name) are not supported; repeat the value" },
		{ "cards: *a\n", "1: cards: aliases (*name) are not supported; repeat the value" },
		{ "cards: []\n---\ncards: []\n", "2: a second document (---) starts here; write one per file" },
		{ "? [a]\n: b\n", "1: a key must be a plain word" },
		{ "cards:\n- name: \"a\\0b\"\n", "2: cards[0].name: has a zero byte in its text; remove it" },
		{ "cards: [[[[[[[[[[[[[[[[[[[[\n",
		  "1: cards[0][0][0][0][0][0][0]: is nested too deeply; no field needs more than six levels" },
		{ "cards:\n- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: b\n",
		  "2: cards[0]: \"aaaaaaaaaaaaaaaa...\" is too long for a key" });
}

/* An alias bomb would be 9 * 8 * 8 * 8 entries; it is refused at its first anchor. */
static void test_alias_bomb_is_refused(void **state)
{
	assert_documents({ "cards:\n- &a [x, x, x, x, x, x, x, x, x]\n- &b [*a, *a, *a, *a, *a, *a, *a, *a]\n"
			   "- &c [*b, *b, *b, *b, *b, *b, *b, *b]\n- [*c, *c, *c, *c, *c, *c, *c, *c]\n",
			   "2: cards[0]: anchors (&name) are not supported; repeat the value" });
}

static void test_huge_text_is_refused(void **state)
{
	const size_t len = 1024 * 1024 + 1;
	char *text = malloc(len);

	assert_non_null(text);
	memset(text, '#', len);
	assert_refused(text, len, "1: is larger than 1048576 bytes");
	free(text);
}

static void test_too_many_functions_are_refused(void **state)
{
	static const char head[] = "cards:\n- profile: bluefield-3\n  functions:\n";
	static const char line[] = "  - {side: host, type: sf, pci: b1:00.0}\n";
	size_t len = strlen(head) + 4097 * strlen(line);
	char *text = malloc(len + 1), *end;

	assert_non_null(text);
	end = stpcpy(text, head);
	for (int i = 0; i < 4097; i++)
		end = stpcpy(end, line);
	assert_refused(text, len, "3: cards[0].functions: the topology has more than 4096 functions");
	free(text);
}

/* The structure ------------------------------------------------------------------- */

static void test_unknown_field_is_refused(void **state)
{
	assert_documents(
		{ "cards: []\nfoo bar: 1\n", "2: foo bar: unknown field; the fields here are cards, sides, network" },
		{ "cards:\n- profile: bluefield-3\n  nmae: a\n",
		  "3: cards[0].nmae: unknown field; did you mean name?" },
		{ "cards:\n- <<: {profile: bluefield-3}\n",
		  "2: cards[0].<<: unknown field; the fields here are name, profile, mode, management, link, timing, dpa, functions" });
	assert_functions({ "  - side: host\n    ifase: x\n",
			   "5: cards[0].functions[0].ifase: unknown field; did you mean iface?" },
			 { "  - {side: host, type: pf, pci: b1:00.0}\n  - {Side: host}\n",
			   "5: cards[0].functions[1].Side: unknown field; did you mean side?" },
			 { "  - caps:\n      dma-memcpy: true\n      dma-memcopy: true\n",
			   "6: cards[0].functions[0].caps.dma-memcopy: unknown field; did you mean dma-memcpy?" });
}

static void test_field_given_twice_is_refused_at_the_second(void **state)
{
	assert_documents({ "cards: []\ncards: []\n", "2: cards: is given twice; remove one" });
	assert_functions({ "  - side: host\n    type: pf\n    side: dpu\n",
			   "6: cards[0].functions[0].side: is given twice; remove one" },
			 { "  - represents: [a]\n    represents: [b]\n",
			   "5: cards[0].functions[0].represents: is given twice; remove one" },
			 { "  - caps: {hotplug-manager: true,\n      hotplug-manager: true}\n",
			   "5: cards[0].functions[0].caps.hotplug-manager: is given twice; remove one" });
}

static void test_missing_field_is_refused_at_its_mapping(void **state)
{
	assert_documents(
		{ "cards:\n- {}\n", "2: cards[0].profile: is missing; this field is required" },
		{ "cards:\n- name: a\n  functions:\n  - {side: host, type: pf, pci: b1:00.0}\n",
		  "2: cards[0].profile: is missing; this field is required" },
		{ "cards:\n- profile: bluefield-3\n", "2: cards[0].functions: is missing; this field is required" },
		{ "cards:\n- profile: bluefield-3\n  functions: []\n",
		  "3: cards[0].functions: needs at least one function" });
	assert_functions(
		{ "  - {type: pf, pci: b1:00.0}", "4: cards[0].functions[0].side: is missing; this field is required" },
		{ "  - {side: host, type: pf, pci: b1:00.0}\n  - side: host\n    pci: b1:00.1",
		  "5: cards[0].functions[1].type: is missing; this field is required" },
		{ "  - {side: host, type: pf, caps: {dma-memcpy: true}}",
		  "4: cards[0].functions[0].pci: is missing; this field is required" });
}

static void test_wrong_kind_of_value_is_refused(void **state)
{
	assert_documents({ "cards: 1\n", "1: cards: " LIST }, { "cards: {}\n", "1: cards: " LIST },
			 { "cards:\n- a\n", "2: cards[0]: " MAPPING },
			 { "cards:\n- name: [a]\n", "2: cards[0].name: expected a single value" },
			 { "cards:\n- profile: bluefield-3\n  functions:\n", "3: cards[0].functions: " LIST });
	assert_functions(
		{ "  - a\n", "4: cards[0].functions[0]: " MAPPING },
		{ "  - side: {a: b}\n", "4: cards[0].functions[0].side: expected a single value" },
		{ "  - represents: host/b1:00.0\n", "4: cards[0].functions[0].represents: " LIST },
		{ "  - represents: [a, [b]]\n", "4: cards[0].functions[0].represents[1]: expected a single value" },
		{ "  - caps: true\n", "4: cards[0].functions[0].caps: " MAPPING },
		{ "  - caps: {dma-memcpy: []}\n",
		  "4: cards[0].functions[0].caps.dma-memcpy: expected a single value" });
}

/* The values ---------------------------------------------------------------------- */

#define HOST "  - {side: host, type: pf, pci: b1:00.0,\n     "
#define AT_5 "5: cards[0].functions[0]."

static void test_card_values_out_of_form_are_refused(void **state)
{
	assert_documents(
		{ "cards:\n- profile: bluefield-9\n  functions: [{side: host, type: pf, pci: b1:00.0}]\n",
		  "2: cards[0].profile: \"bluefield-9\" is not a profile; known are bluefield-2, "
		  "bluefield-3, connectx-7" },
		{ "cards:\n- profile: bluefield-3\n  name: a b\n"
		  "  functions: [{side: host, type: pf, pci: b1:00.0}]\n",
		  "3: cards[0].name: \"a b\" is not a name; write 1 to 63 characters without spaces and '/'" },
		{ "cards:\n- profile: bluefield-3\n  functions: [{side: host, type: pf, pci: b1:00.0}]\n"
		  "- profile: bluefield-3\n  name: card0\n  functions: [{side: host, type: pf, pci: b1:00.1}]\n",
		  "5: cards[1].name: \"card0\" is the name of an earlier card too" });
}

static void test_links_that_cannot_be_are_refused(void **state)
{
	assert_documents(
		{ "cards:\n- profile: bluefield-3\n  link: {lanes: wide}\n"
		  "  functions: [{side: host, type: pf, pci: b1:00.0}]\n",
		  "3: cards[0].link.lanes: \"wide\" is not a number" },
		{ "cards:\n- profile: bluefield-3\n  link: {lanes: 3}\n"
		  "  functions: [{side: host, type: pf, pci: b1:00.0}]\n",
		  "3: cards[0].link: a link has 1, 2, 4, 8, 12, 16 or 32 lanes" },
		{ "cards:\n- profile: bluefield-3\n  link: {speed: 3}\n"
		  "  functions: [{side: host, type: pf, pci: b1:00.0}]\n",
		  "3: cards[0].link.speed: unknown field; the fields here are generation, lanes, mps, mrrs, rcb" });
}

static void test_times_that_are_none_are_refused(void **state)
{
	assert_documents(
		{ "cards:\n- profile: bluefield-3\n  timing: {sync-event: soon}\n"
		  "  functions: [{side: host, type: pf, pci: b1:00.0}]\n",
		  "3: cards[0].timing.sync-event: \"soon\" is not a time; write 3us or 2500ns, for instance" },
		{ "cards:\n- profile: bluefield-3\n  timing: {producer-message: 5}\n"
		  "  functions: [{side: host, type: pf, pci: b1:00.0}]\n",
		  "3: cards[0].timing.producer-message: \"5\" is not a time; write 3us or 2500ns, for instance" });
}

static void test_pci_address_out_of_form_is_refused(void **state)
{
	assert_functions(
		{ "  - {side: host, type: pf, pci: zz}",
		  "4: cards[0].functions[0].pci: \"zz\" is not a PCI address; write DDDD:BB:DD.F or BB:DD.F" },
		{ "  - side: host\n    type: pf\n    pci: b1:00.8",
		  "6: cards[0].functions[0].pci: \"b1:00.8\" is not a PCI address; write DDDD:BB:DD.F or BB:DD.F" },
		{ "  - {side: host, type: pf, pci: }",
		  "4: cards[0].functions[0].pci: \"\" is not a PCI address; write DDDD:BB:DD.F or BB:DD.F" });
}

#define NOT_A_SIDE " is not a side; write host or dpu, or with a machine's name before it: node0/host"

static void test_side_out_of_form_is_refused(void **state)
{
	assert_functions(
		{ "  - {side: arm, type: pf, pci: b1:00.0}", "4: cards[0].functions[0].side: \"arm\"" NOT_A_SIDE },
		{ "  - {side: Host, type: pf, pci: b1:00.0}", "4: cards[0].functions[0].side: \"Host\"" NOT_A_SIDE },
		{ "  - {side: /host, type: pf, pci: b1:00.0}", "4: cards[0].functions[0].side: \"/host\"" NOT_A_SIDE },
		{ "  - {side: a//dpu, type: pf, pci: b1:00.0}",
		  "4: cards[0].functions[0].side: \"a//dpu\"" NOT_A_SIDE },
		{ "  - {side: host/, type: pf, pci: b1:00.0}", "4: cards[0].functions[0].side: \"host/\"" NOT_A_SIDE },
		{ "  - {side: a.b/host, type: pf, pci: b1:00.0}",
		  "4: cards[0].functions[0].side: \"a.b/host\"" NOT_A_SIDE });
	assert_documents(
		{ "cards:\n- profile: connectx-7\n  functions:\n  - {side: x/dpu, type: pf, pci: \"03:00.0\"}\n",
		  "4: cards[0].functions[0].side: a connectx-7 has no Arm cores, hence no side \"x/dpu\"; "
		  "use a host side or a BlueField profile" });
}

static void test_words_out_of_choice_are_refused(void **state)
{
	assert_functions(
		{ "  - {side: host, type: PF, pci: b1:00.0}",
		  "4: cards[0].functions[0].type: \"PF\" is not a type of function; write pf, vf or sf" },
		{ HOST "link-layer: ib}", AT_5 "link-layer: \"ib\" is not a link layer; write ethernet or infiniband" },
		{ HOST "hotplug: yes}", AT_5 "hotplug: \"yes\" is neither true nor false" },
		{ HOST "caps: {dma-memcpy: flase}}", AT_5 "caps.dma-memcpy: \"flase\" is neither true nor false" });
}

static void test_numbers_out_of_range_are_refused(void **state)
{
	assert_functions({ HOST "mtu: 67}", AT_5 "mtu: \"67\" is not a number from 68 to 65535" },
			 { HOST "mtu: 65536}", AT_5 "mtu: \"65536\" is not a number from 68 to 65535" },
			 { HOST "mtu: 1500x}", AT_5 "mtu: \"1500x\" is not a number from 68 to 65535" },
			 { HOST "mtu: -1}", AT_5 "mtu: \"-1\" is not a number from 68 to 65535" },
			 { HOST "mtu: \" 1500\"}", AT_5 "mtu: \" 1500\" is not a number from 68 to 65535" },
			 { HOST "mtu: 0x0x99}", AT_5 "mtu: \"0x0x99\" is not a number from 68 to 65535" },
			 { HOST "vhca-id: 65536}", AT_5 "vhca-id: \"65536\" is not a number from 0 to 65535" },
			 { HOST "vhca-id: }", AT_5 "vhca-id: \"\" is not a number from 0 to 65535" },
			 { HOST "vhca-id: 99999999999999999999}",
			   AT_5 "vhca-id: \"99999999999999999999\" is not a number from 0 to 65535" },
			 { HOST "link-layer: infiniband, lid: 0}", AT_5 "lid: \"0\" is not a number from 1 to 49151" },
			 { HOST "lid: 1}", AT_5 "lid: only a function with \"link-layer: infiniband\" has a LID" },
			 { HOST "caps: {dma-max-tasks: 4294967296}}",
			   AT_5 "caps.dma-max-tasks: \"4294967296\" is not a number from 0 to 4294967295" },
			 { HOST "caps: {dma-max-buf-bytes: 2 MB}}",
			   AT_5 "caps.dma-max-buf-bytes: \"2 MB\" is not a size; write bytes, or a number with "
				"KiB, MiB or GiB" },
			 { HOST "caps: {dma-max-buf-bytes: 99999999999 GiB}}",
			   AT_5 "caps.dma-max-buf-bytes: \"99999999999 GiB\" is not a size; write bytes, or a "
				"number with KiB, MiB or GiB" },
			 { HOST "caps: {comch-max-buf-bytes: 4 GiB}}",
			   AT_5 "caps.comch-max-buf-bytes: \"4 GiB\" is too large; give less than 4 GiB" },
			 { HOST "caps: {comch-max-msg-bytes: 4 k}}",
			   AT_5 "caps.comch-max-msg-bytes: \"4 k\" is not a size; write bytes, or a number with "
				"KiB, MiB or GiB" },
			 { HOST "caps: {sha-rate: fast}}",
			   AT_5 "caps.sha-rate: \"fast\" is not a rate; write bits per second, or a number with "
				"Mb/s, Gb/s or Tb/s" },
			 { HOST "active-rate: fast}",
			   AT_5 "active-rate: \"fast\" is not a rate; write bits per second, or a number with Mb/s, "
				"Gb/s or Tb/s" });
}

#define NOT_A_MAC " is not a MAC address of one device; write 02:00:5e:10:00:01 (the first byte even)"

static void test_addresses_out_of_form_are_refused(void **state)
{
	assert_functions({ HOST "mac: 02:00:00:00:00}", AT_5 "mac: \"02:00:00:00:00\"" NOT_A_MAC },
			 { HOST "mac: 02:00:00:00:00:01:02}", AT_5 "mac: \"02:00:00:00:00:01:02\"" NOT_A_MAC },
			 { HOST "mac: 02-00-00-00-00-01}", AT_5 "mac: \"02-00-00-00-00-01\"" NOT_A_MAC },
			 { HOST "mac: \"01:00:5e:00:00:01\"}", AT_5 "mac: \"01:00:5e:00:00:01\"" NOT_A_MAC },
			 { HOST "mac: \"00:00:00:00:00:00\"}", AT_5 "mac: \"00:00:00:00:00:00\"" NOT_A_MAC },
			 { HOST "ipv4: 192.0.2}", AT_5 "ipv4: \"192.0.2\" is not an IPv4 address; write 192.0.2.1" },
			 { HOST "ipv6: fe80}", AT_5 "ipv6: \"fe80\" is not an IPv6 address; write fe80::1" });
}

static void test_names_out_of_form_are_refused(void **state)
{
	assert_functions(
		{ HOST "ibdev: \"\"}", AT_5 "ibdev: is empty; give a name, or leave the field out for the default" },
		{ HOST "ibdev: a/b}", AT_5 "ibdev: \"a/b\" is not a name; write it without spaces and '/'" },
		{ HOST "vuid: a b}", AT_5 "vuid: \"a b\" is not a name; write it without spaces and '/'" },
		{ HOST "ibdev: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}",
		  AT_5 "ibdev: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"... is too long; at most "
		       "63 bytes" },
		{ HOST "iface: \"a\\nb\"}", /* a message stays one line */
		  AT_5 "iface: \"a?b\" is not a name; write it without spaces and '/'" });
}

/* Relations of functions ------------------------------------------------------------- */

#define DPU "  - {side: dpu, type: pf, pci: \"03:00.0\""

static void test_vf_and_sf_without_their_pf_are_refused(void **state)
{
	assert_functions(
		{ "  - {side: host, type: vf, pci: b1:00.2}",
		  "4: cards[0].functions[0].type: a VF needs a PF: list one before it on this card and side "
		  "\"host\", or name it with \"parent\"" },
		{ DPU "}\n  - {side: host, type: vf, pci: b1:00.2}",
		  "5: cards[0].functions[1].type: a VF needs a PF: list one before it on this card and side "
		  "\"host\", or name it with \"parent\"" },
		{ DPU "}\n  - {side: host, type: sf, pci: \"03:00.0\"}",
		  "5: cards[0].functions[1].pci: no PF of this card has the address \"03:00.0\" on side "
		  "\"host\"; an SF has its PF's address" },
		{ HOST "}\n  - {side: host, type: vf, pci: b1:00.2, parent: b1:00.1}",
		  "6: cards[0].functions[1].parent: no PF of this card has the address \"b1:00.1\" on side "
		  "\"host\"" },
		{ HOST "}\n  - {side: host, type: vf, pci: b1:00.2, parent: x}",
		  "6: cards[0].functions[1].parent: \"x\" is not a PCI address; write DDDD:BB:DD.F or BB:DD.F, or "
		  "SIDE/ADDRESS for the PF of another side: host/b1:00.0" },
		{ HOST "}\n  - {side: vm/host, type: vf, pci: b1:00.2, parent: host/b1:00.1}",
		  "6: cards[0].functions[1].parent: no PF of this card has the address \"b1:00.1\" on side "
		  "\"host\"" },
		{ HOST "}\n  - {side: vm/host, type: vf, pci: b1:00.2, parent: /b1:00.0}",
		  "6: cards[0].functions[1].parent: no PF of this card has the address \"b1:00.0\" on side "
		  "\"\"" },
		{ DPU "}\n  - {side: vm/host, type: vf, pci: b1:00.2, parent: \"dpu/03:00.0\"}",
		  "5: cards[0].functions[1].parent: \"dpu/03:00.0\" is not a host's; VFs of a host are seen by hosts, "
		  "those of the Arm cores by the Arm cores" },
		{ HOST "}\n  - {side: dpu, type: vf, pci: b1:00.2, parent: host/b1:00.0}",
		  "6: cards[0].functions[1].parent: \"dpu\" is not a host's; VFs of a host are seen by hosts, "
		  "those of the Arm cores by the Arm cores" },
		{ HOST "parent: b1:00.0}",
		  AT_5 "parent: only a VF names its PF; a PF has none, an SF has its PF's address" },
		{ HOST "sf-index: 1}", AT_5 "sf-index: only an SF has an index; remove it or write \"type: sf\"" },
		{ HOST "aux-index: 1}", AT_5 "aux-index: only an SF has an index; remove it or write \"type: sf\"" });
}

static void test_sf_of_another_cards_pf_is_refused(void **state)
{
	assert_documents({ "cards:\n- {profile: bluefield-3, functions: [{side: host, type: pf, pci: b1:00.0}]}\n"
			   "- {profile: bluefield-3, functions: [{side: host, type: sf, pci: b1:00.0}]}\n",
			   "3: cards[1].functions[0].pci: no PF of this card has the address \"b1:00.0\" on side "
			   "\"host\"; an SF has its PF's address" });
}

static void test_card_with_two_dpu_sides_is_refused(void **state)
{
	assert_functions({ DPU "}\n  - {side: x/dpu, type: pf, pci: \"03:00.1\"}",
			   "5: cards[0].functions[1].side: the card's DPU side is \"dpu\" already; a card has one" });
}

#define NOT_A_REFERENCE \
	" does not name a function; write SIDE/ADDRESS or SIDE/ADDRESS/sfN: host/b1:00.0, host/b1:00.0/sf4"
#define REP_0 "4: cards[0].functions[0].represents[0]: "

static void test_represents_must_name_a_host_function_of_its_card(void **state)
{
	assert_functions({ DPU ", represents: [b1:00.0]}", REP_0 "\"b1:00.0\"" NOT_A_REFERENCE },
			 { DPU ", represents: [host]}", REP_0 "\"host\"" NOT_A_REFERENCE },
			 { DPU ", represents: [host/b1:00.0/sf]}", REP_0 "\"host/b1:00.0/sf\"" NOT_A_REFERENCE },
			 { DPU ", represents: [\"\"]}", REP_0 "\"\"" NOT_A_REFERENCE },
			 { DPU ", represents: [host/b1:00.0]}", REP_0 "this card has no function \"host/b1:00.0\"" },
			 { DPU ", represents: [dpu/03:00.0]}",
			   REP_0 "\"dpu/03:00.0\" is a PF of the DPU; of a DPU side, SFs and VFs are represented" },
			 { DPU ", represents: [host/b1:00.0/sf4]}\n" HOST "}",
			   REP_0 "this card has no function \"host/b1:00.0/sf4\"" });
	assert_functions({ HOST "represents: []}", AT_5 "represents: only a DPU function holds representors" });
}

static void test_function_represented_twice_is_refused(void **state)
{
	assert_functions({ "  - side: dpu\n    type: pf\n    pci: \"03:00.0\"\n    represents:\n"
			   "    - host/b1:00.0\n    - host/0000:b1:00.0\n" HOST "}",
			   "9: cards[0].functions[0].represents[1]: \"host/0000:b1:00.0\" is represented by "
			   "cards[0].functions[0] already; remove one" },
			 { DPU ", represents: [host/b1:00.0]}\n"
			       "  - {side: dpu, type: pf, pci: \"03:00.1\", represents: [host/b1:00.0]}\n" HOST "}",
			   "5: cards[0].functions[1].represents[0]: \"host/b1:00.0\" is represented by "
			   "cards[0].functions[0] already; remove one" });
}

static void test_rep_iface_without_a_representor_is_refused(void **state)
{
	assert_functions({ HOST "rep-iface: pf0hpf}",
			   AT_5 "rep-iface: no DPU function of this card represents this one; remove the field or list "
				"the function in a \"represents\"" });
}

/* What must be unique --------------------------------------------------------------- */

#define TWICE(field) \
	"5: cards[0].functions[1]." field ": is the same as that of cards[0].functions[0]; it must be unique "
#define PF(address, more) "  - {side: host, type: pf, pci: " address ", " more "}\n"

static void test_values_that_must_differ_are_refused(void **state)
{
	assert_functions({ PF("b1:00.0", "") PF("b1:00.0", ""), TWICE("pci") "on one side" },
			 { PF("b1:00.0", "ibdev: a") PF("b1:00.1", "ibdev: a"), TWICE("ibdev") "on one side" },
			 { PF("b1:00.0", "iface: a") PF("b1:00.1", "iface: a"), TWICE("iface") "on one side" },
			 { PF("b1:00.0", "mac: \"02:00:00:00:00:01\"") PF("b1:00.1", "mac: \"02:00:00:00:00:01\""),
			   TWICE("mac") "in a topology" },
			 { PF("b1:00.0", "vuid: a") PF("b1:00.1", "vuid: a"), TWICE("vuid") "in a topology" },
			 { PF("b1:00.0", "vhca-id: 7") PF("b1:00.1", "vhca-id: 7"), TWICE("vhca-id") "on one card" },
			 /* a given name against another function's default */
			 { PF("b1:00.0", "") PF("b1:00.1", "iface: enp177s0f0np0"), TWICE("iface") "on one side" });
	assert_functions(
		{ "  - {side: host, type: pf, pci: b1:00.0}\n"
		  "  - {side: host, type: sf, pci: b1:00.0, sf-index: 3}\n"
		  "  - {side: host, type: sf, pci: b1:00.0, iface: other,\n     sf-index: 3}\n",
		  "7: cards[0].functions[2].sf-index: is the same as that of cards[0].functions[1]; it must be "
		  "unique on one PF" },
		{ "  - {side: host, type: pf, pci: b1:00.0}\n"
		  "  - {side: host, type: sf, pci: b1:00.0, aux-index: 3}\n"
		  "  - {side: host, type: sf, pci: b1:00.0, aux-index: 3}\n",
		  "6: cards[0].functions[2].aux-index: is the same as that of cards[0].functions[1]; it must be "
		  "unique on one side" },
		{ DPU "}\n  - {side: dpu, type: pf, pci: \"03:00.1\"}\n" PF("b1:00.0", "rep-iface: r")
			  PF("b1:00.1", "rep-iface: r"),
		  "7: cards[0].functions[3].rep-iface: is the same as that of cards[0].functions[2]; it must be "
		  "unique on one card" });
}

static void test_address_of_another_card_on_the_same_side_is_refused(void **state)
{
	assert_documents({ "cards:\n- {profile: connectx-7, functions: [{side: host, type: pf, pci: b1:00.0}]}\n"
			   "- {profile: connectx-7, functions: [{side: host, type: pf, pci: b1:00.0}]}\n",
			   "3: cards[1].functions[0].pci: is the same as that of cards[0].functions[0]; it must be "
			   "unique on one side" });
}

/* Long names of files keep their end, so that line and reason still fit. */
static void test_long_file_name_is_shortened(void **state)
{
	struct pcie_topology *topology = NULL;
	char name[400], error[PCIE_ERROR_SIZE];

	memset(name, 'd', sizeof(name));
	strcpy(name + sizeof(name) - 8, "/x.yaml");
	assert_int_equal(pcie_topology_parse(name, "cards: 1", 8, &topology, error), -EINVAL);
	assert_non_null(strstr(error, "d/x.yaml:1: cards: " LIST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_that_is_no_yaml_is_refused_at_its_line),
		cmocka_unit_test(test_empty_text_is_refused),
		cmocka_unit_test(test_yaml_beyond_plain_trees_is_refused),
		cmocka_unit_test(test_alias_bomb_is_refused),
		cmocka_unit_test(test_huge_text_is_refused),
		cmocka_unit_test(test_too_many_functions_are_refused),
		cmocka_unit_test(test_unknown_field_is_refused),
		cmocka_unit_test(test_field_given_twice_is_refused_at_the_second),
		cmocka_unit_test(test_missing_field_is_refused_at_its_mapping),
		cmocka_unit_test(test_wrong_kind_of_value_is_refused),
		cmocka_unit_test(test_card_values_out_of_form_are_refused),
		cmocka_unit_test(test_links_that_cannot_be_are_refused),
		cmocka_unit_test(test_times_that_are_none_are_refused),
		cmocka_unit_test(test_pci_address_out_of_form_is_refused),
		cmocka_unit_test(test_side_out_of_form_is_refused),
		cmocka_unit_test(test_words_out_of_choice_are_refused),
		cmocka_unit_test(test_numbers_out_of_range_are_refused),
		cmocka_unit_test(test_addresses_out_of_form_are_refused),
		cmocka_unit_test(test_names_out_of_form_are_refused),
		cmocka_unit_test(test_vf_and_sf_without_their_pf_are_refused),
		cmocka_unit_test(test_sf_of_another_cards_pf_is_refused),
		cmocka_unit_test(test_card_with_two_dpu_sides_is_refused),
		cmocka_unit_test(test_represents_must_name_a_host_function_of_its_card),
		cmocka_unit_test(test_function_represented_twice_is_refused),
		cmocka_unit_test(test_rep_iface_without_a_representor_is_refused),
		cmocka_unit_test(test_values_that_must_differ_are_refused),
		cmocka_unit_test(test_address_of_another_card_on_the_same_side_is_refused),
		cmocka_unit_test(test_long_file_name_is_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
