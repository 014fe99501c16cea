/* SPDX-License-Identifier: BSD-3-Clause */
/* Device profiles: published facts, and conditions of every profile. */
#include <string.h>

#include "cmocka_test.h"
#include "pcie_model/profile.h"

#define MIB (UINT64_C(1) << 20)

static void test_profile_is_found_by_its_exact_name(void **state)
{
	assert_string_equal(pcie_profile_find("bluefield-3")->name, "bluefield-3");
	assert_null(pcie_profile_find("bluefield"));
	assert_null(pcie_profile_find("BlueField-3"));
	assert_null(pcie_profile_find("bluefield-3 "));
	assert_null(pcie_profile_find(""));
	assert_null(pcie_profile_find(NULL));
}

static void test_all_lists_each_profile_once(void **state)
{
	const struct pcie_profile *const *all;
	size_t count = 0;

	all = pcie_profile_all(&count);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(pcie_profile_find(all[i]->name), all[i]);
}

/* A BlueField-3 copies at most 2 MiB a task in lists of at most 64; 15b3:a2dc; Gen5 x16. */
static void test_bluefield_3_is_as_published(void **state)
{
	const struct pcie_profile *profile = pcie_profile_find("bluefield-3");

	assert_true(profile->has_dpu);
	assert_int_equal(profile->vendor_id, 0x15b3);
	assert_int_equal(profile->device_id, 0xa2dc);
	assert_int_equal(profile->port_rate_bps, UINT64_C(200000000000));
	assert_int_equal(profile->link.generation, 5);
	assert_int_equal(profile->link.lanes, 16);
	assert_true(profile->dpu_caps.dma_memcpy);
	assert_true(profile->host_caps.dma_memcpy);
	assert_int_equal(profile->dpu_caps.dma_max_buf_bytes, 2 * MIB);
	assert_int_equal(profile->host_caps.dma_max_buf_bytes, 2 * MIB);
	assert_int_equal(profile->dpu_caps.dma_max_list_len, 64);
	assert_true(profile->dpu_caps.dma_max_tasks >= 3072); /* so many were measured */
}

/* A BlueField-2 has 2 MiB too since DOCA 2.9; 15b3:a2d6; Gen4 x16; nothing emulated. */
static void test_bluefield_2_is_as_published(void **state)
{
	const struct pcie_profile *profile = pcie_profile_find("bluefield-2");

	assert_true(profile->has_dpu);
	assert_int_equal(profile->device_id, 0xa2d6);
	assert_int_equal(profile->port_rate_bps, UINT64_C(100000000000));
	assert_int_equal(profile->link.generation, 4);
	assert_int_equal(profile->dpu_caps.dma_max_buf_bytes, 2 * MIB);
	assert_false(profile->dpu_caps.hotplug_manager);
	assert_false(profile->dpu_caps.rep_filter_emulated);
}

static void test_connectx_7_has_neither_arm_cores_nor_dma(void **state)
{
	const struct pcie_profile *profile = pcie_profile_find("connectx-7");

	assert_false(profile->has_dpu);
	assert_int_equal(profile->device_id, 0x1021);
	assert_int_equal(profile->port_rate_bps, UINT64_C(200000000000));
	assert_false(profile->host_caps.dma_memcpy);
	assert_int_equal(profile->host_caps.dma_max_buf_bytes, 0);
	assert_false(profile->host_caps.mmap_export_pci);
	assert_int_equal(profile->engine.channels, 0);
	assert_int_equal(profile->comch_timing.one_way_ps, 0);
}

/* A valid link; a valid engine, where there is one; limits below the link's own. */
static void test_timing_is_there_exactly_where_it_is_needed(void **state)
{
	const struct pcie_profile *const *all;
	size_t count;

	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		struct pcie_bandwidth bandwidth;

		assert_null(pcie_link_config_error(&all[i]->link));
		if (!all[i]->host_caps.dma_memcpy)
			continue;
		assert_null(pcie_engine_config_error(&all[i]->engine));
		assert_true(all[i]->engine.accept_ps > 0);
		assert_true(all[i]->engine.issuers[PCIE_ISSUER_CPU].submit_ps > 0);
		assert_true(all[i]->comch_timing.one_way_ps > 0);
		pcie_link_bandwidth(&all[i]->link, 1 << 20, &bandwidth);
		assert_true(UINT64_C(8000000000000000) / all[i]->engine.write.fs_per_byte < bandwidth.write_bps);
	}
}

/* Memory flows both ways. */
static void test_both_sides_export_and_import_memory(void **state)
{
	const struct pcie_profile *const *all;
	size_t count;

	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		if (!all[i]->has_dpu)
			continue;
		assert_true(all[i]->host_caps.mmap_export_pci);
		assert_true(all[i]->host_caps.mmap_from_export_pci);
		assert_true(all[i]->dpu_caps.mmap_export_pci);
		assert_true(all[i]->dpu_caps.mmap_from_export_pci);
	}
}

