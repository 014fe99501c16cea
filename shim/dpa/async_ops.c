/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of asynchronous operations, which kernels post. */
#include "dpa_priv.h"

#define MAX_QUEUE_SIZE (1u << 16) /* our choice */
#define MAX_USER_DATA  0xffffffu  /* completions have 24 bits of it */

doca_error_t doca_dpa_async_ops_create(struct doca_dpa *dpa, unsigned int queue_size, uint64_t user_data,
				       struct doca_dpa_async_ops **async_ops)
{
	struct doca_dpa_async_ops *created;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(async_ops);
	if (queue_size == 0 || queue_size > MAX_QUEUE_SIZE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u operations; give 1 to %u", queue_size, MAX_QUEUE_SIZE);
	if (user_data > MAX_USER_DATA)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "user data of more than 24 bits, as completions have it");
	created = dpa_object_new(__func__, SHIM_DPA_ASYNC_OPS, sizeof(*created), dpa);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dpa = dpa;
	created->queue_size = queue_size;
	created->user_data = user_data;
	*async_ops = created;
	return DOCA_SUCCESS;
}

static void stop(struct doca_dpa_async_ops *ops)
{
	if (shim_dpa_is_own(ops->dpa) && ops->is_started)
		sim_dpa_async_stop(&ops->queue);
	ops->is_started = false;
}

static void detach(struct doca_dpa_async_ops *ops)
{
	if (ops->completion)
		ops->completion->num_users--;
	ops->completion = NULL;
}

doca_error_t doca_dpa_async_ops_destroy(struct doca_dpa_async_ops *async_ops)
{
	SHIM_NEED(async_ops, SHIM_DPA_ASYNC_OPS);
	stop(async_ops);
	detach(async_ops);
	dpa_object_free(async_ops, SHIM_DPA_ASYNC_OPS, async_ops->dpa);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_async_ops_attach(struct doca_dpa_async_ops *async_ops, struct doca_dpa_completion *dpa_comp)
{
	SHIM_NEED(async_ops, SHIM_DPA_ASYNC_OPS);
	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	if (async_ops->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the queue is started; stop it first");
	if (!dpa_comp->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the completion context is not started; start it first");
	if (dpa_comp->dpa->process != async_ops->dpa->process)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the completion context is another DPA context's");
	detach(async_ops);
	async_ops->completion = dpa_comp;
	dpa_comp->num_users++;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_async_ops_start(struct doca_dpa_async_ops *async_ops)
{
	doca_error_t result;

	SHIM_NEED(async_ops, SHIM_DPA_ASYNC_OPS);
	if (async_ops->is_started)
		return DOCA_SUCCESS;
	if (!async_ops->completion)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "no completion context is attached; call doca_dpa_async_ops_attach() first");
	result = shim_dpa_check_running(__func__, async_ops->dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (sim_dpa_async_start(async_ops->dpa->process, &async_ops->completion->ring, async_ops->queue_size,
				(uint32_t)async_ops->user_data, &async_ops->queue) < 0)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "no memory for a handle");
	async_ops->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_async_ops_stop(struct doca_dpa_async_ops *async_ops)
{
	SHIM_NEED(async_ops, SHIM_DPA_ASYNC_OPS);
	stop(async_ops);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_async_ops_get_dpa_handle(struct doca_dpa_async_ops *async_ops, doca_dpa_dev_async_ops_t *handle)
{
	SHIM_NEED(async_ops, SHIM_DPA_ASYNC_OPS);
	SHIM_NEED_OUT(handle);
	if (!async_ops->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the queue is not started");
	*handle = async_ops->queue.callable.handle;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_async_ops_get_queue_size, struct doca_dpa_async_ops, async_ops, SHIM_DPA_ASYNC_OPS,
		   unsigned int, queue_size, async_ops->queue_size)
SHIM_DEFINE_GETTER(doca_dpa_async_ops_get_user_data, struct doca_dpa_async_ops, async_ops, SHIM_DPA_ASYNC_OPS, uint64_t,
		   user_data, async_ops->user_data)
