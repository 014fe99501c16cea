/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of all types: allocation, checks, the way to the queue pair, and the end. */
#include <errno.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "rdma_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/call_hooks.h"
#include "shim/common/base/compat.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/task_submit.h"
#include "shim/common/pe/task_trace.h"
#include "shim/common/process/runtime.h"
#include "shim/common/sync/sync_event_remote.h"
#include "sim/fabric/remote.h"

static struct rdma_task *to_rdma_task(const struct doca_task *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

/* ---- the program's view ---- */

doca_error_t rdma_task_set_conf(const char *func, struct doca_rdma *rdma, enum rdma_task_index index,
				void (*done)(void), void (*failed)(void), uint32_t num_tasks)
{
	struct rdma_conf *conf = &rdma->conf[index];

	if (!done || !failed) {
		sim_err("%s: a callback is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (rdma->ctx.state != DOCA_CTX_STATE_IDLE) {
		sim_err("%s: the context is not idle; stop it first", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (num_tasks == 0) {
		sim_err("%s: 0 tasks; give 1 or more", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	conf->num_tasks = num_tasks;
	conf->done = done;
	conf->failed = failed;
	return DOCA_SUCCESS;
}

static doca_error_t refuse_alloc(const char *func, const struct doca_rdma *rdma, const struct rdma_conf *conf,
				 doca_error_t result)
{
	if (result == DOCA_ERROR_BAD_STATE)
		sim_err("%s: %s", func, shim_ctx_describe_not_running(&rdma->ctx));
	else
		sim_err("%s: all %u configured tasks are allocated; free some", func, conf->num_tasks);
	return result;
}

doca_error_t rdma_task_alloc(const char *func, struct doca_rdma *rdma, enum rdma_task_index index,
			     struct doca_rdma_connection *connection, union doca_data user_data,
			     struct rdma_task **ret_task)
{
	struct rdma_conf *conf = &rdma->conf[index];
	struct doca_task *task;
	doca_error_t result;

	if (conf->num_tasks == 0) {
		sim_err("%s: the type of task is not configured; call its set_conf function before the start", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (index != RDMA_RECEIVE && !rdma_release.starts_by_connect && !rdma_connection_is_of(connection, rdma)) {
		sim_err("%s: rdma_connection is no connection of the context (a program of DOCA 2.5 or 2.6 needs bfsim's --generation task-2.5)",
			func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!conf->pool)
		return refuse_alloc(func, rdma, conf, DOCA_ERROR_BAD_STATE);
	result = shim_task_alloc(conf->pool, &rdma->ctx, user_data, &task);
	if (result != DOCA_SUCCESS)
		return refuse_alloc(func, rdma, conf, result);
	*ret_task = to_rdma_task(task);
	memset(&(*ret_task)->connection, 0, sizeof(struct rdma_task) - offsetof(struct rdma_task, connection));
	(*ret_task)->connection = connection;
	(*ret_task)->connection_serial = connection ? connection->serial : 0;
	return DOCA_SUCCESS;
}

bool rdma_task_is(const struct rdma_task *task, enum rdma_task_index index)
{
	return shim_object_is(task, SHIM_TASK) && shim_object_is(task->task.ctx, SHIM_RDMA) &&
	       rdma_task_type(&task->task)->index == index;
}

bool rdma_task_was(const struct rdma_task *task, enum rdma_task_index index)
{
	bool is_freed =
		task && task->task.object.magic == 0 && task->task.pool && shim_object_is(task->task.ctx, SHIM_RDMA);

	return is_freed ? rdma_task_type(&task->task)->index == index : rdma_task_is(task, index);
}

bool rdma_task_may_change(const char *func, const struct rdma_task *task, enum rdma_task_index index)
{
	if (rdma_task_is(task, index) && !task->task.in_flight)
		return true;
	sim_err("%s: the task is NULL, freed, of another kind, or in flight; nothing was changed", func);
	return false;
}

void rdma_task_set_connection(const char *func, struct rdma_task *task, enum rdma_task_index index,
			      struct doca_rdma_connection *connection)
{
	if (!rdma_task_may_change(func, task, index))
		return;
	if (!rdma_connection_is_of(connection, rdma_of(&task->task))) {
		sim_err("%s: rdma_connection is no connection of the context; nothing was changed", func);
		return;
	}
	task->connection = connection;
	task->connection_serial = connection->serial;
}

/* ---- submission ---- */

static doca_error_t refuse(const struct doca_task *task, doca_error_t code, const char *reason)
{
	sim_err("%s task: %s", task->pool->type->name, reason);
	return code;
}

/* Whether tasks of the context can use the buffer's memory. */
static const char *find_local_problem(const struct doca_task *task, const struct doca_buf *buf)
{
	if (!shim_object_is(buf, SHIM_BUF))
		return "a local buffer is not live";
	if (!shim_buf_has_usable_mmap(buf) || !shim_mmap_has_dev(buf->mmap, task->ctx->dev))
		return "a local buffer's memory map is stopped, or lacks the context's device";
	if (buf->mmap->remote && (buf->mmap->remote->region.access & SIM_ACCESS_NET))
		return "a local buffer is of a memory map that was created from doca_mmap_export_rdma(): it is the peer's";
	if (!shim_buf_has_data_in_map(buf))
		return "a local buffer's data is outside of its memory map's range (doca_buf_set_data)";
	return NULL;
}

static bool may_write(const struct doca_mmap *mmap)
{
	return mmap->access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
}

/* Whether the list's data is what the task writes to: there is no room behind it, and the generation replaces data then. */
static bool replaces_data(const struct doca_buf *head)
{
	uint64_t room_bytes = 0, data_bytes = 0;

	if (doca_likely(!shim_compat->replaces_full_data))
		return false;
	for (const struct doca_buf *buf = head; shim_object_is(buf, SHIM_BUF); buf = buf->next) {
		room_bytes += shim_buf_room_bytes(buf);
		data_bytes += buf->data_len;
	}
	return room_bytes == 0 && data_bytes > 0;
}

/* Take the segments of the list @head: its data, or its room. */
static doca_error_t take_list(struct rdma_task *task, const struct doca_buf *head, bool writes, uint32_t max_segments,
			      uint64_t *ret_bytes)
{
	uint64_t bytes = 0;
	bool takes_room;

	task->num_segments = 0;
	if (shim_object_is(head, SHIM_BUF) && head->is_inner)
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE,
			      "its local buffer is inside of a list; give the list's head");
	task->replaces_data = writes && replaces_data(head);
	takes_room = writes && !task->replaces_data;
	for (const struct doca_buf *buf = head; buf; buf = buf->next) {
		const char *problem = find_local_problem(&task->task, buf);
		struct sim_rdma_segment *segment = &task->segments[task->num_segments];
		const uint8_t *addr;

		if (problem)
			return refuse(&task->task, DOCA_ERROR_INVALID_VALUE, problem);
		if (writes && !may_write(buf->mmap))
			return refuse(&task->task, DOCA_ERROR_NOT_PERMITTED,
				      "a local buffer's memory map lacks DOCA_ACCESS_FLAG_LOCAL_READ_WRITE");
		if (task->num_segments++ == max_segments)
			return refuse(
				&task->task, DOCA_ERROR_INVALID_VALUE,
				"its list of local buffers is longer than configured (doca_rdma_set_max_send_buf_list_len, doca_rdma_task_receive_set_dst_buf_list_len)");
		addr = takes_room ? shim_buf_room(buf) : buf->data;
		segment->remote = buf->mmap->remote;
		segment->addr = buf->mmap->remote ? (uintptr_t)addr : shim_buf_cpu_addr(buf, addr);
		segment->bytes = takes_room ? shim_buf_room_bytes(buf) : buf->data_len;
		segment->arg = buf->mmap;
		bytes += segment->bytes;
	}
	*ret_bytes = bytes;
	return DOCA_SUCCESS;
}

/* Take the buffer of the peer's memory. */
static doca_error_t take_remote(struct rdma_task *task, const struct rdma_task_type *type, const struct doca_buf *buf)
{
	bool is_written = type->peer_access == SIM_ACCESS_WRITE;

	task->remote = NULL;
	task->remote_map = NULL;
	if (!buf)
		return DOCA_SUCCESS;
	if (!shim_object_is(buf, SHIM_BUF) || buf->is_inner)
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE, "the peer's buffer is not live, or inside a list");
	if (!shim_buf_has_usable_mmap(buf) || !buf->mmap->remote ||
	    !(buf->mmap->remote->region.access & SIM_ACCESS_NET))
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE,
			      "the peer's buffer is not of a memory map that was created from doca_mmap_export_rdma()");
	task->remote = buf->mmap->remote;
	task->remote_map = buf->mmap;
	task->remote_addr = (uintptr_t)(is_written ? shim_buf_room(buf) : buf->data);
	return DOCA_SUCCESS;
}

static uint64_t peer_bytes(const struct rdma_task_type *type, const struct doca_buf *remote)
{
	if (!remote)
		return 0;
	return type->peer_access == SIM_ACCESS_WRITE ? shim_buf_room_bytes(remote) : remote->data_len;
}

static doca_error_t check_event(struct rdma_task *task, const struct rdma_task_type *type, uint64_t local_bytes)
{
	if (!shim_handle_is(task->event, SHIM_SYNC_EVENT_REMOTE))
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE, "its event is NULL or no live event of a peer");
	if (!type->writes_local && local_bytes < sizeof(uint64_t))
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE, "its buffer has less than 8 bytes of data");
	task->work.bytes = sizeof(uint64_t);
	return DOCA_SUCCESS;
}

/* The number of bytes that the task moves, and whether there is room for them. */
static doca_error_t measure(struct rdma_task *task, const struct rdma_task_type *type, const struct doca_buf *remote,
			    uint64_t local_bytes)
{
	const struct pcie_caps *caps = &shim_dev_function(task->task.ctx->dev)->caps;
	uint64_t bytes = local_bytes;

	if (type->peer_access == SIM_ACCESS_READ)
		bytes = peer_bytes(type, remote);
	if (type->peer_access == SIM_ACCESS_ATOMIC || rdma_is_event_type(type))
		bytes = sizeof(uint64_t);
	if (bytes > caps->rdma_max_msg_bytes)
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE,
			      "it is larger than doca_rdma_cap_get_max_message_size()");
	if (type->writes_local && local_bytes < bytes)
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE,
			      "its local buffers have too little room behind their data");
	if (rdma_is_event_type(type))
		return check_event(task, type, local_bytes);
	if (type->peer_access == SIM_ACCESS_WRITE && bytes > peer_bytes(type, remote))
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE,
			      "the peer's buffer has too little room behind its data");
	if (type->peer_access == SIM_ACCESS_ATOMIC && !remote)
		return refuse(&task->task, DOCA_ERROR_INVALID_VALUE, "the peer's buffer is NULL");
	task->work.bytes = bytes;
	return DOCA_SUCCESS;
}

static doca_error_t check_connection(const struct rdma_task *task)
{
	const struct doca_rdma_connection *connection =
		task->connection; /* NULL, or was one: it is checked when it is set */
	int rc = -ENOTCONN;

	if (shim_object_is(connection, SHIM_RDMA_CONNECTION) && connection->serial == task->connection_serial &&
	    connection->rdma == rdma_of(&task->task) && connection->qp)
		rc = sim_qp_check_post(connection->qp);
	if (doca_likely(rc == 0))
		return DOCA_SUCCESS;
	if (rc == -ENOBUFS)
		return refuse(&task->task, DOCA_ERROR_FULL,
			      "the connection's send queue is full (doca_rdma_set_send_queue_size)");
	return refuse(&task->task, DOCA_ERROR_BAD_STATE, "its connection is not connected, or has ended");
}

doca_error_t rdma_task_check(struct doca_task *base)
{
	const struct rdma_task_type *type = rdma_task_type(base);
	const struct rdma_properties *properties = &rdma_of(base)->properties;
	bool is_receive = type->index == RDMA_RECEIVE;
	struct rdma_task *task = to_rdma_task(base);
	const struct doca_buf *remote = type->get_remote ? type->get_remote(task) : NULL;
	uint64_t local_bytes;
	doca_error_t result = is_receive ? DOCA_SUCCESS : check_connection(task);

	if (result == DOCA_SUCCESS)
		result = take_list(task, type->get_local(task), type->writes_local,
				   is_receive ? properties->max_receive_list_len : properties->max_send_list_len,
				   &local_bytes);
	if (is_receive && result == DOCA_SUCCESS)
		task->receive.room_bytes = local_bytes;
	if (result != DOCA_SUCCESS || is_receive)
		return result;
	result = take_remote(task, type, remote);
	return result == DOCA_SUCCESS ? measure(task, type, remote, local_bytes) : result;
}

/* ---- work requests ---- */

/* While the task is in flight: its buffers may be returned, and then their maps could end. */
static void hold_maps(struct rdma_task *task)
{
	for (uint32_t i = 0; i < task->num_segments; i++)
		shim_task_count_begin(&((struct doca_mmap *)task->segments[i].arg)->tasks);
	if (task->remote_map)
		shim_task_count_begin(&task->remote_map->tasks);
	task->holds_maps = true;
}

static void release_maps(struct rdma_task *task)
{
	for (uint32_t i = 0; i < task->num_segments; i++)
		shim_task_count_end(&((struct doca_mmap *)task->segments[i].arg)->tasks);
	if (task->remote_map)
		shim_task_count_end(&task->remote_map->tasks);
	task->holds_maps = false;
}

/* Instead of the work's own. Of a peer on another machine, the work is then executed in this thread. */
static int execute_watched(struct sim_rdma_work *work)
{
	struct rdma_task *task = rdma_task_of_work(work);
	int rc;

	shim_call_hooks->access_begins(&task->task);
	rc = task->watched_execute(work);
	shim_call_hooks->access_ended(&task->task);
	return rc;
}

static void watch_work(struct rdma_task *task)
{
	task->watched_execute = task->work.execute;
	task->work.begin = NULL;
	if (task->work.execute)
		task->work.execute = execute_watched;
}

static doca_error_t post_work(struct rdma_task *task)
{
	const struct rdma_task_type *type = rdma_task_type(&task->task);
	uint64_t bytes = task->work.bytes;
	int rc;

	task->work = type->work;
	task->work.immediate = task->immediate;
	task->work.segments = task->segments;
	task->work.num_segments = task->num_segments;
	task->work.bytes = bytes;
	if (doca_unlikely(task->task.timed))
		task->work.task_ns = shim_task_trace_submitted_ns(&task->task);
	rdma_fault_apply(task);
	if (doca_unlikely(shim_call_hooks != NULL))
		watch_work(task);
	rc = sim_qp_post(task->connection->qp, &task->work);
	if (rc == -EADDRINUSE)
		return refuse(
			&task->task, DOCA_ERROR_BAD_STATE,
			"another connection sends messages to this peer of the transport DC, which is on another machine; bfsim has one such for each export");
	if (rc < 0)
		return refuse(&task->task, DOCA_ERROR_BAD_STATE, "its connection has ended");
	if (rdma_is_event_type(type))
		shim_sync_remote_begin_task(task->event);
	sim_qp_progress_requests(task->connection->qp);
	if (task->work.is_queued)
		hold_maps(task);
	rdma_set_alarm(rdma_of(&task->task));
	shim_pe_notify_self(task->task.ctx); /* an engine that was armed before this work has to arm again */
	return DOCA_SUCCESS;
}

doca_error_t rdma_task_post(struct doca_task *base)
{
	struct rdma_task *task = to_rdma_task(base);
	uint64_t room_bytes;

	shim_vclock_begin_call();
	if (rdma_task_type(base)->index != RDMA_RECEIVE)
		return post_work(task);
	room_bytes = task->receive.room_bytes;
	task->receive = (struct sim_rdma_receive){ .segments = task->segments,
						   .num_segments = task->num_segments,
						   .room_bytes = room_bytes };
	rdma_fault_apply(task);
	hold_maps(task);
	sim_qp_group_post_receive(&rdma_of(base)->group, &task->receive);
	shim_pe_notify_self(base->ctx);
	return DOCA_SUCCESS;
}

/* ---- the end ---- */

/* Append @bytes to the data of the list, as its segments were taken; or they are the data now. */
static void extend_data(const struct rdma_task *task, struct doca_buf *head, uint64_t bytes)
{
	struct doca_buf *buf = head;

	for (uint32_t i = 0; i < task->num_segments && bytes > 0 && shim_object_is(buf, SHIM_BUF); i++) {
		uint64_t before = task->replaces_data ? 0 : buf->data_len,
			 end = buf->data_len + shim_buf_room_bytes(buf);
		uint64_t part = min_u64(min_u64(bytes, task->segments[i].bytes), end - before);

		buf->data_len = before + part;
		bytes -= part;
		buf = buf->next;
	}
}

static doca_error_t end_status(const struct doca_task *task, int rc)
{
	if (rc == 0)
		return DOCA_SUCCESS;
	if (rc == -EIO && shim_task_has_fault(task, FAIL))
		return shim_task_fault_status(task);
	if (rc != -ECANCELED)
		sim_err("%s task failed: %s", task->pool->type->name, rdma_describe_failure(rc));
	return DOCA_ERROR_IO_FAILED;
}

void rdma_task_end_work(struct sim_rdma_work *work)
{
	struct rdma_task *task = rdma_task_of_work(work);
	const struct rdma_task_type *type = rdma_task_type(&task->task);

	if (rdma_is_event_type(type))
		shim_sync_remote_end_task(task->event);
	if (doca_unlikely(task->holds_maps))
		release_maps(task);
	if (work->status == 0) {
		task->task.bytes = work->bytes;
		task->result_len = (uint32_t)work->bytes;
		if (type->writes_local)
			extend_data(task, (struct doca_buf *)(uintptr_t)type->get_local(task), work->bytes);
		else if (type->peer_access == SIM_ACCESS_WRITE && shim_object_is(task->dst, SHIM_BUF))
			task->dst->data_len += min_u64(work->bytes, shim_buf_room_bytes(task->dst));
	}
	shim_task_complete_posted(&task->task, end_status(&task->task, work->status));
}

static enum doca_rdma_opcode opcode_of(const struct sim_rdma_receive *receive)
{
	if (receive->is_written)
		return DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM;
	return receive->has_immediate ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM : DOCA_RDMA_OPCODE_RECV_SEND;
}

void rdma_task_end_receive(struct sim_rdma_receive *receive)
{
	struct rdma_task *task = (struct rdma_task *)((uintptr_t)receive - offsetof(struct rdma_task, receive));

	if (receive->status == 0)
		rdma_fault_flip_received(task);
	release_maps(task);
	task->connection = receive->qp_arg; /* the queue pair may be gone: a fault can hold the receive */
	task->opcode = opcode_of(receive);
	task->immediate = receive->immediate;
	task->result_len = receive->status == 0 ? (uint32_t)receive->bytes : 0;
	task->task.bytes = task->result_len;
	if (receive->status == 0 && !receive->is_written)
		extend_data(task, task->dst, receive->bytes);
	shim_task_complete_posted(&task->task, end_status(&task->task, receive->status));
}
