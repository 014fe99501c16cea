/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/exec/process_priv.h - EUs and the work that they run. All fields are under process->lock unless a comment says otherwise.
 *
 *   work:  [made] --submit--> [queued] --EU takes it--> [running] --> ended(work, end) is called
 *                                 '--the process is fatal--------------------^  (SIM_DPA_STOPPED)
 */
#ifndef SIM_DPA_PROCESS_PRIV_H
#define SIM_DPA_PROCESS_PRIV_H

#include <pthread.h>
#include <sys/queue.h>

#include "inspect.h"
#include "process.h"
#include "sim/dpa/memory/heap.h"
#include "sim/dpa/memory/window.h"
#include "trace.h"
#include "turn.h"

#define SIM_DPA_ANY_EU UINT32_MAX

struct sim_dpa_activity;
struct sim_dpa_eu;

struct sim_dpa_work {
	TAILQ_ENTRY(sim_dpa_work) link;
	const struct sim_dpa_kernel *kernel;
	const void *args;
	uint32_t fixed_eu; /* or SIM_DPA_ANY_EU */
	uint32_t rank, num_ranks;
	uint64_t fault_ns;                 /* of a fault, for the next run */
	uint64_t delay_ns;                 /* of model time, between the event and the kernel's begin */
	struct sim_dpa_activity *activity; /* NULL: an RPC or a rank of a launch */
	bool is_rpc;
	struct sim_dpa_call_trace *trace; /* of the call; NULL = none */
	bool is_stopping;                 /* its EU was told to end it */
	bool is_queued;
	struct sim_dpa_eu *eu; /* while running */
	uint64_t value;        /* that the kernel returned */
	/* Under the lock. begins may be NULL; ended may free the work. */
	void (*begins)(struct sim_dpa_work *work);
	void (*ended)(struct sim_dpa_work *work, enum sim_dpa_end end);
	void *owner;
};

TAILQ_HEAD(sim_dpa_work_list, sim_dpa_work); /* oldest first */

struct sim_dpa_eu {
	struct sim_dpa_guarded_thread guarded; /* first */
	struct sim_dpa_process *process;
	uint32_t id;
	bool has_thread, has_begun;
	bool has_turn; /* of the EU's thread alone */
	bool is_ready; /* @guarded may be used */
	bool is_idle;
	bool is_lent; /* another thread than the EU's own runs its kernels: sim_dpa_eu_borrow() */
	pthread_t thread;
	pthread_cond_t wake;
	struct sim_dpa_turn turn; /* may be signalled if @is_ready */
	LIST_ENTRY(sim_dpa_eu) idle_link;
	struct sim_dpa_work_list queue; /* fixed to this EU */
	struct sim_dpa_work *current;
	struct sim_dpa_eu_trace trace;
	atomic_bool waits; /* its kernel waits for a sync event */
	/* Of the EU's thread alone. */
	uint64_t spent_tenths;   /* own time besides blocks and accesses */
	uint64_t begin_tenths;   /* own time at the begin of the kernel */
	uint64_t limit_cycles;   /* own time at which the kernel has run too long */
	uint64_t local_ns;       /* session time up to which the kernel has come */
	uint64_t settled_tenths; /* own time, in tenths of cycles, that is in @local_ns */
	uint32_t num_empty_polls;
	struct sim_dpa_view view; /* of windows */
};

LIST_HEAD(sim_dpa_eu_list, sim_dpa_eu); /* that idles since the shortest time first */

struct sim_dpa_launch;
TAILQ_HEAD(sim_dpa_launch_list, sim_dpa_launch);

struct sim_dpa_process {
	struct sim_dpa_process_cfg cfg;
	struct sim_dpa_image *image;
	struct sim_dpa_heap heap; /* has a lock of its own */
	pthread_mutex_t lock;
	pthread_cond_t
		changed; /* a work has ended, a thread has begun, or the process is over; a user of an object has left it */
	struct sim_vclock_source
		*host; /* of the thread that called last (sim_dpa_process_begin_call()); NULL = not virtual time */
	pthread_cond_t doorbell; /* a completion came */
	uint32_t num_polling;    /* EUs that wait for the doorbell */
	struct sim_dpa_handles handles;
	atomic_bool is_fatal;
	atomic_bool is_over;   /* fatal, or being destroyed */
	atomic_bool is_ending; /* being destroyed: the caller, which is busy, waits for the threads */
	struct sim_dpa_eu *eus;
	struct sim_dpa_eu_list idle;
	struct sim_dpa_work_list queue; /* of any EU */
	uint32_t next_eu;               /* EUs below have run, or have threads */
	atomic_bool has_late;           /* works may be queued that no EU was woken for: sim_dpa_submit_late() */
	struct sim_dpa_launch_list launches;
	atomic_uint num_launches; /* in the list */
	pthread_cond_t launch_wake;
	pthread_t launch_thread;
	bool was_launch_thread_started;
	bool is_launch_thread_ready; /* @launch_turn may be signalled */
	struct sim_dpa_turn launch_turn;
	struct sim_dpa_trace trace;
	struct sim_dpa_failure_record failure;
	uint32_t next_activity_id;
};

