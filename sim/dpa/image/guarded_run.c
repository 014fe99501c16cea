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

#define PORT_STACK_BYTES   (64 * 1024) /* for port functions, below the kernel's frames: copies have buffers of 32 KiB */
#define SIGNAL_STACK_BYTES (64 * 1024)
#define NUM_BLOCKS         4096 /* between two looks at the time that a kernel has run */
#define PUSH_BYTES         512  /* at most, of one instruction: a fault so far below the stack pointer is the stack's */

struct run_state {
	const struct sim_dpa_image *image; /* of the kernel that runs */
	sigjmp_buf escape;
	enum sim_dpa_end how;
	bool is_by_signal;
	struct sim_dpa_crash crash;
	void *signal_stack;
};

/* What the calling thread has of its own. */
static _Thread_local struct {
	uintptr_t stack_low, stack_high; /* 0 = not known */
	sigset_t mask;                   /* while it may run kernels */
	sigset_t outer_mask;
	stack_t outer_signal_stack;
} own;

/* A kernel may cause them; their handler ends it. */
static const int fault_signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };

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

void sim_dpa_refuse_as(enum sim_dpa_crash_kind kind, uint64_t value, const char *format, ...)
{
	struct run_state *state = running->state;
	char reason[sizeof(state->crash.reason)];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	state->crash.kind = kind;
	state->crash.value = value;
	leave_fatal(running, running->thread.caller - 1, "%s", reason);
}

__attribute__((noreturn)) static void refuse_text(const char *text)
{
	sim_dpa_refuse("%s", text);
}

/* ---- what hooks ask ---- */

void sim_dpa_forget_ranges(struct sim_dpa_thread *thread)
{
	atomic_fetch_and((_Atomic unsigned int *)&thread->orders, ~(unsigned int)SIM_DPA_ORDER_FORGET);
	thread->fast_bytes[false] = thread->fast_bytes[true] = 0;
	memset(thread->known, 0, sizeof(thread->known));
	thread->next_known = 0; /* the range that is found first has the short way */
}

static void learn_range(struct sim_dpa_thread *thread, const struct sim_dpa_range *range)
{
	uint32_t at = thread->next_known++ % SIM_DPA_KNOWN_RANGES;
	uintptr_t bytes = range->end - range->begin;

	thread->known[at] = *range;
	if (at > 0)
		return;
	thread->fast_begin = range->begin;
	thread->fast_bytes[false] = bytes < SIM_DPA_FAST_ACCESS ? 0 : bytes - SIM_DPA_FAST_ACCESS + 1;
	thread->fast_bytes[true] = range->is_writable ? thread->fast_bytes[false] : 0;
}

/* From now on, the image looks at its next block for orders that were given before. */
static void set_check(struct sim_dpa_thread *thread, uint64_t at)
{
	atomic_store((_Atomic uint64_t *)&thread->check_at, at);
}

static void note_access(struct run_state *state, uintptr_t addr)
{
	state->crash.kind = SIM_DPA_CRASH_MEMORY;
	state->crash.value = addr;
	if (!state->crash.stack)
		state->crash.stack = (uintptr_t)__builtin_frame_address(0);
}

/* Other memory may lie right below a stack: what is below the stack pointer is no frame of the kernel. */
static bool is_overflow(const struct sim_dpa_thread *thread, uintptr_t addr, uintptr_t stack_pointer)
{
	return addr < thread->stack.begin && addr >= stack_pointer - PUSH_BYTES;
}

static void check_access(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write, uintptr_t pc)
{
	struct sim_dpa_guarded_thread *guarded = running;
	struct sim_dpa_range range = { 0 };

	thread->caller = pc;
	if (len == 0 || (addr + len > addr && guarded->ops->find_range(thread, addr, len, is_write, &range))) {
		if (range.begin != range.end)
			learn_range(thread, &range);
		return;
	}
	if (is_overflow(thread, addr, (uintptr_t)__builtin_frame_address(0)))
		leave_fatal(guarded, pc - 1, "stack overflow");
	note_access(guarded->state, addr);
	leave_fatal(guarded, pc - 1,
		    "%s of %zu bytes at 0x%" PRIxPTR
		    ", which is no memory of the device: not in the heap, globals, the stack or a window",
		    is_write ? "store" : "load", len, addr);
}

