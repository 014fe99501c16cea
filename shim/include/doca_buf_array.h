/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf_array.h - arrays of buffers of one size, for the code of a DPA or a GPU.
 *
 *   create(n) --> set_params(map, size, offset), set_target --> start --> get handle
 *             --> stop --> destroy
 *
 *   map:  |<- offset ->[ element 0 ][ element 1 ]  [ element n-1 ]......|
 *
 * The CPU sets the array up and passes its handle to the kernel, which accesses the elements by index. An array that is started
 * lies in the DPA's heap. bfsim has no GPU: functions that need one return DOCA_ERROR_NOT_SUPPORTED.
 *
 * An array does not hold its map: either may be destroyed first. It holds its DPA context while it is started.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument. Sizes are in bytes. One thread at a time
 * for each array.
 */
#ifndef DOCA_BUF_ARRAY_H_
#define DOCA_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_mmap.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf_arr;
struct doca_dpa;
struct doca_gpu;
struct doca_gpu_buf_arr;
struct doca_mmap;

/* Handle of an array in the DPA's memory. */
typedef uint64_t doca_dpa_dev_buf_arr_t;

/* --- Life --- */

/* Create an array of @num_elem elements, at least one; the caller destroys it.
 * DOCA_ERROR_NO_MEMORY. destroy stops the array. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr);

/* DOCA_ERROR_BAD_STATE when the array is started already, has no parameters, or
 * its map is not started; DOCA_ERROR_NO_MEMORY when the map has no room for all
 * elements. A stop of a stopped array succeeds. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr);

/* --- Properties: DOCA_ERROR_BAD_STATE while the array is started --- */

/* Set the elements: @elem_size bytes each (not 0), contiguous, from @start_offset bytes on in the range of @mmap,
 * which must have a range. A later call replaces an earlier one. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap, size_t elem_size,
				     uint64_t start_offset);

/* Set the target whose code uses the array; a start without one is DOCA_ERROR_BAD_STATE. GPUs: DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler);

/* --- Handles for the target's code: DOCA_ERROR_BAD_STATE unless the array is started --- */

/* GPUs: DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr, doca_dpa_dev_buf_arr_t *dpa_buf_arr);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr);

#ifdef __cplusplus
}
#endif

#endif
