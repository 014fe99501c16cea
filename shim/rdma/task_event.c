/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on a sync event of the peer. */
#include "rdma_priv.h"
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

static void complete_event_get(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_EVENT_GET];

	((doca_rdma_task_remote_net_sync_event_get_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done :
												   conf->failed))(
		(struct doca_rdma_task_remote_net_sync_event_get *)task, task->user_data, task->ctx->user_data);
}

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

doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_EVENT_GET, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

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

struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(
	struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return rdma_task_was(event_get_of(task), RDMA_EVENT_GET) ? &event_get_of(task)->task : NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(struct doca_rdma_task_remote_net_sync_event_get *task,
								  struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, event_get_of(task), RDMA_EVENT_GET, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return rdma_task_was(event_get_of(task), RDMA_EVENT_GET) ? event_get_of(task)->connection : NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *task,
							     const struct doca_sync_event_remote_net *event)
{
	if (rdma_task_may_change(__func__, event_get_of(task), RDMA_EVENT_GET))
		event_get_of(task)->event = (struct doca_sync_event_remote_net *)(uintptr_t)event;
}

const struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_get_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return rdma_task_was(event_get_of(task), RDMA_EVENT_GET) ? event_get_of(task)->event : NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(struct doca_rdma_task_remote_net_sync_event_get *task,
							  struct doca_buf *dst_buf)
{
	if (rdma_task_may_change(__func__, event_get_of(task), RDMA_EVENT_GET))
		event_get_of(task)->dst = dst_buf;
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_get_get_dst_buf(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return rdma_task_was(event_get_of(task), RDMA_EVENT_GET) ? event_get_of(task)->dst : NULL;
}

/* ---- event set ---- */

static struct rdma_task *event_set_of(const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_event_set(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_EVENT_SET];

	((doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t)(task->status == DOCA_SUCCESS ?
										   conf->done :
										   conf->failed))(
		(struct doca_rdma_task_remote_net_sync_event_notify_set *)task, task->user_data, task->ctx->user_data);
}

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

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_EVENT_SET, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

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

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_set_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return rdma_task_is(event_set_of(task), RDMA_EVENT_SET) ? &event_set_of(task)->task : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, event_set_of(task), RDMA_EVENT_SET, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return rdma_task_was(event_set_of(task), RDMA_EVENT_SET) ? event_set_of(task)->connection : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_sync_event_remote_net *event)
{
	if (rdma_task_may_change(__func__, event_set_of(task), RDMA_EVENT_SET))
		event_set_of(task)->event = event;
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return rdma_task_was(event_set_of(task), RDMA_EVENT_SET) ? event_set_of(task)->event : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task, const struct doca_buf *src_buf)
{
	if (rdma_task_may_change(__func__, event_set_of(task), RDMA_EVENT_SET))
		event_set_of(task)->src = src_buf;
}

const struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return rdma_task_was(event_set_of(task), RDMA_EVENT_SET) ? event_set_of(task)->src : NULL;
}

/* ---- event add ---- */

static struct rdma_task *event_add_of(const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_event_add(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_EVENT_ADD];

	((doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t)(task->status == DOCA_SUCCESS ?
										   conf->done :
										   conf->failed))(
		(struct doca_rdma_task_remote_net_sync_event_notify_add *)task, task->user_data, task->ctx->user_data);
}

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

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_EVENT_ADD, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

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

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_add_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return rdma_task_is(event_add_of(task), RDMA_EVENT_ADD) ? &event_add_of(task)->task : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, event_add_of(task), RDMA_EVENT_ADD, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return rdma_task_was(event_add_of(task), RDMA_EVENT_ADD) ? event_add_of(task)->connection : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_sync_event_remote_net *event)
{
	if (rdma_task_may_change(__func__, event_add_of(task), RDMA_EVENT_ADD))
		event_add_of(task)->event = event;
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return rdma_task_was(event_add_of(task), RDMA_EVENT_ADD) ? event_add_of(task)->event : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_buf *result_buf)
{
	if (rdma_task_may_change(__func__, event_add_of(task), RDMA_EVENT_ADD))
		event_add_of(task)->result = result_buf;
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return rdma_task_was(event_add_of(task), RDMA_EVENT_ADD) ? event_add_of(task)->result : NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, uint64_t add_data)
{
	if (rdma_task_may_change(__func__, event_add_of(task), RDMA_EVENT_ADD))
		event_add_of(task)->operand = add_data;
}

uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return rdma_task_was(event_add_of(task), RDMA_EVENT_ADD) ? event_add_of(task)->operand : 0;
}

uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return rdma_task_was(event_get_of(task), RDMA_EVENT_GET) ? event_get_of(task)->result_len : 0;
}