/* Sync events flow both ways. */
static void test_both_sides_export_and_import_sync_events(void **state)
{
	const struct pcie_profile *const *all;
	size_t count;

	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(all[i]->host_caps.sync_event_export_pci, all[i]->has_dpu);
		assert_int_equal(all[i]->host_caps.sync_event_from_export_pci, all[i]->has_dpu);
		assert_int_equal(all[i]->dpu_caps.sync_event_export_pci, all[i]->has_dpu);
		assert_int_equal(all[i]->dpu_caps.sync_event_from_export_pci, all[i]->has_dpu);
	}
}

/* Channels have their server on the DPU and their clients on hosts, with the same limits. */
static void test_dpu_serves_and_hosts_are_clients(void **state)
{
	const struct pcie_profile *const *all;
	size_t count;

	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		const struct pcie_caps *host = &all[i]->host_caps, *dpu = &all[i]->dpu_caps;

		assert_false(host->comch_server);
		assert_false(dpu->comch_client);
		assert_int_equal(host->comch_client, all[i]->has_dpu);
		assert_int_equal(dpu->comch_server, all[i]->has_dpu);
		assert_int_equal(host->comch_max_msg_bytes, all[i]->has_dpu ? 4080 : 0);
		assert_int_equal(host->comch_max_buf_bytes, all[i]->has_dpu ? 1024 * MIB : 0);
		if (!all[i]->has_dpu)
			continue;
		assert_int_equal(dpu->comch_max_msg_bytes, host->comch_max_msg_bytes);
		assert_int_equal(dpu->comch_max_buf_bytes, host->comch_max_buf_bytes);
		assert_true(dpu->comch_max_clients >= 1024); /* more than were measured */
		assert_true(dpu->comch_max_fast_tasks >= 1024 && dpu->comch_max_fast_tasks < 4096); /* measured */
	}
}

static void test_only_the_dpu_lists_representors(void **state)
{
	const struct pcie_profile *const *all;
	size_t count;

	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		assert_false(all[i]->host_caps.rep_filter_all);
		assert_false(all[i]->host_caps.rep_filter_net);
		assert_false(all[i]->host_caps.rep_filter_emulated);
		assert_int_equal(all[i]->dpu_caps.rep_filter_all, all[i]->has_dpu);
		assert_int_equal(all[i]->dpu_caps.rep_filter_net, all[i]->has_dpu);
	}
}

static void assert_caps_agree(const struct pcie_caps *caps)
{
	assert_int_equal(caps->dma_memcpy, caps->dma_max_buf_bytes > 0);
	assert_int_equal(caps->dma_memcpy, caps->dma_max_list_len > 0);
	assert_int_equal(caps->dma_memcpy, caps->dma_max_tasks > 0);
	assert_int_equal(caps->cache_invalidate, caps->cache_invalidate_max_buf_bytes > 0);
	for (enum pcie_accel accel = 0; accel < PCIE_NUM_ACCELS; accel++) {
		assert_int_equal(caps->accel[accel].is_supported, caps->accel[accel].max_buf_bytes > 0);
		assert_int_equal(caps->accel[accel].is_supported, caps->accel[accel].max_list_len > 0);
		assert_int_equal(caps->accel[accel].is_supported, caps->accel[accel].max_tasks > 0);
	}
	assert_true(caps->num_completion_vectors > 0);
	assert_true(caps->max_mmap_devices > 0);
}

static void test_limits_are_there_exactly_where_dma_is(void **state)
{
	const struct pcie_profile *const *all;
	size_t count;

	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		assert_true(strlen(all[i]->description) > 0);
		assert_caps_agree(&all[i]->host_caps);
		if (all[i]->has_dpu)
			assert_caps_agree(&all[i]->dpu_caps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile_is_found_by_its_exact_name),
		cmocka_unit_test(test_all_lists_each_profile_once),
		cmocka_unit_test(test_bluefield_3_is_as_published),
		cmocka_unit_test(test_bluefield_2_is_as_published),
		cmocka_unit_test(test_connectx_7_has_neither_arm_cores_nor_dma),
		cmocka_unit_test(test_timing_is_there_exactly_where_it_is_needed),
		cmocka_unit_test(test_both_sides_export_and_import_memory),
		cmocka_unit_test(test_both_sides_export_and_import_sync_events),
		cmocka_unit_test(test_dpu_serves_and_hosts_are_clients),
		cmocka_unit_test(test_only_the_dpu_lists_representors),
		cmocka_unit_test(test_limits_are_there_exactly_where_dma_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
