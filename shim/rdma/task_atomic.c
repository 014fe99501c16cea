/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks with an atomic operation on memory of the peer. */
#include "rdma_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "sim/rdma/memory.h"

static int do_atomic(struct rdma_task *task, const struct sim_rdma_atomic *atomic)
{
	uint64_t before;
	int rc = sim_rdma_do_atomic(sim_session_atomics_lock(shim_session()), task->remote, task->remote_addr, atomic,
				    &before);

	return rc < 0 ? rc : sim_rdma_scatter(task->segments, task->num_segments, 0, &before, sizeof(before));
}

/* ---- atomic cmp swp ---- */

static struct rdma_task *atomic_cmp_swp_of(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_atomic_cmp_swp(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_CMP_SWP];

	((doca_rdma_task_atomic_cmp_swp_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(
		(struct doca_rdma_task_atomic_cmp_swp *)task, task->user_data, task->ctx->user_data);
}

static const struct doca_buf *get_local_of_atomic_cmp_swp(const struct rdma_task *task)
{
	return task->result;
}

static const struct doca_buf *get_remote_of_atomic_cmp_swp(const struct rdma_task *task)
{
	return task->dst;
}

static int access_cmp_swp(struct rdma_task *task)
{
	return do_atomic(
		task, &(struct sim_rdma_atomic){ .is_swap = true, .compare = task->compare, .operand = task->operand });
}

const struct rdma_task_type rdma_atomic_cmp_swp_type = {
	.task = RDMA_TASK_TYPE(RDMA_CMP_SWP, complete_atomic_cmp_swp),
	.index = RDMA_CMP_SWP,
	.work = { .op = PCIE_NET_ATOMIC, .execute = rdma_task_execute, .begin = rdma_task_begin },
	.peer_access = SIM_ACCESS_ATOMIC,
	.access = access_cmp_swp,
	.get_local = get_local_of_atomic_cmp_swp,
	.writes_local = true,
	.get_remote = get_remote_of_atomic_cmp_swp,
};

doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_CMP_SWP, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma,
							 struct doca_rdma_connection *rdma_connection,
							 struct doca_buf *dst_buf, struct doca_buf *result_buf,
							 uint64_t cmp_data, uint64_t swap_data,
							 union doca_data user_data,
							 struct doca_rdma_task_atomic_cmp_swp **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_CMP_SWP, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->dst = dst_buf;
	allocated->result = result_buf;
	allocated->compare = cmp_data;
	allocated->operand = swap_data;
	*task = (struct doca_rdma_task_atomic_cmp_swp *)allocated;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task)
{
	return rdma_task_is(atomic_cmp_swp_of(task), RDMA_CMP_SWP) ? &atomic_cmp_swp_of(task)->task : NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
						       struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, atomic_cmp_swp_of(task), RDMA_CMP_SWP, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_atomic_cmp_swp_get_rdma_connection(
	const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return rdma_task_was(atomic_cmp_swp_of(task), RDMA_CMP_SWP) ? atomic_cmp_swp_of(task)->connection : NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *dst_buf)
{
	if (rdma_task_may_change(__func__, atomic_cmp_swp_of(task), RDMA_CMP_SWP))
		atomic_cmp_swp_of(task)->dst = dst_buf;
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return rdma_task_was(atomic_cmp_swp_of(task), RDMA_CMP_SWP) ? atomic_cmp_swp_of(task)->dst : NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task,
						  struct doca_buf *result_buf)
{
	if (rdma_task_may_change(__func__, atomic_cmp_swp_of(task), RDMA_CMP_SWP))
		atomic_cmp_swp_of(task)->result = result_buf;
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return rdma_task_was(atomic_cmp_swp_of(task), RDMA_CMP_SWP) ? atomic_cmp_swp_of(task)->result : NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t cmp_data)
{
	if (rdma_task_may_change(__func__, atomic_cmp_swp_of(task), RDMA_CMP_SWP))
		atomic_cmp_swp_of(task)->compare = cmp_data;
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return rdma_task_was(atomic_cmp_swp_of(task), RDMA_CMP_SWP) ? atomic_cmp_swp_of(task)->compare : 0;
}

void doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t swap_data)
{
	if (rdma_task_may_change(__func__, atomic_cmp_swp_of(task), RDMA_CMP_SWP))
		atomic_cmp_swp_of(task)->operand = swap_data;
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return rdma_task_was(atomic_cmp_swp_of(task), RDMA_CMP_SWP) ? atomic_cmp_swp_of(task)->operand : 0;
}

/* ---- atomic fetch add ---- */

static struct rdma_task *atomic_fetch_add_of(const struct doca_rdma_task_atomic_fetch_add *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_atomic_fetch_add(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_FETCH_ADD];

	((doca_rdma_task_atomic_fetch_add_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(
		(struct doca_rdma_task_atomic_fetch_add *)task, task->user_data, task->ctx->user_data);
}

static const struct doca_buf *get_local_of_atomic_fetch_add(const struct rdma_task *task)
{
	return task->result;
}

static const struct doca_buf *get_remote_of_atomic_fetch_add(const struct rdma_task *task)
{
	return task->dst;
}

static int access_fetch_add(struct rdma_task *task)
{
	return do_atomic(task, &(struct sim_rdma_atomic){ .operand = task->operand });
}

const struct rdma_task_type rdma_atomic_fetch_add_type = {
	.task = RDMA_TASK_TYPE(RDMA_FETCH_ADD, complete_atomic_fetch_add),
	.index = RDMA_FETCH_ADD,
	.work = { .op = PCIE_NET_ATOMIC, .execute = rdma_task_execute, .begin = rdma_task_begin },
	.peer_access = SIM_ACCESS_ATOMIC,
	.access = access_fetch_add,
	.get_local = get_local_of_atomic_fetch_add,
	.writes_local = true,
	.get_remote = get_remote_of_atomic_fetch_add,
};

doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_atomic_fetch_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_fetch_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_FETCH_ADD, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma,
							   struct doca_rdma_connection *rdma_connection,
							   struct doca_buf *dst_buf, struct doca_buf *result_buf,
							   uint64_t add_data, union doca_data user_data,
							   struct doca_rdma_task_atomic_fetch_add **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_FETCH_ADD, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->dst = dst_buf;
	allocated->result = result_buf;
	allocated->operand = add_data;
	*task = (struct doca_rdma_task_atomic_fetch_add *)allocated;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_atomic_fetch_add_as_task(struct doca_rdma_task_atomic_fetch_add *task)
{
	return rdma_task_is(atomic_fetch_add_of(task), RDMA_FETCH_ADD) ? &atomic_fetch_add_of(task)->task : NULL;
}

void doca_rdma_task_atomic_fetch_add_set_rdma_connection(struct doca_rdma_task_atomic_fetch_add *task,
							 struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, atomic_fetch_add_of(task), RDMA_FETCH_ADD, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_atomic_fetch_add_get_rdma_connection(
	const struct doca_rdma_task_atomic_fetch_add *task)
{
	return rdma_task_was(atomic_fetch_add_of(task), RDMA_FETCH_ADD) ? atomic_fetch_add_of(task)->connection : NULL;
}

void doca_rdma_task_atomic_fetch_add_set_dst_buf(struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *dst_buf)
{
	if (rdma_task_may_change(__func__, atomic_fetch_add_of(task), RDMA_FETCH_ADD))
		atomic_fetch_add_of(task)->dst = dst_buf;
}

struct doca_buf *doca_rdma_task_atomic_fetch_add_get_dst_buf(const struct doca_rdma_task_atomic_fetch_add *task)
{
	return rdma_task_was(atomic_fetch_add_of(task), RDMA_FETCH_ADD) ? atomic_fetch_add_of(task)->dst : NULL;
}

void doca_rdma_task_atomic_fetch_add_set_result_buf(struct doca_rdma_task_atomic_fetch_add *task,
						    struct doca_buf *result_buf)
{
	if (rdma_task_may_change(__func__, atomic_fetch_add_of(task), RDMA_FETCH_ADD))
		atomic_fetch_add_of(task)->result = result_buf;
}

struct doca_buf *doca_rdma_task_atomic_fetch_add_get_result_buf(const struct doca_rdma_task_atomic_fetch_add *task)
{
	return rdma_task_was(atomic_fetch_add_of(task), RDMA_FETCH_ADD) ? atomic_fetch_add_of(task)->result : NULL;
}

void doca_rdma_task_atomic_fetch_add_set_add_data(struct doca_rdma_task_atomic_fetch_add *task, uint64_t add_data)
{
	if (rdma_task_may_change(__func__, atomic_fetch_add_of(task), RDMA_FETCH_ADD))
		atomic_fetch_add_of(task)->operand = add_data;
}

uint64_t doca_rdma_task_atomic_fetch_add_get_add_data(const struct doca_rdma_task_atomic_fetch_add *task)
{
	return rdma_task_was(atomic_fetch_add_of(task), RDMA_FETCH_ADD) ? atomic_fetch_add_of(task)->operand : 0;
}
