/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, representors and capabilities as programs find them on a BlueField-3 in DPU mode with the Arm cores' SFs
 * (share/topologies/real-dpu.yaml), and in the other modes of a card. */
#include "api_util.h"
#include "log_file.h"

#include <doca_comch.h>
#include <doca_dma.h>

#include <stdio.h>
#include <string.h>

static const char *const type_names[] = {
	[DOCA_PCI_FUNC_TYPE_PF] = "PF",
	[DOCA_PCI_FUNC_TYPE_VF] = "VF",
	[DOCA_PCI_FUNC_TYPE_SF] = "SF",
};

struct text {
	char bytes[2048];
};

static void append(struct text *text, const char *prefix, const char *addr, const char *iface,
		   enum doca_pci_func_type type)
{
	size_t len = strlen(text->bytes);

	snprintf(text->bytes + len, sizeof(text->bytes) - len, "%s%s %s %s\n", prefix, addr, iface, type_names[type]);
}

static void append_rep(struct text *text, const struct doca_devinfo_rep *rep)
{
	char addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;

	assert_ok(doca_devinfo_rep_get_pci_addr_str(rep, addr));
	assert_ok(doca_devinfo_rep_get_iface_name(rep, iface, sizeof(iface)));
	assert_ok(doca_devinfo_rep_get_pci_func_type(rep, &type));
	append(text, "-> ", addr, iface, type);
}

static void append_reps(struct text *text, struct doca_devinfo *devinfo)
{
	struct doca_devinfo_rep **reps;
	struct doca_dev *dev;
	uint32_t count;

	assert_ok(doca_dev_open(devinfo, &dev));
	if (doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count) == DOCA_SUCCESS) {
		for (uint32_t i = 0; i < count; i++)
			append_rep(text, reps[i]);
		assert_ok(doca_devinfo_rep_destroy_list(reps));
	}
	assert_ok(doca_dev_close(dev));
}

/* The program that prints all devices and representors. */
static void list_all(struct text *text)
{
	struct doca_devinfo **devinfos;
	uint32_t count;

	text->bytes[0] = '\0';
	assert_ok(doca_devinfo_create_list(&devinfos, &count));
	for (uint32_t i = 0; i < count; i++) {
		char addr[DOCA_DEVINFO_PCI_ADDR_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
		enum doca_pci_func_type type;

		assert_ok(doca_devinfo_get_pci_addr_str(devinfos[i], addr));
		assert_ok(doca_devinfo_get_iface_name(devinfos[i], iface, sizeof(iface)));
		assert_ok(doca_devinfo_get_pci_func_type(devinfos[i], &type));
		append(text, "", addr, iface, type);
		append_reps(text, devinfos[i]);
	}
	assert_ok(doca_devinfo_destroy_list(devinfos));
}

static void assert_listed(const char *expected)
{
	struct text text;

	list_all(&text);
	assert_string_equal(text.bytes, expected);
}

static void test_dpu_lists_pfs_and_sfs_with_their_representors(void **state)
{
	assert_listed("0000:03:00.0 p0 PF\n"
		      "-> 0000:3b:00.0 pf0hpf PF\n"
		      "-> 0000:03:00.0 en3f0pf0sf0 SF\n"
		      "0000:03:00.1 p1 PF\n"
		      "-> 0000:3b:00.1 pf1hpf PF\n"
		      "-> 0000:03:00.1 en3f1pf1sf0 SF\n"
		      "0000:03:00.0 enp3s0f0s0 SF\n"
		      "0000:03:00.1 enp3s0f1s0 SF\n");
}

static uint8_t can_import(const struct doca_devinfo *devinfo)
{
	uint8_t can;

	assert_ok(doca_mmap_cap_is_create_from_export_pci_supported(devinfo, &can));
	return can;
}

/* The PF and the SF have one address: a program that picks by address alone gets the first, the PF. */
static void test_sf_of_the_dpu_reaches_no_host(void **state)
{
	struct doca_dev *pf = api_open("03:00.0"), *sf = api_open_nth(2);
	struct doca_devinfo_rep **reps;
	struct doca_comch_server *server = NULL;
	struct doca_dev_rep *rep;
	uint32_t count;

	assert_ok(doca_comch_cap_server_is_supported(doca_dev_as_devinfo(pf)));
	assert_int_equal(can_import(doca_dev_as_devinfo(pf)), 1);
	assert_doca(doca_comch_cap_server_is_supported(doca_dev_as_devinfo(sf)), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(can_import(doca_dev_as_devinfo(sf)), 0);
	assert_ok(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(sf)));
	assert_doca(doca_devinfo_rep_create_list(sf, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_devinfo_rep_create_list(pf, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count));
	assert_ok(doca_dev_rep_open(reps[0], &rep));
	assert_doca(doca_comch_server_create(sf, rep, "x", &server), DOCA_ERROR_NOT_PERMITTED);
	assert_null(server);
	assert_ok(doca_dev_rep_close(rep));
	assert_ok(doca_devinfo_rep_destroy_list(reps));
	assert_ok(doca_dev_close(sf));
	assert_ok(doca_dev_close(pf));
}

/* ---- modes ---- */

#define CARD(mode)                                                    \
	"cards: [{profile: bluefield-3, mode: " mode ", functions: [" \
	"{side: dpu, type: pf, pci: \"03:00.0\", sfs: 1}, {side: host, type: pf, pci: \"3b:00.0\", vfs: 1}]}]"

static void expect_no_way_across(void)
{
	struct doca_devinfo *devinfo = api_devinfo_nth(0);
	uint8_t can_export;

	assert_doca(doca_comch_cap_server_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_comch_cap_client_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_cap_is_export_pci_supported(devinfo, &can_export));
	assert_int_equal(can_export, 0);
	assert_int_equal(can_import(devinfo), 0);
}

/* The card's SF is not there, and the log says once why. */
static void test_separated_dpu_has_its_ports_alone(void **state)
{
	FILE *log = log_file_open(DOCA_LOG_LEVEL_WARNING);
	uint8_t filter;

	assert_listed("0000:03:00.0 p0 PF\n");
	assert_listed("0000:03:00.0 p0 PF\n");
	assert_int_equal(log_file_count(log,
					"mode separated leaves out functions of the topology file, 1 in all: SFs need "
					"switchdev mode, which no function has, and the host alone has VFs"),
			 1);
	fclose(log);
	assert_ok(doca_devinfo_rep_cap_is_filter_all_supported(api_devinfo_nth(0), &filter));
	assert_int_equal(filter, 0);
	assert_ok(doca_dma_cap_task_memcpy_is_supported(api_devinfo_nth(0)));
	expect_no_way_across();
}

static void test_separated_host_keeps_its_vfs(void **state)
{
	assert_listed("0000:3b:00.0 enp59s0f0np0 PF\n0000:3b:00.2 enp59s0f0v0 VF\n");
	assert_ok(doca_dma_cap_task_memcpy_is_supported(api_devinfo_nth(0)));
	expect_no_way_across();
}

/* The host's own memory needs no DPU mode. */
static void test_nic_host_copies_and_reaches_nobody(void **state)
{
	static uint8_t memory[8192] = "bytes";
	struct doca_dev *dev = api_open("3b:00.0");
	struct doca_mmap *mmap = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf_inventory *inventory = api_inventory(2);
	struct doca_buf *src, *dst;

	assert_listed("0000:3b:00.0 enp59s0f0np0 PF\n0000:3b:00.2 enp59s0f0v0 VF\n");
	expect_no_way_across();
	assert_ok(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(dev)));
	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, mmap, memory, 4096, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, mmap, memory + 4096, 4096, &dst));
	assert_ok(api_copy(dev, dst, src));
	assert_memory_equal(memory + 4096, "bytes", 5);
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(dev));
}

