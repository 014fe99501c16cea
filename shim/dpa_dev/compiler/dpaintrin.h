/* SPDX-License-Identifier: BSD-3-Clause */
/* dpaintrin.h - intrinsics of the DPA's processor. In dpacc's own include directory.
 *
 * Memory spaces: the heap and memory are coherent here; a fence orders a thread's accesses to them. MMIO is the window to
 * memory of host and Arm cores, which is not coherent: read_inv before loads that must see what others wrote,
 * writeback after stores that others must see. */
#ifndef DPAINTRIN_H_
#define DPAINTRIN_H_

#include <stdint.h>

#define DPA_INTRIN_VERSION(major, minor) ((major)*1000 + (minor))
#ifndef DPA_INTRIN_VERSION_USED
#define DPA_INTRIN_VERSION_USED DPA_INTRIN_VERSION(1, 3)
#endif

#define __DPA_HEAP   1
#define __DPA_MEMORY 2
#define __DPA_MMIO   4
#define __DPA_SYSTEM 8

#define __DPA_R  1
#define __DPA_W  2
#define __DPA_RW 3

/* Of the runtime library. */
void __bfsim_dpa_window_fence(unsigned pred, unsigned succ);
uint64_t __bfsim_dpa_cycles(void);
uint64_t __bfsim_dpa_instructions(void);
uint64_t __bfsim_dpa_time_us(void);
void __bfsim_dpa_refuse(const char *text) __attribute__((noreturn));

static inline __attribute__((always_inline)) void __bfsim_dpa_fence(unsigned space, unsigned pred, unsigned succ)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (space & (__DPA_MMIO | __DPA_SYSTEM))
		__bfsim_dpa_window_fence(pred, succ);
}

/* The vendor's definitions end in a semicolon, too. */
#define __dpa_thread_fence(space, pred, succ) __bfsim_dpa_fence(space, pred, succ);
#define __dpa_thread_memory_fence(op1, op2)   __dpa_thread_fence(__DPA_MEMORY, op1, op2)
#define __dpa_thread_outbox_fence(op1, op2)   __dpa_thread_fence(__DPA_MMIO, op1, op2)
#define __dpa_thread_window_fence(op1, op2)   __dpa_thread_fence(__DPA_MMIO, op1, op2)
#define __dpa_thread_system_fence()           __dpa_thread_fence(__DPA_SYSTEM, __DPA_RW, __DPA_RW)
#define __dpa_thread_window_read_inv()        __dpa_thread_fence(__DPA_MMIO, __DPA_R, __DPA_R)
#define __dpa_thread_window_writeback()       __dpa_thread_fence(__DPA_MMIO, __DPA_W, __DPA_W)
#define __dpa_thread_memory_writeback()       __dpa_thread_fence(__DPA_MEMORY, __DPA_W, __DPA_W)
#define __dpa_thread_l1_flush()               __dpa_thread_fence(__DPA_MEMORY, __DPA_RW, __DPA_RW)
#define __dpa_data_ignore(addr)               ((void)(addr))
#define __dpa_compiler_barrier()              __asm__ volatile("" ::: "memory")

#define __dpa_thread_cycles()   __bfsim_dpa_cycles()
#define __dpa_thread_inst_ret() __bfsim_dpa_instructions()
#define __dpa_thread_time()     __bfsim_dpa_time_us()

/* Fixed-point numbers with 16 bits behind the point. */
int32_t __bfsim_dpa_fxp_rcp(int32_t x);
int32_t __bfsim_dpa_fxp_pow2(int32_t x);
int32_t __bfsim_dpa_fxp_log2(int32_t x);
#define __dpa_fxp_rcp(x)  __bfsim_dpa_fxp_rcp(x)
#define __dpa_fxp_pow2(x) __bfsim_dpa_fxp_pow2(x)
#define __dpa_fxp_log2(x) __bfsim_dpa_fxp_log2(x)

/* Atomics that host and device see. A compare and swap is not on BlueField-3. */
#define __dpa_remote_atomic_load(ptr, order)           __atomic_load_n(ptr, order)
#define __dpa_remote_atomic_exchange(ptr, val, order)  __atomic_exchange_n(ptr, val, order)
#define __dpa_remote_atomic_add_fetch(ptr, val, order) __atomic_add_fetch(ptr, val, order)
#define __dpa_remote_atomic_sub_fetch(ptr, val, order) __atomic_sub_fetch(ptr, val, order)
#define __dpa_remote_atomic_fetch_add(ptr, val, order) __atomic_fetch_add(ptr, val, order)
#define __dpa_remote_atomic_fetch_sub(ptr, val, order) __atomic_fetch_sub(ptr, val, order)
#define __dpa_remote_atomic_compare_exchange(ptr, expected, desired, success, failure) \
	__atomic_compare_exchange_n(ptr, expected, desired, 0, success, failure)

#endif
