/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory map that was created from a PCI export and is exported again to the network: a server of storage reads and writes
 * the memory of a host through the DPU. The host, the DPU (@b) and the server (@a) are one process here. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

#define HOST_BYTES 8192

struct descriptor {
	const void *bytes;
	size_t len;
};

struct trio {
	struct peer *a, *b;
	struct peer host;           /* its memory alone */
	struct doca_mmap *imported; /* by the DPU */
	struct descriptor again;
};

static struct descriptor export_again(struct trio *trio)
{
	struct descriptor again;

	MUST(doca_mmap_export_rdma(trio->imported, trio->b->dev, &again.bytes, &again.len));
	return again;
}

static struct doca_mmap *import(const struct peer *peer, struct descriptor descriptor)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create_from_export(NULL, descriptor.bytes, descriptor.len, peer->dev, &mmap));
	return mmap;
}

static struct doca_mmap *start_host_map(const struct trio *trio, uint32_t access)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_add_dev(mmap, trio->b->dev));
	MUST(doca_mmap_set_memrange(mmap, trio->host.arena, HOST_BYTES));
	MUST(doca_mmap_set_permissions(mmap, access));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

static int open_trio_with(void **state, uint32_t host_access)
{
	struct trio *trio = calloc(1, sizeof(*trio));
	struct descriptor pci;

	trio->a = peer_open(0, RDMA_ALL_ACCESS);
	trio->b = peer_open(0, RDMA_ALL_ACCESS);
	peer_start(trio->a);
	peer_start(trio->b);
	peers_connect(trio->a, trio->b);
	trio->host.arena = aligned_alloc(4096, HOST_BYTES);
	memset(trio->host.arena, 'h', HOST_BYTES);
	trio->host.mmap = start_host_map(trio, host_access);
	MUST(doca_mmap_export_pci(trio->host.mmap, trio->b->dev, &pci.bytes, &pci.len));
	trio->imported = import(trio->b, pci);
	trio->again = export_again(trio);
	MUST(doca_mmap_destroy(trio->a->remote));
	trio->a->remote = import(trio->a, trio->again);
	*state = trio;
	return 0;
}

