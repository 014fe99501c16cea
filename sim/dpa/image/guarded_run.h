/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/image/guarded_run.h - a kernel on a guarded thread: it reaches DPA memory only, and can be ended.
 *
 *   sim_dpa_thread_begin() --> [sim_dpa_run() ... how it ended]* --> sim_dpa_thread_end()
 *
 *   kernel returns                                    SIM_DPA_RETURNED
 *   a port function calls sim_dpa_leave(how)          that: finished, rescheduled
 *   sim_dpa_thread_stop(), at the next block          SIM_DPA_STOPPED
 *   memory that it must not use, SIGSEGV, SIGBUS,     SIM_DPA_FATAL, with place and reason
 *   SIGILL, SIGFPE, sim_dpa_refuse()
 *
 * The thread is any pthread of the caller's; its stack between guard pages is the kernel's stack. sim_dpa_thread_begin()
 * gives it an alternate signal stack and sim_dpa_thread_end() restores the earlier one. A kernel leaves by siglongjmp():
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

/* Why a kernel is fatal. */
struct sim_dpa_crash {
	char reason[256]; /* a sentence */
	uintptr_t pc;
	struct sim_dpa_place place;
};

/* What the execution layer adds. Both run on the thread of the kernel, and may leave it. */
struct sim_dpa_thread_ops {
	/* Memory besides stack and image: the heap block or window that has @addr. Returns false if there is none. @ret_range
	 * may be used until SIM_DPA_ORDER_FORGET. Leave begin = end in it to be asked at each access. */
	bool (*find_range)(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write,
			   struct sim_dpa_range *ret_range);
	/* Every 4096 blocks; NULL = nothing. */
	void (*at_block)(struct sim_dpa_thread *thread);
};

struct sim_dpa_guarded_thread {
	struct sim_dpa_thread thread; /* first; thread.user is the caller's */
	const struct sim_dpa_thread_ops *ops;
	void *state; /* of guarded_run.c */
};

/* Make the calling thread one that runs kernels; zeroes @guarded but for thread.user. @ops is borrowed. Returns 0 or
 * -ENOMEM. */
int sim_dpa_thread_begin(struct sim_dpa_guarded_thread *guarded, const struct sim_dpa_thread_ops *ops);

/* On the same thread. */
void sim_dpa_thread_end(struct sim_dpa_guarded_thread *guarded);

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

/* ---- for port functions: on the thread of a kernel ---- */

/* The thread; NULL = the calling thread runs no kernel. */
struct sim_dpa_guarded_thread *sim_dpa_thread_current(void);

/* End the kernel. */
void sim_dpa_leave(enum sim_dpa_end how) __attribute__((noreturn));

/* The kernel did what a DPA refuses: fatal, with the sentence as its reason. */
void sim_dpa_refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
