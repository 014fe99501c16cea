/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events on a GPU, on the DPA of a card without one, and of the network on a device without RDMA: checked, and not
 * supported.
 *
 * unreachable: doca_sync_event_export_to_remote_net DOCA_ERROR_NO_MEMORY: as export_to_remote_pci, whose test has it
 * unreachable: doca_sync_event_get_gpu_handle DOCA_ERROR_NO_MEMORY: not simulated, nothing is allocated
 * unreachable: doca_sync_event_remote_net_create_from_export DOCA_ERROR_NO_MEMORY: as create_from_export, whose test has it
 * unreachable: doca_sync_event_remote_net_get_dpa_handle DOCA_ERROR_NO_MEMORY: the table of handles is small
 * unreachable: doca_sync_event_remote_net_get_gpu_handle DOCA_ERROR_NO_MEMORY: not simulated, nothing is allocated
 */
#include "sync_event_util.h"

static struct doca_dev *dev, *no_rdma;

/* An idle event for each test. */
static int setup(void **state)
{
	*state = se_new(dev);
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_sync_event_destroy(*state));
	return 0;
}

/* Objects of other kinds, as there are none of these. */
static struct doca_dpa *some_dpa(void)
{
	return (struct doca_dpa *)dev;
}

static struct doca_gpu *some_gpu(void)
{
	return (struct doca_gpu *)dev;
}

/* An event of a peer, which is this process. */
static struct doca_sync_event *shared;

static struct doca_sync_event_remote_net *open_remote(void)
{
	struct doca_sync_event_remote_net *remote;
	const uint8_t *data;
	size_t len;

	shared = se_new(dev);
	assert_ok(doca_sync_event_add_publisher_location_remote_net(shared));
	assert_ok(doca_sync_event_start(shared));
	assert_ok(doca_sync_event_export_to_remote_net(shared, &data, &len));
	assert_ok(doca_sync_event_remote_net_create_from_export(dev, data, len, &remote));
	return remote;
}

static void close_remote(struct doca_sync_event_remote_net *remote)
{
	assert_ok(doca_sync_event_remote_net_destroy(remote));
	se_end(shared);
}

typedef doca_error_t capability(const struct doca_devinfo *);

/* provokes: doca_sync_event_cap_is_export_to_gpu_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_is_export_to_gpu_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_is_export_to_remote_net_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_is_export_to_remote_net_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_remote_net_is_create_from_export_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_remote_net_is_create_from_export_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_remote_net_is_export_to_dpa_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_remote_net_is_export_to_dpa_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_remote_net_is_export_to_gpu_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_remote_net_is_export_to_gpu_supported DOCA_ERROR_INVALID_VALUE */
static void test_no_device_has_these_capabilities(void **state)
{
	static capability *const capabilities[] = {
		doca_sync_event_cap_is_export_to_gpu_supported,
		doca_sync_event_cap_is_export_to_remote_net_supported,
		doca_sync_event_cap_remote_net_is_create_from_export_supported,
		doca_sync_event_cap_remote_net_is_export_to_dpa_supported,
		doca_sync_event_cap_remote_net_is_export_to_gpu_supported,
	};

	for (size_t i = 0; i < API_COUNT(capabilities); i++) {
		assert_doca(capabilities[i](doca_dev_as_devinfo(no_rdma)), DOCA_ERROR_NOT_SUPPORTED);
		assert_invalid(capabilities[i](NULL));
		assert_invalid(capabilities[i]((struct doca_devinfo *)dev));
	}
}

/* provokes: doca_sync_event_add_publisher_location_gpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_publisher_location_remote_net DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_subscriber_location_gpu DOCA_ERROR_INVALID_VALUE */
static void test_other_locations_are_not_supported(void **state)
{
	struct doca_sync_event *event = *state;

	assert_doca(doca_sync_event_add_publisher_location_gpu(event, some_gpu()), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_add_publisher_location_gpu(NULL, some_gpu()));
	assert_invalid(doca_sync_event_add_publisher_location_gpu(event, NULL));
	assert_doca(doca_sync_event_add_subscriber_location_gpu(event, some_gpu()), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_add_subscriber_location_gpu(NULL, some_gpu()));
	assert_invalid(doca_sync_event_add_subscriber_location_gpu(event, NULL));
	assert_ok(doca_sync_event_add_publisher_location_remote_net(event));
	assert_invalid(doca_sync_event_add_publisher_location_remote_net(NULL));
}

