/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpa_dev.h - what device code calls: threads, completions, hash tables, log and trace.
 *
 * Device code is C that dpacc compiles. Two marks, which dpacc knows, name its entries:
 *
 *   __dpa_global__ void kernel(uint64_t arg)   a kernel: of a launch, or the function of a DPA thread
 *   __dpa_rpc__ uint64_t rpc(uint32_t a)       a remote procedure, which doca_dpa_rpc() calls
 *
 * Handles are numbers that the host gets from a get_dpa_handle function and passes on as arguments. A call with a handle of
 * another context, or one that was destroyed, is a fatal error of the context, as is a pointer to memory that is not
 * the device's.
 */
#ifndef DOCA_DPA_DEV_H_
#define DOCA_DPA_DEV_H_

#ifndef DOCA_DPA_DEVICE
#define DOCA_DPA_DEVICE
#endif

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __forceinline
#define __forceinline static inline __attribute__((always_inline))
#endif

/* An address of device memory, as the host sees it. */
typedef uint64_t doca_dpa_dev_uintptr_t;

typedef uint64_t doca_dpa_dev_t;
typedef uint64_t doca_dpa_dev_hash_table_t;
typedef uint64_t doca_dpa_dev_completion_t;
typedef uint64_t doca_dpa_dev_completion_element_t;
typedef uint64_t doca_dpa_dev_notification_completion_t;
typedef uint64_t doca_dpa_dev_async_ops_t;

/* Flags of the functions that post. */
enum doca_dpa_dev_submit_flag {
	DOCA_DPA_DEV_SUBMIT_FLAG_NONE = 0,
	DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH = 1,            /* execute it, and what was posted before */
	DOCA_DPA_DEV_SUBMIT_FLAG_OPTIMIZE_REPORTS = 2, /* report its end with a later operation's */
};

/* --- Threads --- */

/* Get the rank of this thread among those of its kernel launch or thread group. */
DOCA_EXPERIMENTAL
unsigned int doca_dpa_dev_thread_rank(void);

/* Get the number of threads of the kernel launch. */
DOCA_EXPERIMENTAL
unsigned int doca_dpa_dev_num_threads(void);

/* Let other threads of the execution unit run. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_yield(void);

/* Get the address that doca_dpa_thread_set_local_storage() gave to the DPA thread. */
DOCA_EXPERIMENTAL
doca_dpa_dev_uintptr_t doca_dpa_dev_thread_get_local_storage(void);

/* End this activation of the DPA thread. The next event of an attached completion context, for which a notification was
 * requested, runs its function again from the beginning. Does not return. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_thread_reschedule(void);

/* End the DPA thread: no event runs it again. Does not return. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_thread_finish(void);

/* Run the DPA thread that the notification completion belongs to. There is no completion to take. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_thread_notify(doca_dpa_dev_notification_completion_t comp_handle);

/* Select the context that the following calls of this thread act on: an extended context's handle, or the base's. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_device_set(doca_dpa_dev_t dpa_handle);

/* --- Completions --- */

typedef enum doca_dpa_dev_completion_type_t {
	DOCA_DPA_DEV_COMP_SEND = 0,
	DOCA_DPA_DEV_COMP_RECV_RDMA_WRITE_IMM = 1,
	DOCA_DPA_DEV_COMP_RECV_SEND = 2,
	DOCA_DPA_DEV_COMP_RECV_SEND_IMM = 3,
	DOCA_DPA_DEV_COMP_SEND_ERR = 13,
	DOCA_DPA_DEV_COMP_RECV_ERR = 14,
} doca_dpa_dev_completion_type_t;

/* Take the next completion. Returns 1 and an element, or 0 if there is none. */
DOCA_EXPERIMENTAL
int doca_dpa_dev_get_completion(doca_dpa_dev_completion_t dpa_comp_handle,
				doca_dpa_dev_completion_element_t *comp_element);

/* Get the type of a completion. */
DOCA_EXPERIMENTAL
doca_dpa_dev_completion_type_t doca_dpa_dev_get_completion_type(doca_dpa_dev_completion_element_t comp_element);

/* Get the user data of a completion: 24 bits. */
DOCA_EXPERIMENTAL
uint32_t doca_dpa_dev_get_completion_user_data(doca_dpa_dev_completion_element_t comp_element);

/* Get the immediate of a receive's completion. */
DOCA_EXPERIMENTAL
uint32_t doca_dpa_dev_get_completion_immediate(doca_dpa_dev_completion_element_t comp_element);

/* Get the time of a completion (release 3.3). */
DOCA_EXPERIMENTAL
uint64_t doca_dpa_dev_completion_element_get_timestamp(doca_dpa_dev_completion_element_t comp_element);

/* Get the index of the work request that completed (release 3.3). */
DOCA_EXPERIMENTAL
uint32_t doca_dpa_dev_completion_element_get_wqe_counter(doca_dpa_dev_completion_element_t comp_element);

/* Give back the room of @num_comp completions that were taken. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_completion_ack(doca_dpa_dev_completion_t dpa_comp_handle, uint64_t num_comp);

/* Let the next completion run the attached DPA thread: once. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_completion_request_notification(doca_dpa_dev_completion_t dpa_comp_handle);

/* --- Hash tables --- */

/* Enter @value under @key, which is not in the table. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_hash_table_add(doca_dpa_dev_hash_table_t ht_handle, uint32_t key, uint64_t value);

/* Remove the value of @key. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_hash_table_remove(doca_dpa_dev_hash_table_t ht_handle, uint32_t key);

/* Returns 1 and the value of @key, or 0 if there is none. */
DOCA_EXPERIMENTAL
int doca_dpa_dev_hash_table_find(doca_dpa_dev_hash_table_t ht_handle, uint32_t key, uint64_t *value);

/* --- Log and trace --- */

typedef enum doca_dpa_dev_log_level {
	DOCA_DPA_DEV_LOG_LEVEL_DISABLE = 10,
	DOCA_DPA_DEV_LOG_LEVEL_CRIT = 20, /* of release 2.6 */
	DOCA_DPA_DEV_LOG_LEVEL_ERROR = 30,
	DOCA_DPA_DEV_LOG_LEVEL_WARNING = 40,
	DOCA_DPA_DEV_LOG_LEVEL_INFO = 50,
	DOCA_DPA_DEV_LOG_LEVEL_DEBUG = 60,
} doca_dpa_dev_log_level_t;

/* Print a line. The formats are those of printf() for integers, characters, strings and pointers. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_log(doca_dpa_dev_log_level_t log_level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define DOCA_DPA_DEV_LOG_CRIT(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_DPA_DEV_LOG_ERR(...)  doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_DPA_DEV_LOG_WARN(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_DPA_DEV_LOG_INFO(...) doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_DPA_DEV_LOG_DBG(...)  doca_dpa_dev_log(DOCA_DPA_DEV_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Write a record of five numbers into the trace. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_trace(uint64_t arg1, uint64_t arg2, uint64_t arg3, uint64_t arg4, uint64_t arg5);

/* Bring the records of this thread to the host. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_trace_flush(void);

#ifdef __cplusplus
}
#endif

#endif
