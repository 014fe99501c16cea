/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/core_api.h - functions of the core that the translation calls.
 *
 *   program --doca_...--> shim/workq/NAME.c --core_...--> shim/common, shim/dma ...
 *                                    (compiled with renamed_symbols.h in front)
 *
 * The core is the current generation, compiled a second time. The translation
 * implements the work-queue generation on it.
 *
 * The generations use some names of headers, types and functions with different
 * meanings, so the translation can't include shim/include. It includes the headers
 * of the work-queue generation. This file declares functions of the core: under
 * the names in renamed_symbols.h, with types under their own names. shim/include
 * documents the functions.
 *
 * core_api_check.c includes this file after the headers of the current generation:
 * the compiler reports declarations that differ.
 *
 * Functions with one meaning in both generations (doca_buf_get_data(), most of
 * the device functions) are declared by the headers of the work-queue generation.
 */
#ifndef SHIM_WORKQ_CORE_API_H
#define SHIM_WORKQ_CORE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <doca_types.h>

struct doca_buf;
struct doca_buf_inventory;
struct doca_buf_pool;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_dma;
struct doca_ec_matrix;
struct doca_mmap;
struct doca_pe;
struct doca_sync_event;
struct doca_sync_event_task_get;
struct doca_sync_event_task_notify_add;
struct doca_sync_event_task_notify_set;
struct doca_sync_event_task_wait_neq;
struct doca_task;

#ifndef SHIM_WORKQ_BUILD /* in the translation, without headers of the current generation */

/* Codes that the core may return and the work-queue generation lacks. */
#define DOCA_ERROR_TOO_BIG        ((doca_error_t)27)
#define DOCA_ERROR_AUTHENTICATION ((doca_error_t)28)
#define DOCA_ERROR_BAD_CONFIG     ((doca_error_t)29)
#define DOCA_ERROR_SKIPPED        ((doca_error_t)30)

enum doca_sha_algorithm {
	DOCA_SHA_ALGORITHM_SHA1 = 0,
};

enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,
	DOCA_CTX_STATE_STARTING = 1,
	DOCA_CTX_STATE_RUNNING = 2,
	DOCA_CTX_STATE_STOPPING = 3,
};

typedef void (*doca_sync_event_task_get_completion_cb_t)(struct doca_sync_event_task_get *task,
							 union doca_data task_user_data, union doca_data ctx_user_data);
typedef void (*doca_sync_event_task_notify_set_completion_cb_t)(struct doca_sync_event_task_notify_set *task,
								union doca_data task_user_data,
								union doca_data ctx_user_data);
typedef void (*doca_sync_event_task_notify_add_completion_cb_t)(struct doca_sync_event_task_notify_add *task,
								union doca_data task_user_data,
								union doca_data ctx_user_data);
typedef void (*doca_sync_event_task_wait_neq_completion_cb_t)(struct doca_sync_event_task_wait_neq *task,
							      union doca_data task_user_data,
							      union doca_data ctx_user_data);

#endif

/* Contexts and progress engines */

doca_error_t core_ctx_start(struct doca_ctx *ctx);
doca_error_t core_ctx_stop(struct doca_ctx *ctx);
doca_error_t core_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);
doca_error_t core_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

doca_error_t core_pe_create(struct doca_pe **pe);
doca_error_t core_pe_destroy(struct doca_pe *pe);
doca_error_t core_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);
bool shim_pe_progress_one(struct doca_pe *pe); /* core_pe_progress() without its checks */
doca_error_t core_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle);
doca_error_t core_pe_request_notification(struct doca_pe *pe);
doca_error_t core_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/* Tasks */

doca_error_t core_task_submit(struct doca_task *task);
void core_task_free(struct doca_task *task);
doca_error_t core_task_get_status(const struct doca_task *task);

/* Memory maps and buffers */

doca_error_t core_mmap_create(struct doca_mmap **mmap);
doca_error_t core_mmap_destroy(struct doca_mmap *mmap);
doca_error_t core_mmap_start(struct doca_mmap *mmap);
doca_error_t core_mmap_stop(struct doca_mmap *mmap);
doca_error_t core_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t core_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t core_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len);
doca_error_t core_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);
doca_error_t core_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);
doca_error_t core_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);
doca_error_t core_mmap_set_free_cb(struct doca_mmap *mmap, void (*free_cb)(void *addr, size_t len, void *cookie),
				   void *opaque);
doca_error_t core_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

