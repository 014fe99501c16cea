/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities and properties of RDMA contexts, addresses, and what a context refuses by its state. */
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

static struct peer *peer;

static int open_idle(void **state)
{
	peer = peer_open(0, RDMA_ALL_ACCESS);
	return 0;
}

static int open_running(void **state)
{
	open_idle(state);
	peer_start(peer);
	return 0;
}

static int close_it(void **state)
{
	peer_close(peer);
	return 0;
}

/* ---- capabilities ---- */

static void test_device_has_all_tasks(void **state)
{
	static doca_error_t (*const caps[])(const struct doca_devinfo *) = {
		doca_rdma_cap_task_receive_is_supported,
		doca_rdma_cap_task_send_is_supported,
		doca_rdma_cap_task_send_imm_is_supported,
		doca_rdma_cap_task_read_is_supported,
		doca_rdma_cap_task_write_is_supported,
		doca_rdma_cap_task_write_imm_is_supported,
		doca_rdma_cap_task_atomic_cmp_swp_is_supported,
		doca_rdma_cap_task_atomic_fetch_add_is_supported,
		doca_rdma_cap_task_remote_net_sync_event_get_is_supported,
		doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported,
		doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported,
	};

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		MUST(caps[i](doca_dev_as_devinfo(peer->dev)));
		assert_result(caps[i](NULL), DOCA_ERROR_INVALID_VALUE);
	}
}

static void test_limits_of_the_device(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(peer->dev);
	uint32_t value;

	MUST(doca_rdma_cap_get_max_send_queue_size(info, &value));
	assert_int_equal(value, 32768);
	MUST(doca_rdma_cap_get_max_recv_queue_size(info, &value));
	assert_int_equal(value, 32768);
	MUST(doca_rdma_cap_get_max_send_buf_list_len(info, &value));
	assert_int_equal(value, 30);
	MUST(doca_rdma_cap_get_max_message_size(info, &value));
	assert_int_equal(value, 1 << 30);
	MUST(doca_rdma_cap_get_gid_table_size(info, &value));
	assert_int_equal(value, 255);
	MUST(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(info, DOCA_RDMA_TRANSPORT_TYPE_RC, &value));
	assert_int_equal(value, 31);
	MUST(doca_rdma_cap_transport_type_is_supported(info, DOCA_RDMA_TRANSPORT_TYPE_DC));
	assert_result(doca_rdma_cap_transport_type_is_supported(info, 2), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_cap_get_max_message_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
}

/* 0 and 1 are the link-local address, 2 and 3 the IPv4-mapped one: 198.18.0.1 of the DPU's first function. */
static void test_gids_of_the_device(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 198, 18, 0, 1 };
	static const struct doca_rdma_gid none;
	const struct doca_devinfo *info = doca_dev_as_devinfo(peer->dev);
	struct doca_rdma_gid gids[5];

	MUST(doca_rdma_cap_get_gid(info, 0, 5, gids));
	assert_int_equal(gids[0].raw[0], 0xfe);
	assert_memory_equal(&gids[0], &gids[1], sizeof(gids[0]));
	assert_memory_equal(gids[2].raw, mapped, sizeof(mapped));
	assert_memory_equal(gids[3].raw, mapped, sizeof(mapped));
	assert_memory_equal(&gids[4], &none, sizeof(none));
	assert_result(doca_rdma_cap_get_gid(info, 254, 2, gids), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_cap_get_gid(info, 0, 0, gids), DOCA_ERROR_INVALID_VALUE);
}

/* ---- properties: set, read back, bounds, and not after the start ---- */

