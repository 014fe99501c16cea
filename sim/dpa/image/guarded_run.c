/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs kernels, checks what they access, and ends them. */
#include "guarded_run.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "image_priv.h"
#include "sim/base/memory_signals.h"

#define PORT_STACK_BYTES   (16 * 1024) /* for port functions, below the kernel's frames */
#define SIGNAL_STACK_BYTES (64 * 1024)
#define GUARD_BYTES        (64 * 1024) /* below a stack: a fault there is an overflow */

/* Of a guarded thread. */
struct run_state {
	const struct sim_dpa_image *image; /* of the kernel that runs */
	sigjmp_buf escape;
	enum sim_dpa_end how;
	bool is_by_signal;
	struct sim_dpa_crash crash;
	uintptr_t stack_low;
	sigset_t mask;
	stack_t outer_signal_stack;
	void *signal_stack;
};

/* The thread while it runs a kernel. Images know the distance to the thread pointer. */
static _Thread_local struct sim_dpa_guarded_thread *running __attribute__((tls_model("initial-exec")));

/* ---- end a kernel ---- */

struct sim_dpa_guarded_thread *sim_dpa_thread_current(void)
{
	return running;
}

void sim_dpa_leave(enum sim_dpa_end how)
{
	struct run_state *state = running->state;

	state->how = how;
	siglongjmp(state->escape, 1);
}

/* @pc is the instruction, or the last byte of a call. */
__attribute__((noreturn, format(printf, 3, 4))) static void leave_fatal(struct sim_dpa_guarded_thread *guarded,
									uintptr_t pc, const char *format, ...)
{
	struct run_state *state = guarded->state;
	va_list args;

	va_start(args, format);
	vsnprintf(state->crash.reason, sizeof(state->crash.reason), format, args);
	va_end(args);
	state->crash.pc = pc;
	sim_dpa_leave(SIM_DPA_FATAL);
}

void sim_dpa_refuse(const char *format, ...)
{
	char reason[sizeof(((struct sim_dpa_crash *)0)->reason)];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	leave_fatal(running, running->thread.caller - 1, "%s", reason);
}

__attribute__((noreturn)) static void refuse_text(const char *text)
{
	sim_dpa_refuse("%s", text);
}

/* ---- what hooks ask ---- */

static void forget_ranges(struct sim_dpa_thread *thread)
{
	atomic_fetch_and((_Atomic unsigned int *)&thread->orders, ~(unsigned int)SIM_DPA_ORDER_FORGET);
	memset(thread->known, 0, sizeof(thread->known));
}

static void check_access(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write, uintptr_t pc)
{
	struct sim_dpa_guarded_thread *guarded = running;
	struct sim_dpa_range range = { 0 };

	thread->caller = pc;
	if (len == 0 || (addr + len > addr && guarded->ops->find_range(thread, addr, len, is_write, &range))) {
		if (range.begin != range.end)
			thread->known[thread->next_known++ % SIM_DPA_KNOWN_RANGES] = range;
		return;
	}
	if (addr < thread->stack.begin && addr >= thread->stack.begin - PORT_STACK_BYTES - GUARD_BYTES)
		leave_fatal(guarded, pc - 1, "stack overflow");
	leave_fatal(guarded, pc - 1,
		    "%s of %zu bytes at 0x%" PRIxPTR
		    ", which is no memory of the device: not in the heap, globals, the stack or a window",
		    is_write ? "store" : "load", len, addr);
}

static void check_block(struct sim_dpa_thread *thread, uintptr_t pc)
{
	struct sim_dpa_guarded_thread *guarded = running;
	unsigned int orders = atomic_load((_Atomic unsigned int *)&thread->orders);

	thread->caller = pc;
	if ((uintptr_t)__builtin_frame_address(0) < thread->stack.begin)
		leave_fatal(guarded, pc - 1, "stack overflow");
	if (orders & SIM_DPA_ORDER_FORGET)
		forget_ranges(thread);
	if (orders & SIM_DPA_ORDER_STOP) {
		((struct run_state *)guarded->state)->crash.pc = pc - 1;
		sim_dpa_leave(SIM_DPA_STOPPED);
	}
	if (guarded->ops->at_block)
		guarded->ops->at_block(thread);
}

