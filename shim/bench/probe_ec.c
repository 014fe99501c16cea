/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure coding: two redundancy blocks of the halves of the data, and both halves of the redundancy blocks. */
#include <doca_erasure_coding.h>

#include "probe_engine.h"

#define NUM_DATA 2
#define NUM_RDNC 2

PROBE_CALLBACKS(ec_task_create)
PROBE_CALLBACKS(ec_task_recover)

static struct doca_ec_matrix *create_instance(struct probe_worker *worker, struct doca_ec **ret_ec)
{
	struct doca_ec_matrix *matrix;

	probe_must(doca_ec_create(worker->run->dev, ret_ec), "create a context");
	probe_must(doca_ec_matrix_create(*ret_ec, DOCA_EC_MATRIX_TYPE_CAUCHY, NUM_DATA, NUM_RDNC, &matrix),
		   "create a matrix");
	worker->instance = *ret_ec;
	return matrix;
}

static void destroy(struct probe_worker *worker)
{
	probe_must(doca_ec_matrix_destroy(worker->with), "destroy the matrix");
	probe_must(doca_ec_destroy(worker->instance), "destroy the context");
}

static struct doca_ctx *create_for_create(struct probe_worker *worker)
{
	struct doca_ec *ec;

	worker->with = create_instance(worker, &ec);
	probe_must(doca_ec_task_create_set_conf(ec, on_ec_task_create, on_ec_task_create_failed, worker->run->depth),
		   "configure it");
	return doca_ec_as_ctx(ec);
}

static struct doca_task *alloc_create(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to,
				      union doca_data task_data)
{
	struct doca_ec_task_create *task;

	probe_must(doca_ec_task_create_allocate_init(worker->instance, worker->with, from, to, task_data, &task),
		   "make a task");
	return doca_ec_task_create_as_task(task);
}

static struct doca_ctx *create_for_recover(struct probe_worker *worker)
{
	uint32_t lost[NUM_DATA] = { 0, 1 };
	struct doca_ec_matrix *coding, *recover;
	struct doca_ec *ec;

	coding = create_instance(worker, &ec);
	probe_must(doca_ec_matrix_create_recover(ec, coding, lost, NUM_DATA, &recover), "create a matrix");
	probe_must(doca_ec_matrix_destroy(coding), "destroy the matrix");
	worker->with = recover;
	probe_must(doca_ec_task_recover_set_conf(ec, on_ec_task_recover, on_ec_task_recover_failed, worker->run->depth),
		   "configure it");
	return doca_ec_as_ctx(ec);
}

static struct doca_task *alloc_recover(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to,
				       union doca_data task_data)
{
	struct doca_ec_task_recover *task;

	probe_must(doca_ec_task_recover_allocate_init(worker->instance, worker->with, from, to, task_data, &task),
		   "make a task");
	return doca_ec_task_recover_as_task(task);
}

const struct probe_engine probe_ec_create = {
	.name = "ec-create",
	.kind = { create_for_create, alloc_create, destroy },
	.is_supported = doca_ec_cap_task_create_is_supported,
};

const struct probe_engine probe_ec_recover = {
	.name = "ec-recover",
	.kind = { create_for_recover, alloc_recover, destroy },
	.is_supported = doca_ec_cap_task_recover_is_supported,
	.reverse = &probe_ec_create,
};
