/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies whose faults end them. */
#include "move_foreign.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory_signals.h"
#include "move.h"

static _Thread_local sigjmp_buf *under_way;

static bool jump_out(int number, const siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	siglongjmp(*under_way, 1);
}

/* Not memcpy(), which sanitizers replace. */
static SIM_DEVICE_ACCESS void move_bytes(uint8_t *to, const uint8_t *from, size_t len)
{
#ifdef __x86_64__
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
#else
	struct block {
		uint64_t words[8];
	} __attribute__((packed, may_alias));

	for (; len >= sizeof(struct block); len -= sizeof(struct block)) {
		*(struct block *)to = *(const struct block *)from;
		to += sizeof(struct block);
		from += sizeof(struct block);
		__asm__ volatile("" : : : "memory"); /* or the compiler calls memcpy() for the loop */
	}
	for (; len > 0; len--) {
		*to++ = *from++;
		__asm__ volatile("" : : : "memory");
	}
#endif
}

/* What runs the handler may have blocked the signal for its time: the thread sanitizer does. */
static void leave_handler(void)
{
	sigset_t faults;

	sim_thread_on_fault = NULL;
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}

int sim_move_foreign(void *to, const void *from, size_t len)
{
	sigjmp_buf fault;

	under_way = &fault;
	if (sigsetjmp(fault, 0)) {
		leave_handler();
		return -EFAULT;
	}
	sim_thread_on_fault = jump_out;
	atomic_signal_fence(memory_order_seq_cst);
	move_bytes(to, from, len);
	atomic_signal_fence(memory_order_seq_cst);
	sim_thread_on_fault = NULL;
	return 0;
}
