/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of compression. A bad checksum shows in what the task reports. */
#include <doca_compress.h>

#include "engine.h"

static struct doca_compress *compress;
static uint32_t crcs[ENGINE_TASKS + 1]; /* that the tasks reported */

/* A type of tasks: functions that differ in names and types alone. */
struct type {
	const char *op;
	const char *src; /* of each task */
	size_t src_len;
	size_t dst_len;
	doca_error_t (*set_conf)(void);
	struct doca_task *(*make)(const struct doca_buf *src, struct doca_buf *dst, union doca_data number);
};

#define ALLOC_PLAIN(name, ...)  doca_compress_task_##name##_alloc_init(compress, __VA_ARGS__)
#define ALLOC_STREAM(name, ...) doca_compress_task_##name##_alloc_init(compress, 0, 1, __VA_ARGS__)

#define DEFINE_TYPE(name, alloc)                                                                                       \
	static void on_##name(struct doca_compress_task_##name *task, union doca_data number, union doca_data data)    \
	{                                                                                                              \
		crcs[number.u64] = doca_compress_task_##name##_get_crc_cs(task);                                       \
		tasks_note(doca_compress_task_##name##_as_task(task), "task", number);                                 \
	}                                                                                                              \
                                                                                                                       \
	static doca_error_t set_conf_##name(void)                                                                      \
	{                                                                                                              \
		return doca_compress_task_##name##_set_conf(compress, on_##name, on_##name, ENGINE_TASKS);             \
	}                                                                                                              \
                                                                                                                       \
	static struct doca_task *make_##name(const struct doca_buf *src, struct doca_buf *dst, union doca_data number) \
	{                                                                                                              \
		struct doca_compress_task_##name *task;                                                                \
                                                                                                                       \
		MUST(alloc(name, src, dst, number, &task));                                                            \
		return doca_compress_task_##name##_as_task(task);                                                      \
	}

DEFINE_TYPE(compress_deflate, ALLOC_PLAIN)
DEFINE_TYPE(decompress_deflate, ALLOC_PLAIN)
DEFINE_TYPE(decompress_lz4_block, ALLOC_PLAIN)
DEFINE_TYPE(decompress_lz4_stream, ALLOC_STREAM)

#define TYPE(name, src, dst_len)                                                               \
	{                                                                                      \
		"compress." #name, src, sizeof(src) - 1, dst_len, set_conf_##name, make_##name \
	}

/* "hello", stored in one block of each format; and its CRC-32. Compressed: a block of fixed codes. */
static const struct type types[] = {
	TYPE(compress_deflate, "hello", 7),
	TYPE(decompress_deflate, "\x01\x05\x00\xfa\xffhello", 5),
	TYPE(decompress_lz4_block, "\x50hello", 5),
	TYPE(decompress_lz4_stream, "\x05\x00\x00\x80hello", 5),
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

static struct doca_ctx *open_compress(struct doca_dev *dev)
{
	memset(crcs, 0, sizeof(crcs));
	MUST(doca_compress_create(dev, &compress));
	MUST(type_of_cell()->set_conf());
	return doca_compress_as_ctx(compress);
}

static void close_compress(void)
{
	MUST(doca_compress_destroy(compress));
}

static size_t put_text(uint8_t *src, int number)
{
	memcpy(src, type_of_cell()->src, type_of_cell()->src_len);
	return type_of_cell()->src_len;
}

static struct doca_task *make(const struct doca_buf *src, struct doca_buf *dst, union doca_data number)
{
	return type_of_cell()->make(src, dst, number);
}

static size_t len(void)
{
	return type_of_cell()->dst_len;
}

static void check_crc(const uint8_t *output, int number)
{
	if (engine_task_succeeds(number))
		CHECK((crcs[number] == CRC) == !(number == 2 && cell_is("bad_checksum")));
	else if (number == 2 && cell_is("fail"))
		CHECK(crcs[number] == 0);
}

const struct engine engine = {
	.room = 64,
	.moved = 4,
	.open = open_compress,
	.fill = put_text,
	.make = make,
	.len = len,
	.check = check_crc,
	.close = close_compress,
};

#define CELLS(op)              \
	ENGINE_CELLS(op, "4"), \
		ENGINE_CELL(op, "bad_checksum", "nth=2 bad_checksum", ENGINE_ALL, ENGINE_STOPS ENGINE_IDLE)

static const struct cell cells[] = { CELLS("compress.compress_deflate"), CELLS("compress.decompress_deflate"),
				     CELLS("compress.decompress_lz4_stream"), CELLS("compress.decompress_lz4_block") };

int main(void)
{
	return cell_run("compress", cells, sizeof(cells) / sizeof(cells[0]));
}
