/* SPDX-License-Identifier: BSD-3-Clause */
/* A session over several machines, as the card and the services of one of them see it: keys and ports of others. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/card/services.h"

#define HERE  0 /* functions: of node1, and of node0 */
#define THERE 1

static const char yaml[] = "cards:\n"
			   "  - name: a\n"
			   "    profile: bluefield-3\n"
			   "    functions:\n"
			   "      - {side: node1/host, type: pf, pci: \"b1:00.0\"}\n"
			   "  - name: b\n"
			   "    profile: bluefield-3\n"
			   "    functions:\n"
			   "      - {side: node0/host, type: pf, pci: \"b1:00.0\"}\n";

static struct fixture {
	struct pcie_topology *topology;
	struct sim_card *card;
	struct sim_services *services;
	uint32_t program, gateway;
	char told[128];
} f;

static int setup(void **state)
{
	struct sim_peer_info program = { .pid = 1, .side = "node1/host" }, gateway = { .pid = 2, .side = "gateway" };
	char error[PCIE_ERROR_SIZE];

	if (pcie_topology_parse("test", yaml, strlen(yaml), &f.topology, error) < 0)
		fail_msg("%s", error);
	assert_int_equal(sim_card_create(f.topology, &f.card), 0);
	assert_int_equal(sim_services_create(f.card, f.topology, &f.services), 0);
	assert_int_equal(sim_card_attach(f.card, &program, &f.program), 0);
	assert_int_equal(sim_card_attach(f.card, &gateway, &f.gateway), -ENOENT);
	assert_int_equal(sim_card_attach_gateway(f.card, &gateway, &f.gateway), 0);
	f.told[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	struct sim_closed_channel closed;

	while (sim_services_end_next(f.services, &closed))
		;
	sim_services_destroy(f.services);
	sim_card_destroy(f.card);
	pcie_topology_destroy(f.topology);
	return 0;
}

static void note(void *arg, uint32_t peer, uint64_t key, uint64_t memory)
{
	size_t used = strlen(f.told);

	assert_true(memory == key);
	snprintf(f.told + used, sizeof(f.told) - used, "%s:%llx ", peer == f.gateway ? "gateway" : "program",
		 (unsigned long long)key);
}

static struct sim_region region_of(uint32_t function)
{
	return (struct sim_region){ .addr = 0x1000,
				    .len_bytes = 4096,
				    .access = SIM_ACCESS_NET | SIM_ACCESS_READ | SIM_ACCESS_FAR,
				    .function = function };
}

static struct sim_key far_key(void)
{
	return (struct sim_key){ .id = UINT64_C(1) << 48 | 77, .secret = "fifteen letters" };
}

static int enter(const struct sim_key *key)
{
	struct sim_region region = region_of(THERE);

	return sim_card_export_far(f.card, f.gateway, &region, key);
}

static int import(const struct sim_key *key)
{
	const struct sim_region *region;
	struct sim_card_memory memory;

	return sim_card_import(f.card, f.program, key, HERE, &region, &memory);
}

/* ---- machines of a topology ---- */

static void test_machines_have_numbers_in_the_order_of_functions(void **state)
{
	char name[PCIE_SIDE_SIZE];
	uint32_t number = 9;

	assert_true(pcie_topology_get_machine(f.topology, 0, name));
	assert_string_equal(name, "node1");
	assert_true(pcie_topology_get_machine(f.topology, 1, name));
	assert_string_equal(name, "node0");
	assert_false(pcie_topology_get_machine(f.topology, 2, name));
	assert_true(pcie_topology_find_machine(f.topology, "node0", &number));
	assert_int_equal(number, 1);
	assert_false(pcie_topology_find_machine(f.topology, "node", &number));
	assert_false(pcie_topology_find_machine(f.topology, "", &number));
}

static void test_a_side_is_of_the_machine_before_its_last_slash(void **state)
{
	assert_true(pcie_side_is_of("node0/host", "node0"));
	assert_true(pcie_side_is_of("host", ""));
	assert_true(pcie_side_is_of("rack/node0/dpu", "rack/node0"));
	assert_false(pcie_side_is_of("node0/host", "node"));
	assert_false(pcie_side_is_of("node0/host", "node0/host"));
	assert_false(pcie_side_is_of("host", "host"));
}

/* ---- keys ---- */

static void test_ids_of_keys_have_the_number_of_the_machine(void **state)
{
	struct sim_region region = region_of(HERE);
	uint64_t key;

	sim_card_set_machine(f.card, 3);
	assert_int_equal(sim_card_export(f.card, f.program, &region, far_key().secret, &key), 0);
	assert_int_equal(sim_key_machine(key), 3);
	assert_false(sim_card_is_unknown_far(f.card, key));
	assert_false(sim_card_is_unknown_far(f.card, key + 5));
	assert_true(sim_card_is_unknown_far(f.card, key + (UINT64_C(1) << 48)));
	assert_int_equal(sim_card_revoke(f.card, f.program, key, note, NULL), 0);
}

static void test_a_far_key_is_imported_like_any(void **state)
{
	struct sim_key key = far_key(), wrong = key;

	assert_int_equal(import(&key), -ESTALE);
	assert_int_equal(enter(&key), 0);
	assert_false(sim_card_is_unknown_far(f.card, key.id));
	wrong.secret[0]++;
	assert_int_equal(import(&wrong), -ESTALE);
	assert_int_equal(import(&key), 0);
	assert_int_equal(enter(&key), -EEXIST);
}

static void test_a_far_key_ends_with_its_last_import(void **state)
{
	struct sim_key key = far_key();

	assert_int_equal(enter(&key), 0);
	assert_int_equal(import(&key), 0);
	assert_int_equal(import(&key), 0);
	sim_card_unimport(f.card, f.program, key.id, note, NULL);
	sim_card_drop_unused_far(f.card, note, NULL);
	assert_string_equal(f.told, "");
	sim_card_unimport(f.card, f.program, key.id, note, NULL);
	sim_card_drop_unused_far(f.card, note, NULL);
	assert_string_equal(f.told, "gateway:100000000004d ");
	assert_int_equal(import(&key), -ESTALE);
	assert_int_equal(enter(&key), 0);
}

static void test_a_far_key_ends_with_its_importer(void **state)
{
	struct sim_key key = far_key();

	assert_int_equal(enter(&key), 0);
	assert_int_equal(import(&key), 0);
	sim_card_detach(f.card, f.program, note, NULL);
	sim_card_drop_unused_far(f.card, note, NULL);
	assert_string_equal(f.told, "gateway:100000000004d ");
}

static void test_the_end_of_the_gateway_ends_far_keys(void **state)
{
	struct sim_key key = far_key();

	assert_int_equal(enter(&key), 0);
	assert_int_equal(import(&key), 0);
	sim_card_detach(f.card, f.gateway, note, NULL);
	assert_string_equal(f.told, "program:100000000004d ");
	assert_int_equal(import(&key), -ESTALE);
}

static void test_the_gateway_alone_enters_far_keys(void **state)
{
	struct sim_region region = region_of(THERE);
	struct sim_key key = far_key();

	assert_int_equal(sim_card_export_far(f.card, f.program, &region, &key), -EINVAL);
	assert_int_equal(sim_card_export_far(f.card, 99, &region, &key), -EINVAL);
	region.len_bytes = UINT64_MAX;
	assert_int_equal(sim_card_export_far(f.card, f.gateway, &region, &key), -EINVAL);
	region.len_bytes = 0;
	assert_int_equal(sim_card_export_far(f.card, f.gateway, &region, &key), -EINVAL);
	region = region_of(2);
	assert_int_equal(sim_card_export_far(f.card, f.gateway, &region, &key), -EINVAL);
	region = region_of(THERE);
	key.id = 77; /* of this machine */
	assert_int_equal(sim_card_export_far(f.card, f.gateway, &region, &key), -EINVAL);
}

static void test_the_gateway_works_through_each_function(void **state)
{
	assert_true(sim_card_may_use(f.card, f.program, HERE));
	assert_false(sim_card_may_use(f.card, f.program, THERE));
	assert_true(sim_card_may_use(f.card, f.gateway, HERE));
	assert_true(sim_card_may_use(f.card, f.gateway, THERE));
	assert_false(sim_card_may_use(f.card, f.gateway, 2));
}

/* ---- ports ---- */

static int dial(uint32_t function, uint16_t port)
{
	char name[SIM_SERVICE_NAME_SIZE];

	sim_service_name_port(function, port, name);
	return sim_services_connect(f.services, f.program, 1, HERE, SIM_NETWORK, name, 100, f.told);
}

static void test_the_gateway_is_the_server_of_ports_of_other_machines(void **state)
{
	struct sim_offer offer;

	assert_int_equal(dial(THERE, 4791), 0);
	assert_false(sim_services_next_offer(f.services, &offer));
	sim_services_set_gateway(f.services, f.gateway, "node1");
	assert_true(sim_services_next_offer(f.services, &offer));
	assert_int_equal(offer.server.peer, f.gateway);
	assert_int_equal(offer.client.peer, f.program);
	assert_int_equal(offer.service, SIM_FAR_SERVICE(HERE, THERE, 4791));
}

static void test_ports_of_this_machine_are_not_the_gateways(void **state)
{
	struct sim_offer offer;

	sim_services_set_gateway(f.services, f.gateway, "node1");
	assert_int_equal(dial(HERE, 4791), 0);
	assert_false(sim_services_next_offer(f.services, &offer));
	assert_false(sim_services_is_far(f.services, HERE, "port 1 of function 1"));
	assert_false(sim_services_is_far(f.services, SIM_NETWORK, "port 1 of function 2"));
	assert_true(sim_services_is_far(f.services, SIM_NETWORK, "port 1 of function 1"));
	sim_services_clear_gateway(f.services);
	assert_false(sim_services_is_far(f.services, SIM_NETWORK, "port 1 of function 1"));
}

static void test_names_of_ports_are_read_as_they_are_written(void **state)
{
	static const char *const wrong[] = { "",
					     "port 1",
					     "port 1 of function",
					     "port 65536 of function 1",
					     "port  1 of function 1",
					     "port 1 of function 1 ",
					     "port +1 of function 1",
					     "Port 1 of function 1" };
	uint32_t function;
	uint16_t port;

	assert_true(sim_service_read_port("port 65535 of function 12", &function, &port));
	assert_int_equal(port, 65535);
	assert_int_equal(function, 12);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(sim_service_read_port(wrong[i], &function, &port));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_machines_have_numbers_in_the_order_of_functions),
		TEST(test_a_side_is_of_the_machine_before_its_last_slash),
		TEST(test_ids_of_keys_have_the_number_of_the_machine),
		TEST(test_a_far_key_is_imported_like_any),
		TEST(test_a_far_key_ends_with_its_last_import),
		TEST(test_a_far_key_ends_with_its_importer),
		TEST(test_the_end_of_the_gateway_ends_far_keys),
		TEST(test_the_gateway_alone_enters_far_keys),
		TEST(test_the_gateway_works_through_each_function),
		TEST(test_the_gateway_is_the_server_of_ports_of_other_machines),
		TEST(test_ports_of_this_machine_are_not_the_gateways),
		TEST(test_names_of_ports_are_read_as_they_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