/* provokes: doca_sync_event_export_to_remote_net DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_get_gpu_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_get_gpu_handle DOCA_ERROR_NOT_SUPPORTED */
static void test_event_is_not_handed_to_them(void **state)
{
	struct doca_sync_event *event = *state;
	doca_gpu_dev_sync_event_t *gpu_handle;
	const uint8_t *data;
	size_t len;

	assert_ok(doca_sync_event_start(event));
	assert_doca(doca_sync_event_export_to_remote_net(event, &data, &len),
		    DOCA_ERROR_BAD_STATE); /* no such publisher */
	assert_invalid(doca_sync_event_export_to_remote_net(NULL, &data, &len));
	assert_invalid(doca_sync_event_export_to_remote_net(event, NULL, &len));
	assert_invalid(doca_sync_event_export_to_remote_net(event, &data, NULL));
	assert_doca(doca_sync_event_get_gpu_handle(event, some_gpu(), &gpu_handle), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_get_gpu_handle(NULL, some_gpu(), &gpu_handle));
	assert_invalid(doca_sync_event_get_gpu_handle(event, NULL, &gpu_handle));
	assert_invalid(doca_sync_event_get_gpu_handle(event, some_gpu(), NULL));
}

/* provokes: doca_sync_event_export_to_remote_net DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_remote_net_create_from_export DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_remote_net_create_from_export DOCA_ERROR_NOT_SUPPORTED */
static void test_device_without_rdma_has_no_events_of_the_network(void **state)
{
	struct doca_sync_event_remote_net *remote = NULL;
	struct doca_sync_event *event = se_new(no_rdma);
	const uint8_t data[64] = { 0 }, *exported;
	size_t len;

	assert_ok(doca_sync_event_add_publisher_location_remote_net(event));
	assert_ok(doca_sync_event_start(event));
	assert_doca(doca_sync_event_export_to_remote_net(event, &exported, &len), DOCA_ERROR_NOT_SUPPORTED);
	se_end(event);
	assert_doca(doca_sync_event_remote_net_create_from_export(no_rdma, data, sizeof(data), &remote),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_remote_net_create_from_export(dev, data, sizeof(data), &remote));
	assert_invalid(doca_sync_event_remote_net_create_from_export(NULL, data, sizeof(data), &remote));
	assert_invalid(doca_sync_event_remote_net_create_from_export(dev, NULL, sizeof(data), &remote));
	assert_invalid(doca_sync_event_remote_net_create_from_export(dev, data, 0, &remote));
	assert_invalid(doca_sync_event_remote_net_create_from_export(dev, data, sizeof(data), NULL));
	assert_null(remote);
}

/* provokes: doca_sync_event_remote_net_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_remote_net_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_remote_net_get_dpa_handle DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_remote_net_get_gpu_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_remote_net_get_gpu_handle DOCA_ERROR_NOT_SUPPORTED */
static void test_event_of_a_peer_is_not_handed_to_them(void **state)
{
	struct doca_sync_event_remote_net *remote = open_remote();
	doca_dpa_dev_sync_event_remote_net_t dpa_handle;
	doca_gpu_dev_sync_event_remote_net_t gpu_handle;

	assert_invalid(doca_sync_event_remote_net_destroy(NULL));
	assert_invalid(doca_sync_event_remote_net_destroy((struct doca_sync_event_remote_net *)dev));
	assert_doca(doca_sync_event_remote_net_get_dpa_handle(remote, some_dpa(), &dpa_handle),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_remote_net_get_dpa_handle(NULL, some_dpa(), &dpa_handle));
	assert_invalid(doca_sync_event_remote_net_get_dpa_handle(remote, NULL, &dpa_handle));
	assert_invalid(doca_sync_event_remote_net_get_dpa_handle(remote, some_dpa(), NULL));
	assert_doca(doca_sync_event_remote_net_get_gpu_handle(remote, some_gpu(), &gpu_handle),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_remote_net_get_gpu_handle(NULL, some_gpu(), &gpu_handle));
	assert_invalid(doca_sync_event_remote_net_get_gpu_handle(remote, NULL, &gpu_handle));
	assert_invalid(doca_sync_event_remote_net_get_gpu_handle(remote, some_gpu(), NULL));
	close_remote(remote);
}

#define WITH_EVENT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_EVENT(test_no_device_has_these_capabilities),
	WITH_EVENT(test_other_locations_are_not_supported),
	WITH_EVENT(test_event_is_not_handed_to_them),
	cmocka_unit_test(test_device_without_rdma_has_no_events_of_the_network),
	cmocka_unit_test(test_event_of_a_peer_is_not_handed_to_them),
};

static int open_devices(void **state)
{
	dev = api_open("03:00.0");
	no_rdma = api_open("03:00.1");
	return 0;
}

static int close_devices(void **state)
{
	assert_ok(doca_dev_close(dev));
	assert_ok(doca_dev_close(no_rdma));
	return 0;
}

int main(void)
{
	return API_RUN(API_ON_DPU("DPU", "sync_events.yaml", tests, open_devices, close_devices));
}
