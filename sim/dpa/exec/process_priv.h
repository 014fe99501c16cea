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

#include "process.h"
#include "sim/dpa/memory/heap.h"

#define SIM_DPA_ANY_EU UINT32_MAX

struct sim_dpa_activity;
struct sim_dpa_eu;

struct sim_dpa_work {
	TAILQ_ENTRY(sim_dpa_work) link;
	const struct sim_dpa_kernel *kernel;
	const void *args;
	uint32_t fixed_eu; /* or SIM_DPA_ANY_EU */
	uint32_t rank, num_ranks;
	struct sim_dpa_activity *activity; /* NULL: an RPC or a rank of a launch */
	bool is_rpc;
	bool is_stopping;      /* its EU was told to end it */
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
	bool has_thread;
	bool is_ready; /* @guarded may be used */
	bool is_idle;
	pthread_t thread;
	pthread_cond_t wake;
	LIST_ENTRY(sim_dpa_eu) idle_link;
	struct sim_dpa_work_list queue; /* fixed to this EU */
	struct sim_dpa_work *current;
	uint64_t limit_cycles; /* own time at which the kernel has run too long; of the EU's thread alone */
};

LIST_HEAD(sim_dpa_eu_list, sim_dpa_eu); /* that idles since the shortest time first */

struct sim_dpa_launch;
TAILQ_HEAD(sim_dpa_launch_list, sim_dpa_launch);

struct sim_dpa_process {
	struct sim_dpa_process_cfg cfg;
	struct sim_dpa_image *image;
	struct sim_dpa_heap heap; /* has a lock of its own */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a work has ended, or the process is over */
	struct sim_dpa_handles handles;
	atomic_bool is_fatal;
	atomic_bool is_over; /* fatal, or being destroyed */
	struct sim_dpa_eu *eus;
	struct sim_dpa_eu_list idle;
	struct sim_dpa_work_list queue; /* of any EU */
	uint32_t next_eu;               /* EUs below have threads */
	struct sim_dpa_launch_list launches;
	pthread_cond_t launch_wake;
	pthread_t launch_thread;
	bool was_launch_thread_started;
	uint32_t next_activity_id;
};

/* ---- eu.c ---- */

int sim_dpa_eus_init(struct sim_dpa_process *process);

/* End all kernels and threads. The process is over. */
void sim_dpa_eus_fini(struct sim_dpa_process *process);

/* Queue the work. Under the lock. */
void sim_dpa_submit(struct sim_dpa_process *process, struct sim_dpa_work *work);

/* The process is over: end what is queued and what runs. Under the lock. */
void sim_dpa_end_all(struct sim_dpa_process *process);

/* Cycles that the EU's kernels have run, in their own time. */
uint64_t sim_dpa_eu_cycles(const struct sim_dpa_eu *eu);

/* The EU of the calling thread, which runs a kernel. */
struct sim_dpa_eu *sim_dpa_eu_current(void);

/* ---- launch.c ---- */

void sim_dpa_launches_fini(struct sim_dpa_process *process);

#endif
