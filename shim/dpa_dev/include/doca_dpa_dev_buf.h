/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpa_dev_buf.h - maps and buffer arrays in device code, and asynchronous copies.
 *
 * A map handle names the memory of a doca_mmap. A buffer array is a table of buffers in device memory, which the host
 * fills; a buffer is a range of a map. An external pointer is an address in the device's window to such memory. */
#ifndef DOCA_DPA_DEV_BUF_H_
#define DOCA_DPA_DEV_BUF_H_

#include <doca_dpa_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t doca_dpa_dev_mmap_t;
typedef uint64_t doca_dpa_dev_buf_arr_t;
typedef uint64_t doca_dpa_dev_buf_t;

/* What a buffer's handle and a buffer array's handle lead to. */
struct doca_dpa_dev_buf {
	uintptr_t addr;
	uint64_t len;
	doca_dpa_dev_mmap_t mmap;
	unsigned char reserved[12];
};

struct doca_dpa_dev_buf_arr {
	struct doca_dpa_dev_buf *bufs;
	unsigned char reserved[20];
} __attribute__((aligned(64)));

/* Get the buffer @buf_idx of an array. */
__forceinline doca_dpa_dev_buf_t doca_dpa_dev_buf_array_get_buf(doca_dpa_dev_buf_arr_t buf_arr, const uint64_t buf_idx)
{
	return (doca_dpa_dev_buf_t)(uintptr_t) & ((struct doca_dpa_dev_buf_arr *)(uintptr_t)buf_arr)->bufs[buf_idx];
}

/* Get the address of a buffer. */
__forceinline uintptr_t doca_dpa_dev_buf_get_addr(doca_dpa_dev_buf_t buf)
{
	return ((struct doca_dpa_dev_buf *)(uintptr_t)buf)->addr;
}

/* Set the address of a buffer. */
__forceinline void doca_dpa_dev_buf_set_addr(doca_dpa_dev_buf_t buf, uintptr_t addr)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->addr = addr;
}

/* Get the length of a buffer in bytes. */
__forceinline uint64_t doca_dpa_dev_buf_get_len(doca_dpa_dev_buf_t buf)
{
	return ((struct doca_dpa_dev_buf *)(uintptr_t)buf)->len;
}

/* Set the length of a buffer in bytes. */
__forceinline void doca_dpa_dev_buf_set_len(doca_dpa_dev_buf_t buf, size_t len)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->len = len;
}

/* Get the map of a buffer. */
__forceinline doca_dpa_dev_mmap_t doca_dpa_dev_buf_get_mmap(doca_dpa_dev_buf_t buf)
{
	return ((struct doca_dpa_dev_buf *)(uintptr_t)buf)->mmap;
}

/* Set the map of a buffer. */
__forceinline void doca_dpa_dev_buf_set_mmap(doca_dpa_dev_buf_t buf, doca_dpa_dev_mmap_t mmap)
{
	((struct doca_dpa_dev_buf *)(uintptr_t)buf)->mmap = mmap;
}

/* Get an external pointer to @addr of a map. It is valid until a doca_dpa_dev_device_set(). */
DOCA_EXPERIMENTAL
doca_dpa_dev_uintptr_t doca_dpa_dev_mmap_get_external_ptr(doca_dpa_dev_mmap_t mmap_handle, uint64_t addr);

/* Get an external pointer to a buffer's address. */
DOCA_EXPERIMENTAL
doca_dpa_dev_uintptr_t doca_dpa_dev_buf_get_external_ptr(doca_dpa_dev_buf_t buf);

/* Start a copy. The completion context that is attached to the asynchronous operations gets its end. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_post_memcpy(doca_dpa_dev_async_ops_t async_ops_handle, doca_dpa_dev_mmap_t dst_mmap_handle,
			      uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap_handle, uint64_t src_addr, size_t length,
			      uint32_t flags);

/* Start a copy of the source buffer. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_post_buf_memcpy(doca_dpa_dev_async_ops_t async_ops_handle, doca_dpa_dev_buf_t dst_buf_handle,
				  doca_dpa_dev_buf_t src_buf_handle, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif
