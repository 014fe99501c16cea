/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/peer_process.h - another process behind a pid, guarded against reuse of the pid.
 *
 * The kernel gives a dead process's pid to a new process. System calls that take a pid, such as
 * process_vm_writev(), would then reach a stranger. A pidfd refers to one process for good and
 * becomes readable when that process ends: as long as it is not readable, the pid is not reused.
 *
 * Remotes of one exporter share a pidfd, so that thousands of imports do not use up descriptors.
 *
 * The window that remains: sim_peer_process_is_alive() asks the kernel once per
 * SIM_PEER_PROCESS_CHECK_NS, as a poll() costs half as much as a copy of 64 bytes. To hit a
 * stranger, the process must die and its pid must be reused between the check and the
 * use, within that time (plus the time for which the calling thread is preempted in between).
 * Pids are assigned in a circle of kernel.pid_max, so only a privileged program that chooses
 * pids can do so. An exec() in the peer is not noticed: the pid and the pidfd stay.
 *
 * Any thread may call. A forked child may go on to use what it inherits.
 */
#ifndef SIM_FABRIC_PEER_PROCESS_H
#define SIM_FABRIC_PEER_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "sim/base/monotonic.h"

#define SIM_PEER_PROCESS_CHECK_NS 1000000u

struct sim_peer_process {
	int32_t pid;
	int pidfd;
	_Atomic uint64_t checked_ns;
	unsigned int refs; /* with the list, under the lock of peer_process.c */
	LIST_ENTRY(sim_peer_process) entry;
};

/* Take a reference to the process of @pidfd, which stays the caller's. Returns 0, or an error of sim_pidfd_pid(), -ENOMEM
 * or -EMFILE. */
int sim_peer_process_get(int pidfd, struct sim_peer_process **ret_process);

/* Give the reference back. NULL is fine. */
void sim_peer_process_put(struct sim_peer_process *process);

/* Ask the kernel. */
bool sim_peer_process_check(struct sim_peer_process *process);

/* Whether the pid is still the process's, as of SIM_PEER_PROCESS_CHECK_NS ago or later. */
static inline bool sim_peer_process_is_alive(struct sim_peer_process *process)
{
	uint64_t checked_ns = atomic_load_explicit(&process->checked_ns, memory_order_relaxed);

	return sim_monotonic_ns() - checked_ns < SIM_PEER_PROCESS_CHECK_NS || sim_peer_process_check(process);
}

#endif
