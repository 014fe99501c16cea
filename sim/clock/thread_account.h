/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/thread_account.h - what the kernel says of another process's thread: whether it lives, and how long it ran;
 * and of the CPUs. */
#ifndef SIM_CLOCK_THREAD_ACCOUNT_H
#define SIM_CLOCK_THREAD_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

enum sim_thread_state {
	SIM_THREAD_UNKNOWN = 0, /* the kernel does not say */
	SIM_THREAD_RUNS,        /* or is ready to */
	SIM_THREAD_SLEEPS,
	SIM_THREAD_STOPPED, /* by a signal or a debugger */
	SIM_THREAD_ENDED,
};

struct sim_thread_account {
	enum sim_thread_state state;
	uint64_t active_ns; /* RUNS, SLEEPS: how long it has been running, or ready to run; RUNS: up to the last tick */
	uint64_t ran_ns;    /* running alone */
	bool is_ready;      /* RUNS: it has a CPU, or waits for one; not for a disk */
};

/* The low bits of the inode of this process's pid namespace; 0 = unknown. */
uint32_t sim_thread_pid_namespace(void);

/* Read the account of thread @thread_id of process @pid, both of this process's pid namespace. */
void sim_thread_account_read(uint32_t pid, uint32_t thread_id, struct sim_thread_account *ret_account);

/* The CPUs that this process may run on. */
uint32_t sim_thread_num_cpus(void);

/* How many threads of the machine run or are ready to, besides the caller; 0 if the kernel does not say. */
uint32_t sim_thread_count_ready(void);

/* The number of the system call that the thread waits in; -1 = none, or the kernel does not say. */
int sim_thread_read_system_call(uint32_t pid, uint32_t thread_id);

#endif
