/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/call_mark.h - marks a participant whose thread waits inside of bfsim, for the daemon or another process: that
 * is no stall (stall_watch.h).
 *
 *   bool marked = sim_clock_begin_wait();
 *   ... wait ...
 *   sim_clock_end_wait(marked);
 */
#ifndef SIM_CLOCK_CALL_MARK_H
#define SIM_CLOCK_CALL_MARK_H

#include <stdbool.h>

/* Returns whether the calling thread is a participant, and marked now. */
bool sim_clock_begin_wait(void);

void sim_clock_end_wait(bool marked);

#endif
