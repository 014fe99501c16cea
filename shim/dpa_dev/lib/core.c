/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_dpa_dev: threads, completions, hash tables, trace, maps, sync events. */
#include <doca_dpa_dev.h>
#include <doca_dpa_dev_buf.h>
#include <doca_dpa_dev_sync_event.h>

#include "shim/dpa_dev/runtime/runtime.h"

#define PORT(name) BFSIM_DPA_PORT(name, "doca_dpa_dev_" #name)

/* ---- threads ---- */

unsigned int doca_dpa_dev_thread_rank(void)
{
	return PORT(thread_rank)();
}

unsigned int doca_dpa_dev_num_threads(void)
{
	return PORT(num_threads)();
}

void doca_dpa_dev_yield(void)
{
	PORT(yield)();
}

doca_dpa_dev_uintptr_t doca_dpa_dev_thread_get_local_storage(void)
{
	return BFSIM_DPA_PORT(thread_local_storage, "doca_dpa_dev_thread_get_local_storage")();
}

void doca_dpa_dev_thread_reschedule(void)
{
	PORT(thread_reschedule)();
}

void doca_dpa_dev_thread_finish(void)
{
	PORT(thread_finish)();
}

void doca_dpa_dev_thread_notify(doca_dpa_dev_notification_completion_t comp_handle)
{
	PORT(thread_notify)(comp_handle);
}

void doca_dpa_dev_device_set(doca_dpa_dev_t dpa_handle)
{
	PORT(device_set)(dpa_handle);
}

/* ---- completions ---- */

int doca_dpa_dev_get_completion(doca_dpa_dev_completion_t dpa_comp_handle,
				doca_dpa_dev_completion_element_t *comp_element)
{
	bfsim_dpa_check(comp_element, sizeof(*comp_element), true);
	return BFSIM_DPA_PORT(completion_take, "doca_dpa_dev_get_completion")(dpa_comp_handle, comp_element);
}

doca_dpa_dev_completion_type_t doca_dpa_dev_get_completion_type(doca_dpa_dev_completion_element_t comp_element)
{
	return (doca_dpa_dev_completion_type_t)BFSIM_DPA_PORT(completion_element, "doca_dpa_dev_get_completion_type")(
		comp_element, SIM_DPA_ELEMENT_TYPE);
}

uint32_t doca_dpa_dev_get_completion_user_data(doca_dpa_dev_completion_element_t comp_element)
{
	return (uint32_t)BFSIM_DPA_PORT(completion_element, "doca_dpa_dev_get_completion_user_data")(
		comp_element, SIM_DPA_ELEMENT_USER_DATA);
}

uint32_t doca_dpa_dev_get_completion_immediate(doca_dpa_dev_completion_element_t comp_element)
{
	return (uint32_t)BFSIM_DPA_PORT(completion_element, "doca_dpa_dev_get_completion_immediate")(
		comp_element, SIM_DPA_ELEMENT_IMMEDIATE);
}

uint64_t doca_dpa_dev_completion_element_get_timestamp(doca_dpa_dev_completion_element_t comp_element)
{
	return BFSIM_DPA_PORT(completion_element,
			      "doca_dpa_dev_completion_element_get_timestamp")(comp_element, SIM_DPA_ELEMENT_TIMESTAMP);
}

uint32_t doca_dpa_dev_completion_element_get_wqe_counter(doca_dpa_dev_completion_element_t comp_element)
{
	return (uint32_t)BFSIM_DPA_PORT(completion_element, "doca_dpa_dev_completion_element_get_wqe_counter")(
		comp_element, SIM_DPA_ELEMENT_WR_INDEX);
}

void doca_dpa_dev_completion_ack(doca_dpa_dev_completion_t dpa_comp_handle, uint64_t num_comp)
{
	PORT(completion_ack)(dpa_comp_handle, num_comp);
}

void doca_dpa_dev_completion_request_notification(doca_dpa_dev_completion_t dpa_comp_handle)
{
	BFSIM_DPA_PORT(completion_arm, "doca_dpa_dev_completion_request_notification")(dpa_comp_handle);
}

/* ---- hash tables, trace ---- */

void doca_dpa_dev_hash_table_add(doca_dpa_dev_hash_table_t ht_handle, uint32_t key, uint64_t value)
{
	BFSIM_DPA_PORT(hash_add, "doca_dpa_dev_hash_table_add")(ht_handle, key, value);
}

void doca_dpa_dev_hash_table_remove(doca_dpa_dev_hash_table_t ht_handle, uint32_t key)
{
	BFSIM_DPA_PORT(hash_remove, "doca_dpa_dev_hash_table_remove")(ht_handle, key);
}

int doca_dpa_dev_hash_table_find(doca_dpa_dev_hash_table_t ht_handle, uint32_t key, uint64_t *value)
{
	bfsim_dpa_check(value, sizeof(*value), true);
	return BFSIM_DPA_PORT(hash_find, "doca_dpa_dev_hash_table_find")(ht_handle, key, value);
}