/* ---- works_end.c; under the lock ---- */

/* Take the work out of its queue. */
void sim_dpa_take(struct sim_dpa_work_list *list, struct sim_dpa_work *work);

/* The same of the first one; NULL: there is none. */
struct sim_dpa_work *sim_dpa_take_first(struct sim_dpa_work_list *list);

/* The process is over: end what is queued and what runs. In virtual time the lock is released meanwhile. */
void sim_dpa_end_all(struct sim_dpa_process *process);

/* Something that the thread of launches waits for has happened. */
void sim_dpa_wake_launches(struct sim_dpa_process *process);

/* The EU's kernel was ended: the process is in a fatal state. The lock is released meanwhile. */
void sim_dpa_fail(struct sim_dpa_eu *eu, const struct sim_dpa_work *work, const struct sim_dpa_crash *crash);

/* The same, as an EU has got no thread: @rc is a negative errno. */
void sim_dpa_fail_without_thread(struct sim_dpa_process *process, int rc);

/* ---- eu.c ---- */

int sim_dpa_eus_init(struct sim_dpa_process *process);

/* End all kernels and threads. The process is over. */
void sim_dpa_eus_fini(struct sim_dpa_process *process);

/* Queue the work. Under the lock. */
void sim_dpa_submit(struct sim_dpa_process *process, struct sim_dpa_work *work);

/* A kernel runs for long, or waits: works that are queued late get an EU of their own. That one does the same. */
void sim_dpa_eu_share(struct sim_dpa_eu *eu);

/* ---- a thread that would wait works for an EU instead: nothing is woken
 *
 *   borrow, run a work that the caller has or took from the queue, run another ..., give back
 *
 * Meanwhile the EU is busy, and its own thread, if there is one, sleeps. Not in virtual time, where EUs have turns of their own.
 */

/* An EU for the calling thread, which holds no lock. NULL: none is free, the thread's stack is too short, it is virtual time, or the process is
 * over. */
struct sim_dpa_eu *sim_dpa_eu_borrow(struct sim_dpa_process *process);

/* By the same thread, without the lock. */
void sim_dpa_eu_give_back(struct sim_dpa_eu *eu);

/* Run the work. Under the lock, which is released meanwhile. */
void sim_dpa_eu_run(struct sim_dpa_eu *eu, struct sim_dpa_work *work);

/* Queue a work of any EU that the caller will take and run itself, unless others do so before: an EU that becomes free, or one that is
 * woken as the kernel before it runs for long. Guarded images alone, whose kernels notice that. Under the lock. */
void sim_dpa_submit_late(struct sim_dpa_process *process, struct sim_dpa_work *work);

/* Whether the process's threads take turns. */
static inline bool sim_dpa_is_virtual(const struct sim_dpa_process *process)
{
	return process->cfg.vclock != NULL;
}

/* ---- eu_wait.c ---- */

/* A poll of the EU's kernel found nothing: yield the CPU after some of them, then sleep for longer and longer times, up to the next
 * completion. What a kernel polls in memory changes unannounced, so that the times are short. */
void sim_dpa_eu_poll_empty(struct sim_dpa_eu *eu);

/* ---- eu_time.c ---- */

/* The EU of the calling thread, which runs a kernel. */
struct sim_dpa_eu *sim_dpa_eu_current(void);

/* Cycles that the EU's kernels have run, in their own time. */
uint64_t sim_dpa_eu_cycles(const struct sim_dpa_eu *eu);

/* The kernel does what takes @ns besides its blocks and accesses. */
void sim_dpa_eu_spend(struct sim_dpa_eu *eu, uint64_t ns);

/* The own time of the kernel that runs; any thread. */
uint64_t sim_dpa_eu_run_ns(const struct sim_dpa_eu *eu);

/* A kernel begins, @delay_ns of model time from now, and @fault_ns of a fault. Returns at its begin; false if it was told to end. */
bool sim_dpa_eu_begin_time(struct sim_dpa_eu *eu, uint64_t delay_ns, uint64_t fault_ns);

/* Settle own time with session time: return when it has come. Without a lock. Returns false if the kernel was told to end. */
bool sim_dpa_eu_settle(struct sim_dpa_eu *eu);

/* A fault at @op; zeroed if there is none. Without a lock, on an EU. */
struct sim_fault_hit sim_dpa_find_fault(const struct sim_dpa_process *process, enum sim_op op);

/* ---- for port functions, without a lock: they may leave the kernel ---- */

/* The process of the calling kernel, whose own time has come: what the kernel does now, others see now. */
struct sim_dpa_process *sim_dpa_enter(void);

/* ---- launch.c ---- */

void sim_dpa_launches_fini(struct sim_dpa_process *process);

#endif
