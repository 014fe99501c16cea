/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/engine.h - the engine's thread in this process: runs jobs that no owner polls.
 *
 * An owner that polls runs its own jobs. The engine's thread runs a job that
 * no thread has polled for a tick. The first doorbell starts the thread. The thread
 * ticks while there is traffic and sleeps after IDLE_TICKS ticks without a queued
 * job. A doorbell makes a system call only when the thread sleeps.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

struct sim_engine;

/* Create an engine without queues. Returns 0 or -ENOMEM. */
int sim_engine_create(struct sim_engine **ret_engine);

/* Stop the thread and free the engine; all queues are destroyed by then. NULL is fine. */
void sim_engine_destroy(struct sim_engine *engine);

#endif