static uintptr_t get_thread_pointer(void)
{
	uintptr_t base;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(base));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(base));
#endif
	return base;
}

void sim_dpa_guard_port(struct sim_dpa_port *port)
{
	port->version = SIM_DPA_PORT_VERSION;
	port->thread_offset = (intptr_t)((uintptr_t)&running - get_thread_pointer());
	port->access = check_access;
	port->block = check_block;
	port->fatal = refuse_text;
}

/* ---- signals ---- */

/* The instruction, and where the function returns to if it is none. */
static void read_registers(const void *context, uintptr_t *ret_pc, uintptr_t *ret_stack, uintptr_t *ret_link)
{
	const ucontext_t *user = context;

#if defined(__x86_64__)
	*ret_pc = (uintptr_t)user->uc_mcontext.gregs[REG_RIP];
	*ret_stack = (uintptr_t)user->uc_mcontext.gregs[REG_RSP];
	*ret_link = 0;
#else
	*ret_pc = user->uc_mcontext.pc;
	*ret_stack = user->uc_mcontext.sp;
	*ret_link = user->uc_mcontext.regs[30];
#endif
}

static bool is_in(const struct sim_dpa_range *range, uintptr_t addr)
{
	return addr >= range->begin && addr < range->end;
}

static const char *name_signal(int number)
{
	return number == SIGFPE  ? "a division by zero or another arithmetic error" :
	       number == SIGILL  ? "an instruction that is none" :
	       number == SIGSEGV ? "an access to memory that is not there" :
				   "an access to a page that is not there";
}

static bool on_fault(int number, const siginfo_t *info, void *context)
{
	struct sim_dpa_guarded_thread *guarded = running;
	struct run_state *state;
	uintptr_t pc, stack, link, addr = (uintptr_t)info->si_addr;

	if (!guarded)
		return false;
	state = guarded->state;
	state->is_by_signal = true;
	read_registers(context, &pc, &stack, &link);
	if (!is_in(&state->image->data, pc)) {
		uintptr_t caller = link;

		if (!caller && is_in(&guarded->thread.stack, stack))
			caller = *(const uintptr_t *)stack;
		if (addr == pc && is_in(&state->image->data, caller))
			leave_fatal(guarded, caller - 1, "jump to 0x%" PRIxPTR ", which is no device code", pc);
		pc = guarded->thread.caller - 1; /* in a function of the port */
	}
	if (number == SIGSEGV && addr < guarded->thread.stack.begin && addr >= state->stack_low - GUARD_BYTES)
		leave_fatal(guarded, pc, "stack overflow");
	leave_fatal(guarded, pc, "%s, at 0x%" PRIxPTR, name_signal(number), addr);
}

/* ---- threads ---- */

static int find_stack(struct run_state *state)
{
	pthread_attr_t attr;
	void *low;
	size_t size;
	int rc = pthread_getattr_np(pthread_self(), &attr);

	if (rc != 0)
		return -rc;
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	state->stack_low = (uintptr_t)low;
	return 0;
}