void doca_dpa_dev_trace(uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4, uint64_t arg5)
{
	const uint64_t values[5] = { arg1, arg2, arg3, arg4, arg5 };

	PORT(trace)(values);
}

void doca_dpa_dev_trace_flush(void)
{
	PORT(trace_flush)();
}

/* ---- maps, asynchronous operations ---- */

doca_dpa_dev_uintptr_t doca_dpa_dev_mmap_get_external_ptr(doca_dpa_dev_mmap_t mmap_handle, uint64_t addr)
{
	return BFSIM_DPA_PORT(map_pointer, "doca_dpa_dev_mmap_get_external_ptr")(mmap_handle, addr);
}

/* The buffer of a handle, which lies in device memory. */
static const struct doca_dpa_dev_buf *get_buf(doca_dpa_dev_buf_t buf, uintptr_t pc)
{
	bfsim_dpa_check_at((uintptr_t)buf, sizeof(struct doca_dpa_dev_buf), false, pc);
	return (const struct doca_dpa_dev_buf *)(uintptr_t)buf;
}

doca_dpa_dev_uintptr_t doca_dpa_dev_buf_get_external_ptr(doca_dpa_dev_buf_t buf)
{
	const struct doca_dpa_dev_buf *at = get_buf(buf, (uintptr_t)__builtin_return_address(0));

	return BFSIM_DPA_PORT(map_pointer, "doca_dpa_dev_buf_get_external_ptr")(at->mmap, at->addr);
}

void doca_dpa_dev_post_memcpy(doca_dpa_dev_async_ops_t async_ops_handle, doca_dpa_dev_mmap_t dst_mmap_handle,
			      uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
			      uint32_t flags)
{
	const struct sim_dpa_span dst = { dst_mmap_handle, dst_addr, length };
	const struct sim_dpa_span src = { src_mmap_handle, src_addr, length };

	BFSIM_DPA_PORT(async_copy, "doca_dpa_dev_post_memcpy")(async_ops_handle, &dst, &src, flags);
}

void doca_dpa_dev_post_buf_memcpy(doca_dpa_dev_async_ops_t async_ops_handle, doca_dpa_dev_buf_t dst_buf_handle,
				  doca_dpa_dev_buf_t src_buf_handle, uint32_t flags)
{
	const struct doca_dpa_dev_buf *to = get_buf(dst_buf_handle, (uintptr_t)__builtin_return_address(0));
	const struct doca_dpa_dev_buf *from = get_buf(src_buf_handle, (uintptr_t)__builtin_return_address(0));
	const struct sim_dpa_span dst = { to->mmap, to->addr, to->len }, src = { from->mmap, from->addr, from->len };

	BFSIM_DPA_PORT(async_copy, "doca_dpa_dev_post_buf_memcpy")(async_ops_handle, &dst, &src, flags);
}

/* ---- sync events ---- */

void doca_dpa_dev_sync_event_get(doca_dpa_dev_sync_event_t dpa_dev_se_handle, uint64_t *value)
{
	bfsim_dpa_check(value, sizeof(*value), true);
	*value = BFSIM_DPA_PORT(event_get, "doca_dpa_dev_sync_event_get")(dpa_dev_se_handle);
}

void doca_dpa_dev_sync_event_update_add(doca_dpa_dev_sync_event_t dpa_dev_se_handle, uint64_t value)
{
	BFSIM_DPA_PORT(event_add, "doca_dpa_dev_sync_event_update_add")(dpa_dev_se_handle, value);
}

void doca_dpa_dev_sync_event_update_set(doca_dpa_dev_sync_event_t dpa_dev_se_handle, uint64_t value)
{
	BFSIM_DPA_PORT(event_set, "doca_dpa_dev_sync_event_update_set")(dpa_dev_se_handle, value);
}

void doca_dpa_dev_sync_event_wait_gt(doca_dpa_dev_sync_event_t dpa_dev_se_handle, uint64_t value, uint64_t mask)
{
	BFSIM_DPA_PORT(event_wait_greater, "doca_dpa_dev_sync_event_wait_gt")(dpa_dev_se_handle, value, mask);
}

void doca_dpa_dev_sync_event_post_wait_gt(doca_dpa_dev_async_ops_t async_ops_handle,
					  doca_dpa_dev_sync_event_t wait_se_handle, uint64_t value)
{
	BFSIM_DPA_PORT(async_wait, "doca_dpa_dev_sync_event_post_wait_gt")
	(async_ops_handle, wait_se_handle, SIM_DPA_GREATER, value);
}

void doca_dpa_dev_sync_event_post_wait_ne(doca_dpa_dev_async_ops_t async_ops_handle,
					  doca_dpa_dev_sync_event_t wait_se_handle, uint64_t value)
{
	BFSIM_DPA_PORT(async_wait, "doca_dpa_dev_sync_event_post_wait_ne")
	(async_ops_handle, wait_se_handle, SIM_DPA_NOT_EQUAL, value);
}
