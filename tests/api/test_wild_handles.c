/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers that never were handles are refused by calls that create, configure, start, stop and destroy. */
#include <string.h>
#include <sys/mman.h>

#include <doca_buf_array.h>
#include <doca_buf_pool.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "api_util.h"

#define PAGE 4096

static void refuse_contexts(void *wild)
{
	struct doca_pe *pe;
	enum doca_ctx_states state;

	assert_ok(doca_pe_create(&pe));
	assert_invalid(doca_pe_connect_ctx(pe, wild));
	assert_invalid(doca_pe_connect_ctx(wild, wild));
	assert_invalid(doca_pe_set_event_mode(wild, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	assert_invalid(doca_pe_request_notification(wild));
	assert_invalid(doca_pe_destroy(wild));
	assert_ok(doca_pe_destroy(pe));
	assert_invalid(doca_ctx_start(wild));
	assert_invalid(doca_ctx_stop(wild));
	assert_invalid(doca_ctx_get_state(wild, &state));
	assert_invalid(doca_dma_task_memcpy_set_conf(wild, NULL, NULL, 1));
	assert_null(doca_dma_as_ctx(wild));
	assert_invalid(doca_dma_destroy(wild));
	assert_null(doca_mmap_advise_as_ctx(wild));
	assert_invalid(doca_mmap_advise_destroy(wild));
}

static void refuse_devices(void *wild)
{
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_dev_rep *rep;
	struct doca_dma *dma;
	struct doca_dev *dev;

	assert_invalid(doca_devinfo_get_pci_addr_str(wild, pci_addr));
	assert_invalid(doca_dev_open(wild, &dev));
	assert_invalid(doca_dma_create(wild, &dma));
	assert_null(doca_dev_as_devinfo(wild));
	assert_invalid(doca_dev_close(wild));
	assert_invalid(doca_dev_rep_open(wild, &rep));
	assert_null(doca_dev_rep_as_devinfo(wild));
	assert_invalid(doca_dev_rep_close(wild));
}

static void refuse_memory(void *wild)
{
	struct doca_buf_pool *pool;
	uint8_t memory[64];

	assert_invalid(doca_mmap_set_memrange(wild, memory, sizeof(memory)));
	assert_invalid(doca_mmap_add_dev(wild, wild));
	assert_invalid(doca_mmap_start(wild));
	assert_invalid(doca_mmap_stop(wild));
	assert_invalid(doca_mmap_destroy(wild));
	assert_invalid(doca_buf_inventory_start(wild));
	assert_invalid(doca_buf_inventory_destroy(wild));
	assert_invalid(doca_buf_pool_create(1, 64, wild, &pool));
	assert_invalid(doca_buf_pool_start(wild));
	assert_invalid(doca_buf_pool_destroy(wild));
	assert_invalid(doca_buf_arr_set_params(wild, wild, 1, 0));
	assert_invalid(doca_buf_arr_destroy(wild));
}

static void refuse_events_and_graphs(void *wild)
{
	struct doca_graph_instance *instance;
	struct doca_graph_node *node;

	assert_invalid(doca_sync_event_add_publisher_location_cpu(wild, wild));
	assert_invalid(doca_sync_event_start(wild));
	assert_invalid(doca_sync_event_stop(wild));
	assert_null(doca_sync_event_as_ctx(wild));
	assert_invalid(doca_sync_event_destroy(wild));
	assert_invalid(doca_graph_node_create_from_user(wild, NULL, &node));
	assert_invalid(doca_graph_add_dependency(wild, wild, wild));
	assert_invalid(doca_graph_start(wild));
	assert_invalid(doca_graph_destroy(wild));
	assert_invalid(doca_graph_instance_create(wild, &instance));
	assert_invalid(doca_graph_instance_destroy(wild));
}

static void refuse_comch(void *wild)
{
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_comch_client *client;
	struct doca_comch_msgq *msgq;

	assert_invalid(doca_comch_client_create(wild, "wild", &client));
	assert_invalid(doca_comch_client_set_max_msg_size(wild, 64));
	assert_null(doca_comch_client_as_ctx(wild));
	assert_invalid(doca_comch_client_destroy(wild));
	assert_invalid(doca_comch_server_set_max_msg_size(wild, 64));
	assert_null(doca_comch_server_as_ctx(wild));
	assert_invalid(doca_comch_server_disconnect(wild, wild));
	assert_invalid(doca_comch_server_destroy(wild));
	assert_invalid(doca_comch_consumer_create(wild, wild, &consumer));
	assert_null(doca_comch_consumer_as_ctx(wild));
	assert_invalid(doca_comch_consumer_destroy(wild));
	assert_invalid(doca_comch_producer_create(wild, &producer));
	assert_null(doca_comch_producer_as_ctx(wild));
	assert_invalid(doca_comch_producer_destroy(wild));
	assert_invalid(doca_comch_msgq_create(wild, &msgq));
	assert_invalid(doca_comch_msgq_destroy(wild));
}

static void refuse_everywhere(void *wild)
{
	refuse_contexts(wild);
	refuse_devices(wild);
	refuse_memory(wild);
	refuse_events_and_graphs(wild);
	refuse_comch(wild);
}

static void test_small_numbers(void **state)
{
	refuse_everywhere((void *)8);
	refuse_everywhere((void *)UINT64_C(0xdeadbeef));
	refuse_everywhere((void *)UINTPTR_MAX);
}

static void test_address_where_nothing_is_mapped(void **state)
{
	char *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	refuse_everywhere(page);
	assert_int_equal(munmap(page, PAGE), 0);
	refuse_everywhere(page);
}

/* The last bytes of a page, behind which nothing is mapped. */
static void test_address_in_foreign_memory(void **state)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + PAGE, PAGE), 0);
	memset(pages, 0x5a, PAGE);
	refuse_everywhere(pages);
	refuse_everywhere(pages + PAGE - 4);
	refuse_everywhere(pages + PAGE - 1);
	assert_int_equal(munmap(pages, PAGE), 0);
}

