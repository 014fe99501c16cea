/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of compression.
 *
 * Three tasks are submitted, and a fault hits the second one, or the third, if its end never comes. A failed task
 * leaves the part of its output that the rule says, and adds no data. A flip shows in the output, a bad checksum in what the
 * task reports. */
#include <bfsim.h>
#include <doca_compress.h>

#include "cell.h"
#include "tasks.h"
#include "tests/api/comch_fast.h"
#include "doca_check.h"

#define ROOM  64
#define NUM   3
#define MOVED 4 /* bytes: "moved" of the cells */

/* A type of tasks: functions that differ in names and types alone. */
struct type {
	const char *op;
	const char *src; /* of each task */
	size_t src_len;
	doca_error_t (*set_conf)(struct doca_compress *compress);
	struct doca_task *(*make)(struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst,
				  int number);
};

static uint32_t crcs[NUM + 1]; /* that the tasks reported */

#define ALLOC_PLAIN(name, ...)  doca_compress_task_##name##_alloc_init(compress, __VA_ARGS__)
#define ALLOC_STREAM(name, ...) doca_compress_task_##name##_alloc_init(compress, 0, 1, __VA_ARGS__)

#define DEFINE_TYPE(name, alloc)                                                                                    \
	static void on_##name(struct doca_compress_task_##name *task, union doca_data number, union doca_data data) \
	{                                                                                                           \
		crcs[number.u64] = doca_compress_task_##name##_get_crc_cs(task);                                    \
		tasks_note(doca_compress_task_##name##_as_task(task), "task", number);                              \
	}                                                                                                           \
                                                                                                                    \
	static doca_error_t set_conf_##name(struct doca_compress *compress)                                         \
	{                                                                                                           \
		return doca_compress_task_##name##_set_conf(compress, on_##name, on_##name, NUM);                   \
	}                                                                                                           \
                                                                                                                    \
	static struct doca_task *make_##name(struct doca_compress *compress, const struct doca_buf *src,            \
					     struct doca_buf *dst, int number)                                      \
	{                                                                                                           \
		struct doca_compress_task_##name *task;                                                             \
                                                                                                                    \
		MUST(alloc(name, src, dst, (union doca_data){ .u64 = (uint64_t)number }, &task));                   \
		return doca_compress_task_##name##_as_task(task);                                                   \
	}

DEFINE_TYPE(compress_deflate, ALLOC_PLAIN)
DEFINE_TYPE(decompress_deflate, ALLOC_PLAIN)
DEFINE_TYPE(decompress_lz4_block, ALLOC_PLAIN)
DEFINE_TYPE(decompress_lz4_stream, ALLOC_STREAM)

#define TYPE(name, src)                                                               \
	{                                                                             \
		"compress." #name, src, sizeof(src) - 1, set_conf_##name, make_##name \
	}

/* "hello", stored in one block of each format; and its CRC-32. */
static const struct type types[] = {
	TYPE(compress_deflate, "hello"),
	TYPE(decompress_deflate, "\x01\x05\x00\xfa\xffhello"),
	TYPE(decompress_lz4_block, "\x50hello"),
	TYPE(decompress_lz4_stream, "\x05\x00\x00\x80hello"),
};

#define CRC 0x3610a686u

static const struct type *type_of_cell(void)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].op, cell->op) == 0)
			return &types[i];
	check_fail(__FILE__, __LINE__, cell->op, "no type", "a type");
	return NULL;
}

static bool has_succeeded(int number)
{
	if (cell_is("fail"))
		return number < 2;
	return !(cell_is("refuse") && number == 2) && !(cell_is("hang") && number == 3);
}

static size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	MUST(doca_buf_get_data_len(buf, &len));
	return len;
}

