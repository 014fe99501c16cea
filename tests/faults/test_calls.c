/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at calls: exporting and importing memory, starting a context, opening a device; and allocations that fail.
 * In each cell the same call succeeds before or after the hit. */
#include <bfsim.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <unistd.h>

#include "cell.h"

#define BYTES 4096

/* The cell gives the call's result and duration. */
#define EXPECT_HIT(call)                                                               \
	do {                                                                           \
		uint64_t begin_ns_ = bfsim_now_ns();                                   \
		EXPECT(call, cell_is("fail") ? DOCA_ERROR_TIME_OUT : DOCA_SUCCESS);    \
		CHECK(!cell_is("delay") || cell_since_ns(begin_ns_) >= CELL_DELAY_NS); \
		cell_expect_hit();                                                     \
	} while (0)

static uint8_t memory[BYTES];

static struct doca_mmap *map_memory(struct side *side)
{
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, memory, BYTES));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_add_dev(map, side->dev));
	MUST(doca_mmap_start(map));
	return map;
}

/* ---- exporting and importing ---- */

static void send_bytes(struct side *side, const void *bytes, size_t len)
{
	comch_sync_send(side, len);
	CHECK(write(side->sync_fd, bytes, len) == (ssize_t)len);
}

static size_t hear_bytes(struct side *side, void *bytes, size_t size)
{
	size_t len = comch_sync_recv(side);

	CHECK(len <= size && read(side->sync_fd, bytes, len) == (ssize_t)len);
	return len;
}

static void export_host(struct side *side)
{
	struct doca_mmap *map = map_memory(side);
	const void *bytes;
	size_t len;

	if (strcmp(cell->op, "mmap.export") == 0) {
		cell_arm();
		EXPECT_HIT(doca_mmap_export_pci(map, side->dev, &bytes, &len));
	}
	MUST(doca_mmap_export_pci(map, side->dev, &bytes, &len));
	send_bytes(side, bytes, len);
	comch_sync_recv(side);
	MUST(doca_mmap_destroy(map));
}

static void import_dpu(struct side *side)
{
	struct doca_mmap *map = NULL;
	uint8_t bytes[1024];
	size_t len = hear_bytes(side, bytes, sizeof(bytes));

	if (strcmp(cell->op, "mmap.import") == 0) {
		cell_arm();
		EXPECT_HIT(doca_mmap_create_from_export(NULL, bytes, len, side->dev, &map));
		CHECK(!map == cell_is("fail"));
		if (map)
			MUST(doca_mmap_destroy(map));
	}
	MUST(doca_mmap_create_from_export(NULL, bytes, len, side->dev, &map));
	MUST(doca_mmap_destroy(map));
	comch_sync_send(side, 0);
}

/* ---- starting ---- */

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data number, union doca_data data)
{
}

static struct doca_dma *new_dma(struct side *side)
{
	struct doca_dma *dma;

	MUST(doca_dma_create(side->dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, on_copied, on_copied, 1));
	MUST(doca_pe_connect_ctx(side->pe, doca_dma_as_ctx(dma)));
	return dma;
}

static void start_dpu(struct side *side)
{
	struct doca_dma *dma = new_dma(side), *other = new_dma(side);
	struct doca_ctx *ctx = doca_dma_as_ctx(dma);
	enum doca_ctx_states state;

	cell_arm();
	EXPECT_HIT(doca_ctx_start(ctx));
	MUST(doca_ctx_start(doca_dma_as_ctx(other)));
	MUST(doca_ctx_get_state(ctx, &state));
	CHECK(state == (cell_is("fail") ? DOCA_CTX_STATE_IDLE : DOCA_CTX_STATE_RUNNING));
	if (cell_is("fail"))
		MUST(doca_ctx_start(ctx));
	MUST(doca_ctx_stop(ctx));
	MUST(doca_ctx_stop(doca_dma_as_ctx(other)));
	MUST(doca_dma_destroy(dma));
	MUST(doca_dma_destroy(other));
}

/* ---- opening ---- */

