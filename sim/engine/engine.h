/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/engine.h - the engine's hand in this process: runs jobs that their owners leave lying.
 *
 * An owner that polls runs its own jobs. A job that nobody polls for a tick is
 * run by the engine's thread. That thread is started by the first doorbell,
 * ticks while there is traffic, and sleeps after IDLE_TICKS ticks without a
 * queued job: ringing it awake costs a system call then, and none in between.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

struct sim_engine;

/* Create an engine without queues. Returns 0 or -ENOMEM. */
int sim_engine_create(struct sim_engine **ret_engine);

/* Stop its thread and free it; its queues are gone by then. NULL is fine. */
void sim_engine_destroy(struct sim_engine *engine);

#endif