/* Compare with the output of the first task, which no cell hits. */
static void expect_output(const uint8_t *output, const uint8_t *first, size_t len, const struct doca_buf *dst,
			  int number)
{
	static const uint8_t nothing[ROOM];
	unsigned int wrong = 0;

	for (size_t i = 0; i < len; i++)
		wrong += (unsigned int)__builtin_popcount(output[i] ^ first[i]);
	CHECK(data_len(dst) == (has_succeeded(number) ? len : 0));
	if (number == 2 && cell_is("fail")) {
		CHECK(memcmp(output, first, MOVED) == 0);
		CHECK(memcmp(output + MOVED, nothing, ROOM - MOVED) == 0);
		CHECK(crcs[number] == 0);
	} else if (has_succeeded(number)) {
		CHECK(wrong == (number == 2 && cell_is("flip") ? 1 : 0));
		CHECK((crcs[number] == CRC) == !(number == 2 && cell_is("bad_checksum")));
	} else if (!cell_is("hang")) {
		CHECK(memcmp(output, nothing, ROOM) == 0);
	}
}

static void compress_dpu(struct side *side)
{
	const struct type *type = type_of_cell();
	struct arena *arena = arena_open(side->dev);
	struct doca_buf *src[NUM + 1], *dst[NUM + 1];
	uint64_t begin_ns = bfsim_now_ns();
	struct doca_compress *compress;
	struct comch_actor *actor;

	MUST(doca_compress_create(side->dev, &compress));
	MUST(type->set_conf(compress));
	actor = comch_actor(side, "compress", doca_compress_as_ctx(compress));
	MUST(doca_ctx_start(actor->ctx));
	comch_forget(side);
	memset(crcs, 0, sizeof(crcs));
	cell_arm();
	for (int i = 1; i <= NUM; i++) {
		src[i] = arena_empty(arena, (size_t)i * ROOM, ROOM);
		dst[i] = arena_empty(arena, (size_t)(NUM + i) * ROOM, ROOM);
		memcpy(arena->bytes + i * ROOM, type->src, type->src_len);
		MUST(doca_buf_set_data(src[i], arena->bytes + i * ROOM, type->src_len));
		tasks_submit(type->make(compress, src[i], dst[i], i), i);
	}
	tasks_expect_all(side, begin_ns);
	if (!cell_is("fail"))
		tasks_stop(actor, cell->on_host);
	for (int i = 1; i <= NUM; i++)
		expect_output(arena->bytes + (NUM + i) * ROOM, arena->bytes + (NUM + 1) * ROOM, data_len(dst[1]),
			      dst[i], i);
	MUST(doca_compress_destroy(compress));
	free(actor);
	for (int i = 1; i <= NUM; i++) {
		MUST(doca_buf_dec_refcount(src[i], NULL));
		MUST(doca_buf_dec_refcount(dst[i], NULL));
	}
	arena_close(arena);
}

#define STOPS     "compress: running -> stopping\n"
#define IDLE      "compress: stopping -> idle\n"
#define IO_FAILED " failed: DOCA_ERROR_IO_FAILED\n"
#define ALL       "task 1\ntask 2\ntask 3\n"

#define CELL(op, act, rest, on_dpu, on_host)                                \
	{                                                                   \
		op, act, rest, compress_dpu, comch_nothing, on_dpu, on_host \
	}

/* The host's field of the cell holds the trace of stopping the context. */
#define CELLS(op)                                                                                         \
	CELL(op, "refuse", "nth=2 refuse", "task 1\ntask 3\n", STOPS IDLE),                               \
		CELL(op, "fail", "nth=2 fail=TIME_OUT moved=4",                                           \
		     "task 1\n" STOPS "task 2 failed: DOCA_ERROR_TIME_OUT\ntask 3" IO_FAILED IDLE, NULL), \
		CELL(op, "hang", "nth=3 hang", "task 1\ntask 2\n", STOPS "task 3" IO_FAILED IDLE),        \
		CELL(op, "delay", "nth=2 delay=500ms", ALL, STOPS IDLE),                                  \
		CELL(op, "flip", "nth=2 flip=1", ALL, STOPS IDLE),                                        \
		CELL(op, "bad_checksum", "nth=2 bad_checksum", ALL, STOPS IDLE)

static const struct cell cells[] = { CELLS("compress.compress_deflate"), CELLS("compress.decompress_deflate"),
				     CELLS("compress.decompress_lz4_stream"), CELLS("compress.decompress_lz4_block") };

int main(void)
{
	return cell_run("compress", cells, sizeof(cells) / sizeof(cells[0]));
}
