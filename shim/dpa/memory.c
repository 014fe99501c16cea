/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the DPA's heap, and copies between it and the host's memory, by the caller's thread. */
#include <errno.h>
#include <string.h>

#include "dpa_priv.h"
#include "shim/common/mem/buf_priv.h"
#include "sim/base/memory_guard.h"
#include "sim/base/memory_signals.h"
#include "sim/base/move.h"

doca_error_t doca_dpa_mem_alloc(struct doca_dpa *dpa, size_t size, doca_dpa_dev_uintptr_t *dev_ptr)
{
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(dev_ptr);
	if (size == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a block needs at least one byte");
	result = shim_dpa_check_running(__func__, dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (sim_dpa_process_alloc(dpa->process, size, dev_ptr) < 0)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "the DPA's heap of %llu bytes has no room for %zu",
				   (unsigned long long)dpa_caps(dpa->base)->dpa_heap_bytes, size);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_mem_free(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr)
{
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	result = shim_dpa_check_running(__func__, dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (sim_dpa_process_free(dpa->process, dev_ptr) < 0)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "%#llx is no block of the DPA's heap",
				   (unsigned long long)dev_ptr);
	return DOCA_SUCCESS;
}

/* Whether a copy of @size bytes at the heap address can be done. */
static doca_error_t check_copy(const char *func, struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr, size_t size)
{
	doca_error_t result;

	if (size == 0) {
		sim_err("%s: the size is 0", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_dpa_check_running(func, dpa);
	if (result == DOCA_SUCCESS && !sim_dpa_process_has_heap(dpa->process, dev_ptr, size)) {
		sim_err("%s: %zu bytes at %#llx are in no block of the DPA's heap", func, size,
			(unsigned long long)dev_ptr);
		return DOCA_ERROR_DRIVER;
	}
	return result == DOCA_SUCCESS ? dpa_inject(dpa, SIM_OP_DPA_COPY, size) : result;
}

/* Copy between the heap and memory of the program, @host, which may not be there. */
static doca_error_t copy(const char *func, void *to, const void *from, const void *host, size_t size)
{
	struct sim_range_guard guard;
	bool is_lost;

	sim_memory_signals_install();
	sim_range_guard_begin(&guard, host, size, NULL);
	sim_move(to, from, size);
	is_lost = sim_range_guard_end(&guard);
	sim_guard_settle(&guard.guard);
	if (!is_lost)
		return DOCA_SUCCESS;
	sim_err("%s: the host's memory at %p is not there", func, host);
	return DOCA_ERROR_DRIVER;
}

doca_error_t doca_dpa_h2d_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr, void *src_ptr, size_t size)
{
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(src_ptr);
	result = check_copy(__func__, dpa, dst_ptr, size);
	return result == DOCA_SUCCESS ? copy(__func__, (void *)(uintptr_t)dst_ptr, src_ptr, src_ptr, size) : result;
}

doca_error_t doca_dpa_d2h_memcpy(struct doca_dpa *dpa, void *dst_ptr, doca_dpa_dev_uintptr_t src_ptr, size_t size)
{
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(dst_ptr);
	result = check_copy(__func__, dpa, src_ptr, size);
	return result == DOCA_SUCCESS ? copy(__func__, dst_ptr, (void *)(uintptr_t)src_ptr, dst_ptr, size) : result;
}

/* By moves, which sanitizers take for the device's. */
static void fill(char *to, int value, size_t size)
{
	char bytes[4096];

	memset(bytes, value, sizeof(bytes));
	for (size_t done = 0; done < size; done += sizeof(bytes))
		sim_move(to + done, bytes, size - done < sizeof(bytes) ? size - done : sizeof(bytes));
}

doca_error_t doca_dpa_memset(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dev_ptr, int value, size_t size)
{
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	result = check_copy(__func__, dpa, dev_ptr, size);
	if (result == DOCA_SUCCESS)
		fill((char *)(uintptr_t)dev_ptr, value, size);
	return result;
}

/* Of a copy between the heap and a memory map. */
static doca_error_t copy_result(const char *func, int rc)
{
	if (rc < 0)
		sim_err("%s: the buffer's memory %s", func, rc == -EACCES ? "does not permit writes" : "is not there");
	return rc < 0 ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

doca_error_t doca_dpa_h2d_buf_memcpy(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t dst_ptr, struct doca_buf *buf,
				     size_t size)
{
	void *data;
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED(buf, SHIM_BUF);
	result = doca_buf_get_data(buf, &data);
	if (result != DOCA_SUCCESS)
		return result;
	if (buf->data_len < size)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the buffer has %zu bytes of data; %zu were asked for",
				   buf->data_len, size);
	result = check_copy(__func__, dpa, dst_ptr, size);
	if (result != DOCA_SUCCESS)
		return result;
	return copy_result(__func__, shim_mmap_copy_from(buf->mmap, data, (void *)(uintptr_t)dst_ptr, size));
}

/* Our choice: to the begin of the buffer's data, whose length does not change. */
doca_error_t doca_dpa_d2h_buf_memcpy(struct doca_dpa *dpa, struct doca_buf *buf, doca_dpa_dev_uintptr_t src_ptr,
				     size_t size)
{
	void *data;
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED(buf, SHIM_BUF);
	result = doca_buf_get_data(buf, &data);
	if (result != DOCA_SUCCESS)
		return result;
	if (buf->data_len + shim_buf_room_bytes(buf) < size)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the buffer has no room for %zu bytes", size);
	result = check_copy(__func__, dpa, src_ptr, size);
	if (result != DOCA_SUCCESS)
		return result;
	return copy_result(__func__, shim_mmap_copy_to(buf->mmap, data, (void *)(uintptr_t)src_ptr, size));
}
