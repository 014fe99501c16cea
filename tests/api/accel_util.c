/* SPDX-License-Identifier: BSD-3-Clause */
/* A rig for tasks with a source and a destination. */
#include "accel_util.h"

#include <stdlib.h>
#include <string.h>

#include "doca_check.h"

#define ARENA_BYTES (2 * ACCEL_HALF_BYTES)

struct accel *accel_open(void)
{
	struct accel *accel = calloc(1, sizeof(*accel));
	struct doca_devinfo **list;
	uint32_t count;

	CHECK(accel != NULL);
	accel->arena = malloc(ARENA_BYTES);
	CHECK(accel->arena != NULL);
	MUST(doca_devinfo_create_list(&list, &count));
	CHECK(count > 0);
	MUST(doca_dev_open(list[0], &accel->dev));
	MUST(doca_devinfo_destroy_list(list));
	MUST(doca_mmap_create(&accel->mmap));
	MUST(doca_mmap_add_dev(accel->mmap, accel->dev));
	MUST(doca_mmap_set_memrange(accel->mmap, accel->arena, ARENA_BYTES));
	MUST(doca_mmap_set_permissions(accel->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(accel->mmap));
	MUST(doca_buf_inventory_create(sizeof(accel->bufs) / sizeof(accel->bufs[0]), &accel->inventory));
	MUST(doca_buf_inventory_start(accel->inventory));
	MUST(doca_pe_create(&accel->pe));
	accel->seed = 1;
	accel_reset(accel);
	return accel;
}

void accel_close(struct accel *accel)
{
	accel_reset(accel);
	MUST(doca_pe_destroy(accel->pe));
	MUST(doca_buf_inventory_destroy(accel->inventory));
	MUST(doca_mmap_destroy(accel->mmap));
	MUST(doca_dev_close(accel->dev));
	free(accel->arena);
	free(accel);
}

void accel_start(struct accel *accel, struct doca_ctx *ctx)
{
	accel->ctx = ctx;
	MUST(doca_pe_connect_ctx(accel->pe, ctx));
	MUST(doca_ctx_start(ctx));
}

void accel_stop(struct accel *accel)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	doca_ctx_stop(accel->ctx);
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(accel->pe);
		MUST(doca_ctx_get_state(accel->ctx, &state));
	}
}

/* Lists end with their heads. */
void accel_reset(struct accel *accel)
{
	for (size_t i = 0; i < accel->num_bufs; i++) {
		uint8_t is_head;

		MUST(doca_buf_is_first_in_list(accel->bufs[i], &is_head));
		if (!is_head)
			accel->bufs[i] = NULL;
	}
	for (size_t i = 0; i < accel->num_bufs; i++)
		if (accel->bufs[i])
			MUST(doca_buf_dec_refcount(accel->bufs[i], NULL));
	accel->num_bufs = 0;
	accel->src_used = accel->dst_used = 0;
	memset(accel->arena + ACCEL_HALF_BYTES, ACCEL_FILL, ACCEL_HALF_BYTES);
}

uint32_t accel_random(struct accel *accel, uint32_t below)
{
	accel->seed = accel->seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)accel->seed * below) >> 32);
}

static struct doca_buf *take(struct accel *accel, uint8_t *addr, size_t len, size_t data_len)
{
	struct doca_buf *buf;

	CHECK(accel->num_bufs < sizeof(accel->bufs) / sizeof(accel->bufs[0]));
	MUST(doca_buf_inventory_buf_get_by_args(accel->inventory, accel->mmap, addr, len, addr, data_len, &buf));
	accel->bufs[accel->num_bufs++] = buf;
	return buf;
}

static struct doca_buf *chain(struct doca_buf *list, struct doca_buf *buf)
{
	if (list)
		MUST(doca_buf_chain_list(list, buf));
	return list ? list : buf;
}

struct doca_buf *accel_src(struct accel *accel, const void *data, size_t len)
{
	uint8_t *at = accel->arena + accel->src_used;

	CHECK(accel->src_used + len < ACCEL_HALF_BYTES);
	memcpy(at, data, len);
	accel->src_used += len + 1;
	return take(accel, at, len, len);
}

struct doca_buf *accel_dst(struct accel *accel, size_t len)
{
	uint8_t *at = accel->arena + ACCEL_HALF_BYTES + accel->dst_used;

	CHECK(accel->dst_used + len < ACCEL_HALF_BYTES);
	accel->dst_used += len + 1;
	return take(accel, at, len, 0);
}

/* The size of a piece of @len bytes, of which there are @pieces; some are empty. */
static size_t piece_of(struct accel *accel, size_t len, uint32_t pieces)
{
	return pieces == 1 ?
		       len :
		       accel_random(accel, (uint32_t)(len + 1 < 2 * len / pieces + 2 ? len + 1 : 2 * len / pieces + 2));
}

struct doca_buf *accel_src_list(struct accel *accel, const void *data, size_t len, uint32_t pieces)
{
	struct doca_buf *list = NULL;
	const uint8_t *from = data;

	for (; pieces > 0; pieces--) {
		size_t part = piece_of(accel, len, pieces);

		list = chain(list, accel_src(accel, from, part));
		from += part;
		len -= part;
	}
	return list;
}

struct doca_buf *accel_dst_list(struct accel *accel, size_t len, uint32_t pieces)
{
	struct doca_buf *list = NULL;

	for (; pieces > 0; pieces--) {
		size_t part = piece_of(accel, len, pieces);

		list = chain(list, accel_dst(accel, part));
		len -= part;
	}
	return list;
}

size_t accel_data(const struct doca_buf *list, uint8_t *to, size_t max)
{
	struct doca_buf *buf = (struct doca_buf *)(uintptr_t)list;
	size_t sum = 0;

	while (buf) {
		void *data;
		size_t len;

		MUST(doca_buf_get_data(buf, &data));
		MUST(doca_buf_get_data_len(buf, &len));
		CHECK(sum + len <= max);
		memcpy(to + sum, data, len);
		sum += len;
		MUST(doca_buf_get_next_in_list(buf, &buf));
	}
	return sum;
}

/* Whether the byte at @addr is data of a buffer. */
static bool is_data(const struct accel *accel, const uint8_t *addr)
{
	for (size_t i = 0; i < accel->num_bufs; i++) {
		void *data;
		size_t len;

		MUST(doca_buf_get_data(accel->bufs[i], &data));
		MUST(doca_buf_get_data_len(accel->bufs[i], &len));
		if (addr >= (uint8_t *)data && addr < (uint8_t *)data + len)
			return true;
	}
	return false;
}

bool accel_rest_is_untouched(const struct accel *accel)
{
	const uint8_t *half = accel->arena + ACCEL_HALF_BYTES;
	uint8_t fill[4096];

	memset(fill, ACCEL_FILL, sizeof(fill));
	for (size_t page = 0; page < ACCEL_HALF_BYTES; page += sizeof(fill)) {
		if (memcmp(half + page, fill, sizeof(fill)) == 0)
			continue;
		for (size_t i = page; i < page + sizeof(fill); i++)
			if (half[i] != ACCEL_FILL && !is_data(accel, half + i))
				return false;
	}
	return true;
}

void accel_drain(struct accel *accel)
{
	size_t in_flight = 1;

	while (in_flight > 0) {
		doca_pe_progress(accel->pe);
		MUST(doca_pe_get_num_inflight_tasks(accel->pe, &in_flight));
	}
}

doca_error_t accel_run(struct accel *accel, struct doca_task *task)
{
	doca_error_t result = doca_task_submit(task);

	if (result != DOCA_SUCCESS)
		return result;
	accel_drain(accel);
	return doca_task_get_status(task);
}