static void check_block(struct sim_dpa_thread *thread, uintptr_t pc)
{
	struct sim_dpa_guarded_thread *guarded = running;
	unsigned int orders;

	thread->caller = pc;
	set_check(thread, thread->blocks + guarded->num_blocks);
	orders = atomic_load((_Atomic unsigned int *)&thread->orders); /* later ones are behind a later check */
	if ((uintptr_t)__builtin_frame_address(0) < thread->stack.begin)
		leave_fatal(guarded, pc - 1, "stack overflow");
	if (orders & SIM_DPA_ORDER_FORGET)
		sim_dpa_forget_ranges(thread);
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
	port->access = check_access;
	port->block = check_block;
	port->fatal = refuse_text;
}

intptr_t sim_dpa_guard_offset(void)
{
	return (intptr_t)((uintptr_t)&running - get_thread_pointer());
}

/* ---- signals ---- */

#if defined(__x86_64__)
static const struct {
	int number;
	const char *name;
} registers[] = {
	{ REG_RIP, "rip" }, { REG_RSP, "rsp" }, { REG_RBP, "rbp" },   { REG_RAX, "rax" }, { REG_RBX, "rbx" },
	{ REG_RCX, "rcx" }, { REG_RDX, "rdx" }, { REG_RSI, "rsi" },   { REG_RDI, "rdi" }, { REG_R8, "r8" },
	{ REG_R9, "r9" },   { REG_R10, "r10" }, { REG_R11, "r11" },   { REG_R12, "r12" }, { REG_R13, "r13" },
	{ REG_R14, "r14" }, { REG_R15, "r15" }, { REG_EFL, "flags" },
};
#define NUM_REGISTERS (sizeof(registers) / sizeof(registers[0]))
#else
#define NUM_REGISTERS 33
#endif

const char *sim_dpa_register_name(uint32_t i)
{
#if defined(__x86_64__)
	return i < NUM_REGISTERS ? registers[i].name : "";
#else
	static const char *const names[] = { "pc",  "sp",  "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",
					     "x7",  "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					     "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
					     "x25", "x26", "x27", "x28", "x29", "x30" };

	return i < NUM_REGISTERS ? names[i] : "";
#endif
}

/* The first two are the instruction and the stack; *ret_link is where the function returns to, if a register says so. */
static void read_registers(const void *context, struct sim_dpa_crash *crash, uintptr_t *ret_link)
{
	const ucontext_t *user = context;

	crash->num_registers = NUM_REGISTERS;
#if defined(__x86_64__)
	for (uint32_t i = 0; i < NUM_REGISTERS; i++)
		crash->registers[i] = (uint64_t)user->uc_mcontext.gregs[registers[i].number];
	*ret_link = 0;
#else
	crash->registers[0] = user->uc_mcontext.pc;
	crash->registers[1] = user->uc_mcontext.sp;
	for (uint32_t i = 0; i < 31; i++)
		crash->registers[2 + i] = user->uc_mcontext.regs[i];
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
	read_registers(context, &state->crash, &link);
	pc = (uintptr_t)state->crash.registers[0];
	stack = state->crash.stack = (uintptr_t)state->crash.registers[1];
	if (!is_in(&state->image->data, pc)) {
		uintptr_t caller = link;

		if (!caller && is_in(&guarded->thread.stack, stack))
			caller = *(const uintptr_t *)stack;
		if (addr == pc && is_in(&state->image->data, caller))
			leave_fatal(guarded, caller - 1, "jump to 0x%" PRIxPTR ", which is no device code", pc);
		pc = guarded->thread.caller - 1; /* in a function of the port */
	}
	if (number == SIGSEGV && is_overflow(&guarded->thread, addr, stack))
		leave_fatal(guarded, pc, "stack overflow");
	if (number == SIGSEGV || number == SIGBUS)
		note_access(state, addr);
	leave_fatal(guarded, pc, "%s, at 0x%" PRIxPTR, name_signal(number), addr);
}

/* ---- threads ---- */

/* Of the calling thread. 0 or -errno. */
static int find_stack(void)
{
	pthread_attr_t attr;
	void *low;
	size_t size;
	int rc = own.stack_low ? 0 : pthread_getattr_np(pthread_self(), &attr);

	if (own.stack_low || rc != 0)
		return -rc;
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	own.stack_low = (uintptr_t)low;
	own.stack_high = own.stack_low + size;
	return 0;
}

