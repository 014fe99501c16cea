/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime of an image: finds its thread and its port, and checks memory. Freestanding. */
#ifndef DPA_DEV_RUNTIME_H
#define DPA_DEV_RUNTIME_H

#include "sim/dpa/image/port.h"

/* Set by the loader. */
extern const struct sim_dpa_port *bfsim_dpa_port __attribute__((visibility("hidden")));
extern intptr_t bfsim_dpa_thread_offset __attribute__((visibility("hidden")));

/* The thread that runs a kernel; NULL = the calling thread runs none. */
static inline struct sim_dpa_thread *bfsim_dpa_thread(void)
{
	struct sim_dpa_thread *thread;
	intptr_t offset = bfsim_dpa_thread_offset;

	if (__builtin_expect(!offset, 0))
		return NULL;
#if defined(__x86_64__)
	__asm__ volatile("mov %%fs:(%1), %0" : "=r"(thread) : "r"(offset));
#elif defined(__aarch64__)
	uintptr_t base;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(base));
	thread = *(struct sim_dpa_thread *const volatile *)(base + (uintptr_t)offset);
#else
#error "architecture"
#endif
	return thread;
}

/* Count an access to the heap or a window. Without a branch, as none could be foretold, and in one counter. */
static inline void bfsim_dpa_count_line(struct sim_dpa_thread *thread, uintptr_t addr, bool is_write)
{
	thread->accesses[is_write] += 1 + (thread->line != addr / 64) * UINT64_C(SIM_DPA_LINE_ACCESSES);
	thread->line = addr / 64;
}

/* What bfsim_dpa_check_at() does where bfsim_dpa_passes() says no. */
__attribute__((visibility("hidden"))) void bfsim_dpa_check_ranges(struct sim_dpa_thread *thread, uintptr_t addr,
								  size_t len, bool is_write, uintptr_t pc);

/* Most kernels use one block of the heap: the range that was found first comes before the others. */
static inline __attribute__((always_inline)) bool bfsim_dpa_passes(struct sim_dpa_thread *thread, uintptr_t addr,
								   size_t len, bool is_write)
{
	if (__builtin_expect(len > SIM_DPA_FAST_ACCESS || addr - thread->fast_begin >= thread->fast_bytes[is_write], 0))
		return false;
	bfsim_dpa_count_line(thread, addr, is_write);
	return true;
}

/* Whether the kernel may use @len bytes at @addr; does not return if not. @pc is the place to report. */
static inline __attribute__((always_inline)) void bfsim_dpa_check_at(uintptr_t addr, size_t len, bool is_write,
								     uintptr_t pc)
{
	struct sim_dpa_thread *thread = bfsim_dpa_thread();

	if (thread && !bfsim_dpa_passes(thread, addr, len, is_write))
		bfsim_dpa_check_ranges(thread, addr, len, is_write, pc);
}

/* The same for a function of a device library, whose caller is the place. */
#define bfsim_dpa_check(addr, len, is_write) \
	bfsim_dpa_check_at((uintptr_t)(addr), len, is_write, (uintptr_t)__builtin_return_address(0))

/* Note where a device library was called: the place that the simulator reports. */
static inline __attribute__((always_inline)) const struct sim_dpa_port *bfsim_dpa_port_from(uintptr_t pc)
{
	struct sim_dpa_thread *thread = bfsim_dpa_thread();

	if (thread)
		thread->caller = pc;
	return bfsim_dpa_port;
}

/* A function of the port, for a function whose caller is the place, and one that knows the place. The kernel ends if the
 * simulator has no such function. */
#define BFSIM_DPA_PORT(name, function) BFSIM_DPA_PORT_AT(name, function, (uintptr_t)__builtin_return_address(0))
#define BFSIM_DPA_PORT_AT(name, function, pc) \
	(bfsim_dpa_port_from(pc)->name ?      \
		 bfsim_dpa_port->name :       \
		 (bfsim_dpa_port->fatal(function ": bfsim does not simulate it on the DPA"), bfsim_dpa_port->name))

/* End the kernel, with the caller of this function as its place. */
#define bfsim_dpa_fatal(text) bfsim_dpa_port_from((uintptr_t)__builtin_return_address(0))->fatal(text)

#endif
