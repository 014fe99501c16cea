/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks with an atomic operation on memory of the peer. */
#include "task_members.h"
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

RDMA_DEFINE_COMPLETE(complete_atomic_cmp_swp, RDMA_CMP_SWP, doca_rdma_task_atomic_cmp_swp_completion_cb_t,
		     doca_rdma_task_atomic_cmp_swp)

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

RDMA_DEFINE_SET_CONF(doca_rdma_task_atomic_cmp_swp_set_conf, RDMA_CMP_SWP,
		     doca_rdma_task_atomic_cmp_swp_completion_cb_t)

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

RDMA_DEFINE_AS_TASK(doca_rdma_task_atomic_cmp_swp_as_task, doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_atomic_cmp_swp_set_rdma_connection, doca_rdma_task_atomic_cmp_swp,
			   RDMA_CMP_SWP)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_atomic_cmp_swp_get_rdma_connection,
		   doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_atomic_cmp_swp_set_dst_buf, doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP,
		   struct doca_buf *, dst_buf, dst)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_atomic_cmp_swp_get_dst_buf, doca_rdma_task_atomic_cmp_swp,
		   RDMA_CMP_SWP, dst)
RDMA_DEFINE_SETTER(doca_rdma_task_atomic_cmp_swp_set_result_buf, doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP,
		   struct doca_buf *, result_buf, result)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_atomic_cmp_swp_get_result_buf, doca_rdma_task_atomic_cmp_swp,
		   RDMA_CMP_SWP, result)
RDMA_DEFINE_SETTER(doca_rdma_task_atomic_cmp_swp_set_cmp_data, doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP, uint64_t,
		   cmp_data, compare)
RDMA_DEFINE_GETTER(uint64_t, doca_rdma_task_atomic_cmp_swp_get_cmp_data, doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP,
		   compare)
RDMA_DEFINE_SETTER(doca_rdma_task_atomic_cmp_swp_set_swap_data, doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP, uint64_t,
		   swap_data, operand)
RDMA_DEFINE_GETTER(uint64_t, doca_rdma_task_atomic_cmp_swp_get_swap_data, doca_rdma_task_atomic_cmp_swp, RDMA_CMP_SWP,
		   operand)

/* ---- atomic fetch add ---- */

RDMA_DEFINE_COMPLETE(complete_atomic_fetch_add, RDMA_FETCH_ADD, doca_rdma_task_atomic_fetch_add_completion_cb_t,
		     doca_rdma_task_atomic_fetch_add)

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

RDMA_DEFINE_SET_CONF(doca_rdma_task_atomic_fetch_add_set_conf, RDMA_FETCH_ADD,
		     doca_rdma_task_atomic_fetch_add_completion_cb_t)

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

RDMA_DEFINE_AS_TASK(doca_rdma_task_atomic_fetch_add_as_task, doca_rdma_task_atomic_fetch_add, RDMA_FETCH_ADD)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_atomic_fetch_add_set_rdma_connection, doca_rdma_task_atomic_fetch_add,
			   RDMA_FETCH_ADD)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_atomic_fetch_add_get_rdma_connection,
		   doca_rdma_task_atomic_fetch_add, RDMA_FETCH_ADD, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_atomic_fetch_add_set_dst_buf, doca_rdma_task_atomic_fetch_add, RDMA_FETCH_ADD,
		   struct doca_buf *, dst_buf, dst)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_atomic_fetch_add_get_dst_buf, doca_rdma_task_atomic_fetch_add,
		   RDMA_FETCH_ADD, dst)
RDMA_DEFINE_SETTER(doca_rdma_task_atomic_fetch_add_set_result_buf, doca_rdma_task_atomic_fetch_add, RDMA_FETCH_ADD,
		   struct doca_buf *, result_buf, result)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_atomic_fetch_add_get_result_buf, doca_rdma_task_atomic_fetch_add,
		   RDMA_FETCH_ADD, result)
RDMA_DEFINE_SETTER(doca_rdma_task_atomic_fetch_add_set_add_data, doca_rdma_task_atomic_fetch_add, RDMA_FETCH_ADD,
		   uint64_t, add_data, operand)
RDMA_DEFINE_GETTER(uint64_t, doca_rdma_task_atomic_fetch_add_get_add_data, doca_rdma_task_atomic_fetch_add,
		   RDMA_FETCH_ADD, operand)
