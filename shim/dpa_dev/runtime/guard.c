/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks that the compiler calls at each access and each basic block of guarded device code (its options for the
 * thread sanitizer and for coverage). Atomic accesses are calls, too. */
#include "runtime.h"

#define HOOK __attribute__((visibility("hidden"), used))
#define PC   ((uintptr_t)__builtin_return_address(0))

static bool has(const struct sim_dpa_range *range, uintptr_t addr, uintptr_t end)
{
	return addr >= range->begin && end <= range->end;
}

static bool knows(const struct sim_dpa_range *range, uintptr_t addr, uintptr_t end, bool is_write)
{
	return has(range, addr, end) && (!is_write || range->is_writable);
}

void bfsim_dpa_check_ranges(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write, uintptr_t pc)
{
	uintptr_t end = addr + len;

	if (__builtin_expect(end >= addr, 1)) {
		if (knows(&thread->known[0], addr, end, is_write)) {
			bfsim_dpa_count_line(thread, addr, is_write);
			return;
		}
		if (has(&thread->stack, addr, end) || has(&thread->data, addr, end)) {
			thread->accesses[is_write]++;
			return;
		}
		bfsim_dpa_count_line(thread, addr, is_write);
		for (unsigned i = 1; i < SIM_DPA_KNOWN_RANGES; i++)
			if (knows(&thread->known[i], addr, end, is_write))
				return;
	}
	bfsim_dpa_port->access(thread, addr, len, is_write, pc);
}

/* Where the hook's stack is, without a frame for that. */
static inline __attribute__((always_inline)) uintptr_t get_stack_pointer(void)
{
	uintptr_t here;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(here));
#else
	__asm__ volatile("mov %0, sp" : "=r"(here));
#endif
	return here;
}

/* Returns false if the simulator has to look. */
static inline __attribute__((always_inline)) bool passes_block(struct sim_dpa_thread *thread)
{
	uint64_t blocks = thread->blocks + 1;

	thread->blocks = blocks;
	return __builtin_expect(blocks < __atomic_load_n(&thread->check_at, __ATOMIC_RELAXED) &&
					get_stack_pointer() >= thread->stack.begin,
				1);
}

HOOK void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	struct sim_dpa_thread *thread = bfsim_dpa_thread();

	if (thread && !passes_block(thread))
		bfsim_dpa_port->block(thread, PC);
}

/* In the place of an empty endless loop, where the stack may be aligned to 8 bytes alone (sim/cli/dpacc/endless.h). */
#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
HOOK void
bfsim_dpa_endless(void);
void bfsim_dpa_endless(void)
{
	struct sim_dpa_thread *thread = bfsim_dpa_thread();

	while (thread)
		if (!passes_block(thread))
			bfsim_dpa_port->block(thread, PC);
	for (;;)
		continue; /* as the loop would, on a thread that is none of the DPA's */
}

#define ACCESS(name, size, is_write)                                              \
	HOOK void name(uintptr_t addr);                                           \
	void name(uintptr_t addr)                                                 \
	{                                                                         \
		struct sim_dpa_thread *thread = bfsim_dpa_thread();               \
                                                                                  \
		if (thread && !bfsim_dpa_passes(thread, addr, size, is_write))    \
			bfsim_dpa_check_ranges(thread, addr, size, is_write, PC); \
	}
#define ACCESSES(size)                                            \
	ACCESS(__tsan_read##size, size, false)                    \
	ACCESS(__tsan_write##size, size, true)                    \
	ACCESS(__tsan_read_write##size, size, true)               \
	ACCESS(__tsan_volatile_read##size, size, false)           \
	ACCESS(__tsan_volatile_write##size, size, true)           \
	ACCESS(__tsan_unaligned_read##size, size, false)          \
	ACCESS(__tsan_unaligned_write##size, size, true)          \
	ACCESS(__tsan_unaligned_read_write##size, size, true)     \
	ACCESS(__tsan_unaligned_volatile_read##size, size, false) \
	ACCESS(__tsan_unaligned_volatile_write##size, size, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

HOOK void __tsan_read_range(uintptr_t addr, size_t len);
void __tsan_read_range(uintptr_t addr, size_t len)
{
	bfsim_dpa_check_at(addr, len, false, PC);
}

HOOK void __tsan_write_range(uintptr_t addr, size_t len);
void __tsan_write_range(uintptr_t addr, size_t len)
{
	bfsim_dpa_check_at(addr, len, true, PC);
}

HOOK void __tsan_init(void);
void __tsan_init(void)
{
}

HOOK void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

HOOK void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* ---- atomics ---- */

HOOK void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

HOOK void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* The strongest order is right for each. */
#define CHANGE(bits, name, builtin)                                                                               \
	HOOK uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value,       \
							 int order);                                              \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
	{                                                                                                         \
		(void)order;                                                                                      \
		bfsim_dpa_check_at((uintptr_t)at, sizeof(*at), true, PC);                                         \
		return builtin(at, value, __ATOMIC_SEQ_CST);                                                      \
	}

#define COMPARE(bits, name)                                                                                           \
	HOOK int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected,                  \
					      uint##bits##_t value, int order, int order_of_failure);                 \
	int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, \
					 int order, int order_of_failure)                                             \
	{                                                                                                             \
		(void)order;                                                                                          \
		(void)order_of_failure;                                                                               \
		bfsim_dpa_check_at((uintptr_t)at, sizeof(*at), true, PC);                                             \
		bfsim_dpa_check_at((uintptr_t)expected, sizeof(*expected), true, PC);                                 \
		return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
	}

#define ATOMICS(bits)                                                                                                  \
	HOOK uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);                  \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)                        \
	{                                                                                                              \
		(void)order;                                                                                           \
		bfsim_dpa_check_at((uintptr_t)at, sizeof(*at), false, PC);                                             \
		return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                          \
	}                                                                                                              \
	HOOK void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order);           \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order)                 \
	{                                                                                                              \
		(void)order;                                                                                           \
		bfsim_dpa_check_at((uintptr_t)at, sizeof(*at), true, PC);                                              \
		__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                         \
	}                                                                                                              \
	CHANGE(bits, exchange, __atomic_exchange_n)                                                                    \
	CHANGE(bits, fetch_add, __atomic_fetch_add)                                                                    \
	CHANGE(bits, fetch_sub, __atomic_fetch_sub)                                                                    \
	CHANGE(bits, fetch_and, __atomic_fetch_and)                                                                    \
	CHANGE(bits, fetch_or, __atomic_fetch_or)                                                                      \
	CHANGE(bits, fetch_xor, __atomic_fetch_xor)                                                                    \
	CHANGE(bits, fetch_nand, __atomic_fetch_nand)                                                                  \
	COMPARE(bits, compare_exchange_strong)                                                                         \
	COMPARE(bits, compare_exchange_weak)                                                                           \
	HOOK uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *at,                    \
								       uint##bits##_t expected, uint##bits##_t value,  \
								       int order, int of_failure);                     \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                                     \
		volatile uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t value, int order, int of_failure) \
	{                                                                                                              \
		(void)order;                                                                                           \
		(void)of_failure;                                                                                      \
		bfsim_dpa_check_at((uintptr_t)at, sizeof(*at), true, PC);                                              \
		__atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
		return expected;                                                                                       \
	}

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