#define PROPERTY(name, type, value, wanted, bad, error)                                          \
	static void test_property_##name(void **state)                                           \
	{                                                                                        \
		type got;                                                                        \
                                                                                                 \
		MUST(doca_rdma_set_##name(peer->rdma, value));                                   \
		MUST(doca_rdma_get_##name(peer->rdma, &got));                                    \
		assert_int_equal(got, wanted);                                                   \
		assert_result(doca_rdma_set_##name(peer->rdma, bad), error);                     \
		assert_result(doca_rdma_set_##name(NULL, value), DOCA_ERROR_INVALID_VALUE);      \
		assert_result(doca_rdma_get_##name(peer->rdma, NULL), DOCA_ERROR_INVALID_VALUE); \
		peer_start(peer);                                                                \
		assert_result(doca_rdma_set_##name(peer->rdma, value), DOCA_ERROR_BAD_STATE);    \
	}

PROPERTY(permissions, uint32_t, DOCA_ACCESS_FLAG_RDMA_READ, DOCA_ACCESS_FLAG_RDMA_READ, DOCA_ACCESS_FLAG_PCI_READ_WRITE,
	 DOCA_ERROR_INVALID_VALUE)
PROPERTY(send_queue_size, uint32_t, 100, 128, 32769, DOCA_ERROR_INVALID_VALUE)
PROPERTY(max_send_buf_list_len, uint32_t, 30, 30, 31, DOCA_ERROR_INVALID_VALUE)
PROPERTY(transport_type, enum doca_rdma_transport_type, DOCA_RDMA_TRANSPORT_TYPE_DC, DOCA_RDMA_TRANSPORT_TYPE_DC, 2,
	 DOCA_ERROR_INVALID_VALUE)
PROPERTY(max_num_connections, uint16_t, 9, 9, 0, DOCA_ERROR_NOT_SUPPORTED)
PROPERTY(rnr_retry_count, uint8_t, 7, 7, 8, DOCA_ERROR_INVALID_VALUE)
PROPERTY(gid_index, uint32_t, 3, 3, 255, DOCA_ERROR_INVALID_VALUE)
PROPERTY(sl, uint32_t, 15, 15, 16, DOCA_ERROR_INVALID_VALUE)
PROPERTY(grh_enabled, uint8_t, 1, 1, 0, DOCA_ERROR_NOT_SUPPORTED)
PROPERTY(mtu, enum doca_mtu_size, DOCA_MTU_SIZE_1K_BYTES, DOCA_MTU_SIZE_1K_BYTES, DOCA_MTU_SIZE_RAW_ETHERNET,
	 DOCA_ERROR_NOT_SUPPORTED)

static void test_property_connection_request_timeout(void **state)
{
	uint16_t got;

	MUST(doca_rdma_get_connection_request_timeout(peer->rdma, &got));
	assert_int_equal(got, 2000);
	MUST(doca_rdma_set_connection_request_timeout(peer->rdma, 50));
	MUST(doca_rdma_get_connection_request_timeout(peer->rdma, &got));
	assert_int_equal(got, 50);
}

static void test_receive_queue_is_for_other_data_paths(void **state)
{
	uint32_t got;

	assert_result(doca_rdma_set_recv_queue_size(peer->rdma, 8), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_get_recv_queue_size(peer->rdma, &got), DOCA_ERROR_NOT_SUPPORTED);
}

static void test_list_length_of_receives(void **state)
{
	uint32_t got;

	MUST(doca_rdma_task_receive_set_dst_buf_list_len(peer->rdma, 31));
	MUST(doca_rdma_task_receive_get_dst_buf_list_len(peer->rdma, &got));
	assert_int_equal(got, 31);
	assert_result(doca_rdma_task_receive_set_dst_buf_list_len(peer->rdma, 32), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_task_receive_set_dst_buf_list_len(peer->rdma, 0), DOCA_ERROR_INVALID_VALUE);
	peer_start(peer);
	assert_result(doca_rdma_task_receive_set_dst_buf_list_len(peer->rdma, 1), DOCA_ERROR_BAD_STATE);
}

static void test_start_with_a_gid_that_is_not_there_is_refused(void **state)
{
	MUST(doca_rdma_set_gid_index(peer->rdma, 9));
	assert_result(doca_ctx_start(peer->ctx), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_rdma_set_gid_index(peer->rdma, 1));
	peer_start(peer);
}

/* ---- states ---- */

static void test_idle_context_exports_no_connection(void **state)
{
	struct doca_rdma_connection *connection;
	const void *details;
	size_t len;

	assert_result(doca_rdma_export(peer->rdma, &details, &len, &connection), DOCA_ERROR_BAD_STATE);
	assert_result(doca_rdma_start_listen_to_port(peer->rdma, 1), DOCA_ERROR_BAD_STATE);
}

static void test_running_context_is_not_destroyed(void **state)
{
	assert_result(doca_rdma_destroy(peer->rdma), DOCA_ERROR_BAD_STATE);
	assert_null(doca_rdma_as_ctx(NULL));
}

static void test_context_starts_again_after_a_stop(void **state)
{
	struct doca_rdma_connection *connection;
	const void *details;
	size_t len;

	MUST(doca_ctx_stop(peer->ctx));
	peer_start(peer);
	MUST(doca_rdma_export(peer->rdma, &details, &len, &connection));
}

static void test_connection_has_an_id_and_user_data(void **state)
{
	struct doca_rdma_connection *connections[2];
	union doca_data data = { .u64 = 77 };
	const void *details;
	uint32_t id;
	size_t len;

	for (uint32_t i = 0; i < 2; i++) {
		MUST(doca_rdma_export(peer->rdma, &details, &len, &connections[i]));
		MUST(doca_rdma_connection_get_id(connections[i], &id));
		assert_int_equal(id, i);
	}
	MUST(doca_rdma_connection_set_user_data(connections[0], data));
	data.u64 = 0;
	MUST(doca_rdma_connection_get_user_data(connections[0], &data));
	assert_int_equal(data.u64, 77);
	MUST(doca_rdma_connection_get_user_data(connections[1], &data));
	assert_int_equal(data.u64, 0);
	assert_result(doca_rdma_connection_get_id(NULL, &id), DOCA_ERROR_INVALID_VALUE);
}

static void test_tasks_of_a_connection_that_is_not_connected_are_refused(void **state)
{
	struct doca_rdma_connection *connection;
	struct doca_rdma_task_send *task;
	const void *details;
	size_t len;

	MUST(doca_rdma_export(peer->rdma, &details, &len, &connection));
	MUST(doca_rdma_task_send_allocate_init(peer->rdma, connection, NULL, (union doca_data){ .u64 = 0 }, &task));
	assert_result(doca_task_submit(doca_rdma_task_send_as_task(task)), DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_rdma_task_send_as_task(task));
}

/* ---- addresses ---- */

static void test_addresses_are_checked(void **state)
{
	enum doca_rdma_addr_type type;
	struct doca_rdma_addr *addr;
	const char *text;
	uint16_t port;

	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "198.18.0.1", 7, &addr));
	MUST(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_int_equal(type, DOCA_RDMA_ADDR_TYPE_IPv4);
	assert_string_equal(text, "198.18.0.1");
	assert_int_equal(port, 7);
	MUST(doca_rdma_addr_destroy(addr));
	assert_result(doca_rdma_addr_destroy(addr), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "198.18.0", 7, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, "198.18.0.1", 7, &addr),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_addr_create(9, "198.18.0.1", 7, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, NULL, 7, &addr), DOCA_ERROR_INVALID_VALUE);
}

/* ---- connections by addresses ---- */

static void on_change(struct doca_rdma_connection *connection, union doca_data user_data, union doca_data ctx_user_data)
{
}

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_user_data)
{
}

static void allow_connections_by_addresses(void)
{
	MUST(doca_rdma_set_connection_state_callbacks(peer->rdma, on_request, on_change, on_change, on_change));
}

static doca_error_t connect_to(const char *text)
{
	struct doca_rdma_addr *addr;
	doca_error_t result;

	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, 7, &addr));
	result = doca_rdma_connect_to_addr(peer->rdma, addr, (union doca_data){ .u64 = 0 });
	MUST(doca_rdma_addr_destroy(addr));
	return result;
}

static void test_connections_by_addresses_need_callbacks(void **state)
{
	peer_start(peer);
	assert_result(doca_rdma_start_listen_to_port(peer->rdma, 7), DOCA_ERROR_BAD_STATE);
	assert_result(connect_to("198.18.0.1"), DOCA_ERROR_BAD_STATE);
}

static void test_dc_has_no_connections_by_addresses(void **state)
{
	MUST(doca_rdma_set_transport_type(peer->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	allow_connections_by_addresses();
	peer_start(peer);
	assert_result(doca_rdma_start_listen_to_port(peer->rdma, 7), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(connect_to("198.18.0.1"), DOCA_ERROR_NOT_SUPPORTED);
}

static void test_listening_takes_a_running_context_and_a_free_port(void **state)
{
	allow_connections_by_addresses();
	assert_result(doca_rdma_start_listen_to_port(peer->rdma, 7), DOCA_ERROR_BAD_STATE);
	peer_start(peer);
	MUST(doca_rdma_start_listen_to_port(peer->rdma, 7));
	assert_result(doca_rdma_start_listen_to_port(peer->rdma, 7), DOCA_ERROR_CONNECTION_ABORTED);
	MUST(doca_rdma_start_listen_to_port(peer->rdma, 8));
	MUST(doca_rdma_stop_listen_to_port(peer->rdma, 7));
	MUST(doca_rdma_start_listen_to_port(peer->rdma, 7));
	assert_result(doca_rdma_stop_listen_to_port(peer->rdma, 9), DOCA_ERROR_CONNECTION_ABORTED);
	assert_result(connect_to("192.0.2.1"), DOCA_ERROR_CONNECTION_ABORTED); /* no function has it */
}

static void test_connection_by_descriptors_has_no_address(void **state)
{
	struct doca_rdma_connection *connection;
	struct doca_rdma_addr *addr = NULL;
	const void *details;
	size_t len;

	MUST(doca_rdma_export(peer->rdma, &details, &len, &connection));
	assert_result(doca_rdma_connection_get_addr(connection, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_null(addr);
}

/* ---- what bfsim does not simulate ---- */

static void test_other_data_paths_are_not_supported(void **state)
{
	struct doca_rdma_connection *connection;
	struct doca_gpu_dev_rdma *gpu;
	doca_dpa_dev_rdma_t dpa;

	assert_result(doca_rdma_get_dpa_handle(peer->rdma, &dpa), DOCA_ERROR_BAD_STATE);
	assert_result(doca_rdma_get_gpu_handle(peer->rdma, &gpu), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_dpa_completion_attach(peer->rdma, (struct doca_dpa_completion *)peer->pe),
		      DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_bridge_prepare_connection(peer->rdma, (struct rdma_cm_id *)peer->pe, &connection),
		      DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_bridge_accept(peer->rdma, NULL, 0, NULL), DOCA_ERROR_NOT_SUPPORTED);
	assert_result(doca_rdma_bridge_established(peer->rdma, NULL), DOCA_ERROR_NOT_SUPPORTED);
}

#define IDLE(test)    cmocka_unit_test_setup_teardown(test, open_idle, close_it)
#define RUNNING(test) cmocka_unit_test_setup_teardown(test, open_running, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IDLE(test_device_has_all_tasks),
		IDLE(test_limits_of_the_device),
		IDLE(test_gids_of_the_device),
		IDLE(test_property_permissions),
		IDLE(test_property_send_queue_size),
		IDLE(test_property_max_send_buf_list_len),
		IDLE(test_property_transport_type),
		IDLE(test_property_max_num_connections),
		IDLE(test_property_rnr_retry_count),
		IDLE(test_property_gid_index),
		IDLE(test_property_sl),
		IDLE(test_property_grh_enabled),
		IDLE(test_property_mtu),
		IDLE(test_property_connection_request_timeout),
		IDLE(test_receive_queue_is_for_other_data_paths),
		IDLE(test_list_length_of_receives),
		IDLE(test_start_with_a_gid_that_is_not_there_is_refused),
		IDLE(test_idle_context_exports_no_connection),
		RUNNING(test_running_context_is_not_destroyed),
		RUNNING(test_context_starts_again_after_a_stop),
		RUNNING(test_connection_has_an_id_and_user_data),
		RUNNING(test_tasks_of_a_connection_that_is_not_connected_are_refused),
		IDLE(test_addresses_are_checked),
		IDLE(test_connections_by_addresses_need_callbacks),
		IDLE(test_dc_has_no_connections_by_addresses),
		IDLE(test_listening_takes_a_running_context_and_a_free_port),
		RUNNING(test_connection_by_descriptors_has_no_address),
		IDLE(test_other_data_paths_are_not_supported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
