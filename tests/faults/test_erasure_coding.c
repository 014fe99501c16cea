/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of erasure coding.
 *
 * Three equal tasks are submitted, and a fault hits the second one, or the third, if its end never comes. A failed task
 * leaves the part of its output that the rule says, and adds no data. A flip shows in the output. */
#include <bfsim.h>
#include <doca_erasure_coding.h>

#include "cell.h"
#include "tasks.h"
#include "tests/api/comch_fast.h"
#include "doca_check.h"

#define BLOCK 64
#define ROOM  (4 * BLOCK) /* of a source, and of a destination */
#define MOVED 80          /* bytes that a failed task has written: of two blocks */
#define NUM   3

/* A type of tasks, by its operation in rules. */
struct type {
	const char *op;
	size_t src_blocks, dst_blocks;
	doca_error_t (*set_conf)(struct doca_ec *ec);
	struct doca_ec_matrix *(*make_matrix)(struct doca_ec *ec);
	struct doca_task *(*make)(struct doca_ec *ec, const struct doca_ec_matrix *matrix, const struct doca_buf *src,
				  struct doca_buf *dst, int number);
};

static struct doca_ec_matrix *make_coding(struct doca_ec *ec)
{
	struct doca_ec_matrix *matrix;

	MUST(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2, &matrix));
	return matrix;
}

static struct doca_ec_matrix *make_recover_matrix(struct doca_ec *ec)
{
	struct doca_ec_matrix *coding = make_coding(ec), *matrix;
	uint32_t missing[] = { 0, 1 };

	MUST(doca_ec_matrix_create_recover(ec, coding, missing, 2, &matrix));
	MUST(doca_ec_matrix_destroy(coding));
	return matrix;
}

static struct doca_ec_matrix *make_update_matrix(struct doca_ec *ec)
{
	struct doca_ec_matrix *coding = make_coding(ec), *matrix;
	uint32_t changed = 1;

	MUST(doca_ec_matrix_create_update(ec, coding, &changed, 1, &matrix));
	MUST(doca_ec_matrix_destroy(coding));
	return matrix;
}

#define DEFINE_TYPE(name)                                                                                     \
	static void on_##name(struct doca_ec_task_##name *task, union doca_data number, union doca_data data) \
	{                                                                                                     \
		tasks_note(doca_ec_task_##name##_as_task(task), "task", number);                              \
	}                                                                                                     \
                                                                                                              \
	static doca_error_t set_conf_##name(struct doca_ec *ec)                                               \
	{                                                                                                     \
		return doca_ec_task_##name##_set_conf(ec, on_##name, on_##name, NUM);                         \
	}                                                                                                     \
                                                                                                              \
	static struct doca_task *make_##name(struct doca_ec *ec, const struct doca_ec_matrix *matrix,         \
					     const struct doca_buf *src, struct doca_buf *dst, int number)    \
	{                                                                                                     \
		const union doca_data user_data = { .u64 = (uint64_t)number };                                \
		struct doca_ec_task_##name *task;                                                             \
                                                                                                              \
		MUST(doca_ec_task_##name##_allocate_init(ec, matrix, src, dst, user_data, &task));            \
		return doca_ec_task_##name##_as_task(task);                                                   \
	}

DEFINE_TYPE(galois_mul)
DEFINE_TYPE(create)
DEFINE_TYPE(update)
DEFINE_TYPE(recover)

#define TYPE(name, src_blocks, matrix)                                                       \
	{                                                                                    \
		"erasure_coding." #name, src_blocks, 2, set_conf_##name, matrix, make_##name \
	}

static const struct type types[] = {
	TYPE(galois_mul, 2, make_coding),
	TYPE(create, 2, make_coding),
	TYPE(update, 4, make_update_matrix),
	TYPE(recover, 2, make_recover_matrix),
};

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
	} else if (has_succeeded(number)) {
		CHECK(wrong == (number == 2 && cell_is("flip") ? 1 : 0));
	} else if (!cell_is("hang")) {
		CHECK(memcmp(output, nothing, ROOM) == 0);
	}
}

static void fill(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
}

static void ec_dpu(struct side *side)
{
	const struct type *type = type_of_cell();
	struct arena *arena = arena_open(side->dev);
	struct doca_buf *src[NUM + 1], *dst[NUM + 1];
	uint64_t begin_ns = bfsim_now_ns();
	struct doca_ec_matrix *matrix;
	struct comch_actor *actor;
	struct doca_ec *ec;

	MUST(doca_ec_create(side->dev, &ec));
	MUST(type->set_conf(ec));
	actor = comch_actor(side, "ec", doca_ec_as_ctx(ec));
	MUST(doca_ctx_start(actor->ctx));
	matrix = type->make_matrix(ec);
	comch_forget(side);
	cell_arm();
	for (int i = 1; i <= NUM; i++) {
		src[i] = arena_empty(arena, (size_t)i * ROOM, ROOM);
		dst[i] = arena_empty(arena, (size_t)(NUM + i) * ROOM, ROOM);
		fill(arena->bytes + i * ROOM, type->src_blocks * BLOCK);
		MUST(doca_buf_set_data(src[i], arena->bytes + i * ROOM, type->src_blocks * BLOCK));
		tasks_submit(type->make(ec, matrix, src[i], dst[i], i), i);
	}
	tasks_expect_all(side, begin_ns);
	if (!cell_is("fail"))
		tasks_stop(actor, cell->on_host);
	CHECK(data_len(dst[1]) == type->dst_blocks * BLOCK);
	for (int i = 1; i <= NUM; i++)
		expect_output(arena->bytes + (NUM + i) * ROOM, arena->bytes + (NUM + 1) * ROOM, data_len(dst[1]),
			      dst[i], i);
	MUST(doca_ec_matrix_destroy(matrix));
	MUST(doca_ec_destroy(ec));
	free(actor);
	for (int i = 1; i <= NUM; i++) {
		MUST(doca_buf_dec_refcount(src[i], NULL));
		MUST(doca_buf_dec_refcount(dst[i], NULL));
	}
	arena_close(arena);
}

#define STOPS     "ec: running -> stopping\n"
#define IDLE      "ec: stopping -> idle\n"
#define IO_FAILED " failed: DOCA_ERROR_IO_FAILED\n"
#define ALL       "task 1\ntask 2\ntask 3\n"

#define CELL(op, act, rest, on_dpu, on_host)                          \
	{                                                             \
		op, act, rest, ec_dpu, comch_nothing, on_dpu, on_host \
	}

/* The host's field of the cell holds the trace of stopping the context. */
#define CELLS(op)                                                                                         \
	CELL(op, "refuse", "nth=2 refuse", "task 1\ntask 3\n", STOPS IDLE),                               \
		CELL(op, "fail", "nth=2 fail=TIME_OUT moved=80",                                          \
		     "task 1\n" STOPS "task 2 failed: DOCA_ERROR_TIME_OUT\ntask 3" IO_FAILED IDLE, NULL), \
		CELL(op, "hang", "nth=3 hang", "task 1\ntask 2\n", STOPS "task 3" IO_FAILED IDLE),        \
		CELL(op, "delay", "nth=2 delay=500ms", ALL, STOPS IDLE),                                  \
		CELL(op, "flip", "nth=2 flip=1", ALL, STOPS IDLE)

static const struct cell cells[] = { CELLS("erasure_coding.galois_mul"), CELLS("erasure_coding.create"),
				     CELLS("erasure_coding.update"), CELLS("erasure_coding.recover") };

int main(void)
{
	return cell_run("erasure coding", cells, sizeof(cells) / sizeof(cells[0]));
}
