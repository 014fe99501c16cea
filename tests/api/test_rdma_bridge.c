/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge to RDMA verbs: checked, and not supported.
 *
 * unreachable: doca_rdma_bridge_get_dev_pd DOCA_ERROR_BAD_STATE: not simulated, whatever the device's state
 * unreachable: doca_rdma_bridge_get_mmap_mkey_from_pd DOCA_ERROR_NOT_FOUND: not simulated, there is no protection domain
 * unreachable: doca_rdma_bridge_get_mmap_mkey_from_pd DOCA_ERROR_OPERATING_SYSTEM: not simulated, nothing is asked of it
 */
#include "api_util.h"

#include <doca_rdma_bridge.h>

static char memory[64];
static struct doca_dev *dev;
static struct doca_mmap *map;
static struct doca_buf_inventory *inventory;
static struct doca_buf *buf;

static int setup(void **state)
{
	dev = api_open("03:00.0");
	map = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	inventory = api_inventory(1);
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, sizeof(memory), &buf));
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(dev));
	return 0;
}

/* An object of another kind, as there are none of these. */
static struct ibv_pd *some_pd(void)
{
	return (struct ibv_pd *)dev;
}

static void test_device_is_not_made_of_a_protection_domain(void **state)
{
	struct doca_dev *made = NULL;

	assert_doca(doca_rdma_bridge_open_dev_from_pd(some_pd(), &made), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_rdma_bridge_open_dev_from_pd(NULL, &made));
	assert_invalid(doca_rdma_bridge_open_dev_from_pd(some_pd(), NULL));
	assert_null(made);
}

/* provokes: doca_rdma_bridge_get_dev_pd DOCA_ERROR_INVALID_VALUE */
static void test_device_has_no_protection_domain(void **state)
{
	struct ibv_pd *pd = NULL;

	assert_doca(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_rdma_bridge_get_dev_pd(NULL, &pd));
	assert_invalid(doca_rdma_bridge_get_dev_pd((struct doca_dev *)map, &pd));
	assert_invalid(doca_rdma_bridge_get_dev_pd(dev, NULL));
	assert_null(pd);
}

/* provokes: doca_rdma_bridge_get_buf_mkey DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_rdma_bridge_get_buf_mkey DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_bridge_get_mmap_mkey_from_pd DOCA_ERROR_INVALID_VALUE */
static void test_memory_has_no_key(void **state)
{
	uint32_t key = 7;

	assert_doca(doca_rdma_bridge_get_buf_mkey(buf, dev, &key), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_rdma_bridge_get_buf_mkey(NULL, dev, &key));
	assert_invalid(doca_rdma_bridge_get_buf_mkey((struct doca_buf *)dev, dev, &key));
	assert_invalid(doca_rdma_bridge_get_buf_mkey(buf, NULL, &key));
	assert_invalid(doca_rdma_bridge_get_buf_mkey(buf, dev, NULL));
	assert_doca(doca_rdma_bridge_get_mmap_mkey_from_pd(map, some_pd(), &key), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_rdma_bridge_get_mmap_mkey_from_pd(NULL, some_pd(), &key));
	assert_invalid(doca_rdma_bridge_get_mmap_mkey_from_pd(map, NULL, &key));
	assert_invalid(doca_rdma_bridge_get_mmap_mkey_from_pd(map, some_pd(), NULL));
	assert_int_equal(key, 7);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_device_is_not_made_of_a_protection_domain),
	cmocka_unit_test(test_device_has_no_protection_domain),
	cmocka_unit_test(test_memory_has_no_key),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .side = "dpu", API_WITH(tests), .setup = setup, .teardown = teardown });
}
