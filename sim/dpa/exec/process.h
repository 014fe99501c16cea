/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/exec/process.h - what runs for one DPA context: its image, its heap, its execution units (EUs).
 *
 *   host calls: RPC, launch --.                          .--> eu-0   a host thread each, made when it is needed
 *   events of activities -----+--> queue of any EU ------+--> eu-1   runs one kernel at a time, to its end
 *   (activity.h)              '--> queue of a fixed EU --+--> ...
 *
 *   [running] --a kernel that is fatal--> [fatal]   all kernels end at their next block or call, queued ones do not run,
 *                                                   and calls return -EIO, to the end of the process
 *
 * A thread that would wait for a kernel works for a free EU itself, so that no other is woken: the caller of an RPC, and the thread of
 * launches (rank by rank, in functional time; a rank that runs for long, or waits, has other EUs woken). Not in virtual time.
 *
 * A launch goes behind the launches before it. Its thread waits for the launch's event, then the ranks run on free EUs, then the
 * launch ends. Time limits are in the kernel's own time: blocks and accesses at their cost, not the clock of the machine. What
 * that is in session time says turn.h.
 *
 * Any thread may call. The port (port.h) asks for the process of the calling EU.
 */
#ifndef SIM_DPA_PROCESS_H
#define SIM_DPA_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/dpa/image/guarded_run.h"
#include "sim/dpa/memory/handles.h"
#include "sim/faults/inject/injector.h"

struct sim_clock;
struct sim_vclock_sched;
struct sim_dpa_process;

/* What ended a process. */
struct sim_dpa_failure {
	const char *kernel;
	uint32_t eu;
	const struct sim_dpa_crash *crash;
};

/* Of the front. All are called on EUs, those before time_us without a lock. */
struct sim_dpa_process_ops {
	void (*log)(void *arg, unsigned level, const char *text);
	void (*trace)(void *arg, const uint64_t values[5]);
	void (*fatal)(void *arg, const struct sim_dpa_failure *failure);
	uint64_t (*time_us)(void *arg); /* the card's */
	/* An object of the kind SIM_DPA_EVENT. 0, or -errno: it can't be used. */
	int (*event_get)(void *event, uint64_t *ret_value);
	int (*event_set)(void *event, uint64_t value);
	int (*event_add)(void *event, uint64_t count);
	/* Sleep until its masked value may be greater than @value, @ns at most; it may have ended. */
	int (*event_sleep)(void *event, uint64_t value, uint64_t mask, uint64_t ns);
	/* Whether a fault hits the operation here and now; NULL = no faults. */
	bool (*find_fault)(void *arg, enum sim_op op, struct sim_fault_hit *ret_hit);
};

struct sim_dpa_process_cfg {
	const void *app;                 /* of dpacc */
	const struct sim_dpa_port *port; /* borrowed */
	const struct sim_dpa_process_ops *ops;
	void *arg;          /* of ops */
	const char *device; /* its name in recordings; borrowed */
	uint32_t num_eus;
	uint64_t heap_bytes;
	uint64_t run_time_ns; /* of an activation, a rank or an RPC; 0 = no limit */
	/* Session time (turn.h); both borrowed. */
	const struct sim_clock *clock;   /* NULL = functional */
	struct sim_vclock_sched *vclock; /* of virtual time, else NULL */
	/* Model time from the call or event to the kernel's begin, without those before it; 0 = not measured. */
	uint64_t rpc_ns, launch_ns, activation_ns;
};

/* Returns 0, -EINVAL or -ENOEXEC (the application; logged), or -ENOMEM. */
int sim_dpa_process_create(const struct sim_dpa_process_cfg *cfg, struct sim_dpa_process **ret_process);

/* End all kernels, wait for that, free. NULL is fine. */
void sim_dpa_process_destroy(struct sim_dpa_process *process);

/* The calling thread, of the program, is about to use the process: in virtual time it is busy up to its next wait. */
void sim_dpa_process_begin_call(struct sim_dpa_process *process);

bool sim_dpa_process_is_fatal(const struct sim_dpa_process *process);

const struct sim_dpa_image *sim_dpa_process_image(const struct sim_dpa_process *process);

/* ---- memory ---- */

/* 0 or -ENOMEM. */
int sim_dpa_process_alloc(struct sim_dpa_process *process, uint64_t bytes, uint64_t *ret_addr);

/* 0 or -ENOENT: @addr is no block's first byte. Kernels may not use the memory from their next block on. */
int sim_dpa_process_free(struct sim_dpa_process *process, uint64_t addr);

/* Memory is gone: kernels may not use it from their next block on. */
void sim_dpa_process_forget(struct sim_dpa_process *process);

/* Whether the range is in one block of the heap. */
bool sim_dpa_process_has_heap(struct sim_dpa_process *process, uint64_t addr, uint64_t bytes);

/* ---- handles ---- */

/* 0 = no memory. An object that has a handle keeps it. */
uint64_t sim_dpa_process_export(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind, void *object);

/* No kernel uses the object afterwards. */
void sim_dpa_process_withdraw(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind, const void *object);

/* ---- kernels ---- */

/* Run the kernel on a free EU, and wait for its end. @args is its block. Returns 0, or -EIO: the process is fatal. */
int sim_dpa_process_call(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel, const void *args,
			 uint64_t *ret_value);

/* Called on the thread of launches. */
struct sim_dpa_launch_ops {
	/* Wait for the event. Returns 0, or -errno: the event is gone, or *is_over became true. */
	int (*wait)(void *arg, const atomic_bool *is_over);
	/* The same without a wait, for virtual time: -EAGAIN, the event has not come. */
	int (*poll)(void *arg);
	/* Once: the ranks have run, or will not. */
	void (*end)(void *arg, bool has_run);
};

/* Queue a launch of @num_threads ranks. @args, the kernel's block, is copied. Returns 0 (ops->end() follows), -EIO or -ENOMEM. */
int sim_dpa_process_launch(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel, const void *args,
			   uint32_t num_threads, const struct sim_dpa_launch_ops *ops, void *arg);

#endif
