/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf_array.h - an array of equal buffers for the code of a GPU.
 *
 *   create(map) --> set_params(size, n, offset), set_target_gpu --> start --> get handle
 *               --> stop --> destroy
 *
 *   map:  |<- offset ->[ element 0 ][ element 1 ]  [ element n-1 ]......|
 *
 * The CPU sets the array up and hands its handle to the kernel, which reaches the
 * elements by index. bfsim has no GPU: functions that take one return
 * DOCA_ERROR_NOT_SUPPORTED.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument. Sizes are in
 * bytes. One thread at a time per array.
 */
#ifndef DOCA_BUF_ARRAY_H_
#define DOCA_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_buf.h>
#include <doca_mmap.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf_arr;
struct doca_gpu;
struct doca_gpu_buf_arr;

/* --- Creation and destruction --- */

/* An array over @mmap, which is borrowed; the caller destroys the array.
 * DOCA_ERROR_NO_MEMORY. destroy stops it if need be. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_create(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr);

/* start: DOCA_ERROR_BAD_STATE before set_params(). */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr);

/* --- Configuration: before start, else DOCA_ERROR_BAD_STATE --- */

/* @num_elem elements of @size bytes, the first one @start_offset bytes into the map. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem,
				     uint32_t start_offset);

/* The GPU whose kernels use the array. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler);

/* The handle of the started array for kernels. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr);

#ifdef __cplusplus
}
#endif

#endif
