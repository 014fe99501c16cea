/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out while a topology is read: for each allocation, one run in
 * which it fails. Link with -Wl,--wrap=calloc,--wrap=realloc; libyaml's own
 * allocations are in its shared library and not wrapped. Run it under a leak
 * checker too. */
#include <errno.h>

#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "pcie_model/topology/topology.h"

static long until_failure = -1; /* allocations that still succeed; negative = all do */

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

static bool fails_now(void)
{
	return until_failure >= 0 && until_failure-- == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
	return fails_now() ? NULL : __real_realloc(ptr, size);
}

static const char yaml[] = "cards:\n"
			   "- profile: bluefield-3\n"
			   "  functions:\n"
			   "  - {side: dpu, type: pf, pci: \"03:00.0\", represents: [host/b1:00.0, host/b1:00.0/sf0]}\n"
			   "  - {side: host, type: pf, pci: b1:00.0, caps: {dma-max-buf-bytes: 4096}}\n"
			   "  - {side: host, type: sf, pci: b1:00.0}\n"
			   "- profile: bluefield-2\n"
			   "  functions:\n"
			   "  - {side: x/dpu, type: pf, pci: \"03:00.0\"}\n"
			   "  - {side: host, type: pf, pci: b2:00.0}\n"
			   "network: {switches: [{name: a}], links: [{from: host/b2:00.0, to: a}]}\n";

static int parse_with(long allocations, struct pcie_topology **ret_topology, char *error)
{
	int rc;

	until_failure = allocations;
	rc = pcie_topology_parse("memory.yaml", yaml, strlen(yaml), ret_topology, error);
	until_failure = -1;
	return rc;
}

static void test_each_failed_allocation_is_reported_and_leaves_nothing_behind(void **state)
{
	struct pcie_topology *topology = NULL;
	char error[PCIE_ERROR_SIZE];
	long allocations = 0;

	while (parse_with(allocations, &topology, error) == -ENOMEM) {
		assert_null(topology);
		assert_string_equal(error, "memory.yaml: out of memory");
		allocations++;
	}
	assert_non_null(topology); /* the first run with enough memory succeeds */
	assert_int_equal(topology->num_functions, 5);
	assert_true(allocations > 40); /* about thirty values and a dozen lists */
	pcie_topology_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_failed_allocation_is_reported_and_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