/* The copy has all that bfsim could recognise, whatever kind of handle it is taken for. */
static void refuse_copy_of(const void *handle)
{
	struct {
		uint64_t words[8];
	} copy;

	memcpy(&copy, handle, sizeof(copy));
	refuse_everywhere(&copy);
}

static void test_copy_of_a_handle(void **state)
{
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	struct doca_pe *pe;

	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_buf_inventory_create(1, &inventory));
	refuse_copy_of(pe);
	refuse_copy_of(mmap);
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_pe_destroy(pe));
}

static void test_address_inside_of_a_handle(void **state)
{
	struct doca_pe *pe;

	assert_ok(doca_pe_create(&pe));
	refuse_everywhere((char *)pe + 1);
	refuse_everywhere((char *)pe + 16);
	assert_ok(doca_pe_destroy(pe));
}

/* There are more handles than buckets of the pools' table. */
static void test_each_of_many_handles_is_known(void **state)
{
	static struct doca_mmap *mmaps[5000];

	for (size_t i = 0; i < API_COUNT(mmaps); i++)
		assert_ok(doca_mmap_create(&mmaps[i]));
	for (size_t i = 0; i < API_COUNT(mmaps); i++)
		assert_ok(doca_mmap_destroy(mmaps[i]));
	for (size_t i = 0; i < API_COUNT(mmaps); i++)
		assert_invalid(doca_mmap_destroy(mmaps[i]));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_small_numbers),
	cmocka_unit_test(test_address_where_nothing_is_mapped),
	cmocka_unit_test(test_address_in_foreign_memory),
	cmocka_unit_test(test_copy_of_a_handle),
	cmocka_unit_test(test_address_inside_of_a_handle),
	cmocka_unit_test(test_each_of_many_handles_is_known),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", API_WITH(tests) });
}