static void open_dpu(struct side *side)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	cell_arm();
	EXPECT_HIT(doca_dev_open(list[0], &dev));
	CHECK(!dev == cell_is("fail"));
	MUST(doca_dev_close(dev)); /* NULL is fine */
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_dev_close(dev));
	MUST(doca_devinfo_destroy_list(list));
}

/* ---- memory ---- */

static void alloc_dpu(struct side *side)
{
	struct doca_dma *dma = NULL;

	cell_arm();
	EXPECT(doca_dma_create(side->dev, &dma), DOCA_ERROR_NO_MEMORY);
	CHECK(!dma);
	cell_expect_hit();
	MUST(doca_dma_create(side->dev, &dma));
	MUST(doca_dma_destroy(dma));
}

/* Run up to the first failure; destroy all that was created. */
static doca_error_t use_all(struct side *side)
{
	struct doca_buf_inventory *inventory = NULL;
	struct doca_mmap *map = NULL;
	struct doca_dma *dma = NULL;
	doca_error_t result = doca_dma_create(side->dev, &dma);

	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(dma, on_copied, on_copied, 1);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(side->pe, doca_dma_as_ctx(dma));
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(doca_dma_as_ctx(dma));
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create(&map);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(map, side->dev);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(4, &inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(inventory);
	if (inventory)
		MUST(doca_buf_inventory_destroy(inventory));
	if (map)
		MUST(doca_mmap_destroy(map));
	if (dma) {
		doca_ctx_stop(doca_dma_as_ctx(dma));
		MUST(doca_dma_destroy(dma));
	}
	return result;
}

/* Each failing allocation is an error of the call, and leaks nothing. */
static void every_alloc_dpu(struct side *side)
{
	int num_failed = 0;

	cell_arm(); /* never reached */
	for (;;) {
		char rule[64];
		uint32_t id;
		struct bfsim_fault fault;
		doca_error_t result;

		snprintf(rule, sizeof(rule), "alloc side=dpu nth=%d fail=NO_MEMORY", num_failed + 1);
		CHECK(bfsim_fault_add(rule, &id) == 0);
		result = use_all(side);
		CHECK(bfsim_fault_get(id, &fault) == 0);
		CHECK(bfsim_fault_remove(id) == 0);
		CHECK((result == DOCA_SUCCESS) == (fault.fired == 0));
		if (!fault.fired)
			break;
		CHECK(result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_INITIALIZATION);
		num_failed++;
	}
	CHECK(num_failed >= 5);
	MUST(use_all(side));
	CHECK(bfsim_fault_clear() == 0);
}

static const struct cell cells[] = {
	{ "mmap.export", "fail", "nth=1 fail=TIME_OUT", import_dpu, export_host, NULL, NULL },
	{ "mmap.export", "delay", "nth=1 delay=500ms", import_dpu, export_host, NULL, NULL },
	{ "mmap.import", "fail", "nth=1 fail=TIME_OUT", import_dpu, export_host, NULL, NULL },
	{ "mmap.import", "delay", "nth=1 delay=500ms", import_dpu, export_host, NULL, NULL },
	{ "ctx.start", "fail", "nth=1 fail=TIME_OUT", start_dpu, comch_nothing, NULL, NULL },
	{ "ctx.start", "delay", "nth=1 delay=500ms", start_dpu, comch_nothing, NULL, NULL },
	{ "dev.open", "fail", "nth=1 fail=TIME_OUT side=dpu", open_dpu, comch_nothing, NULL, NULL },
	{ "dev.open", "delay", "nth=1 delay=500ms side=dpu", open_dpu, comch_nothing, NULL, NULL },
	{ "alloc", "fail", "nth=1 fail=NO_MEMORY side=dpu", alloc_dpu, comch_nothing, NULL, NULL },
	{ "alloc", "fail", "size>=1G fail=NO_MEMORY", every_alloc_dpu, comch_nothing, NULL, NULL },
};

int main(void)
{
	return cell_run("calls", cells, sizeof(cells) / sizeof(cells[0]));
}
