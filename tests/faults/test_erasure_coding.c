/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of erasure coding. */
#include <doca_erasure_coding.h>

#include "engine.h"

#define BLOCK 64

static struct doca_ec *ec;
static struct doca_ec_matrix *matrix;

/* A type of tasks, by its operation in rules. Each makes two blocks. */
struct type {
	const char *op;
	size_t src_blocks;
	doca_error_t (*set_conf)(void);
	struct doca_ec_matrix *(*make_matrix)(void);
	struct doca_task *(*make)(const struct doca_buf *src, struct doca_buf *dst, union doca_data number);
};

static struct doca_ec_matrix *make_coding(void)
{
	struct doca_ec_matrix *made;

	MUST(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2, &made));
	return made;
}

static struct doca_ec_matrix *make_recover_matrix(void)
{
	struct doca_ec_matrix *coding = make_coding(), *made;
	uint32_t missing[] = { 0, 1 };

	MUST(doca_ec_matrix_create_recover(ec, coding, missing, 2, &made));
	MUST(doca_ec_matrix_destroy(coding));
	return made;
}

static struct doca_ec_matrix *make_update_matrix(void)
{
	struct doca_ec_matrix *coding = make_coding(), *made;
	uint32_t changed = 1;

	MUST(doca_ec_matrix_create_update(ec, coding, &changed, 1, &made));
	MUST(doca_ec_matrix_destroy(coding));
	return made;
}

#define DEFINE_TYPE(name)                                                                                              \
	static void on_##name(struct doca_ec_task_##name *task, union doca_data number, union doca_data data)          \
	{                                                                                                              \
		tasks_note(doca_ec_task_##name##_as_task(task), "task", number);                                       \
	}                                                                                                              \
                                                                                                                       \
	static doca_error_t set_conf_##name(void)                                                                      \
	{                                                                                                              \
		return doca_ec_task_##name##_set_conf(ec, on_##name, on_##name, ENGINE_TASKS);                         \
	}                                                                                                              \
                                                                                                                       \
	static struct doca_task *make_##name(const struct doca_buf *src, struct doca_buf *dst, union doca_data number) \
	{                                                                                                              \
		struct doca_ec_task_##name *task;                                                                      \
                                                                                                                       \
		MUST(doca_ec_task_##name##_allocate_init(ec, matrix, src, dst, number, &task));                        \
		return doca_ec_task_##name##_as_task(task);                                                            \
	}

DEFINE_TYPE(galois_mul)
DEFINE_TYPE(create)
DEFINE_TYPE(update)
DEFINE_TYPE(recover)

#define TYPE(name, src_blocks, matrix)                                                    \
	{                                                                                 \
		"erasure_coding." #name, src_blocks, set_conf_##name, matrix, make_##name \
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

static struct doca_ctx *open_ec(struct doca_dev *dev)
{
	MUST(doca_ec_create(dev, &ec));
	MUST(type_of_cell()->set_conf());
	return doca_ec_as_ctx(ec);
}

static void make_matrix(void)
{
	matrix = type_of_cell()->make_matrix();
}

static void close_ec(void)
{
	MUST(doca_ec_matrix_destroy(matrix));
	MUST(doca_ec_destroy(ec));
}

static size_t put_blocks(uint8_t *src, int number)
{
	size_t len = type_of_cell()->src_blocks * BLOCK;

	for (size_t i = 0; i < len; i++)
		src[i] = (uint8_t)(i * 7 + 1);
	return len;
}

static struct doca_task *make(const struct doca_buf *src, struct doca_buf *dst, union doca_data number)
{
	return type_of_cell()->make(src, dst, number);
}

static size_t two_blocks(void)
{
	return 2 * BLOCK;
}

const struct engine engine = {
	.room = 4 * BLOCK,
	.moved = 80,
	.open = open_ec,
	.prepare = make_matrix,
	.fill = put_blocks,
	.make = make,
	.len = two_blocks,
	.close = close_ec,
};

static const struct cell cells[] = { ENGINE_CELLS("erasure_coding.galois_mul", "80"),
				     ENGINE_CELLS("erasure_coding.create", "80"),
				     ENGINE_CELLS("erasure_coding.update", "80"),
				     ENGINE_CELLS("erasure_coding.recover", "80") };

int main(void)
{
	return cell_run("erasure coding", cells, sizeof(cells) / sizeof(cells[0]));
}