int sim_dpa_thread_begin(struct sim_dpa_guarded_thread *guarded, const struct sim_dpa_thread_ops *ops)
{
	void *user = guarded->thread.user;
	struct run_state *state = calloc(1, sizeof(*state));
	stack_t signal_stack = { .ss_size = SIGNAL_STACK_BYTES };
	int rc = state ? find_stack(state) : -ENOMEM;

	if (rc == 0) {
		state->signal_stack =
			mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		rc = state->signal_stack == MAP_FAILED ? -ENOMEM : 0;
	}
	if (rc != 0) {
		free(state);
		return rc;
	}
	signal_stack.ss_sp = state->signal_stack;
	sigaltstack(&signal_stack, &state->outer_signal_stack);
	pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
	sim_memory_signals_install();
	sim_memory_signals_install_traps();
	sim_thread_on_fault = on_fault;
	memset(guarded, 0, sizeof(*guarded));
	guarded->thread.user = user;
	guarded->ops = ops;
	guarded->state = state;
	return 0;
}

void sim_dpa_thread_end(struct sim_dpa_guarded_thread *guarded)
{
	struct run_state *state = guarded->state;

	sim_thread_on_fault = NULL;
	sigaltstack(&state->outer_signal_stack, NULL);
	munmap(state->signal_stack, SIGNAL_STACK_BYTES);
	free(state);
	guarded->state = NULL;
}

/* The block of arguments lies on the stack, where the kernel may read it. */
static uint64_t call(const struct sim_dpa_kernel *kernel, const void *args)
{
	char *block = __builtin_alloca_with_align(kernel->args_bytes + 16, 128);

	if (kernel->args_bytes)
		memcpy(block, args, kernel->args_bytes);
	return kernel->run(block);
}

static void end_fatal(struct run_state *state, struct sim_dpa_crash *crash)
{
	if (state->is_by_signal)
		pthread_sigmask(SIG_SETMASK, &state->mask, NULL);
	state->is_by_signal = false;
	sim_dpa_image_find_place(state->image, state->crash.pc, &state->crash.place);
	*crash = state->crash;
}

enum sim_dpa_end sim_dpa_run(struct sim_dpa_guarded_thread *guarded, const struct sim_dpa_image *image,
			     const struct sim_dpa_kernel *kernel, const void *args, uint64_t *ret_value,
			     struct sim_dpa_crash *crash)
{
	struct run_state *state = guarded->state;
	struct sim_dpa_thread *thread = &guarded->thread;

	state->image = image;
	thread->data = image->data;
	thread->stack = (struct sim_dpa_range){ state->stack_low + PORT_STACK_BYTES,
						(uintptr_t)__builtin_frame_address(0), true };
	forget_ranges(thread);
	state->how = SIM_DPA_STOPPED;
	state->crash.pc = (uintptr_t)kernel->run;
	if (sim_dpa_thread_is_stopped(guarded))
		return SIM_DPA_STOPPED;
	if (sigsetjmp(state->escape, 0) == 0) {
		uint64_t value;

		running = guarded;
		value = call(kernel, args);
		*ret_value = value;
		state->how = SIM_DPA_RETURNED;
	}
	running = NULL;
	if (state->how == SIM_DPA_FATAL || state->how == SIM_DPA_STOPPED)
		end_fatal(state, crash);
	return state->how;
}

/* ---- orders ---- */

static void give_order(struct sim_dpa_guarded_thread *guarded, unsigned int order)
{
	atomic_fetch_or((_Atomic unsigned int *)&guarded->thread.orders, order);
}

void sim_dpa_thread_stop(struct sim_dpa_guarded_thread *guarded)
{
	give_order(guarded, SIM_DPA_ORDER_STOP);
}

void sim_dpa_thread_resume(struct sim_dpa_guarded_thread *guarded)
{
	atomic_fetch_and((_Atomic unsigned int *)&guarded->thread.orders, ~(unsigned int)SIM_DPA_ORDER_STOP);
}

bool sim_dpa_thread_is_stopped(const struct sim_dpa_guarded_thread *guarded)
{
	return atomic_load((const _Atomic unsigned int *)&guarded->thread.orders) & SIM_DPA_ORDER_STOP;
}

void sim_dpa_thread_forget(struct sim_dpa_guarded_thread *guarded)
{
	give_order(guarded, SIM_DPA_ORDER_FORGET);
}
