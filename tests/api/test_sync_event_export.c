/* SPDX-License-Identifier: BSD-3-Clause */
/* Exporting a sync event over PCI and making one of the export, both in this
 * process; tests/multi has two. What can be wrong with a descriptor's bytes is in
 * test_mmap_descriptor.c: they are the same kind of bytes. */
#include "sync_event_util.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct doca_dev *dev, *no_export, *no_import;

static int open_dpu(void **state)
{
	dev = api_open("03:00.0");
	no_export = api_open("03:00.1");
	no_import = api_open("03:00.2");
	return 0;
}

static int close_dpu(void **state)
{
	assert_ok(doca_dev_close(dev));
	assert_ok(doca_dev_close(no_export));
	assert_ok(doca_dev_close(no_import));
	return 0;
}

struct descriptor {
	const uint8_t *bytes;
	size_t len;
};

static struct descriptor export(struct doca_sync_event *event, struct doca_dev *through)
{
	struct descriptor descriptor;

	assert_ok(doca_sync_event_export_to_remote_pci(event, through, &descriptor.bytes, &descriptor.len));
	return descriptor;
}

static struct doca_sync_event *import(struct descriptor descriptor)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create_from_export(dev, descriptor.bytes, descriptor.len, &event));
	return event;
}

static void assert_import(const uint8_t *bytes, size_t len, struct doca_dev *through, doca_error_t expected)
{
	struct doca_sync_event *event = NULL;

	assert_doca(doca_sync_event_create_from_export(through, bytes, len, &event), expected);
	assert_null(event);
}

static void assert_export(struct doca_sync_event *event, struct doca_dev *through, doca_error_t expected)
{
	struct descriptor descriptor = { 0 };

	assert_doca(doca_sync_event_export_to_remote_pci(event, through, &descriptor.bytes, &descriptor.len), expected);
	assert_null(descriptor.bytes);
}

/* An event that the other side publishes, and the other side's import of it. */
struct pair {
	struct doca_sync_event *mine, *theirs;
};

static int setup_pair(void **state)
{
	static struct pair pair;

	assert_ok(doca_sync_event_create(&pair.mine));
	assert_ok(doca_sync_event_add_publisher_location_remote_pci(pair.mine));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(pair.mine, dev));
	assert_ok(doca_sync_event_start(pair.mine));
	pair.theirs = import(export(pair.mine, dev));
	assert_ok(doca_sync_event_start(pair.theirs));
	*state = &pair;
	return 0;
}

static int teardown_pair(void **state)
{
	struct pair *pair = *state;

	se_end(pair->theirs);
	se_end(pair->mine);
	return 0;
}

#define PAIR(test) cmocka_unit_test_setup_teardown(test, setup_pair, teardown_pair)

/* ---- capabilities ---- */

static const struct doca_devinfo *info(struct doca_dev *of)
{
	return doca_dev_as_devinfo(of);
}

/* provokes: doca_sync_event_cap_is_export_to_remote_pci_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_is_create_from_export_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_is_export_to_remote_pci_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_is_create_from_export_supported DOCA_ERROR_INVALID_VALUE */
static void test_capabilities_come_from_the_topology(void **state)
{
	assert_ok(doca_sync_event_cap_is_export_to_remote_pci_supported(info(dev)));
	assert_ok(doca_sync_event_cap_is_create_from_export_supported(info(dev)));
	assert_doca(doca_sync_event_cap_is_export_to_remote_pci_supported(info(no_export)), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_sync_event_cap_is_create_from_export_supported(info(no_export)));
	assert_ok(doca_sync_event_cap_is_export_to_remote_pci_supported(info(no_import)));
	assert_doca(doca_sync_event_cap_is_create_from_export_supported(info(no_import)), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_cap_is_export_to_remote_pci_supported(NULL));
	assert_invalid(doca_sync_event_cap_is_create_from_export_supported(NULL));
}

