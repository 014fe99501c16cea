/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that reads a device pointer itself, or by a copy. Built with the address sanitizer, for test_dpa_poison.py. */
#include <doca_dev.h>
#include <doca_dpa.h>
#include <stdio.h>
#include <string.h>

#include "tests/common/check.h"
#include "tests/common/doca_check.h"

/* Device code of tests/api/dpa/kernels.c. */
extern struct doca_dpa_app *dpa_test_app;
doca_dpa_func_t load;

static uint64_t __attribute__((noinline)) read_device(doca_dpa_dev_uintptr_t addr)
{
	return *(volatile uint64_t *)(uintptr_t)addr;
}

int main(int argc, char **argv)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	struct doca_dpa *dpa;
	doca_dpa_dev_uintptr_t addr;
	uint64_t value = 0, loaded = 0;
	uint32_t num;

	CHECK(argc == 2);
	MUST(doca_devinfo_create_list(&list, &num));
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	for (int round = 0; round < 2; round++) { /* memory of an ended context is anybody's */
		MUST(doca_dpa_create(dev, &dpa));
		MUST(doca_dpa_set_app(dpa, dpa_test_app));
		MUST(doca_dpa_start(dpa));
		MUST(doca_dpa_mem_alloc(dpa, 10000, &addr));
		MUST(doca_dpa_memset(dpa, addr, 1, 10000));
		MUST(doca_dpa_rpc(dpa, load, &loaded, (uint64_t)addr + 9992));
		MUST(doca_dpa_d2h_memcpy(dpa, &value, addr, sizeof(value)));
		MUST(doca_dpa_h2d_memcpy(dpa, addr, &value, sizeof(value)));
		CHECK(loaded == value && value == UINT64_C(0x0101010101010101));
		if (strcmp(argv[1], "direct") == 0)
			printf("read %llx\n", (unsigned long long)read_device(addr));
		MUST(doca_dpa_mem_free(dpa, addr));
		MUST(doca_dpa_destroy(dpa));
	}
	MUST(doca_dev_close(dev));
	puts("done");
	return 0;
}
