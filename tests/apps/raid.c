/* SPDX-License-Identifier: BSD-3-Clause */
/* raid: a file on disks that fail, with redundancy by erasure coding (BlueField-3).
 *
 *   file --> data blocks --create--> redundancy blocks --> disks, one block on each
 *   disks --DMA, block by block--> blocks that are left --recover--> data blocks --> file
 *
 * The disks are memory. A block is lost if its copy fails, or if its checksum is wrong. Fault rules for dma.memcpy so
 * decide what is lost:
 *
 *   bfsim run --fault 'dma.memcpy nth=2 fail=IO_FAILED' --dpu './raid -i FILE -o COPY'
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "common/app.h"
#include "common/device.h"
#include "common/memory.h"

#define MAX_BLOCKS 160
#define UNIT       64 /* of block sizes */
#define MAX_TRIES  3

struct config {
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char input[PATH_MAX];
	char output[PATH_MAX];
	uint32_t data_blocks, rdnc_blocks;
};

APP_TAKE_STRING(pci_addr)
APP_TAKE_STRING(input)
APP_TAKE_STRING(output)
APP_TAKE_COUNT(data_blocks)
APP_TAKE_COUNT(rdnc_blocks)

static const struct app_flag flags[] = {
	APP_STRING("p", "pci-addr", "<address>", "The device (default " APP_PCI_ADDR ")", pci_addr),
	APP_MANDATORY_STRING("i", "input", "<file>", "Store this file", input),
	APP_MANDATORY_STRING("o", "output", "<file>", "and write what was read back to this one", output),
	APP_COUNT("t", "data", "<blocks>", "Data blocks (default 6)", data_blocks),
	APP_COUNT("r", "rdnc", "<blocks>", "Redundancy blocks (default 3)", rdnc_blocks),
};

struct raid {
	uint32_t num_data, num_rdnc;
	size_t block_bytes;
	struct memory
		memory; /* disks, then what was read or recovered: num_data + num_rdnc blocks each; then the output of a task */
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	struct doca_ec *ec;
	struct doca_ec_matrix *coding;
	uint64_t sums[MAX_BLOCKS]; /* of the blocks, when they were written */
	uint32_t lost[MAX_BLOCKS], num_lost;
};

static uint8_t *disk(const struct raid *raid, uint32_t block)
{
	return (uint8_t *)raid->memory.addr + block * raid->block_bytes;
}

static uint8_t *copy_of(const struct raid *raid, uint32_t block)
{
	return disk(raid, raid->num_data + raid->num_rdnc + block);
}

static uint8_t *scratch(const struct raid *raid)
{
	return copy_of(raid, raid->num_data + raid->num_rdnc);
}

/* FNV-1a. */
static uint64_t sum_of(const uint8_t *bytes, size_t len)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3;
	return sum;
}

/* ---- tasks, one at a time ---- */

/* A task that ended sets its user data, a bool. */
#define DEFINE_CALLBACK(name, struct_)                                                                   \
	static void name(struct struct_ *task, union doca_data user_data, union doca_data ctx_user_data) \
	{                                                                                                \
		(void)task, (void)ctx_user_data;                                                         \
		*(bool *)user_data.ptr = true;                                                           \
	}

DEFINE_CALLBACK(on_copied, doca_dma_task_memcpy)
DEFINE_CALLBACK(on_created, doca_ec_task_create)
DEFINE_CALLBACK(on_recovered, doca_ec_task_recover)

/* Run a task and free it. A failed task stops its context, which starts again. */
static doca_error_t finish(struct raid *raid, struct doca_ctx *ctx, struct doca_task *task, const bool *is_over)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
	doca_error_t result = doca_task_submit(task);

	while (result == DOCA_SUCCESS && !*is_over)
		doca_pe_progress(raid->pe);
	if (result == DOCA_SUCCESS)
		result = doca_task_get_status(task);
	doca_task_free(task);
	if (result == DOCA_SUCCESS)
		return result;
	while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_STOPPING)
		doca_pe_progress(raid->pe);
	if (state == DOCA_CTX_STATE_IDLE)
		app_check(doca_ctx_start(ctx), "start the context again");
	return result;
}

static doca_error_t get_bufs(struct raid *raid, uint8_t *from, size_t len, uint8_t *to, size_t room,
			     struct doca_buf **ret_src, struct doca_buf **ret_dst)
{
	doca_error_t result = doca_buf_inventory_buf_get_by_data(raid->inventory, raid->mmap, from, len, ret_src);

	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_get_by_addr(raid->inventory, raid->mmap, to, room, ret_dst);
	return app_check(result, "get buffers");
}

static doca_error_t read_block(struct raid *raid, uint32_t block)
{
	bool is_over = false;
	const union doca_data user_data = { .ptr = &is_over };
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	doca_error_t result = get_bufs(raid, disk(raid, block), raid->block_bytes, copy_of(raid, block),
				       raid->block_bytes, &src, &dst);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_dma_task_memcpy_alloc_init(raid->dma, src, dst, user_data, &task);
	if (result == DOCA_SUCCESS)
		result = finish(raid, doca_dma_as_ctx(raid->dma), doca_dma_task_memcpy_as_task(task), &is_over);
	doca_buf_dec_refcount(src, NULL);
	doca_buf_dec_refcount(dst, NULL);
	return result;
}

/* Multiply @matrix with @num_in blocks at @in: @num_out blocks of scratch memory. A recover task multiplies any matrix. */
static doca_error_t multiply_once(struct raid *raid, const struct doca_ec_matrix *matrix, uint8_t *in, uint32_t num_in,
				  uint32_t num_out)
{
	bool is_over = false, is_coding = matrix == raid->coding;
	const union doca_data user_data = { .ptr = &is_over };
	struct doca_ec_task_recover *recover;
	struct doca_ec_task_create *create;
	struct doca_task *task = NULL;
	struct doca_buf *src, *dst;
	doca_error_t result =
		get_bufs(raid, in, num_in * raid->block_bytes, scratch(raid), num_out * raid->block_bytes, &src, &dst);

	if (result != DOCA_SUCCESS)
		return result;
	result = is_coding ? doca_ec_task_create_allocate_init(raid->ec, matrix, src, dst, user_data, &create) :
			     doca_ec_task_recover_allocate_init(raid->ec, matrix, src, dst, user_data, &recover);
	if (result == DOCA_SUCCESS)
		task = is_coding ? doca_ec_task_create_as_task(create) : doca_ec_task_recover_as_task(recover);
	if (task)
		result = finish(raid, doca_ec_as_ctx(raid->ec), task, &is_over);
	doca_buf_dec_refcount(src, NULL);
	doca_buf_dec_refcount(dst, NULL);
	return result;
}

static doca_error_t multiply(struct raid *raid, const struct doca_ec_matrix *matrix, uint8_t *in, uint32_t num_in,
			     uint32_t num_out)
{
	doca_error_t result = multiply_once(raid, matrix, in, num_in, num_out);

	for (int tries = 1; result == DOCA_ERROR_IO_FAILED && tries < MAX_TRIES; tries++)
		result = multiply_once(raid, matrix, in, num_in, num_out);
	return app_check(result, "multiply blocks");
}

/* ---- the disks ---- */

static doca_error_t write_all(struct raid *raid, const struct memory *file)
{
	doca_error_t result;

	memcpy(disk(raid, 0), file->addr, file->len_bytes);
	result = multiply(raid, raid->coding, disk(raid, 0), raid->num_data, raid->num_rdnc);
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(disk(raid, raid->num_data), scratch(raid), raid->num_rdnc * raid->block_bytes);
	for (uint32_t i = 0; i < raid->num_data + raid->num_rdnc; i++)
		raid->sums[i] = sum_of(disk(raid, i), raid->block_bytes);
	return DOCA_SUCCESS;
}

static void read_all(struct raid *raid)
{
	for (uint32_t i = 0; i < raid->num_data + raid->num_rdnc; i++) {
		const char *problem = NULL;

		if (read_block(raid, i) != DOCA_SUCCESS)
			problem = "could not be read";
		else if (sum_of(copy_of(raid, i), raid->block_bytes) != raid->sums[i])
			problem = "has a wrong checksum";
		if (!problem)
			continue;
		printf("block %u %s\n", i, problem);
		raid->lost[raid->num_lost++] = i;
	}
}

static bool is_lost(const struct raid *raid, uint32_t block)
{
	for (uint32_t i = 0; i < raid->num_lost; i++)
		if (raid->lost[i] == block)
			return true;
	return false;
}

/* The first blocks that are left go to the front of a buffer of their own: the disks, which are not needed any more. */
static void gather_left(struct raid *raid)
{
	uint32_t num = 0;

	for (uint32_t i = 0; num < raid->num_data; i++)
		if (!is_lost(raid, i))
			memcpy(disk(raid, num++), copy_of(raid, i), raid->block_bytes);
}

static doca_error_t recover_all(struct raid *raid)
{
	struct doca_ec_matrix *matrix;
	doca_error_t result;

	if (raid->num_lost == 0)
		return DOCA_SUCCESS;
	if (raid->num_lost > raid->num_rdnc) {
		fprintf(stderr, "%u blocks are lost, and %u can be recovered\n", raid->num_lost, raid->num_rdnc);
		return DOCA_ERROR_IO_FAILED;
	}
	result = app_check(doca_ec_matrix_create_recover(raid->ec, raid->coding, raid->lost, raid->num_lost, &matrix),
			   "create a matrix");
	if (result != DOCA_SUCCESS)
		return result;
	gather_left(raid);
	result = multiply(raid, matrix, disk(raid, 0), raid->num_data, raid->num_lost);
	for (uint32_t i = 0; result == DOCA_SUCCESS && i < raid->num_lost; i++) {
		memcpy(copy_of(raid, raid->lost[i]), scratch(raid) + i * raid->block_bytes, raid->block_bytes);
		if (sum_of(copy_of(raid, raid->lost[i]), raid->block_bytes) != raid->sums[raid->lost[i]])
			result = app_check(DOCA_ERROR_UNEXPECTED, "recover a block: its checksum is wrong");
	}
	doca_ec_matrix_destroy(matrix);
	if (result == DOCA_SUCCESS)
		printf("%u blocks were recovered\n", raid->num_lost);
	return result;
}

/* ---- life ---- */

static doca_error_t connect(struct raid *raid, struct doca_ctx *ctx)
{
	doca_error_t result = doca_pe_connect_ctx(raid->pe, ctx);

	return app_check(result == DOCA_SUCCESS ? doca_ctx_start(ctx) : result, "start a context");
}

static doca_error_t open_engines(struct raid *raid)
{
	doca_error_t result = doca_dma_create(raid->dev, &raid->dma);

	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(raid->dma, on_copied, on_copied, 1);
	if (result == DOCA_SUCCESS)
		result = doca_ec_create(raid->dev, &raid->ec);
	if (result == DOCA_SUCCESS)
		result = doca_ec_task_create_set_conf(raid->ec, on_created, on_created, 1);
	if (result == DOCA_SUCCESS)
		result = doca_ec_task_recover_set_conf(raid->ec, on_recovered, on_recovered, 1);
	if (app_check(result, "create the contexts") != DOCA_SUCCESS)
		return result;
	result = connect(raid, doca_dma_as_ctx(raid->dma));
	if (result == DOCA_SUCCESS)
		result = connect(raid, doca_ec_as_ctx(raid->ec));
	if (result == DOCA_SUCCESS)
		result = app_check(doca_ec_matrix_create(raid->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, raid->num_data,
							 raid->num_rdnc, &raid->coding),
				   "create a matrix");
	return result;
}

static doca_error_t open_raid(struct raid *raid, const struct config *config, size_t file_bytes)
{
	uint32_t num = config->data_blocks + config->rdnc_blocks;
	doca_error_t result;

	raid->num_data = config->data_blocks;
	raid->num_rdnc = config->rdnc_blocks;
	raid->block_bytes = (file_bytes / config->data_blocks / UNIT + 1) * UNIT;
	result = num <= MAX_BLOCKS ? device_open(config->pci_addr, &raid->dev) :
				     app_check(DOCA_ERROR_INVALID_VALUE, "have so many blocks");
	if (result == DOCA_SUCCESS)
		result = memory_of_zeros((2 * (size_t)num + config->rdnc_blocks) * raid->block_bytes, &raid->memory);
	if (result == DOCA_SUCCESS)
		result = device_map(raid->dev, raid->memory.addr, raid->memory.len_bytes,
				    DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &raid->mmap);
	if (result == DOCA_SUCCESS)
		result = app_check(doca_buf_inventory_create(2, &raid->inventory), "create an inventory");
	if (result == DOCA_SUCCESS)
		result = app_check(doca_buf_inventory_start(raid->inventory), "start it");
	if (result == DOCA_SUCCESS)
		result = app_check(doca_pe_create(&raid->pe), "create a progress engine");
	return result == DOCA_SUCCESS ? open_engines(raid) : result;
}

static void close_raid(struct raid *raid)
{
	if (raid->coding)
		doca_ec_matrix_destroy(raid->coding);
	if (raid->ec && doca_ctx_stop(doca_ec_as_ctx(raid->ec)) == DOCA_SUCCESS)
		doca_ec_destroy(raid->ec);
	if (raid->dma && doca_ctx_stop(doca_dma_as_ctx(raid->dma)) == DOCA_SUCCESS)
		doca_dma_destroy(raid->dma);
	if (raid->pe)
		doca_pe_destroy(raid->pe);
	if (raid->inventory)
		doca_buf_inventory_destroy(raid->inventory);
	if (raid->mmap)
		doca_mmap_destroy(raid->mmap);
	memory_release(&raid->memory);
	if (raid->dev)
		doca_dev_close(raid->dev);
}

static doca_error_t run(void *arg)
{
	const struct config *config = arg;
	struct memory file = { 0 };
	struct raid raid = { 0 };
	doca_error_t result = memory_of_file(config->input, MEMORY_PRIVATE, false, &file);

	if (result != DOCA_SUCCESS)
		return result;
	result = open_raid(&raid, config, file.len_bytes);
	if (result == DOCA_SUCCESS)
		result = write_all(&raid, &file);
	if (result == DOCA_SUCCESS)
		read_all(&raid);
	if (result == DOCA_SUCCESS)
		result = recover_all(&raid);
	if (result == DOCA_SUCCESS) {
		struct memory data = { .addr = copy_of(&raid, 0), .len_bytes = file.len_bytes };

		result = memory_to_file(&data, config->output);
	}
	close_raid(&raid);
	memory_release(&file);
	return result;
}

int main(int argc, char **argv)
{
	static const struct app app = { flags, sizeof(flags) / sizeof(flags[0]), run };
	struct config config = { .pci_addr = APP_PCI_ADDR, .data_blocks = 6, .rdnc_blocks = 3 };

	return app_main(&app, &config, argc, argv);
}