/* provokes: doca_sync_event_export_to_remote_pci DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_create_from_export DOCA_ERROR_NOT_SUPPORTED */
static void test_device_that_cannot_is_refused(void **state)
{
	struct doca_sync_event *event = se_started(dev);
	struct descriptor descriptor = export(event, dev);

	assert_export(event, no_export, DOCA_ERROR_NOT_SUPPORTED);
	assert_import(descriptor.bytes, descriptor.len, no_import, DOCA_ERROR_NOT_SUPPORTED);
	se_end(event);
}

static void test_descriptors_for_network_and_card_are_not_exchanged(void **state)
{
	struct doca_sync_event *event = se_new(dev);
	struct doca_sync_event_remote_net *of_network = NULL;
	struct descriptor to_network, to_card;

	assert_ok(doca_sync_event_add_publisher_location_remote_net(event));
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_export_to_remote_net(event, &to_network.bytes, &to_network.len));
	to_card = export(event, dev);
	assert_import(to_network.bytes, to_network.len, dev, DOCA_ERROR_INVALID_VALUE);
	assert_invalid(doca_sync_event_remote_net_create_from_export(dev, to_card.bytes, to_card.len, &of_network));
	assert_null(of_network);
	se_end(event);
}

/* ---- one value ---- */

static void test_both_sides_work_on_one_value(void **state)
{
	struct pair *pair = *state;
	uint64_t fetched;

	assert_ok(doca_sync_event_update_set(pair->theirs, 7));
	assert_int_equal(se_value(pair->mine), 7);
	assert_ok(doca_sync_event_update_add(pair->mine, 1, &fetched));
	assert_int_equal(fetched, 7);
	assert_ok(doca_sync_event_wait_eq(pair->theirs, 8, UINT64_MAX));
	assert_ok(doca_sync_event_update_add(pair->theirs, 2, &fetched));
	assert_int_equal(fetched, 8);
	assert_ok(doca_sync_event_wait_gt_yield(pair->mine, 9, UINT64_MAX));
}

static void test_export_of_one_device_is_made_once(void **state)
{
	struct pair *pair = *state;
	struct descriptor one = export(pair->mine, dev), again = export(pair->mine, dev);
	struct descriptor other = export(pair->mine, no_import);
	struct doca_sync_event *third = import(other);

	assert_ptr_equal(one.bytes, again.bytes);
	assert_int_equal(one.len, again.len);
	assert_ptr_not_equal(one.bytes, other.bytes);
	assert_ok(doca_sync_event_start(third));
	assert_ok(doca_sync_event_update_set(third, 3));
	assert_int_equal(se_value(pair->theirs), 3);
	se_end(third);
}

static void test_imported_event_is_started_again_with_its_value(void **state)
{
	struct pair *pair = *state;

	assert_ok(doca_sync_event_update_set(pair->theirs, 21));
	assert_ok(doca_sync_event_stop(pair->theirs));
	assert_ok(doca_sync_event_start(pair->theirs));
	assert_int_equal(se_value(pair->theirs), 21);
}

static void test_imported_event_is_not_configured_and_not_exported(void **state)
{
	struct pair *pair = *state;
	uint64_t word = 0;

	assert_ok(doca_sync_event_stop(pair->theirs));
	assert_doca(doca_sync_event_add_publisher_location_cpu(pair->theirs, dev), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_add_subscriber_location_remote_pci(pair->theirs), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_set_addr(pair->theirs, &word), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_start(pair->theirs));
	assert_export(pair->theirs, dev, DOCA_ERROR_BAD_STATE);
}

static void test_imported_event_works_as_a_context(void **state)
{
	struct pair *pair = *state;
	struct se_ctx *se = se_run(import(export(pair->mine, dev)));
	uint64_t fetched = 0;

	assert_ok(doca_sync_event_update_set(pair->mine, 5));
	assert_ok(doca_task_submit(se_add(se, 1, 10, &fetched)));
	assert_int_equal(se_value(pair->mine), 15);
	se_progress(se);
	assert_se_trace(se, "notify_add 1 done\n");
	assert_int_equal(fetched, 5);
	se_close(se);
}

/* ---- the exporter ends ---- */

