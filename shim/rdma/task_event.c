/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on a sync event of the peer. */
#include "task_members.h"
#include "shim/common/base/check.h"
#include "shim/common/sync/sync_event_remote.h"
#include "sim/rdma/memory.h"

/* The event's value to the task's buffer, if it was read: 0 or -errno. */
static int return_value(const struct rdma_task *task, int rc, uint64_t value)
{
	return rc < 0 ? rc : sim_rdma_scatter(task->segments, task->num_segments, 0, &value, sizeof(value));
}

/* ---- event get ---- */

static struct rdma_task *event_get_of(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

RDMA_DEFINE_COMPLETE(complete_event_get, RDMA_EVENT_GET, doca_rdma_task_remote_net_sync_event_get_completion_cb_t,
		     doca_rdma_task_remote_net_sync_event_get)

static const struct doca_buf *get_local_of_event_get(const struct rdma_task *task)
{
	return task->dst;
}

static int access_event_get(struct rdma_task *task)
{
	uint64_t value = 0;
	int rc = shim_sync_remote_get(task->event, &value);

	return return_value(task, rc, value);
}

const struct rdma_task_type rdma_event_get_type = {
	.task = RDMA_TASK_TYPE(RDMA_EVENT_GET, complete_event_get),
	.index = RDMA_EVENT_GET,
	.work = { .op = PCIE_NET_READ, .execute = rdma_task_execute, .begin = rdma_task_begin },
	.peer_access = SIM_ACCESS_READ,
	.access = access_event_get,
	.get_local = get_local_of_event_get,
	.writes_local = true,
};

RDMA_DEFINE_SET_CONF(doca_rdma_task_remote_net_sync_event_get_set_conf, RDMA_EVENT_GET,
		     doca_rdma_task_remote_net_sync_event_get_completion_cb_t)

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_get **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_EVENT_GET, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->event = (struct doca_sync_event_remote_net *)(uintptr_t)event;
	allocated->dst = dst_buf;
	*task = (struct doca_rdma_task_remote_net_sync_event_get *)allocated;
	return DOCA_SUCCESS;
}

RDMA_DEFINE_AS_TASK(doca_rdma_task_remote_net_sync_event_get_as_task, doca_rdma_task_remote_net_sync_event_get,
		    RDMA_EVENT_GET)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_remote_net_sync_event_get_set_rdma_connection,
			   doca_rdma_task_remote_net_sync_event_get, RDMA_EVENT_GET)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_remote_net_sync_event_get_get_rdma_connection,
		   doca_rdma_task_remote_net_sync_event_get, RDMA_EVENT_GET, connection)

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *task,
							     const struct doca_sync_event_remote_net *event)
{
	if (rdma_task_may_change(__func__, event_get_of(task), RDMA_EVENT_GET))
		event_get_of(task)->event = (struct doca_sync_event_remote_net *)(uintptr_t)event;
}

RDMA_DEFINE_GETTER(const struct doca_sync_event_remote_net *, doca_rdma_task_remote_net_sync_event_get_get_sync_event,
		   doca_rdma_task_remote_net_sync_event_get, RDMA_EVENT_GET, event)
RDMA_DEFINE_SETTER(doca_rdma_task_remote_net_sync_event_get_set_dst_buf, doca_rdma_task_remote_net_sync_event_get,
		   RDMA_EVENT_GET, struct doca_buf *, dst_buf, dst)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_remote_net_sync_event_get_get_dst_buf,
		   doca_rdma_task_remote_net_sync_event_get, RDMA_EVENT_GET, dst)

/* ---- event set ---- */

RDMA_DEFINE_COMPLETE(complete_event_set, RDMA_EVENT_SET,
		     doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t,
		     doca_rdma_task_remote_net_sync_event_notify_set)

static const struct doca_buf *get_local_of_event_set(const struct rdma_task *task)
{
	return task->src;
}

static int access_event_set(struct rdma_task *task)
{
	uint64_t value = 0;
	int rc = sim_rdma_gather(task->segments, task->num_segments, 0, &value, sizeof(value));

	return rc < 0 ? rc : shim_sync_remote_set(task->event, value);
}

const struct rdma_task_type rdma_event_set_type = {
	.task = RDMA_TASK_TYPE(RDMA_EVENT_SET, complete_event_set),
	.index = RDMA_EVENT_SET,
	.work = { .op = PCIE_NET_WRITE, .execute = rdma_task_execute, .begin = rdma_task_begin },
	.peer_access = SIM_ACCESS_WRITE,
	.access = access_event_set,
	.get_local = get_local_of_event_set,
};

