/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime of an image: finds its thread and its port, and checks memory. Freestanding. */
#ifndef DPA_DEV_RUNTIME_H
#define DPA_DEV_RUNTIME_H

#include "sim/dpa/image/port.h"

/* Set by the loader. */
extern const struct sim_dpa_port *bfsim_dpa_port __attribute__((visibility("hidden")));

/* The thread that runs a kernel; NULL = the calling thread runs none. */
static inline struct sim_dpa_thread *bfsim_dpa_thread(void)
{
	struct sim_dpa_thread *thread;
	intptr_t offset;

	if (__builtin_expect(!bfsim_dpa_port, 0))
		return NULL; /* a constructor that the compiler made, as the image is loaded */
	offset = bfsim_dpa_port->thread_offset;
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

static inline bool bfsim_dpa_has(const struct sim_dpa_range *range, uintptr_t addr, uintptr_t end)
{
	return addr >= range->begin && end <= range->end;
}

/* Whether the kernel may use @len bytes at @addr; does not return if not. @pc is the place to report. */
static inline __attribute__((always_inline)) void bfsim_dpa_check_at(uintptr_t addr, size_t len, bool is_write,
								     uintptr_t pc)
{
	struct sim_dpa_thread *thread = bfsim_dpa_thread();
	uintptr_t end = addr + len;

	if (!thread)
		return;
	thread->accesses++;
	if (__builtin_expect(end >= addr, 1)) {
		if (bfsim_dpa_has(&thread->stack, addr, end) || bfsim_dpa_has(&thread->data, addr, end))
			return;
		for (unsigned i = 0; i < SIM_DPA_KNOWN_RANGES; i++)
			if (bfsim_dpa_has(&thread->known[i], addr, end) && (!is_write || thread->known[i].is_writable))
				return;
	}
	bfsim_dpa_port->access(thread, addr, len, is_write, pc);
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