doca_error_t core_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory);
doca_error_t core_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data);
doca_error_t core_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
						void *addr, size_t len, void *data, size_t data_len,
						struct doca_buf **buf);

doca_error_t core_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool);
doca_error_t core_buf_pool_start(struct doca_buf_pool *buf_pool);
doca_error_t core_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);
doca_error_t core_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data);
doca_error_t core_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment);
void shim_buf_pool_force_stop(struct doca_buf_pool *buf_pool); /* core_buf_pool_stop() without its check */

/* Sync events */

doca_error_t core_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo);
doca_error_t core_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo);
doca_error_t core_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_sync_event_create(struct doca_sync_event **event);
doca_error_t core_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event);
doca_error_t core_sync_event_destroy(struct doca_sync_event *event);
struct doca_ctx *core_sync_event_as_ctx(struct doca_sync_event *event);
doca_error_t core_sync_event_start(struct doca_sync_event *event);
doca_error_t core_sync_event_stop(struct doca_sync_event *event);
doca_error_t core_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);
doca_error_t core_sync_event_add_publisher_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);
doca_error_t core_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);
doca_error_t core_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);
doca_error_t core_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);
doca_error_t core_sync_event_export_to_remote_pci(struct doca_sync_event *event, struct doca_dev *dev,
						  const uint8_t **data, size_t *sz);
doca_error_t core_sync_event_get(struct doca_sync_event *event, uint64_t *value);
doca_error_t core_sync_event_update_set(struct doca_sync_event *event, uint64_t value);
doca_error_t core_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched);
doca_error_t core_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);
doca_error_t core_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

doca_error_t core_sync_event_task_get_set_conf(struct doca_sync_event *event,
					       doca_sync_event_task_get_completion_cb_t completion_cb,
					       doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks);
doca_error_t core_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *ret_val_ptr,
						 union doca_data user_data, struct doca_sync_event_task_get **task);
struct doca_task *core_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task);
doca_error_t core_sync_event_task_notify_set_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_set_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_set_completion_cb_t error_cb,
						      uint32_t num_tasks);
doca_error_t core_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
							union doca_data user_data,
							struct doca_sync_event_task_notify_set **task);
struct doca_task *core_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task);
doca_error_t core_sync_event_task_notify_add_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_add_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_add_completion_cb_t error_cb,
						      uint32_t num_tasks);
doca_error_t core_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
							uint64_t *fetched_val_ptr, union doca_data user_data,
							struct doca_sync_event_task_notify_add **task);
struct doca_task *core_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task);
doca_error_t core_sync_event_task_wait_neq_set_conf(struct doca_sync_event *event,
						    doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
						    doca_sync_event_task_wait_neq_completion_cb_t error_cb,
						    uint32_t num_tasks);
doca_error_t core_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						      union doca_data user_data,
						      struct doca_sync_event_task_wait_neq **task);
struct doca_task *core_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task);

/* Documented in shim/common/pe/ctx_priv.h. */
doca_error_t shim_ctx_inject_start_fault(const struct doca_dev *dev);
void shim_pe_wake(const struct doca_pe *pe);

/* SHA, compression and erasure coding, in their libraries */

doca_error_t core_sha_cap_task_hash_get_supported(const struct doca_devinfo *devinfo,
						  enum doca_sha_algorithm algorithm);
doca_error_t core_sha_cap_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
						    uint32_t *max_list_buf_num_elem);
doca_error_t core_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_src_buf_size);

doca_error_t core_compress_cap_task_compress_deflate_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_compress_cap_task_decompress_deflate_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_compress_cap_task_decompress_lz4_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_compress_cap_task_compress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
								      uint64_t *max_buffer_size);
doca_error_t core_compress_cap_task_decompress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
									uint64_t *max_buffer_size);
doca_error_t core_compress_cap_task_decompress_lz4_get_max_buf_size(const struct doca_devinfo *devinfo,
								    uint64_t *max_buffer_size);
doca_error_t core_compress_cap_task_decompress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
									    uint32_t *max_buf_list_len);

doca_error_t core_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo, uint64_t *max_block_size);
doca_error_t core_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);
doca_error_t core_ec_matrix_destroy(struct doca_ec_matrix *matrix);

/* RDMA, in libdoca_rdma */

doca_error_t core_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo);
doca_error_t core_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo,
						     uint32_t *max_send_buf_list_len);

/* DMA, in libdoca_dma */

doca_error_t core_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

#endif