RDMA_DEFINE_SET_CONF(doca_rdma_task_remote_net_sync_event_notify_set_set_conf, RDMA_EVENT_SET,
		     doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t)

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	const struct doca_buf *src_buf, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_EVENT_SET, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->event = event;
	allocated->src = src_buf;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_set *)allocated;
	return DOCA_SUCCESS;
}

RDMA_DEFINE_AS_TASK(doca_rdma_task_remote_net_sync_event_notify_set_as_task,
		    doca_rdma_task_remote_net_sync_event_notify_set, RDMA_EVENT_SET)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection,
			   doca_rdma_task_remote_net_sync_event_notify_set, RDMA_EVENT_SET)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *,
		   doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection,
		   doca_rdma_task_remote_net_sync_event_notify_set, RDMA_EVENT_SET, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event,
		   doca_rdma_task_remote_net_sync_event_notify_set, RDMA_EVENT_SET, struct doca_sync_event_remote_net *,
		   event, event)
RDMA_DEFINE_GETTER(struct doca_sync_event_remote_net *, doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event,
		   doca_rdma_task_remote_net_sync_event_notify_set, RDMA_EVENT_SET, event)
RDMA_DEFINE_SETTER(doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf,
		   doca_rdma_task_remote_net_sync_event_notify_set, RDMA_EVENT_SET, const struct doca_buf *, src_buf,
		   src)
RDMA_DEFINE_GETTER(const struct doca_buf *, doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf,
		   doca_rdma_task_remote_net_sync_event_notify_set, RDMA_EVENT_SET, src)

/* ---- event add ---- */

RDMA_DEFINE_COMPLETE(complete_event_add, RDMA_EVENT_ADD,
		     doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t,
		     doca_rdma_task_remote_net_sync_event_notify_add)

static const struct doca_buf *get_local_of_event_add(const struct rdma_task *task)
{
	return task->result;
}

static int access_event_add(struct rdma_task *task)
{
	uint64_t value = 0;
	int rc = shim_sync_remote_add(task->event, task->operand, &value);

	return return_value(task, rc, value);
}

const struct rdma_task_type rdma_event_add_type = {
	.task = RDMA_TASK_TYPE(RDMA_EVENT_ADD, complete_event_add),
	.index = RDMA_EVENT_ADD,
	.work = { .op = PCIE_NET_ATOMIC, .execute = rdma_task_execute, .begin = rdma_task_begin },
	.peer_access = SIM_ACCESS_ATOMIC,
	.access = access_event_add,
	.get_local = get_local_of_event_add,
	.writes_local = true,
};

RDMA_DEFINE_SET_CONF(doca_rdma_task_remote_net_sync_event_notify_add_set_conf, RDMA_EVENT_ADD,
		     doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t)

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
	struct doca_buf *result_buf, uint64_t add_data, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_EVENT_ADD, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->event = event;
	allocated->result = result_buf;
	allocated->operand = add_data;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_add *)allocated;
	return DOCA_SUCCESS;
}

RDMA_DEFINE_AS_TASK(doca_rdma_task_remote_net_sync_event_notify_add_as_task,
		    doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection,
			   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *,
		   doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection,
		   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event,
		   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD, struct doca_sync_event_remote_net *,
		   event, event)
RDMA_DEFINE_GETTER(struct doca_sync_event_remote_net *, doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event,
		   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD, event)
RDMA_DEFINE_SETTER(doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf,
		   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD, struct doca_buf *, result_buf,
		   result)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf,
		   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD, result)
RDMA_DEFINE_SETTER(doca_rdma_task_remote_net_sync_event_notify_add_set_add_data,
		   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD, uint64_t, add_data, operand)
RDMA_DEFINE_GETTER(uint64_t, doca_rdma_task_remote_net_sync_event_notify_add_get_add_data,
		   doca_rdma_task_remote_net_sync_event_notify_add, RDMA_EVENT_ADD, operand)
RDMA_DEFINE_GETTER(uint32_t, doca_rdma_task_remote_net_sync_event_get_get_result_len,
		   doca_rdma_task_remote_net_sync_event_get, RDMA_EVENT_GET, result_len)
