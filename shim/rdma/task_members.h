/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/task_members.h - the public functions that types of tasks have alike. Each stands by its whole name in the type's file.
 *
 * @object is the type's public struct, which is a struct rdma_task; @index its place among the types. */
#ifndef SHIM_RDMA_TASK_MEMBERS_H
#define SHIM_RDMA_TASK_MEMBERS_H

#include "rdma_priv.h"
#include "shim/common/base/check.h"

/* Call the program: the operation of the type, whose callbacks are of the type @cb. */
#define RDMA_DEFINE_COMPLETE(name, index, cb, object)                                  \
	static void name(struct doca_task *task)                                       \
	{                                                                              \
		const struct rdma_conf *conf = &rdma_of(task)->conf[index];            \
                                                                                       \
		((cb)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(      \
			(struct object *)task, task->user_data, task->ctx->user_data); \
	}

#define RDMA_DEFINE_SET_CONF(name, index, cb)                                                                    \
	doca_error_t name(struct doca_rdma *rdma, cb successful_task_completion_cb, cb error_task_completion_cb, \
			  uint32_t num_tasks)                                                                    \
	{                                                                                                        \
		SHIM_NEED(rdma, SHIM_RDMA);                                                                      \
		return rdma_task_set_conf(__func__, rdma, index, (void (*)(void))successful_task_completion_cb,  \
					  (void (*)(void))error_task_completion_cb, num_tasks);                  \
	}

#define RDMA_DEFINE_AS_TASK(name, object, index)                       \
	struct doca_task *name(struct object *task)                    \
	{                                                              \
		struct rdma_task *self = (struct rdma_task *)task;     \
                                                                       \
		return rdma_task_is(self, index) ? &self->task : NULL; \
	}

#define RDMA_DEFINE_SET_CONNECTION(name, object, index)                                               \
	void name(struct object *task, struct doca_rdma_connection *rdma_connection)                  \
	{                                                                                             \
		rdma_task_set_connection(__func__, (struct rdma_task *)task, index, rdma_connection); \
	}

#define RDMA_DEFINE_GETTER(type, name, object, index, member)                  \
	type name(const struct object *task)                                   \
	{                                                                      \
		const struct rdma_task *self = (const struct rdma_task *)task; \
                                                                               \
		return rdma_task_was(self, index) ? self->member : (type)0;    \
	}

#define RDMA_DEFINE_SETTER(name, object, index, type, value, member) \
	void name(struct object *task, type value)                   \
	{                                                            \
		struct rdma_task *self = (struct rdma_task *)task;   \
                                                                     \
		if (rdma_task_may_change(__func__, self, index))     \
			self->member = value;                        \
	}

#endif