static void test_import_fails_when_the_exporter_stops(void **state)
{
	struct pair *pair = *state;
	uint64_t value = 11;

	assert_ok(doca_sync_event_stop(pair->mine));
	assert_doca(doca_sync_event_get(pair->theirs, &value), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_sync_event_update_set(pair->theirs, 1), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_sync_event_update_add(pair->theirs, 1, &value), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_sync_event_wait_eq(pair->theirs, 1, UINT64_MAX), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_sync_event_wait_neq_yield(pair->theirs, 1, UINT64_MAX), DOCA_ERROR_IO_FAILED);
	assert_int_equal(value, 11);
	assert_ok(doca_sync_event_start(pair->mine)); /* another value, which the old import doesn't reach */
	assert_doca(doca_sync_event_get(pair->theirs, &value), DOCA_ERROR_IO_FAILED);
}

static void test_tasks_of_an_import_fail_when_the_exporter_stops(void **state)
{
	struct pair *pair = *state;
	struct se_ctx *se = se_run(import(export(pair->mine, dev)));

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 5, UINT64_MAX)));
	assert_ok(doca_task_submit(se_wait_neq(se, 2, 0, UINT64_MAX)));
	se_progress(se);
	assert_se_trace(se, "");
	assert_ok(doca_sync_event_stop(pair->mine));
	se_progress(se);
	assert_se_trace(se, "running -> stopping\n"
			    "wait_eq 1 failed: DOCA_ERROR_IO_FAILED\n"
			    "wait_neq 2 failed: DOCA_ERROR_IO_FAILED\n"
			    "stopping -> idle\n");
	se_close(se);
}

static void test_set_on_a_dead_import_stops_its_context(void **state)
{
	struct pair *pair = *state;
	struct se_ctx *se = se_run(import(export(pair->mine, dev)));

	assert_ok(doca_sync_event_stop(pair->mine));
	assert_ok(doca_task_submit(se_set(se, 4, 1)));
	se_progress(se);
	assert_se_trace(se, "running -> stopping\n"
			    "notify_set 4 failed: DOCA_ERROR_IO_FAILED\n"
			    "stopping -> idle\n");
	se_close(se);
}

