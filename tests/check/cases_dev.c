/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about devices and representors. */
#include <bfsim.h>
#include <unistd.h>

#include "cases.h"

/* Whether a representor of the first device has the address. */
static bool has_representor(struct doca_dev *dev, const char *addr)
{
	struct doca_devinfo_rep **list;
	uint8_t is_equal = 0;
	uint32_t count;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (uint32_t i = 0; i < count && !is_equal; i++)
		MUST(doca_devinfo_rep_is_equal_pci_addr(list[i], addr, &is_equal));
	MUST(doca_devinfo_rep_destroy_list(list));
	return is_equal;
}

/* The second device has it. */
static void search_on_one_device(void)
{
	struct doca_dev *dev = rig_open_dev(0);

	CHECK(!has_representor(dev, "b1:00.1"));
	MUST(doca_dev_close(dev));
}

/* The representor is not that of the first device, but that of the second. */
static void search_in_two_lists(void)
{
	struct doca_dev *first = rig_open_dev(0), *second = rig_open_dev(1);
	int found = has_representor(first, "b1:00.1") + has_representor(second, "b1:00.1");

	CHECK(found == 1);
	MUST(doca_dev_close(first));
	MUST(doca_dev_close(second));
}

/* The device was there, and a fault removed it. */
static void search_removed_device(void)
{
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_devinfo **list;
	uint8_t is_equal = 0;
	uint32_t count;

	CHECK(bfsim_fault_add("function device=03:00.1 remove", NULL) == 0);
	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !is_equal; i++)
		MUST(doca_devinfo_is_equal_pci_addr(list[i], "03:00.1", &is_equal));
	MUST(doca_devinfo_destroy_list(list));
	CHECK(count > 0 && !is_equal);
	MUST(doca_dev_close(dev));
}

/* ---- capabilities and limits ---- */

/* A card without a DMA engine. */
static struct doca_dma *create_dma(struct doca_dev **ret_dev, struct doca_pe **ret_pe)
{
	char path[] = "/tmp/check-cases-XXXXXX";
	static const char text[] = "cards:\n"
				   "  - name: card0\n"
				   "    profile: bluefield-3\n"
				   "    functions:\n"
				   "      - {side: dpu, type: pf, pci: '03:00.0', caps: {dma-memcpy: false}}\n"
				   "      - {side: host, type: pf, pci: 'b1:00.0'}\n";
	struct doca_dma *dma;
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
	setenv("BFSIM_TOPOLOGY", path, 1);
	*ret_dev = rig_open_dev(0);
	unlink(path);
	MUST(doca_dma_create(*ret_dev, &dma));
	MUST(doca_pe_create(ret_pe));
	MUST(doca_pe_connect_ctx(*ret_pe, doca_dma_as_ctx(dma)));
	return dma;
}

static void destroy_dma(struct doca_dma *dma, struct doca_dev *dev, struct doca_pe *pe)
{
	MUST(doca_dma_destroy(dma));
	MUST(doca_pe_destroy(pe));
	MUST(doca_dev_close(dev));
}

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

static void start_without_dma(void)
{
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma = create_dma(&dev, &pe);

	MUST(doca_dma_task_memcpy_set_conf(dma, on_copied, on_copied, 1));
	CHECK(doca_ctx_start(doca_dma_as_ctx(dma)) == DOCA_ERROR_NOT_SUPPORTED);
	destroy_dma(dma, dev, pe);
}

/* The program asks, and does not start it. */
static void ask_for_dma(void)
{
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma = create_dma(&dev, &pe);

	CHECK(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(dev)) == DOCA_ERROR_NOT_SUPPORTED);
	destroy_dma(dma, dev, pe);
}

static uint32_t max_tasks(void)
{
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_dma *dma;
	uint32_t max;

	MUST(doca_dma_create(dev, &dma));
	MUST(doca_dma_cap_get_max_num_tasks(dma, &max));
	MUST(doca_dma_destroy(dma));
	MUST(doca_dev_close(dev));
	return max;
}

static void configure_many_tasks(uint32_t count)
{
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_dma *dma;

	MUST(doca_dma_create(dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, on_copied, on_copied, count));
	MUST(doca_dma_destroy(dma));
	MUST(doca_dev_close(dev));
}

static void use_limit_of_a_guide(void)
{
	configure_many_tasks(65536);
}

static void use_limit_that_was_asked_for(void)
{
	configure_many_tasks(max_tasks());
}

/* ---- lists, close ---- */

static void open_from_destroyed_list(void)
{
	struct doca_devinfo **list, *first;
	struct doca_dev *dev;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	first = list[0];
	MUST(doca_devinfo_destroy_list(list));
	MUST(doca_dev_open(first, &dev));
	MUST(doca_dev_close(dev));
}

/* The entry of an open device outlives the list. */
static void open_again_from_device(void)
{
	struct doca_dev *dev = rig_open_dev(0), *again;

	MUST(doca_dev_open(doca_dev_as_devinfo(dev), &again));
	MUST(doca_dev_close(again));
	MUST(doca_dev_close(dev));
}

static void close_with_map(void)
{
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	CHECK(doca_dev_close(dev) == DOCA_ERROR_IN_USE);
	MUST(doca_mmap_destroy(map));
	MUST(doca_dev_close(dev));
}

/* A device that is open twice stays open for the map. */
static void close_second_open_with_map(void)
{
	struct doca_dev *dev = rig_open_dev(0), *again = rig_open_dev(0);
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_dev_close(again));
	MUST(doca_mmap_destroy(map));
	MUST(doca_dev_close(dev));
}

const struct check_case dev_cases[] = {
	{ "device-not-found", search_on_one_device, search_in_two_lists },
	{ "device-not-found@removed", search_on_one_device, search_removed_device },
	{ "device-without-dma", start_without_dma, ask_for_dma },
	{ "limit-not-queried", use_limit_of_a_guide, use_limit_that_was_asked_for },
	{ "device-info-stale", open_from_destroyed_list, open_again_from_device },
	{ "device-closed-in-use", close_with_map, close_second_open_with_map },
	{ 0 },
};
