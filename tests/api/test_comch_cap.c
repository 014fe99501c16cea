/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of devices for Comch: on both sides of the built-in card, on a card with other limits, and on a
 * card without Arm cores. */
#include "api_util.h"

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

typedef doca_error_t (*is_supported)(const struct doca_devinfo *devinfo);
typedef doca_error_t (*get_limit)(const struct doca_devinfo *devinfo, uint32_t *limit);

static const struct limit {
	get_limit get;
	uint32_t builtin, small; /* on the built-in card; on the one with other limits */
} limits[] = {
	{ doca_comch_cap_get_max_name_len, 120, 8 },
	{ doca_comch_cap_get_max_msg_size, 4080, 1024 },
	{ doca_comch_cap_get_max_recv_queue_size, 8192, 2 },
	{ doca_comch_cap_get_max_send_tasks, 8192, 3 },
	{ doca_comch_cap_get_max_clients, 2048, 4 },
	{ doca_comch_consumer_cap_get_max_num_tasks, 2048, 5 },
	{ doca_comch_consumer_cap_get_max_imm_data_len, 32, 6 },
	{ doca_comch_consumer_cap_get_max_consumers, 1024, 7 },
	{ doca_comch_producer_cap_get_max_num_tasks, 2048, 5 },
	{ doca_comch_producer_cap_get_max_producers, 1024, 9 },
};

/* Without a fast path these are refused, not 0. Lists are not supported on any card. */
static const struct limit fast_limits[] = {
	{ doca_comch_consumer_cap_get_max_buf_size, 1 << 30, 3 << 20 },
	{ doca_comch_consumer_cap_get_max_buf_list_len, 1, 1 },
	{ doca_comch_producer_cap_get_max_buf_size, 1 << 30, 3 << 20 },
	{ doca_comch_producer_cap_get_max_buf_list_len, 1, 1 },
};

static const is_supported abilities[] = {
	doca_comch_cap_server_is_supported,
	doca_comch_cap_client_is_supported,
	doca_comch_consumer_cap_is_supported,
	doca_comch_producer_cap_is_supported,
};

static uint32_t limit_of(const struct limit *limit, const struct doca_devinfo *devinfo)
{
	uint32_t value;

	assert_ok(limit->get(devinfo, &value));
	return value;
}

static void expect_builtin_limits(const struct doca_devinfo *devinfo)
{
	for (size_t i = 0; i < API_COUNT(limits); i++)
		assert_int_equal(limit_of(&limits[i], devinfo), limits[i].builtin);
	for (size_t i = 0; i < API_COUNT(fast_limits); i++)
		assert_int_equal(limit_of(&fast_limits[i], devinfo), fast_limits[i].builtin);
}

/* ---- the built-in card ---- */