static void test_descriptor_of_a_stopped_event_is_stale(void **state)
{
	struct doca_sync_event *event = se_started(dev);
	struct descriptor descriptor = export(event, dev);
	uint8_t copy[256];

	assert_true(descriptor.len <= sizeof(copy));
	memcpy(copy, descriptor.bytes, descriptor.len);
	assert_ok(doca_sync_event_stop(event));
	assert_import(copy, descriptor.len, dev, DOCA_ERROR_DRIVER);
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- memory of the program's ---- */

static uint64_t own_word;

/* Two processes cannot do atomic operations on memory that one of them cannot map. */
static void test_private_memory_is_not_exported(void **state)
{
	struct doca_sync_event *event = se_new(dev);

	assert_ok(doca_sync_event_set_addr(event, &own_word));
	assert_ok(doca_sync_event_start(event));
	assert_export(event, dev, DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_sync_event_update_set(event, 9)); /* the event still works here */
	assert_int_equal(own_word, 9);
	se_end(event);
}

static uint64_t *shared_page(void)
{
	int fd = memfd_create("values", MFD_CLOEXEC);
	uint64_t *page;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	/* An exporter of memory keeps its descriptor open, as programs that share memory do. */
	return page;
}

static void test_shared_memory_is_exported(void **state)
{
	uint64_t *page = shared_page();
	struct doca_sync_event *event = se_new(dev), *theirs;

	page[5] = 50;
	assert_ok(doca_sync_event_set_addr(event, &page[5]));
	assert_ok(doca_sync_event_start(event));
	theirs = import(export(event, dev));
	assert_ok(doca_sync_event_start(theirs));
	assert_int_equal(se_value(theirs), 50);
	assert_ok(doca_sync_event_update_set(theirs, 51));
	assert_int_equal(page[5], 51);
	assert_int_equal(page[6], 0); /* only the value's eight bytes are written */
	se_end(theirs);
	se_end(event);
	munmap(page, 4096);
}

#define BUF_ACCESS                                                                                      \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static void test_buffer_is_exported_with_the_permission_only(void **state)
{
	static const uint32_t accesses[] = { BUF_ACCESS, BUF_ACCESS | DOCA_ACCESS_FLAG_PCI_READ_WRITE };
	uint64_t *page = shared_page();

	for (size_t i = 0; i < API_COUNT(accesses); i++) {
		struct doca_mmap *map = api_map(dev, page, 4096, accesses[i]);
		struct doca_buf_inventory *inventory = api_inventory(1);
		struct doca_sync_event *event = se_new(dev);
		struct doca_buf *buf;

		assert_ok(doca_buf_inventory_buf_get_by_data(inventory, map, page, 8, &buf));
		assert_ok(doca_sync_event_set_doca_buf(event, buf));
		assert_ok(doca_sync_event_start(event));
		if (accesses[i] & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
			assert_non_null(export(event, dev).bytes);
		else
			assert_export(event, dev, DOCA_ERROR_NOT_PERMITTED);
		se_end(event);
		assert_ok(doca_buf_dec_refcount(buf, NULL));
		assert_ok(doca_buf_inventory_destroy(inventory));
		assert_ok(doca_mmap_destroy(map));
	}
	munmap(page, 4096);
}

/* ---- refusals ---- */

static void test_export_needs_a_started_event(void **state)
{
	struct doca_sync_event *event = se_new(dev);

	assert_export(event, dev, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_destroy(event));
}

static void test_exported_event_keeps_the_device_open(void **state)
{
	struct doca_dev *other = api_open_nth(2); /* a second opening of no_import */
	struct doca_sync_event *event = se_started(dev);

	assert_ok(doca_dev_close(no_import));
	export(event, other);
	assert_doca(doca_dev_close(other), DOCA_ERROR_IN_USE);
	assert_ok(doca_sync_event_stop(event));
	assert_ok(doca_dev_close(other));
	assert_ok(doca_sync_event_destroy(event));
	no_import = api_open("03:00.2");
}

static void test_descriptor_of_another_kind_of_object_is_refused(void **state)
{
	struct pair *pair = *state;
	struct descriptor descriptor = export(pair->mine, dev);
	struct doca_mmap *map = NULL;

	assert_invalid(doca_mmap_create_from_export(NULL, descriptor.bytes, descriptor.len, dev, &map));
	assert_null(map);
	assert_ok(doca_sync_event_update_set(pair->theirs, 2)); /* the other import is untouched */
	assert_int_equal(se_value(pair->mine), 2);
}

/* provokes: doca_sync_event_create_from_export DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_export_to_remote_pci DOCA_ERROR_INVALID_VALUE */
static void test_missing_or_foreign_argument_is_refused(void **state)
{
	struct pair *pair = *state;
	struct descriptor descriptor = export(pair->mine, dev);
	uint8_t altered[256];
	const uint8_t *bytes;
	size_t len;

	assert_invalid(doca_sync_event_export_to_remote_pci(NULL, dev, &bytes, &len));
	assert_invalid(doca_sync_event_export_to_remote_pci((struct doca_sync_event *)dev, dev, &bytes, &len));
	assert_invalid(doca_sync_event_export_to_remote_pci(pair->mine, NULL, &bytes, &len));
	assert_invalid(doca_sync_event_export_to_remote_pci(pair->mine, dev, NULL, &len));
	assert_invalid(doca_sync_event_export_to_remote_pci(pair->mine, dev, &bytes, NULL));
	assert_invalid(doca_sync_event_create_from_export(dev, descriptor.bytes, descriptor.len, NULL));
	assert_import(descriptor.bytes, descriptor.len, NULL, DOCA_ERROR_INVALID_VALUE);
	assert_import(descriptor.bytes, descriptor.len, (struct doca_dev *)pair->mine, DOCA_ERROR_INVALID_VALUE);
	assert_import(NULL, descriptor.len, dev, DOCA_ERROR_INVALID_VALUE);
	assert_import(descriptor.bytes, 0, dev, DOCA_ERROR_INVALID_VALUE);
	assert_import(descriptor.bytes, descriptor.len - 1, dev, DOCA_ERROR_INVALID_VALUE);
	memcpy(altered, descriptor.bytes, descriptor.len);
	for (size_t i = 0; i < descriptor.len; i++) {
		altered[i] ^= 0x10;
		assert_import(altered, descriptor.len, dev, DOCA_ERROR_INVALID_VALUE);
		altered[i] ^= 0x10;
	}
}

/* ---- two cards, memory that runs out ---- */

static void test_import_through_another_card_is_refused(void **state)
{
	struct doca_dev *left = api_open("b1:00.0"), *right = api_open("ca:00.0");
	struct doca_sync_event *event = se_started(left);
	struct descriptor descriptor = export(event, left);

	assert_import(descriptor.bytes, descriptor.len, right, DOCA_ERROR_NOT_PERMITTED);
	se_end(event);
	assert_ok(doca_dev_close(left));
	assert_ok(doca_dev_close(right));
}

static struct doca_sync_event *oom_event, *oom_imported;
static struct descriptor oom_descriptor;

static doca_error_t step_export(void)
{
	return doca_sync_event_export_to_remote_pci(oom_event, dev, &oom_descriptor.bytes, &oom_descriptor.len);
}

static doca_error_t step_import(void)
{
	return doca_sync_event_create_from_export(dev, oom_descriptor.bytes, oom_descriptor.len, &oom_imported);
}

static int setup_oom(void **state)
{
	oom_event = se_started(dev);
	oom_imported = NULL;
	return 0;
}

static int teardown_oom(void **state) /* also after a skipped test */
{
	if (oom_imported)
		assert_ok(doca_sync_event_destroy(oom_imported));
	se_end(oom_event);
	return 0;
}

/* provokes: doca_sync_event_export_to_remote_pci DOCA_ERROR_NO_MEMORY
 * provokes: doca_sync_event_create_from_export DOCA_ERROR_NO_MEMORY */
static void test_export_and_import_without_memory_fail_and_can_be_repeated(void **state)
{
	api_fail_each_allocation(step_export, NULL);
	api_fail_each_allocation(step_import, NULL);
}

static const struct CMUnitTest dpu_tests[] = {
	cmocka_unit_test(test_capabilities_come_from_the_topology),
	cmocka_unit_test(test_device_that_cannot_is_refused),
	cmocka_unit_test(test_descriptors_for_network_and_card_are_not_exchanged),
	PAIR(test_both_sides_work_on_one_value),
	PAIR(test_export_of_one_device_is_made_once),
	PAIR(test_imported_event_is_started_again_with_its_value),
	PAIR(test_imported_event_is_not_configured_and_not_exported),
	PAIR(test_imported_event_works_as_a_context),
	PAIR(test_import_fails_when_the_exporter_stops),
	PAIR(test_tasks_of_an_import_fail_when_the_exporter_stops),
	PAIR(test_set_on_a_dead_import_stops_its_context),
	cmocka_unit_test(test_descriptor_of_a_stopped_event_is_stale),
	cmocka_unit_test(test_private_memory_is_not_exported),
	cmocka_unit_test(test_shared_memory_is_exported),
	cmocka_unit_test(test_buffer_is_exported_with_the_permission_only),
	cmocka_unit_test(test_export_needs_a_started_event),
	cmocka_unit_test(test_exported_event_keeps_the_device_open),
	PAIR(test_descriptor_of_another_kind_of_object_is_refused),
	PAIR(test_missing_or_foreign_argument_is_refused),
};
static const struct CMUnitTest host_tests[] = {
	cmocka_unit_test(test_import_through_another_card_is_refused),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test_setup_teardown(test_export_and_import_without_memory_fail_and_can_be_repeated, setup_oom,
					teardown_oom),
};

int main(void)
{
	return API_RUN(API_ON_DPU("DPU", "sync_events.yaml", dpu_tests, open_dpu, close_dpu),
		       { .name = "host", .topology = "sync_events.yaml", .side = "host", API_WITH(host_tests) },
		       API_ON_DPU("no memory", "sync_events.yaml", oom_tests, open_dpu, close_dpu));
}