bool sim_dpa_thread_has_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return find_stack() == 0 && here < own.stack_high && here > own.stack_low &&
	       here - own.stack_low >= SIM_DPA_STACK_BYTES;
}

int sim_dpa_guarded_init(struct sim_dpa_guarded_thread *guarded, const struct sim_dpa_thread_ops *ops)
{
	void *user = guarded->thread.user;
	struct run_state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->signal_stack =
		mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (state->signal_stack == MAP_FAILED) {
		free(state);
		return -ENOMEM;
	}
	sim_memory_signals_install();
	sim_memory_signals_install_traps();
	memset(guarded, 0, sizeof(*guarded));
	guarded->thread.user = user;
	guarded->num_blocks = NUM_BLOCKS;
	guarded->ops = ops;
	guarded->state = state;
	return 0;
}

void sim_dpa_guarded_fini(struct sim_dpa_guarded_thread *guarded)
{
	struct run_state *state = guarded->state;

	if (!state)
		return;
	munmap(state->signal_stack, SIGNAL_STACK_BYTES);
	free(state);
	guarded->state = NULL;
}

int sim_dpa_thread_begin(struct sim_dpa_guarded_thread *guarded)
{
	const struct run_state *state = guarded->state;
	const stack_t signal_stack = { .ss_sp = state->signal_stack, .ss_size = SIGNAL_STACK_BYTES };
	int rc = find_stack();
	sigset_t faults;

	if (rc < 0)
		return rc;
	if (sigaltstack(&signal_stack, &own.outer_signal_stack) < 0)
		return -errno;
	sigemptyset(&faults);
	for (size_t i = 0; i < sizeof(fault_signals) / sizeof(fault_signals[0]); i++)
		sigaddset(&faults, fault_signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &faults, &own.outer_mask);
	own.mask = own.outer_mask;
	for (size_t i = 0; i < sizeof(fault_signals) / sizeof(fault_signals[0]); i++)
		sigdelset(&own.mask, fault_signals[i]);
	sim_thread_on_fault = on_fault;
	return 0;
}

static bool did_block_faults(void)
{
	for (size_t i = 0; i < sizeof(fault_signals) / sizeof(fault_signals[0]); i++)
		if (sigismember(&own.outer_mask, fault_signals[i]) == 1)
			return true;
	return false;
}

void sim_dpa_thread_end(void)
{
	sim_thread_on_fault = NULL;
	sigaltstack(&own.outer_signal_stack, NULL);
	if (did_block_faults())
		pthread_sigmask(SIG_SETMASK, &own.outer_mask, NULL);
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
		pthread_sigmask(SIG_SETMASK, &own.mask, NULL);
	state->is_by_signal = false;
	sim_dpa_image_find_place(state->image, state->crash.pc, &state->crash.place);
	*crash = state->crash;
}

/* The kernel's part of the stack whose frames end at @here. A stack may be much longer than an execution unit's. */
static struct sim_dpa_range find_kernel_stack(uintptr_t here)
{
	uintptr_t low = own.stack_low;

	if (here - low > SIM_DPA_STACK_BYTES)
		low = here - SIM_DPA_STACK_BYTES;
	return (struct sim_dpa_range){ low + PORT_STACK_BYTES, here, true };
}

enum sim_dpa_end sim_dpa_run(struct sim_dpa_guarded_thread *guarded, const struct sim_dpa_image *image,
			     const struct sim_dpa_kernel *kernel, const void *args, uint64_t *ret_value,
			     struct sim_dpa_crash *crash)
{
	struct run_state *state = guarded->state;
	struct sim_dpa_thread *thread = &guarded->thread;

	state->image = image;
	thread->data = image->data;
	thread->stack = find_kernel_stack((uintptr_t)__builtin_frame_address(0));
	set_check(thread, thread->blocks + guarded->num_blocks);
	sim_dpa_forget_ranges(thread);
	state->how = SIM_DPA_STOPPED;
	state->crash = (struct sim_dpa_crash){ .kind = SIM_DPA_CRASH_OTHER };
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
	set_check(&guarded->thread, 0);
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
