/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/image/guarded_run.h - a kernel on a guarded thread: it reaches DPA memory only, and can be ended.
 *
 *   sim_dpa_guarded_init() --> [sim_dpa_thread_begin() --> [sim_dpa_run() ... how it ended]* --> sim_dpa_thread_end()]*
 *                          --> sim_dpa_guarded_fini()
 *
 *   kernel returns                                    SIM_DPA_RETURNED
 *   a port function calls sim_dpa_leave(how)          that: finished, rescheduled
 *   sim_dpa_thread_stop(), at the next block          SIM_DPA_STOPPED
 *   memory that it must not use, SIGSEGV, SIGBUS,     SIM_DPA_FATAL, with place and reason
 *   SIGILL, SIGFPE, sim_dpa_refuse()
 *
 * The thread is any pthread, a guarded thread one of its tasks: one pthread at a time runs kernels by it. The kernel's stack
 * is a part of the pthread's. sim_dpa_thread_begin() gives that an alternate signal stack and lets the signals of faults
 * through; sim_dpa_thread_end() restores what was before. A kernel leaves by siglongjmp():
 * port functions hold no lock when they call sim_dpa_leave(), sim_dpa_refuse() or touch memory that a kernel named.
 */
#ifndef SIM_DPA_GUARDED_RUN_H
#define SIM_DPA_GUARDED_RUN_H

#include "sim/dpa/image/image.h"

enum sim_dpa_end {
	SIM_DPA_RETURNED,
	SIM_DPA_FINISHED,
	SIM_DPA_RESCHEDULED,
	SIM_DPA_STOPPED,
	SIM_DPA_FATAL,
};

enum sim_dpa_crash_kind {
	SIM_DPA_CRASH_OTHER,
	SIM_DPA_CRASH_MEMORY,   /* @value is the address of an access */
	SIM_DPA_CRASH_HANDLE,   /* @value is a handle that is none of this process */
	SIM_DPA_CRASH_WINDOW,   /* @value is the address of an access to a window that its map does not permit */
	SIM_DPA_CRASH_RUN_TIME, /* the kernel has run too long */
};

enum { SIM_DPA_MAX_REGISTERS = 34 };

/* Why a kernel is fatal. */
struct sim_dpa_crash {
	enum sim_dpa_crash_kind kind;
	uint64_t value;
	char reason[256];                          /* a sentence */
	uintptr_t pc, stack;                       /* at the access or call, or 0 */
	uint32_t num_registers;                    /* 0: a hook ended the kernel, which knows none */
	uint64_t registers[SIM_DPA_MAX_REGISTERS]; /* by sim_dpa_register_name() */
	struct sim_dpa_place place;
};

/* What the execution layer adds. Both run on the thread of the kernel, and may leave it. */
struct sim_dpa_thread_ops {
	/* Memory besides stack and image: the heap block or window that has @addr. Returns false if there is none. @ret_range
	 * may be used until SIM_DPA_ORDER_FORGET. Leave begin = end in it to be asked at each access. */
	bool (*find_range)(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write,
			   struct sim_dpa_range *ret_range);
	/* Every @num_blocks blocks; NULL = nothing. */
	void (*at_block)(struct sim_dpa_thread *thread);
};

struct sim_dpa_guarded_thread {
	struct sim_dpa_thread thread; /* first; thread.user is the caller's */
	const struct sim_dpa_thread_ops *ops;
	uint32_t num_blocks; /* 4096 after sim_dpa_thread_begin(); holds from the next call of at_block() on */
	void *state;         /* of guarded_run.c */
};

/* A stack with so many bytes has room for kernels, and for the simulator below them. */
#define SIM_DPA_STACK_BYTES (512 * 1024)

/* Zeroes @guarded but for thread.user. @ops is borrowed. Returns 0 or -ENOMEM. */
int sim_dpa_guarded_init(struct sim_dpa_guarded_thread *guarded, const struct sim_dpa_thread_ops *ops);

/* A zeroed one is fine. */
void sim_dpa_guarded_fini(struct sim_dpa_guarded_thread *guarded);

/* Whether the calling thread's stack has SIM_DPA_STACK_BYTES left. No: it is shorter, or none that the C library made. */
bool sim_dpa_thread_has_stack(void);

/* The calling thread runs the kernels of @guarded from now on, up to sim_dpa_thread_end() on the same thread. Returns 0 or -errno. */
int sim_dpa_thread_begin(struct sim_dpa_guarded_thread *guarded);
void sim_dpa_thread_end(void);

/* Run @kernel of @image with the block @args. On the thread of @guarded. *ret_value: what an RPC returned, if it did. @crash is
 * written if the kernel is fatal, and has the place if it was stopped. An order to stop that came before holds, too. */
enum sim_dpa_end sim_dpa_run(struct sim_dpa_guarded_thread *guarded, const struct sim_dpa_image *image,
			     const struct sim_dpa_kernel *kernel, const void *args, uint64_t *ret_value,
			     struct sim_dpa_crash *crash);

/* End the kernel of the thread at its next basic block, and later ones at their first, until sim_dpa_thread_resume().
 * Any thread. A port function that waits asks sim_dpa_thread_is_stopped(), and leaves by sim_dpa_leave(SIM_DPA_STOPPED). */
void sim_dpa_thread_stop(struct sim_dpa_guarded_thread *guarded);
void sim_dpa_thread_resume(struct sim_dpa_guarded_thread *guarded);
bool sim_dpa_thread_is_stopped(const struct sim_dpa_guarded_thread *guarded);

/* Memory was freed: forget the ranges that find_range() gave. Any thread; holds from the next basic block on. */
void sim_dpa_thread_forget(struct sim_dpa_guarded_thread *guarded);

/* The name of register @i of a crash. Static. */
const char *sim_dpa_register_name(uint32_t i);

/* ---- for port functions: on the thread of a kernel ---- */

/* Ask find_range() again for memory that it gave. On the thread of the kernel. */
void sim_dpa_forget_ranges(struct sim_dpa_thread *thread);

/* The thread; NULL = the calling thread runs no kernel. */
struct sim_dpa_guarded_thread *sim_dpa_thread_current(void);

/* End the kernel. */
void sim_dpa_leave(enum sim_dpa_end how) __attribute__((noreturn));

/* The kernel did what a DPA refuses: fatal, with the sentence as its reason. */
void sim_dpa_refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The same, for a reason that others tell apart. */
void sim_dpa_refuse_as(enum sim_dpa_crash_kind kind, uint64_t value, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#endif