static int open_trio(void **state)
{
	return open_trio_with(state, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
}

static int open_read_only_trio(void **state)
{
	return open_trio_with(state, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY);
}

static int close_trio(void **state)
{
	struct trio *trio = *state;

	peer_close(trio->a);
	if (trio->imported)
		MUST(doca_mmap_destroy(trio->imported));
	MUST(doca_mmap_destroy(trio->host.mmap));
	peer_close(trio->b);
	free(trio->host.arena);
	free(trio);
	return 0;
}

static void write_to_host(struct trio *trio, size_t offset)
{
	strcpy((char *)trio->a->arena, "from the server");
	peer_write(trio->a, 1, peer_buf(trio->a, 0, 64, 16), peer_remote_buf(trio->a, &trio->host, offset, 64, 0));
	peers_drain(trio->a, NULL, 0);
}

static void read_from_host(struct trio *trio, size_t offset)
{
	peer_read(trio->a, 2, peer_remote_buf(trio->a, &trio->host, offset, 64, 64), peer_buf(trio->a, 0, 64, 0));
	peers_drain(trio->a, NULL, 0);
}

/* ---- access ---- */

static void test_the_server_writes_and_reads_the_hosts_memory(void **state)
{
	struct trio *trio = *state;

	write_to_host(trio, 4096);
	assert_string_equal((char *)trio->host.arena + 4096, "from the server");
	assert_peer_trace(trio->a, "write 1 done\n");
	memset(trio->host.arena + HOST_BYTES - 64, 'x', 64);
	read_from_host(trio, HOST_BYTES - 64);
	assert_memory_equal(trio->a->arena, trio->host.arena + HOST_BYTES - 64, 64);
	assert_peer_trace(trio->a, "read 2 done\n");
}

static void test_the_map_has_the_hosts_range(void **state)
{
	struct trio *trio = *state;
	void *addr;
	size_t len;

	assert_result(doca_mmap_get_memrange(trio->a->remote, &addr, &len), DOCA_SUCCESS);
	assert_ptr_equal(addr, trio->host.arena);
	assert_int_equal(len, HOST_BYTES);
}

static void test_what_the_dpu_may_only_read_the_server_may_only_read(void **state)
{
	struct trio *trio = *state;

	read_from_host(trio, 0);
	assert_peer_trace(trio->a, "read 2 done\n");
	write_to_host(trio, 0);
	assert_peer_trace(trio->a, "write 1 failed: DOCA_ERROR_IO_FAILED\n");
	assert_int_equal(trio->host.arena[0], 'h');
}

/* The right to read and write over PCI gives none for atomic operations. */
static void test_atomic_operations_are_not_permitted(void **state)
{
	struct trio *trio = *state;

	peer_fetch_add(trio->a, 3, peer_remote_buf(trio->a, &trio->host, 0, 8, 8), peer_buf(trio->a, 0, 8, 0), 1);
	peers_drain(trio->a, NULL, 0);
	assert_peer_trace(trio->a, "fetch_add 3 failed: DOCA_ERROR_IO_FAILED\n");
	assert_int_equal(trio->host.arena[0], 'h');
}

/* ---- end ---- */

static void test_the_end_of_the_hosts_map_ends_it(void **state)
{
	struct trio *trio = *state;
	struct doca_mmap *mmap;

	MUST(doca_mmap_stop(trio->host.mmap));
	read_from_host(trio, 0);
	assert_peer_trace(trio->a, "read 2 failed: DOCA_ERROR_IO_FAILED\n");
	assert_result(doca_mmap_create_from_export(NULL, trio->again.bytes, trio->again.len, trio->a->dev, &mmap),
		      DOCA_ERROR_DRIVER);
}

static void test_the_end_of_the_dpus_map_ends_it(void **state)
{
	struct trio *trio = *state;

	MUST(doca_mmap_destroy(trio->imported));
	trio->imported = NULL;
	read_from_host(trio, 0);
	assert_peer_trace(trio->a, "read 2 failed: DOCA_ERROR_IO_FAILED\n");
}

static void test_a_stop_of_the_dpus_map_ends_it(void **state)
{
	struct trio *trio = *state;
	struct descriptor again;

	assert_result(doca_mmap_stop(trio->imported), DOCA_SUCCESS);
	read_from_host(trio, 0);
	assert_peer_trace(trio->a, "read 2 failed: DOCA_ERROR_IO_FAILED\n");
	assert_result(doca_mmap_export_rdma(trio->imported, trio->b->dev, &again.bytes, &again.len),
		      DOCA_ERROR_NOT_PERMITTED);
}

/* The first map was exported again, the second one of the same descriptor was not. */
static void test_a_second_import_of_the_dpu_changes_nothing(void **state)
{
	struct trio *trio = *state;
	struct descriptor pci;
	struct doca_mmap *second;

	MUST(doca_mmap_export_pci(trio->host.mmap, trio->b->dev, &pci.bytes, &pci.len));
	second = import(trio->b, pci);
	MUST(doca_mmap_destroy(second));
	read_from_host(trio, 0);
	assert_peer_trace(trio->a, "read 2 done\n");
}

/* ---- calls ---- */

static void test_it_is_exported_once(void **state)
{
	struct trio *trio = *state;
	uint8_t exported;

	assert_ptr_equal(export_again(trio).bytes, trio->again.bytes);
	assert_result(doca_mmap_get_exported(trio->imported, &exported), DOCA_SUCCESS);
	assert_int_equal(exported, 1);
	assert_result(doca_mmap_get_from_export(trio->imported, &exported), DOCA_SUCCESS);
	assert_int_equal(exported, 1);
}

static void test_it_is_exported_through_its_device(void **state)
{
	struct trio *trio = *state;
	struct peer *other = peer_open(1, RDMA_ALL_ACCESS);
	struct descriptor again;

	assert_result(doca_mmap_export_rdma(trio->imported, other->dev, &again.bytes, &again.len),
		      DOCA_ERROR_NOT_FOUND);
	peer_close(other);
}

static void test_an_imported_map_is_not_exported_over_pci(void **state)
{
	struct trio *trio = *state;
	struct descriptor pci;

	assert_result(doca_mmap_export_pci(trio->imported, trio->b->dev, &pci.bytes, &pci.len),
		      DOCA_ERROR_NOT_PERMITTED);
}

static void test_memory_of_the_network_is_not_exported_again(void **state)
{
	struct trio *trio = *state;
	struct descriptor again;

	assert_result(doca_mmap_export_rdma(trio->a->remote, trio->a->dev, &again.bytes, &again.len),
		      DOCA_ERROR_NOT_PERMITTED);
}

static void test_memory_that_is_gone_is_not_exported_again(void **state)
{
	struct trio *trio = *state;
	struct descriptor pci, again;
	struct doca_mmap *mmap, *imported;

	mmap = start_host_map(trio, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_mmap_export_pci(mmap, trio->b->dev, &pci.bytes, &pci.len));
	imported = import(trio->b, pci);
	MUST(doca_mmap_destroy(mmap));
	assert_result(doca_mmap_export_rdma(imported, trio->b->dev, &again.bytes, &again.len), DOCA_ERROR_DRIVER);
	assert_result(doca_mmap_stop(imported), DOCA_ERROR_NOT_PERMITTED); /* it has no export */
	MUST(doca_mmap_destroy(imported));
}

#define WITH_TRIO(test) cmocka_unit_test_setup_teardown(test, open_trio, close_trio)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TRIO(test_the_server_writes_and_reads_the_hosts_memory),
		WITH_TRIO(test_the_map_has_the_hosts_range),
		cmocka_unit_test_setup_teardown(test_what_the_dpu_may_only_read_the_server_may_only_read,
						open_read_only_trio, close_trio),
		WITH_TRIO(test_atomic_operations_are_not_permitted),
		WITH_TRIO(test_the_end_of_the_hosts_map_ends_it),
		WITH_TRIO(test_the_end_of_the_dpus_map_ends_it),
		WITH_TRIO(test_a_stop_of_the_dpus_map_ends_it),
		WITH_TRIO(test_a_second_import_of_the_dpu_changes_nothing),
		WITH_TRIO(test_it_is_exported_once),
		WITH_TRIO(test_it_is_exported_through_its_device),
		WITH_TRIO(test_an_imported_map_is_not_exported_over_pci),
		WITH_TRIO(test_memory_of_the_network_is_not_exported_again),
		WITH_TRIO(test_memory_that_is_gone_is_not_exported_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