static void test_dpu_serves(void **state)
{
	const struct doca_devinfo *devinfo = api_devinfo_nth(0);

	assert_ok(doca_comch_cap_server_is_supported(devinfo));
	/* provokes: doca_comch_cap_client_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_comch_cap_client_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_comch_consumer_cap_is_supported(devinfo));
	assert_ok(doca_comch_producer_cap_is_supported(devinfo));
	expect_builtin_limits(devinfo);
}

static void test_host_is_client(void **state)
{
	const struct doca_devinfo *devinfo = api_devinfo_nth(0);

	/* provokes: doca_comch_cap_server_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_comch_cap_server_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_comch_cap_client_is_supported(devinfo));
	assert_ok(doca_comch_consumer_cap_is_supported(devinfo));
	assert_ok(doca_comch_producer_cap_is_supported(devinfo));
	expect_builtin_limits(devinfo);
}

/* NULL, and a device where its info is asked for. */
static void test_what_is_no_devinfo_is_refused(void **state)
{
	struct doca_dev *dev = api_open_nth(0);
	const struct doca_devinfo *const wrong[] = { NULL, (const struct doca_devinfo *)dev };
	uint32_t value = 77;

	for (size_t w = 0; w < API_COUNT(wrong); w++) {
		/* provokes: doca_comch_cap_server_is_supported DOCA_ERROR_INVALID_VALUE */
		/* provokes: doca_comch_cap_client_is_supported DOCA_ERROR_INVALID_VALUE */
		/* provokes: doca_comch_consumer_cap_is_supported DOCA_ERROR_INVALID_VALUE */
		/* provokes: doca_comch_producer_cap_is_supported DOCA_ERROR_INVALID_VALUE */
		for (size_t i = 0; i < API_COUNT(abilities); i++)
			assert_invalid(abilities[i](wrong[w]));
		for (size_t i = 0; i < API_COUNT(limits); i++)
			assert_invalid(limits[i].get(wrong[w], &value));
		for (size_t i = 0; i < API_COUNT(fast_limits); i++)
			assert_invalid(fast_limits[i].get(wrong[w], &value));
	}
	assert_int_equal(value, 77);
	assert_ok(doca_dev_close(dev));
}

static void test_limits_need_a_place_to_go(void **state)
{
	const struct doca_devinfo *devinfo = api_devinfo_nth(0);

	/* provokes: doca_comch_cap_get_max_name_len DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_cap_get_max_msg_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_cap_get_max_recv_queue_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_cap_get_max_send_tasks DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_cap_get_max_clients DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_consumer_cap_get_max_num_tasks DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_consumer_cap_get_max_imm_data_len DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_consumer_cap_get_max_consumers DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_producer_cap_get_max_num_tasks DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_producer_cap_get_max_producers DOCA_ERROR_INVALID_VALUE */
	for (size_t i = 0; i < API_COUNT(limits); i++)
		assert_invalid(limits[i].get(devinfo, NULL));
	/* provokes: doca_comch_consumer_cap_get_max_buf_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_consumer_cap_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_producer_cap_get_max_buf_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_producer_cap_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE */
	for (size_t i = 0; i < API_COUNT(fast_limits); i++)
		assert_invalid(fast_limits[i].get(devinfo, NULL));
}

/* ---- a card with other limits ---- */

static const char small_card[] =
	"cards:\n"
	"  - profile: bluefield-3\n"
	"    functions:\n"
	"      - {side: dpu, type: pf, pci: \"03:00.0\", caps: {comch-max-name-len: 8, comch-max-msg-bytes: 1 KiB,\n"
	"         comch-max-recv-queue: 2, comch-max-send-tasks: 3, comch-max-clients: 4, comch-max-fast-tasks: 5,\n"
	"         comch-max-imm-bytes: 6, comch-max-consumers: 7, comch-max-buf-bytes: 3 MiB,\n"
	"         comch-max-producers: 9}}\n"
	"      - {side: dpu, type: pf, pci: \"03:00.1\"}\n";

static void test_limits_are_the_topologys(void **state)
{
	const struct doca_devinfo *devinfo = api_devinfo_nth(0);

	for (size_t i = 0; i < API_COUNT(limits); i++)
		assert_int_equal(limit_of(&limits[i], devinfo), limits[i].small);
	for (size_t i = 0; i < API_COUNT(fast_limits); i++)
		assert_int_equal(limit_of(&fast_limits[i], devinfo), fast_limits[i].small);
}

static void test_limits_are_each_devices_own(void **state)
{
	expect_builtin_limits(api_devinfo_nth(1));
}

/* ---- a card without Arm cores ---- */

static const char nic[] = "cards:\n"
			  "  - profile: connectx-7\n"
			  "    functions:\n"
			  "      - {side: host, type: pf, pci: \"b1:00.0\"}\n";

static void test_nic_has_no_comch(void **state)
{
	const struct doca_devinfo *devinfo = api_devinfo_nth(0);
	uint32_t value = 77;

	/* provokes: doca_comch_consumer_cap_is_supported DOCA_ERROR_NOT_SUPPORTED */
	/* provokes: doca_comch_producer_cap_is_supported DOCA_ERROR_NOT_SUPPORTED */
	for (size_t i = 0; i < API_COUNT(abilities); i++)
		assert_doca(abilities[i](devinfo), DOCA_ERROR_NOT_SUPPORTED);
	for (size_t i = 0; i < API_COUNT(limits); i++)
		assert_int_equal(limit_of(&limits[i], devinfo), 0);
	/* provokes: doca_comch_consumer_cap_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED */
	/* provokes: doca_comch_consumer_cap_get_max_buf_list_len DOCA_ERROR_NOT_SUPPORTED */
	/* provokes: doca_comch_producer_cap_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED */
	/* provokes: doca_comch_producer_cap_get_max_buf_list_len DOCA_ERROR_NOT_SUPPORTED */
	for (size_t i = 0; i < API_COUNT(fast_limits); i++)
		assert_doca(fast_limits[i].get(devinfo, &value), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(value, 77);
}

static const struct CMUnitTest on_dpu[] = {
	cmocka_unit_test(test_dpu_serves),
	cmocka_unit_test(test_what_is_no_devinfo_is_refused),
	cmocka_unit_test(test_limits_need_a_place_to_go),
};

static const struct CMUnitTest on_host[] = {
	cmocka_unit_test(test_host_is_client),
};

static const struct CMUnitTest on_small[] = {
	cmocka_unit_test(test_limits_are_the_topologys),
	cmocka_unit_test(test_limits_are_each_devices_own),
};

static const struct CMUnitTest on_nic[] = {
	cmocka_unit_test(test_nic_has_no_comch),
};

int main(void)
{
	return API_RUN(
		{ .name = "the built-in card's DPU", .side = "dpu", API_WITH(on_dpu) },
		{ .name = "the built-in card's host", .side = "host", API_WITH(on_host) },
		{ .name = "a card with other limits", .topology = small_card, .side = "dpu", API_WITH(on_small) },
		{ .name = "a card without Arm cores", .topology = nic, .side = "host", API_WITH(on_nic) });
}
