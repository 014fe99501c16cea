/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/exec/turn.h - a thread of a DPA process in session time: the turns that it takes, and the model time of a kernel.
 *
 *   functional   a kernel's effects are seen as soon as the machine has come to them
 *   timed        an effect is seen no earlier than the kernel's own time says
 *   virtual      the thread is a participant (sim/clock/vclock_sched.h): it has its effects at the kernel's own time, one thread
 *                at a time, in the same order in each run
 *
 * Own time advances with the kernel's blocks and accesses. An EU settles it with session time at each call of the port, and
 * every 4096 blocks, or 450 in virtual time, which are a microsecond: between these moments no other participant runs.
 *
 * A thread without a turn (no virtual time) waits for conditions alone; these functions then do what pthread_cond_*() does.
 */
#ifndef SIM_DPA_TURN_H
#define SIM_DPA_TURN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_vclock_sched;
struct sim_vclock_source;

struct sim_dpa_turn {
	struct sim_vclock_source *source; /* NULL = not virtual time, or no memory */
	struct sim_vclock_sched *vclock;  /* likewise, but set up to the turn's next begin */
	uint32_t engine;                  /* to which others post */
};

/* The calling thread takes part, and is busy. @vclock NULL: it waits for conditions alone. */
void sim_dpa_turn_begin(struct sim_dpa_turn *turn, struct sim_vclock_sched *vclock);
void sim_dpa_turn_end(struct sim_dpa_turn *turn);

/* Sleep until the condition is signalled, or up to a spurious end, as pthread_cond_wait(). In virtual time: until the thread is posted to,
 * and has its turn; or, without a turn, for a moment. Returns whether it has the turn. */
bool sim_dpa_turn_wait(struct sim_dpa_turn *turn, pthread_cond_t *condition, pthread_mutex_t *lock);

/* Let time pass until @until_ns, or up to a post. Without a lock. Returns whether the thread has its turn now. */
bool sim_dpa_turn_sleep(struct sim_dpa_turn *turn, uint64_t until_ns);

/* After a wait without a turn: something that the thread waits for has changed. Returns whether that came from outside of virtual time; then
 * the thread has its turn. */
bool sim_dpa_turn_take_outside(struct sim_dpa_turn *turn);

/* Signal the condition; the thread has its turn no earlier than now. */
void sim_dpa_turn_signal(struct sim_dpa_turn *turn, pthread_cond_t *condition);

/* Signal the condition out of turn, so that the thread looks whether it is to end. */
void sim_dpa_turn_interrupt(struct sim_dpa_turn *turn, pthread_cond_t *condition);

/* Changes of sync events are posts to this thread from now on. */
void sim_dpa_turn_hear_sync(struct sim_dpa_turn *turn);

#endif