static void test_nic_has_no_arm_cores_to_run_on(void **state)
{
	struct doca_devinfo **devinfos;
	uint32_t count;

	assert_int_not_equal(doca_devinfo_create_list(&devinfos, &count), DOCA_SUCCESS);
}

static void test_zero_trust_shows_the_dpu_the_same(void **state)
{
	assert_listed("0000:03:00.0 p0 PF\n"
		      "-> 0000:3b:00.0 pf0hpf PF\n"
		      "-> 0000:3b:00.2 pf0vf0 VF\n"
		      "-> 0000:03:00.0 en3f0pf0sf0 SF\n"
		      "0000:03:00.0 enp3s0f0s0 SF\n");
	assert_ok(doca_comch_cap_server_is_supported(api_devinfo_nth(0)));
}

int main(void)
{
	static const struct CMUnitTest on_real_dpu[] = {
		cmocka_unit_test(test_dpu_lists_pfs_and_sfs_with_their_representors),
		cmocka_unit_test(test_sf_of_the_dpu_reaches_no_host),
	};
	static const struct CMUnitTest on_separated_dpu[] = { cmocka_unit_test(
		test_separated_dpu_has_its_ports_alone) };
	static const struct CMUnitTest on_separated_host[] = { cmocka_unit_test(test_separated_host_keeps_its_vfs) };
	static const struct CMUnitTest on_nic_host[] = { cmocka_unit_test(test_nic_host_copies_and_reaches_nobody) };
	static const struct CMUnitTest on_nic_dpu[] = { cmocka_unit_test(test_nic_has_no_arm_cores_to_run_on) };
	static const struct CMUnitTest on_zero_trust[] = { cmocka_unit_test(test_zero_trust_shows_the_dpu_the_same) };

	return API_RUN(
		{ .name = "real",
		  .topology = "../../../share/topologies/real-dpu.yaml",
		  .side = "dpu",
		  API_WITH(on_real_dpu) },
		{ .name = "separated-dpu", .topology = CARD("separated"), .side = "dpu", API_WITH(on_separated_dpu) },
		{ .name = "separated-host",
		  .topology = CARD("separated"),
		  .side = "host",
		  API_WITH(on_separated_host) },
		{ .name = "nic-host", .topology = CARD("nic"), .side = "host", API_WITH(on_nic_host) },
		{ .name = "nic-dpu", .topology = CARD("nic"), .side = "dpu", API_WITH(on_nic_dpu) },
		{ .name = "zero-trust", .topology = CARD("zero-trust"), .side = "dpu", API_WITH(on_zero_trust) });
}
